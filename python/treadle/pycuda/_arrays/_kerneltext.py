"""Helpers for kernels whose text is generated here."""

HEAD = "#include <pycuda-complex.hpp>\n"


def built(text, name, keep, options):
    """The SourceModule of a text, whose kernel is `name`."""
    from ..compiler import SourceModule

    return SourceModule(text, options=options, keep=keep, no_extern_c=True)
