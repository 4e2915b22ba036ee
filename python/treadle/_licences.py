"""``python -m treadle licenses``: the licences of treadle and of others' work that it contains."""

import importlib.resources
import os
import re
import sys

_COMPONENT = re.compile(r"^(\S.*)\n    Version: (.*)\n    Licence: (.*)\n    In the wheel: (.*)$", re.MULTILINE)


def _file(name):
    return (importlib.resources.files(__package__) / "licenses" / name).read_text(encoding="utf-8")


def components():
    """(name, version, SPDX expression, files in the package) for each work of others in the wheel."""
    return _COMPONENT.findall(_file("THIRD_PARTY_NOTICES.txt"))


def _lines():
    yield "treadle: Apache-2.0"
    yield from (f"{name}, version {version}: {terms} ({where})" for name, version, terms, where in components())


def licences(brief):
    """Print the licences' texts, or with brief one line for each component."""
    names = ("NOTICE", "LICENSE", "THIRD_PARTY_NOTICES.txt")
    try:
        print("\n".join(_lines() if brief else map(_file, names)))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
