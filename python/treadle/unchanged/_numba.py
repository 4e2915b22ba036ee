"""Numba's names, for programs that import it: treadle's compilers and types.

Numba's functions work on the host. On a GPU treadle's run there, where their loops allow it; those whose loops run in
order get their arrays on the host instead.
"""

import functools

import numpy

from treadle import _core, cuda, experimental, guvectorize, prange, stencil, typed, types, vectorize
from treadle._compile import _jit
from treadle._compile._jit import CPUFunction
from treadle.types import *  # noqa: F403

__all__ = ["cuda", "experimental", "guvectorize", "jit", "njit", "prange", "stencil", "typed", "types", "vectorize"]


class HostFunction(CPUFunction):
    """A compiled function of a program whose arrays are on a GPU."""

    _down = False  # has it turned out to be one for the host?

    def __call__(self, *args):
        if not self._down:
            there = {i: _core._unchanged_target(a) for i, a in enumerate(args) if _is_far(a)}
            try:
                if there and all(target is not None for target in there.values()):
                    return _core._unchanged_shown(super().__call__(*[there.get(i, a) for i, a in enumerate(args)]))
            except TypeError:
                self._down = True
            finally:
                for i, target in there.items():
                    _core._unchanged_written(args[i], target)
        return super().__call__(*args)


def _is_far(a):
    return type(a) is numpy.ndarray and _core._unchanged_far(a)


def _made(f):
    if type(f) is CPUFunction and _core.device().kind != "cpu":
        f.__class__ = HostFunction
    return f


@functools.wraps(_jit.jit)
def jit(signature_or_function=None, **options):
    made = _jit.jit(signature_or_function, **options)
    return _made(made) if isinstance(made, CPUFunction) else lambda fn: _made(made(fn))


njit = jit
