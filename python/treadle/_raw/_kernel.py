"""RawKernel and RawModule: CUDA C++ text, or compiled code, by CuPy's names."""

import os

from .. import _core
from . import _text as _rawtext

# CuPy's name for each CU_FUNC_ATTRIBUTE_…, and its number.
_ATTRIBUTES = {
    "max_threads_per_block": 0, "shared_size_bytes": 1, "const_size_bytes": 2, "local_size_bytes": 3, "num_regs": 4,
    "ptx_version": 5, "binary_version": 6, "cache_mode_ca": 7, "max_dynamic_shared_size_bytes": 8,
    "preferred_shared_memory_carveout": 9,
}  # fmt: skip
_BACKENDS = ("nvrtc", "nvcc", "auto")
_COMPLEX = (
    "#include <cupy/complex.cuh>\n#define cuFloatComplex complex<float>\n#define cuDoubleComplex complex<double>\n"
)


def _settable(name):
    return name in ("max_dynamic_shared_size_bytes", "preferred_shared_memory_carveout")


class _Keyed:
    """Compares equal to another object of its class that was made of the same values."""

    __slots__ = ()

    def __eq__(self, other):
        return self._key() == other._key() if isinstance(other, type(self)) else NotImplemented

    def __hash__(self):
        return hash(self._key())


class RawKernel(_Keyed):
    """A kernel of a CUDA C++ text, compiled for the current device when it is first called there.

    Called as k(grid, block, args, *, shared_mem=0, stream=None): grid and block are ints or tuples of up to three, args
    a tuple of arrays (their memory is passed), numbers (converted to the parameter's type) and structures (numpy.void,
    bytes). It returns when the kernel has been given to the stream. num_regs, local_size_bytes, shared_size_bytes and
    max_threads_per_block are what the driver says of it; max_dynamic_shared_size_bytes can be set.

    Parameters
    ----------
    code : str
        The text; it runs on a GPU and on the CPU.
    name : str
        Name of the kernel, as "add", "ns::add" or "f<float, 4>"; it needs no extern "C".
    options : tuple of str, default ()
        As nvcc takes them: "-DN=4", "-I/dir", "--std=c++17", "-use_fast_math".
    backend, translate_cucomplex, enable_cooperative_groups, jitify : any, default 'nvrtc'
        Accepted for CuPy's signature.

    Raises
    ------
    TypeError
        Arguments of a call do not fit the kernel's signature.
    CompileError
        The text has errors; the compiler's text says which.

    Examples
    --------
    >>> k = np.RawKernel("__global__ void f(int *x) { x[threadIdx.x] = 1; }", "f")
    >>> k.name
    'f'
    """

    # The slot __call__ holds a callable of C, so that a call runs no Python code.
    __slots__ = ("__call__", "__dict__", "__weakref__")

    def __init__(self, code, name, options=(), backend="nvrtc", *, translate_cucomplex=False,
                 enable_cooperative_groups=False, jitify=False):  # fmt: skip
        _check(backend, jitify)
        self.code, self.name, self.options, self.backend = code, name, _options(options), backend
        self.translate_cucomplex = translate_cucomplex
        self.enable_cooperative_groups = enable_cooperative_groups
        self._of = None
        self._begin()

    def _begin(self):
        self._settings = {}
        self._call = self.__call__ = _core.RawCall(self._make, self.enable_cooperative_groups)

    @classmethod
    def _in(cls, module, name):
        """Make the kernel of a RawModule."""
        made = cls.__new__(cls)
        made.code, made.name, made.options, made.backend = module.code, name, module.options, module.backend
        made.translate_cucomplex = module.translate_cucomplex
        made.enable_cooperative_groups = module.enable_cooperative_groups
        made._of = module
        made._begin()
        return made

    def _make(self, device):
        if self._of is not None:
            program = self._of._on(device)
        else:
            names = (self.name,) if "<" in self.name else ()
            program = compiled(self.code, self.translate_cucomplex, self.options, names, device)
        kernel = program.kernel(self.name)
        for number, value in self._settings.items():
            kernel.set_attribute(number, value)
        return kernel

    @property
    def kernel(self):
        """The kernel for the current device, a treadle Kernel."""
        return self._call.kernel()

    def compile(self, log_stream=None):
        """Compile for the current device now. The compiler's messages go to log_stream."""
        kernel = self.kernel
        if log_stream is not None:
            log_stream.write(getattr(getattr(kernel, "program", None), "log", "") or "")

    @property
    def attributes(self):
        """A dict of the kernel's attributes from the driver, on the current device. Unknown ones are 0."""
        return {name: getattr(self, name) for name in _ATTRIBUTES}

    def _key(self):
        return (self.code, self.name, self.options, self.backend, self.translate_cucomplex,
                self.enable_cooperative_groups, self._of)  # fmt: skip

    def __reduce__(self):
        if self._of is not None:
            return RawModule.get_function, (self._of, self.name)
        return _kernel_again, (self.code, self.name, self.options, self.backend, self.translate_cucomplex,
                               self.enable_cooperative_groups)  # fmt: skip

    def __repr__(self):
        return f"<RawKernel {self.name}>"


def _attribute(name, number):
    def get(self):
        return self.kernel.attribute(number) or 0

    def put(self, value):
        self.kernel.set_attribute(number, value)
        self._settings[number] = value

    return property(get, put if _settable(name) else None, doc=f"The kernel's {name} on the current device.")


for _name, _number in _ATTRIBUTES.items():
    setattr(RawKernel, _name, _attribute(_name, _number))


def _kernel_again(code, name, options, backend, translate_cucomplex, cooperative):
    return RawKernel(code, name, options, backend, translate_cucomplex=translate_cucomplex,
                     enable_cooperative_groups=cooperative)  # fmt: skip


def _options(options):
    if isinstance(options, str):
        raise TypeError("options is a tuple of str, not one str")
    return tuple(options)


def _check(backend, jitify):
    if jitify:
        raise ValueError(
            "jitify=True is not supported: NVRTC compiles the text by itself; #include needs -I and its folder"
        )
    if backend not in _BACKENDS:
        raise ValueError(f"backend {backend!r} is not one of {', '.join(_BACKENDS)}")


def compiled(code, translate_cucomplex, options, names, device):
    """The Program of a text. translate_cucomplex replaces names of cuComplex.h by CuPy's complex<>."""
    if translate_cucomplex:
        code = _COMPLEX + "#line 1\n" + code.replace("#include <cuComplex.h>", "").replace('#include "cuComplex.h"', "")
    if "cupy/complex.cuh" in code:
        options = (*options, _rawtext.include_option())
    return _core.program(code, device=device, options=options, names=names)


class RawModule(_Keyed):
    """Many kernels and variables of one CUDA C++ text or one compiled file.

    It is compiled for a device when something is first asked for there. Instances of a template that the text has no
    variables for are also compiled when they are asked for.

    Parameters
    ----------
    code : str, optional
        The text.
    path : str or path, optional
        A compiled file (cubin, PTX, fatbin), which needs a GPU.
    options : tuple of str, default ()
        As RawKernel's.
    backend, translate_cucomplex, enable_cooperative_groups, jitify : any, default 'nvrtc'
        Accepted for CuPy's signature.
    name_expressions : sequence of str, optional
        Template instances to compile, as "f<float>".

    Raises
    ------
    CompileError
        The text has errors; the compiler's text says which.

    Examples
    --------
    >>> m = np.RawModule(code="__global__ void f(int *x) { x[threadIdx.x] = 1; }")
    >>> type(m).__name__
    'RawModule'
    """

    def __init__(self, code=None, *, path=None, options=(), backend="nvrtc", translate_cucomplex=False,
                 enable_cooperative_groups=False, name_expressions=None, jitify=False):  # fmt: skip
        if (code is None) == (path is None):
            raise TypeError("RawModule: code= or path= is needed, one of them")
        if path is not None and name_expressions:
            raise ValueError("RawModule: name_expressions are for code=")
        _check(backend, jitify)
        self.code, self.file_path, self.options, self.backend = code, path, _options(options), backend
        self.translate_cucomplex = translate_cucomplex
        self.enable_cooperative_groups = enable_cooperative_groups
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        self._programs = {}

    def _on(self, device):
        found = self._programs.get(device)
        if found is None:
            if self.file_path is not None:
                with open(os.fspath(self.file_path), "rb") as f:
                    found = _core.load_program(f.read(), device=device)
            else:
                names = self.name_expressions or ()
                found = compiled(self.code, self.translate_cucomplex, self.options, names, device)
            found = self._programs.setdefault(device, found)
        return found

    @property
    def module(self):
        """The Program for the current device."""
        return self._on(_core.device())

    def compile(self, log_stream=None):
        """Compile for the current device now. The compiler's messages go to log_stream."""
        log = self.module.log
        if log_stream is not None and log:
            log_stream.write(log)

    def get_function(self, name):
        """The RawKernel of that name. Raises ValueError for an unknown name, and lists the known ones."""
        made = RawKernel._in(self, name)
        made.compile()
        return made

    def get_global(self, name):
        """The MemoryPointer of a __device__ or __constant__ variable on the current device. Raises ValueError for an
        unknown name."""
        from ..cuda import MemoryPointer, UnownedMemory

        program = self.module
        ptr, nbytes = program.variable(name)
        return MemoryPointer(UnownedMemory(ptr, nbytes, program), 0)

    def _key(self):
        return (self.code, self.file_path, self.options, self.backend, self.translate_cucomplex,
                self.enable_cooperative_groups, self.name_expressions)  # fmt: skip

    def __reduce__(self):
        return _module_again, self._key()

    def __repr__(self):
        return f"<RawModule of {self.file_path or f'{len(self.code)} characters'}>"


def _module_again(code, path, options, backend, translate_cucomplex, cooperative, names):
    return RawModule(code, path=path, options=options, backend=backend, translate_cucomplex=translate_cucomplex,
                     enable_cooperative_groups=cooperative, name_expressions=names)  # fmt: skip
