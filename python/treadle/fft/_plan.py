"""Transforms by the device's library, of complex numbers, of real ones, and back to real ones, times a factor.

On a GPU it is cuFFT. A call takes up to three axes: transforms of more are made of several calls, and the factor is an
operation of its own. On the CPU it is ducc0, which takes all axes and the factor in one call.
"""

from .. import _core
from .._core import arange, empty, zeros
from .._numpy._math._values import where
from .._numpy._repeat import roll
from .._numpy._shape import moveaxis

_conj = _core.ufuncs()["conjugate"]

_C2C, _R2C, _C2R, _R2F = range(4)  # the last, real to all complex numbers, is the CPU's alone
_RANK = 3  # axes that cuFFT transforms at once


def _complex(a):
    """a in the complex dtype of its transform."""
    if a.dtype.kind == "c":
        return a
    return a.astype("complex64" if a.dtype.kind in "fV" and a.dtype.itemsize <= 4 else "complex128")


def _real(a):
    if a.dtype.kind == "c":
        raise TypeError(f"a transform of real numbers takes no {a.dtype}; use fft, or the real part")
    single = a.dtype.kind in "fV" and a.dtype.itemsize <= 4
    return a.astype("float32" if single else "float64", copy=False)


def _narrow(a, r):
    """The real transform of float16 is float16."""
    return r.astype(a.dtype) if a.dtype == "float16" else r


def _scaled(a, factor):
    return a if factor == 1 else a * factor


def _on_cpu(a, shape, dtype, kind, inverse, axes, factor):
    """The transform of a along distinct axes, the halved one last, as an array of that shape and dtype."""
    r = empty(shape, dtype, device=a.device)
    _core._fourier_host(a, r, kind, inverse, tuple(axes), factor)
    return r


def _execute(a, shape, dtype, kind, inverse, axes):
    """The same on a GPU along up to three axes, without a factor."""
    r = empty(shape, dtype, device=a.device)
    if axes[0] == a.ndim - len(axes) and axes[-1] == a.ndim - 1 and _core._fourier(a, r, kind, inverse, len(axes)):
        return r
    last = tuple(range(-len(axes), 0))
    source = moveaxis(a, axes, last)
    if _core._fourier(source, moveaxis(r, axes, last), kind, inverse, len(axes)):
        return r
    order = [k for k in range(a.ndim) if k not in axes] + list(axes)  # axes that lie between them go last
    r = empty([shape[k] for k in order], dtype, device=a.device)
    _core._fourier(source, r, kind, inverse, len(axes))
    return moveaxis(r, last, axes)


def _fit(a, sizes):
    """a cut, or filled up with zeros, to sizes[k] elements along each axis k."""
    shape = [sizes.get(k, n) for k, n in enumerate(a.shape)]
    if tuple(shape) == a.shape:
        return a
    kept = tuple(slice(min(n, m)) for n, m in zip(shape, a.shape, strict=True))
    if all(n <= m for n, m in zip(shape, a.shape, strict=True)):
        return a[kept]
    r = zeros(shape, a.dtype, device=a.device)
    r[kept] = a[kept]
    return r


def _full(a, axes, inverse, factor):
    """All complex numbers of the transform of real or complex ones, along distinct axes in any order."""
    if a.device.host and a.dtype.kind != "c" and axes:
        a = _real(a)
        return _on_cpu(a, a.shape, _complex_of(a.dtype), _R2F, inverse, axes, factor)
    return _c2c(_complex(a), axes, inverse, factor)


def _c2c(a, axes, inverse, factor=1):
    """Along distinct axes in any order."""
    if a.device.host and axes:
        return _on_cpu(a, a.shape, a.dtype, _C2C, inverse, axes, factor)
    for k in range(0, len(axes), _RANK):
        a = _execute(a, a.shape, a.dtype, _C2C, inverse, sorted(axes[k : k + _RANK]))
    return _scaled(a, factor)


def _r2c(a, axes, factor):
    """Along distinct axes, of which the last is halved."""
    shape = list(a.shape)
    shape[axes[-1]] = shape[axes[-1]] // 2 + 1
    if a.device.host:
        return _on_cpu(a, shape, _complex_of(a.dtype), _R2C, False, axes, factor)
    now, rest = axes[-_RANK:], axes[:-_RANK]
    r = _execute(a, shape, _complex_of(a.dtype), _R2C, False, [*sorted(now[:-1]), now[-1]])
    return _c2c(r, rest, False, factor)


def _c2r(a, axes, n, factor):
    """Along distinct axes, of which the last has n // 2 + 1 numbers; cuFFT uses its input up."""
    shape = list(a.shape)
    shape[axes[-1]] = n
    if a.device.host:
        return _on_cpu(a, shape, _real_of(a.dtype), _C2R, True, axes, factor)
    now = axes[-_RANK:]
    a = _c2c(a, axes[:-_RANK], True)
    a = _hermitian_alone(a, axes[-1], n) if len(now) == 1 else _hermitian(a.copy(), now, n)
    return _scaled(_execute(a, shape, _real_of(a.dtype), _C2R, True, [*sorted(now[:-1]), now[-1]]), factor)


def _hermitian_alone(a, axis, n):
    """A copy of a without the imaginary parts that have to be 0, at which NumPy does not look."""
    k = arange(n // 2 + 1, device=a.device)
    edge = ((k == 0) | (2 * k == n)).reshape([-1 if i == axis else 1 for i in range(a.ndim)])
    return where(edge, a.real, a)


def _hermitian(z, axes, n):
    """z, in which the numbers that stand for themselves and their conjugates along the other axes are so: as if NumPy,
    which goes one axis after the other, had dropped the imaginary parts before the last."""
    for edge in {0, n // 2} if n % 2 == 0 else {0}:
        plane = z[(*[slice(None)] * axes[-1], slice(edge, edge + 1))]
        mirrored = plane
        for k in axes[:-1]:
            mirrored = roll(mirrored[(*[slice(None)] * k, slice(None, None, -1))], 1, k)
        plane[...] = (plane + _conj(mirrored)) * 0.5
    return z


def _complex_of(dtype):
    return "complex64" if dtype.itemsize == 4 else "complex128"


def _real_of(dtype):
    return "float32" if dtype.itemsize == 8 else "float64"
