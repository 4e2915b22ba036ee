"""CUDA C++ from text by PyCUDA's names. On a GPU NVRTC compiles it, or nvcc where there is no NVRTC; on the CPU the
system's C++ compiler. What was compiled is kept on disk (TREADLE_CACHE_DIR) for all processes."""

import os
import subprocess
import tempfile

from .. import _core
from .._public import dir_of as _dir_of
from .._raw._text import include_option
from ._driver._module import Module

DEFAULT_NVCC_FLAGS = [f.strip() for f in os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split() if f.strip()]


def get_nvcc_version(nvcc):
    """What ``nvcc --version`` says. OSError: it is not there; nothing needs it where NVRTC is."""
    try:
        return subprocess.run([nvcc, "--version"], capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise OSError(f"{nvcc} was not found (is it on PATH?) [{error}]") from None


def _program(source, options, keep, arch, cache_dir, include_dirs, device, names=()):
    """The core's program for a text. The arguments are those of compile."""
    options = [*(DEFAULT_NVCC_FLAGS if options is None else options), *(f"-I{os.fspath(d)}" for d in include_dirs)]
    if "pycuda-" in source:  # for #include of pycuda-complex.hpp and pycuda-helpers.hpp
        options.append(include_option())
    folder = None
    if keep:
        folder = tempfile.mkdtemp(prefix="treadle-") if keep is True else os.fspath(keep)
        print(f"*** compiler output in {folder}")
    return _core.program(
        source,
        device=device,
        options=options,
        keep=folder,
        arch=arch,
        names=names,
        cache=cache_dir is not False,
        cache_dir=os.fspath(cache_dir) if cache_dir else None,
    )


def compile(source, nvcc="nvcc", options=None, keep=False, no_extern_c=False, arch=None, code=None, cache_dir=None,
            include_dirs=(), target="cubin"):  # fmt: skip
    """The text's code as bytes, for driver.module_from_buffer: a cubin, with target="ptx" PTX; on the CPU a shared
    object.

    options: as nvcc takes them; arch: "sm_90"; the device's where it is None. The text stands in extern "C", so that
    kernels keep their names, unless no_extern_c, which templates need. code and nvcc are not needed. CompileError holds
    the compiler's words, with the text's lines."""
    del nvcc, code
    device = _core._raw_current()
    if target not in ("cubin", "ptx", "fatbin"):
        raise ValueError(f"target is 'cubin', 'ptx' or 'fatbin', not {target!r}")
    if device.kind == "cuda" or arch:
        arch = arch or device.arch
        arch = "compute_" + arch.removeprefix("sm_") if target == "ptx" else arch
    only = False if device.kind == "cuda" else device
    if not no_extern_c:
        source = 'extern "C" {\n#line 1\n' + source + "\n}\n"
    return _program(source, options, keep, arch, cache_dir, include_dirs, only).image


class SourceModule:
    """A module compiled from text: SourceModule(source, options=None, keep=False, arch=None, cache_dir=None,
    include_dirs=(), names=()).

    options are nvcc's ("-DN=4", "-use_fast_math"). get_function finds kernels by name, also instances of templates
    ("f<float, 4>"), with or without extern "C"; where the text has variables, instances are named in names, or asked
    for before anything else. cache_dir=False keeps nothing on disk. CompileError holds the compiler's words, with the
    text's lines."""

    def __init__(self, source, nvcc="nvcc", options=None, keep=False, no_extern_c=False, arch=None, code=None,
                 cache_dir=None, include_dirs=(), names=()):  # fmt: skip
        del nvcc, no_extern_c, code
        self._open(_program(source, options, keep, arch, cache_dir, include_dirs, _core._raw_current(), names))

    def _open(self, program):
        self.module = module = Module(program)
        self.get_function, self.get_global = module.get_function, module.get_global
        self.get_texref, self.get_surfref = module.get_texref, module.get_surfref


class DynamicModule(SourceModule):
    """Texts that become one module: add_source for each, then link(). They see each other as parts of one text; kernels
    that launch kernels (dynamic parallelism) are not here."""

    def __init__(self, nvcc="nvcc", link_options=None, keep=False, no_extern_c=False, arch=None, code=None,
                 cache_dir=None, include_dirs=(), message_handler=None, log_verbose=False,
                 cuda_libdir=None):  # fmt: skip
        del nvcc, link_options, no_extern_c, code, message_handler, log_verbose, cuda_libdir
        self._settings = keep, arch, cache_dir, tuple(include_dirs)
        self._texts, self._options = [], []

    def add_source(self, source, nvcc_options=None, name="kernel.ptx"):
        """Adds a text and its options; returns the module."""
        del name
        self._texts.append(source)
        self._options += nvcc_options or ()
        return self

    def link(self):
        """Compiles what was added; returns the module."""
        keep, arch, cache_dir, include_dirs = self._settings
        text, options = "\n".join(self._texts), self._options or None
        self._open(_program(text, options, keep, arch, cache_dir, include_dirs, _core._raw_current()))
        return self


class DynamicSourceModule(DynamicModule):
    """As SourceModule, by DynamicModule."""

    def __init__(self, source, nvcc="nvcc", options=None, keep=False, no_extern_c=False, arch=None, code=None,
                 cache_dir=None, include_dirs=(), cuda_libdir=None):  # fmt: skip
        super().__init__(keep=keep, arch=arch, cache_dir=cache_dir, include_dirs=include_dirs)
        del nvcc, no_extern_c, code, cuda_libdir
        self.add_source(source, options).link()


__dir__ = _dir_of(__name__)
