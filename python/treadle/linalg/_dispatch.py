"""Who computes factorisations: the device's library, or NumPy on the array's own memory; and what all of them check.

Small matrices on a CPU go through the core's loops, and stacks of others through threads.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial, wraps
from math import prod

import numpy
from numpy.linalg import LinAlgError

from .. import _core
from .._exchange import _host
from .._numpy._create._matrices import eye
from .._numpy._shape import broadcast_to, matrix_transpose
from . import _solver

_conj = _core.ufuncs()["conjugate"]


def _library(*rows, operands=1, small=None):
    """A decorator for a function that uses these rows of solver.def from the device's library.

    small: what computes many small matrices on a CPU, for the same arguments; it returns None for others.

    Where the library lacks them, NumPy's function is called: on a CPU that is its library, on a GPU without cuSOLVER
    it is a fallback. The decorated function gets its first operands as arrays on one device, in a dtype that can be
    factorised.
    """

    def decorate(f):
        name, names = f.__name__, f.__code__.co_varnames[:operands]

        @wraps(f)
        def fn(*args, **kwargs):
            args = [*args, *(kwargs.pop(k) for k in names[len(args) :] if k in kwargs)]
            if len(args) < operands:
                raise TypeError(f"{name}() missing {operands - len(args)} required positional argument")
            given = _core._beside(name, *args[:operands])
            why = _solver.missing(given[0].device, *rows)
            r = small(*given, *args[operands:], **kwargs) if small and why is None else None
            if r is not None:
                return r
            if why == "":
                return f(*_common(given), *args[operands:], **kwargs)
            theirs = partial(_by_threads, getattr(numpy.linalg, name), operands)
            return _host.library(f"numpy.linalg.{name}", theirs, (*given, *args[operands:]), kwargs, why)

        return _host.few(getattr(numpy.linalg, name), 4, axes=2)(fn) if hasattr(numpy.linalg, name) else fn

    return decorate


_THREADS_FROM = 1 << 15  # elements of all matrices together, from which several threads are faster
_THREADS_TO = 128  # rows of one matrix; LAPACK uses several threads itself for larger ones


@cache
def _pool():
    """Threads that are kept, since to start them takes longer than many calls. A forked child starts its own."""
    os.register_at_fork(after_in_child=_pool.cache_clear)
    return ThreadPoolExecutor(os.cpu_count(), "treadle-linalg")


def _by_threads(f, operands, *args, **kwargs):
    """Call NumPy's f on NumPy's arrays. Many small matrices are divided among threads."""
    given, rest = args[:operands], args[operands:]
    first = given[0]
    count = min(len(os.sched_getaffinity(0)), first.shape[0] if first.ndim > 2 else 1)
    alike = all(x.ndim == first.ndim and x.shape[:1] == first.shape[:1] for x in given)
    plain = all(numpy.ndim(x) == 0 for x in (*rest, *kwargs.values()))
    if count < 2 or first.size < _THREADS_FROM or max(first.shape[-2:]) > _THREADS_TO or not (alike and plain):
        return f(*args, **kwargs)
    edges = [first.shape[0] * i // count for i in range(count + 1)]
    parts = list(_pool().map(lambda i, j: f(*(x[i:j] for x in given), *rest, **kwargs), edges[:-1], edges[1:]))
    if not isinstance(parts[0], tuple):
        return numpy.concatenate(parts)
    whole = map(numpy.concatenate, zip(*parts, strict=True))
    return type(parts[0])(*whole) if hasattr(parts[0], "_fields") else tuple(whole)


# At least this many matrices, of at most this many rows and right sides: the CPU's own code takes them all in one call.
# It inverts those of up to 48 rows faster than LAPACK does.
_SMALL_MANY, _SMALL_ROWS, _SMALL_INVERSE = 16, 64, 48


def _small_batch(a, *more):
    """The common leading extents of a and more, if they are many small matrices for _small_*. Else None."""
    kinds = {x.dtype.str for x in (a, *more)}
    n = a.shape[-1] if a.ndim > 1 else 0
    if kinds not in ({"<f4"}, {"<f8"}) or not 0 < n <= _SMALL_ROWS or a.shape[-2] != n:
        return None
    try:
        batch = numpy.broadcast_shapes(a.shape[:-2], *(x.shape[:-2] for x in more))
    except ValueError:
        return None
    return batch if prod(batch) >= _SMALL_MANY else None


def _small_systems(a, x, batch):
    """Solve a x = b in place: x holds b and becomes the solution."""
    _solver.solve_small(broadcast_to(a, (*batch, *a.shape[-2:])), x, _SINGULAR)
    return x


def _small_solve(a, b):
    x = b[:, None] if b.ndim == 1 else b
    if x.ndim < 2 or a.ndim < 2 or x.shape[-2] != a.shape[-1] or not 0 < x.shape[-1] <= _SMALL_ROWS:
        return None
    batch = _small_batch(a, x)
    if batch is None:
        return None
    r = _small_systems(a, broadcast_to(x, (*batch, *x.shape[-2:])).copy(), batch)
    return r[..., 0] if b.ndim == 1 else r


def _small_inv(a):
    batch = _small_batch(a) if a.ndim and a.shape[-1] <= _SMALL_INVERSE else None
    return None if batch is None else _small_systems(a, _unit(a.shape[-1], a), batch)


def _small_cholesky(a, /, *, upper=False):
    if _small_batch(a) is None:
        return None
    return _solver.cholesky_small(a.copy(), upper, _INDEFINITE)


def _small_diagonals(a):
    """What _solver.determinant returns."""
    return None if _small_batch(a) is None else _solver.determinant_small(a)


_SINGULAR, _INDEFINITE = "Singular matrix", "Matrix is not positive definite"


def _common(arrays):
    """The arrays in the dtype in which NumPy computes: integers become float64."""
    kinds = [x.dtype for x in arrays]
    for dt in kinds:
        if dt.kind not in "biufc" or dt == "float16":
            raise TypeError(f"array type {dt.name} is unsupported in linalg")
    dt = numpy.result_type(*(dt if dt.kind in "fc" else "float64" for dt in kinds))
    return [x.astype(dt, copy=False) for x in arrays]


_result_types = {}


def _result(name, *values):
    """The function's results as NumPy's named tuple."""
    if name not in _result_types:
        _result_types[name] = type(getattr(numpy.linalg, name)(numpy.eye(1)))
    kind = _result_types[name]
    return kind(*values) if hasattr(kind, "_fields") else values


def _stacked(*arrays):
    for a in arrays:
        if a.ndim < 2:
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")


def _square(a):
    _stacked(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"Last 2 dimensions of the array must be square: its shape is {a.shape}")


def _unit(count, like):
    return broadcast_to(eye(count, dtype=like.dtype, device=like.device), (*like.shape[:-2], count, count)).copy()


def _adjoint(a):
    a = matrix_transpose(a)
    return _conj(a) if a.dtype.kind == "c" else a
