"""Measures what a change would save: both ways of doing a piece of work, on arrays made for it.

A trial runs after the program, on arrays of at most MOST bytes, and takes some ten milliseconds. It neither calls nor
changes anything of the program's.
"""

import functools
import time

import numpy

from .. import _core

MOST = 32 << 20  # bytes of a trial's array, at most


def _both(f, g, rounds=12):
    """Seconds of a call of f and of a call of g: the least of a few, after a first call that compiles.

    The calls alternate, so that other load on the machine affects both."""
    f(), g()
    least = [9.0, 9.0]
    for _ in range(rounds):
        for i, call in enumerate((f, g)):
            begin = time.perf_counter()
            call()
            least[i] = min(least[i], time.perf_counter() - begin)
    return least


def _run(*arrays):
    _core.evaluate(*arrays)
    _core.synchronize()


@functools.lru_cache(64)
def elements(shape, dtype, write, device):
    """Seconds of one iteration that reads or writes an element in a Python loop, and of one operation on the whole
    array.

    With device None these are NumPy's arrays, else treadle's."""
    shape = shape if shape and numpy.prod(shape) * 16 <= MOST else (4096,)
    a = numpy.zeros(shape, dtype)
    if device is not None:
        a = _core.asarray(a, device=device)
    at, n = (0,) * len(shape), 400 if device is None else 40

    def loop():
        s = 0.0
        for _ in range(n):
            if write:
                a[at] = 1
            else:
                s += a[at] if device is None else a[at].item()
        return s

    def whole():
        if write:
            a[...] = 1
        else:
            float(abs(a.sum()))

    one, all_of = _both(loop, whole, 4)
    return one / n, all_of


@functools.lru_cache(64)
def precisions(nbytes, device):
    """Seconds of an operation on arrays of nbytes in float64, and of the same in float32."""
    n = max(min(nbytes, MOST) // 8, 1)
    scale = max(nbytes / 8 / n, 1.0)

    double, single = (_core.asarray(numpy.ones(n, t), device=device) for t in ("float64", "float32"))
    return [scale * t for t in _both(lambda: _run(double * double + double), lambda: _run(single * single + single))]


@functools.lru_cache(64)
def columns(shape, strides, dtype):
    """Seconds of NumPy's sum of an array with these strides, and of a contiguous one."""
    span = sum(abs(s) * (n - 1) for n, s in zip(shape, strides, strict=True)) + numpy.dtype(dtype).itemsize
    if span > 4 * MOST or not shape:
        return None
    # As large as the program's array, so that caches hold no more of it than they did for the program.
    room = numpy.ones(span // numpy.dtype(dtype).itemsize + 64, dtype)
    apart = numpy.lib.stride_tricks.as_strided(room, shape, [abs(s) for s in strides])
    near = numpy.ones(shape, dtype)
    return _both(apart.sum, near.sum)


@functools.lru_cache(64)
def orders(nbytes, device):
    """Seconds of a + b.T and of a + b, for arrays of nbytes."""
    side = max(int((min(nbytes, MOST) / 8) ** 0.5), 1)
    scale = max(nbytes / 8 / side**2, 1.0)
    a = _core.asarray(numpy.ones((side, side)), device=device)
    return [scale * t for t in _both(lambda: _run(a + a.T), lambda: _run(a + a), 6)]


@functools.lru_cache(16)
def demands(device):
    """Seconds that reading one number costs, beyond recording its computation."""
    a = _core.asarray(numpy.ones(4096), device=device)

    def looked():
        for _ in range(10):
            (a * 0.5).sum().item()

    def recorded():
        kept = [(a * 0.5).sum() for _ in range(10)]
        _run(*kept)

    one_by_one, together = _both(looked, recorded)
    return max(one_by_one - together, 0.0) / 10


@functools.lru_cache(16)
def launches(nbytes, device):
    """Seconds of 50 launches on nbytes each, and of one launch on all of it."""
    n = max(min(nbytes // 8, MOST // 800), 1)
    one = _core.asarray(numpy.ones(n), device=device)
    all_of = _core.asarray(numpy.ones(50 * n), device=device)

    def single():
        for _ in range(50):
            _core.evaluate(one * 2.0)
        _core.synchronize()

    return _both(single, lambda: _run(all_of * 2.0), 6)


@functools.lru_cache(64)
def calls(name, elements, dtype):
    """Seconds of a small call of NumPy's function, and of one on a thousand times as many elements. None where not
    known."""
    f = getattr(numpy, name.rpartition(".")[2], None)
    one, many = numpy.ones(max(elements, 1), dtype), numpy.ones((1000, max(elements, 1)), dtype)
    if isinstance(f, numpy.ufunc):
        run = [lambda: f(*(one,) * f.nin), lambda: f(*(many,) * f.nin)]
    elif name.rpartition(".")[2] in ("sum", "mean", "max", "min", "prod", "std", "var", "argmax", "argmin"):
        run = [lambda: f(one), lambda: f(many, axis=1)]
    else:
        return None
    return _both(*run)
