"""``cuda.jit``: kernels and device functions written in Python."""

from .. import _core
from .._compile._function import FUNCTION, KERNEL, Function, is_signature, signatures_of
from ..types import parse

_REGISTERS, _CONST, _LOCAL, _THREADS = 4, 2, 3, 0  # CU_FUNC_ATTRIBUTE_…
_SHARED = 1


class Kernel(Function):
    """A function compiled by cuda.jit. ``k[grid, block](*args)``, ``k[grid, block, stream, shared_bytes](*args)``.

    grid, block: an int or a tuple of up to 3; stream: a Stream, 0 for the default one; shared_bytes: of dynamic
    shared memory. It runs where its arrays are, without arrays on the current device; host arrays are copied to a
    GPU and back. ValueError, TypeError: before anything runs. What the kernel itself raises comes at the next wait."""

    specialized = False
    extensions = ()

    def _arch(self, compiled):
        arch = _core.device(compiled.device).arch
        return arch if arch.startswith("sm_") else "sm_80"

    def configure(self, griddim, blockdim, stream=0, sharedmem=0):
        """self[griddim, blockdim, stream, sharedmem]"""
        return self[griddim, blockdim, stream, sharedmem]

    def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
        """The kernel launched with at least ntasks threads in one dimension; tpb: threads a block, 0: 256."""
        if ntasks < 0:
            raise ValueError(f"forall: {ntasks} tasks")
        if ntasks == 0:
            return lambda *args: None
        block = tpb or min(256, self._core_options.get("threads") or 256)
        return self[(ntasks + block - 1) // block, block, stream, sharedmem]

    def specialize(self, *args):
        """A kernel for these arguments' types alone: calls of others raise TypeError."""
        one = Kernel(self.py_func, self.targetoptions, **self._core_options)
        one.specialized = True
        one.declare(tuple(parse(t) for t in self._types(*args)))
        return one

    def _attribute_of(self, number, signature, otherwise=0):
        if signature is None and self.specialized:
            return self._compiled()[0].attribute(number, otherwise)
        return self._each(signature, lambda c: c.attribute(number, otherwise))

    def get_regs_per_thread(self, signature=None):
        """Registers that a thread takes; without a signature a dict of all compilations."""
        return self._attribute_of(_REGISTERS, signature)

    def get_const_mem_size(self, signature=None):
        """Bytes of constant memory; without a signature a dict of all compilations."""
        return self._attribute_of(_CONST, signature)

    def get_shared_mem_per_block(self, signature=None):
        """Bytes of static shared memory; without a signature a dict of all compilations."""
        if signature is None and self.specialized:
            return self._compiled()[0].shared
        return self._each(signature, lambda c: c.shared)

    def get_local_mem_per_thread(self, signature=None):
        """Bytes of local memory; without a signature a dict of all compilations."""
        return self._attribute_of(_LOCAL, signature)

    def get_max_threads_per_block(self, signature=None):
        """The most threads that a block of the kernel can have; without a signature a dict of all compilations."""
        return self._attribute_of(_THREADS, signature, 1024)

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0, signature=None):
        """How many blocks of blockdim threads can be on the device at once, as grid.sync() needs."""
        return self._each(signature, lambda c: c.max_cooperative_grid_blocks(blockdim, dynsmemsize))

    def lint(self):
        found = super().lint()
        for c in self._compiled():
            if c.attribute(_LOCAL):
                found.append(f"{c}: {c.attribute(_LOCAL)} bytes of a thread do not fit its registers")
        return found

    lint.__doc__ = Function.lint.__doc__

    def inspect_sass(self, signature=None):
        """The GPU's instructions; needs cuobjdump and ptxas of the CUDA toolkit on PATH."""
        return self._each(signature, lambda c: _sass(c.text("ptx", self._arch(c)), self._arch(c)))

    def inspect_lto_ptx(self, signature=None):
        """The PTX: link-time optimisation is not done."""
        return self.inspect_asm(signature)


def _sass(ptx, arch):
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/k.ptx", "w") as f:
            f.write(ptx)
        try:
            subprocess.run(["ptxas", f"-arch={arch}", "k.ptx", "-o", "k.cubin"], cwd=folder, check=True)
            dump = ["cuobjdump", "-sass", "k.cubin"]
            run = subprocess.run(dump, cwd=folder, check=True, capture_output=True, text=True)
        except FileNotFoundError as e:
            raise RuntimeError(f"inspect_sass: {e.filename} of the CUDA toolkit is not on PATH") from None
    return run.stdout


_IGNORED = {"cache", "inline", "forceinline", "nopython", "lto", "shared_memory_carveout", "ensure"}
_KNOWN = {"opt", "lineinfo", "debug", "fastmath", "fma", "max_registers", "launch_bounds", "boundscheck", "_numba"}
_REFUSED = {
    "link": "linking compiled CUDA code into a kernel is not supported: write the function in Python, or a whole "
    "kernel in CUDA C",
    "extensions": "extensions of how arguments are passed are not supported: give arrays, numbers and tuples of them",
    "bind": "bind=False has been removed",
}


def _check(options):
    for name, why in _REFUSED.items():
        if options.get(name):
            raise NotImplementedError(f"cuda.jit: {name}=: {why}")
    unknown = set(options) - _IGNORED - _KNOWN - set(_REFUSED)
    if unknown:
        raise TypeError(f"cuda.jit: {', '.join(sorted(unknown))} is not an option; docs/numba.md tells which there are")


def _threads(bounds):
    if bounds is None or isinstance(bounds, int):
        return bounds or 0
    return bounds[0]


def _declare(function, signatures):
    """Declare the types of a device function's arguments and result."""
    from ..types import normalize

    for sig in signatures:
        args, returns = normalize(sig)
        function._declare(args, None if getattr(returns, "kind", "none") == "none" else returns)


def jit(func_or_sig=None, device=False, **options):
    """Compiles a function for the threads of a GPU or of the CPU that plays one.

    func_or_sig: the function (``@cuda.jit``), or one signature or a list of them: then it is compiled at once and
    launches are fitted to them. device: kernels call it, it is not launched. options:
      debug          indices are checked, and IndexError tells array, index, block and thread; dividing by zero raises
                     ZeroDivisionError
      boundscheck    indices are checked as under debug, and no more
      fastmath       approximate division, square roots and functions, sums reordered
      fma            False: products and sums are not contracted
      max_registers  the most a thread may take
      launch_bounds  the most threads of a block (an int, or a tuple that begins with it)
      lineinfo       a GPU's code tells which lines it is of, to profilers
      opt            False: loops are not unrolled or otherwise changed, which compiles quicker
    cache, inline and forceinline change nothing: compiled code is always kept on disk, and functions are inlined.
    link= raises NotImplementedError. TypeError: the function uses what cannot be compiled."""
    _check(options)

    def decorate(fn):
        k = Kernel(
            fn,
            {"device": device, **options},
            mode=KERNEL,
            device=device,
            debug=bool(options.get("debug") or options.get("boundscheck")),
            checked=bool(options.get("debug")),
            fma=bool(options.get("fma", True)),
            fast=bool(options.get("fastmath")),
            threads=_threads(options.get("launch_bounds")),
            registers=options.get("max_registers") or 0,
            lines=bool(options.get("lineinfo")),
            plain=options.get("opt") in (False, 0),
            numba=bool(options.get("_numba")),
        )
        declared = signatures_of(func_or_sig) if func_or_sig is not fn else []
        if device and declared:
            _declare(k, func_or_sig if len(declared) > 1 or isinstance(func_or_sig, list) else [func_or_sig])
        for args in declared if not device else ():
            k.declare(args)
            k.compile_declared(args)
            k.specialized = len(declared) == 1
        return k

    return decorate if is_signature(func_or_sig) else decorate(func_or_sig)


def _arch(cc):
    if cc is None:
        return "sm_80"
    major, minor = cc[:2]
    return f"sm_{major}{minor}"


def compile(pyfunc, sig, debug=None, lineinfo=False, device=True, fastmath=False, cc=None, opt=None, abi="c",
            abi_info=None, output="ptx", forceinline=False, launch_bounds=None):  # fmt: skip
    """The PTX of a function for a signature, and the type that it returns, without a device.

    device: a function that returns something, not a kernel; then a last parameter is the address of the result. cc: a
    compute capability (9, 0); None: (8, 0). output: "ptx"; linkable IR raises NotImplementedError."""
    if output != "ptx":
        raise NotImplementedError(f"cuda.compile: output {output!r}: there is 'ptx'")
    mode = FUNCTION if device else KERNEL
    f = Function(pyfunc, {}, mode=mode, fast=bool(fastmath), debug=bool(debug), checked=bool(debug),
                 threads=_threads(launch_bounds), lines=bool(lineinfo), plain=opt in (False, 0))  # fmt: skip
    (args,) = signatures_of(sig)
    text, about = f._build(args, "ptx", None, _arch(cc))
    return text.decode(), parse(about["result"]) if device else parse(None)


def compile_ptx(pyfunc, sig, debug=None, lineinfo=False, device=False, fastmath=False, cc=None, opt=None, abi="c",
                abi_info=None, forceinline=False, launch_bounds=None):  # fmt: skip
    """As compile, of a kernel unless device=True."""
    return compile(pyfunc, sig, debug, lineinfo, device, fastmath, cc, opt, launch_bounds=launch_bounds)


def compile_for_current_device(pyfunc, sig, **options):
    """As compile, for the compute capability of the current device."""
    arch = _core.device().arch
    cc = (int(arch[3:-1]), int(arch[-1])) if arch.startswith("sm_") else None
    return compile(pyfunc, sig, cc=cc, **options)


def compile_ptx_for_current_device(pyfunc, sig, device=False, **options):
    """As compile_ptx, for the compute capability of the current device."""
    return compile_for_current_device(pyfunc, sig, device=device, **options)


def compile_all(pyfunc, sig, device=True, **options):
    """As compile, with the texts in a list: functions that it calls are in the one text."""
    text, result = compile(pyfunc, sig, device=device, **options)
    return [text], result


def declare_device(name, sig, link=None, **options):
    """Refused: functions of compiled CUDA code cannot be called from kernels here."""
    raise NotImplementedError(f"cuda.declare_device({name!r}): {_REFUSED['link']}")
