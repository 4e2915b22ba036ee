"""Numba's names, for programs that import it: treadle's compilers and types.

Numba's functions work on the host. On a GPU treadle's run there, where their loops allow it; those whose loops run in
order get their arrays on the host instead.
"""

import functools

from treadle import _core, cuda, guvectorize, prange, stencil, types, vectorize
from treadle._compile import _jit
from treadle._compile._jit import CPUFunction
from treadle.types import *  # noqa: F403

__all__ = ["cuda", "guvectorize", "jit", "njit", "prange", "stencil", "types", "vectorize"]


class HostFunction(CPUFunction):
    """A compiled function of a program whose arrays are on a GPU."""

    _down = False  # has it turned out to be one for the host?

    def __call__(self, *args):
        if not self._down:
            try:
                return super().__call__(*args)
            except TypeError:
                if not any(map(_is_gpu, args)):
                    raise
        r = _on_host(super().__call__, args)
        self._down = True
        return r


def _is_gpu(a):
    held = _core._proxy_held(a) if type(a) is _core.proxy else None
    return isinstance(held, _core.ndarray) and held.device.kind != "cpu"


def _on_host(f, args):
    """f of arrays that come down; what others are views of is copied, and takes what was written."""
    copies, plain = [], []
    for a in args:
        if _is_gpu(a):
            _core._proxy_down(a)
        if _is_gpu(a):
            copies.append((a, _core._proxy_host(a)))
            a = copies[-1][1]
        plain.append(a)
    r = f(*plain)
    for a, host in copies:
        _core._proxy_held(a)[...] = host
    return r


def _made(f):
    if type(f) is CPUFunction and _core.device().kind != "cpu":
        f.__class__ = HostFunction
    return f


@functools.wraps(_jit.jit)
def jit(signature_or_function=None, **options):
    made = _jit.jit(signature_or_function, **options)
    return _made(made) if isinstance(made, CPUFunction) else lambda fn: _made(made(fn))


njit = jit
