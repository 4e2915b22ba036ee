"""Binary and grey morphology of scipy.ndimage, and distance transforms."""

import math
import operator

import numpy

import treadle

from ... import _core
from ..._compile._jit import jit
from .._arguments import host
from . import _kernels as kernels
from ._filters import extreme
from ._support import axes_of, deliver, each, expand, offsets_of, output_dtype, places, real_array, spread

_AT_ONCE = 32  # steps between two checks for a change, at most


def _structure(rank, connectivity):
    if connectivity < 1:
        connectivity = 1
    if rank < 1:
        return numpy.array(True)
    return numpy.abs(numpy.indices([3] * rank) - 1).sum(0) <= connectivity


def generate_binary_structure(rank, connectivity):
    """The elements of a 3 x … x 3 box that differ from the centre in at most connectivity coordinates."""
    return _core.asarray(_structure(rank, connectivity))


def iterate_structure(structure, iterations, origin=None):
    """structure dilated by itself iterations - 1 times, in an array large enough for the result."""
    s = host(structure) != 0
    if iterations < 2:
        return _core.asarray(s)
    more = iterations - 1
    big = numpy.zeros([n + more * (n - 1) for n in s.shape], bool)
    big[tuple(slice(more * (n // 2), more * (n // 2) + n) for n in s.shape)] = s
    r = binary_dilation(_core.asarray(big), s, iterations=more)
    if origin is None:
        return r
    return r, [iterations * o for o in each(origin, s.ndim)]


# ---- binary ----


def _turned(structure, origins):
    origins = [-o - (s % 2 == 0) for o, s in zip(origins, structure.shape, strict=True)]
    return structure[(slice(None, None, -1),) * structure.ndim], origins


def _stepped(x, step, mask, iterations):
    """Apply step to x iterations times. With iterations < 1, apply it until nothing changes."""

    def one(a):
        r = step(a)
        return r if mask is None else treadle.where(mask, r, a)

    if iterations >= 1:
        for _ in range(iterations):
            x = one(x)
        return x
    count = 1
    while True:
        before = x
        for _ in range(count):
            x = one(x)
        if not bool((x != before).any()):
            return x
        count = min(2 * count, _AT_ONCE)


def _binary(what, input, structure, iterations, mask, output, border_value, origin, axes, turn=False):
    try:
        iterations = operator.index(iterations)
    except TypeError as e:
        raise TypeError("iterations parameter should be an integer") from e
    x = real_array(input)
    axes = axes_of(axes, x.ndim)
    n = len(axes)
    s = _structure(n, 1) if structure is None else host(structure).astype(bool)
    if s.ndim != n:
        raise RuntimeError("structure and input must have same dimensionality")
    if s.size < 1:
        raise RuntimeError("structure must not be empty")
    origins = each(origin, n)
    if turn:
        s, origins = _turned(s, origins)
    if mask is not None:
        mask = _core.asarray(mask)
        if mask.shape != x.shape:
            raise RuntimeError("mask and input must have equal sizes")
        mask = mask != 0
    x = x != 0
    s, origins = expand(s, axes, x.ndim), spread(origins, axes, x.ndim, 0)
    offsets = offsets_of(s, origins)
    modes, ones = [4] * x.ndim, numpy.ones(len(offsets))
    if not len(offsets):
        r = treadle.full(x.shape, what is kernels.ALL, dtype=bool, device=x.device)
        r = r if mask is None else treadle.where(mask, r, x)
    else:
        edge = bool(border_value)
        r = _stepped(
            x, lambda a: kernels.over_footprint(what, a, offsets, ones, modes, edge, "bool"), mask, iterations
        )
    if isinstance(output, (_core.ndarray, numpy.ndarray)) and numpy.dtype(output.dtype).kind == "c":
        raise TypeError("Complex output type not supported")
    return deliver(r, output)


def binary_erosion(
    input, structure=None, iterations=1, mask=None, output=None, border_value=0, origin=0, brute_force=False, *,
    axes=None,
):  # fmt: skip
    """Where the structure, centred there, covers true elements only. iterations < 1: repeat until nothing changes."""
    return _binary(kernels.ALL, input, structure, iterations, mask, output, border_value, origin, axes)


def binary_dilation(
    input, structure=None, iterations=1, mask=None, output=None, border_value=0, origin=0, brute_force=False, *,
    axes=None,
):  # fmt: skip
    """The union of the structure centred on each true element. iterations < 1: repeat until nothing changes."""
    return _binary(kernels.ANY, input, structure, iterations, mask, output, border_value, origin, axes, True)


def binary_opening(
    input, structure=None, iterations=1, output=None, origin=0, mask=None, border_value=0, brute_force=False, *,
    axes=None,
):  # fmt: skip
    """binary_erosion, then binary_dilation."""
    r = binary_erosion(input, structure, iterations, mask, None, border_value, origin, axes=axes)
    return binary_dilation(r, structure, iterations, mask, output, border_value, origin, axes=axes)


def binary_closing(
    input, structure=None, iterations=1, output=None, origin=0, mask=None, border_value=0, brute_force=False, *,
    axes=None,
):  # fmt: skip
    """binary_dilation, then binary_erosion."""
    r = binary_dilation(input, structure, iterations, mask, None, border_value, origin, axes=axes)
    return binary_erosion(r, structure, iterations, mask, output, border_value, origin, axes=axes)


def binary_hit_or_miss(input, structure1=None, structure2=None, output=None, origin1=0, origin2=None, *, axes=None):
    """Where structure1 covers true elements only and structure2 covers false ones only."""
    n = len(axes_of(axes, _core.asarray(input).ndim))
    s1 = _structure(n, 1) if structure1 is None else host(structure1)
    s2 = numpy.logical_not(s1) if structure2 is None else host(structure2)
    hit = _binary(kernels.ALL, input, s1, 1, None, None, 0, origin1, axes)
    miss = _binary(kernels.ANY, input, s2, 1, None, None, 0, origin1 if origin2 is None else origin2, axes)
    r = deliver(hit & ~miss, output)
    return None if isinstance(output, (_core.ndarray, numpy.ndarray)) else r


def binary_propagation(input, structure=None, mask=None, output=None, border_value=0, origin=0, *, axes=None):
    """binary_dilation within mask until nothing changes."""
    return binary_dilation(input, structure, -1, mask, output, border_value, origin, axes=axes)


def binary_fill_holes(input, structure=None, output=None, origin=0, *, axes=None):
    """Fill the holes: the false elements that are not connected to the border."""
    mask = _core.asarray(input) == 0
    outside = binary_dilation(treadle.zeros_like(mask), structure, -1, mask, None, 1, origin, axes=axes)
    r = deliver(~outside, output)
    return None if isinstance(output, (_core.ndarray, numpy.ndarray)) else r


# ---- grey ----


def _needs_one(size, footprint, structure):
    if size is None and footprint is None and structure is None:
        raise ValueError("size, footprint, or structure must be specified")


def grey_erosion(
    input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """The minimum over a box or a footprint, of the elements minus the structure if there is one."""
    _needs_one(size, footprint, structure)
    return extreme(True, input, size, footprint, structure, output, mode, cval, origin, axes)


def grey_dilation(
    input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """The maximum over a reflected box or footprint, of the elements plus the structure if there is one."""
    _needs_one(size, footprint, structure)
    n = len(axes_of(axes, _core.asarray(input).ndim))
    structure, footprint = (a if a is None else host(a) for a in (structure, footprint))
    given = footprint if footprint is not None else structure
    sizes = given.shape if given is not None else each(size, n)
    origins = [-o - (s % 2 == 0) for o, s in zip(each(origin, n), sizes, strict=True)]
    structure, footprint = (a if a is None else a[(slice(None, None, -1),) * a.ndim] for a in (structure, footprint))
    return extreme(False, input, size, footprint, structure, output, mode, cval, origins, axes)


def _pair(input, size, footprint, structure, mode, cval, origin, axes):
    x = real_array(input)
    more = (size, footprint, structure, None, mode, cval, origin)
    return x, more, {"axes": axes}


def grey_opening(
    input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """grey_erosion, then grey_dilation."""
    x, more, kw = _pair(input, size, footprint, structure, mode, cval, origin, axes)
    return deliver(grey_dilation(grey_erosion(x, *more, **kw), *more, **kw).astype(output_dtype(output, x)), output)


def grey_closing(
    input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """grey_dilation, then grey_erosion."""
    x, more, kw = _pair(input, size, footprint, structure, mode, cval, origin, axes)
    return deliver(grey_erosion(grey_dilation(x, *more, **kw), *more, **kw).astype(output_dtype(output, x)), output)


def morphological_gradient(
    input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """grey_dilation minus grey_erosion."""
    x, more, kw = _pair(input, size, footprint, structure, mode, cval, origin, axes)
    return deliver(grey_dilation(x, *more, **kw) - grey_erosion(x, *more, **kw), output)


def morphological_laplace(
    input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """grey_dilation plus grey_erosion minus twice the image."""
    x, more, kw = _pair(input, size, footprint, structure, mode, cval, origin, axes)
    return deliver(grey_dilation(x, *more, **kw) + grey_erosion(x, *more, **kw) - x - x, output)


def _less(a, b):
    return a ^ b if a.dtype.kind == "b" and b.dtype.kind == "b" else a - b


def white_tophat(
    input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """The image minus its grey_opening."""
    x, more, kw = _pair(input, size, footprint, structure, mode, cval, origin, axes)
    return deliver(_less(x, grey_opening(x, *more, **kw)).astype(output_dtype(output, x)), output)


def black_tophat(
    input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """The grey_closing of the image minus the image."""
    x, more, kw = _pair(input, size, footprint, structure, mode, cval, origin, axes)
    return deliver(_less(grey_closing(x, *more, **kw), x).astype(output_dtype(output, x)), output)


# ---- distances ----


@jit(error_model="numpy")
def _envelope(f, step, place, height, nearest, out):
    """Along the middle axis: minimize (x - q)^2 + f[q] over q, and store q as nearest (-1: none). The minimum is the
    lower envelope of parabolas (Felzenszwalb, Huttenlocher 2012). place, height: the vertex of each parabola and where
    it begins to be lowest."""
    for i in range(f.shape[0]):
        for j in range(f.shape[2]):
            k = -1
            for q in range(f.shape[1]):
                h = f[i, q, j]
                if h < math.inf:
                    x = q * step
                    s = -math.inf
                    while k >= 0:
                        v = place[i, k, j]
                        u = v * step
                        s = 0.5 * ((h - f[i, v, j]) / (x - u) + (x + u))
                        if s > height[i, k, j]:
                            break
                        k -= 1
                    if k < 0:
                        s = -math.inf
                    k += 1
                    place[i, k, j] = q
                    height[i, k, j] = s
            last = k
            k = 0
            for q in range(f.shape[1]):
                if last < 0:
                    nearest[i, q, j] = -1
                    out[i, q, j] = math.inf
                else:
                    while k < last and height[i, k + 1, j] < q * step:
                        k += 1
                    v = place[i, k, j]
                    nearest[i, q, j] = v
                    out[i, q, j] = f[i, v, j] + (q - v) * step * ((q - v) * step)


def distance_transform_edt(
    input, sampling=None, return_distances=True, return_indices=False, distances=None, indices=None
):
    """The Euclidean distance of each element to the nearest zero, and with return_indices that zero's position.

    sampling: the spacing along each axis. distances, indices: arrays for the results."""
    if not (return_distances or return_indices):
        raise RuntimeError("at least one of return_distances/return_indices must be True")
    if distances is not None and not return_distances:
        raise RuntimeError("return_distances must be True if distances is supplied")
    if indices is not None and not return_indices:
        raise RuntimeError("return_indices must be True if indices is supplied")
    x = _core.asarray(input)
    x = x if x.ndim else x.reshape((1,))
    steps = [1.0] * x.ndim if sampling is None else [float(s) for s in each(host(sampling).tolist(), x.ndim)]
    f = treadle.where(x != 0, math.inf, 0.0)
    found = []
    for axis in range(x.ndim):
        shape = (math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :]))
        new = [_core.empty(shape, d, device=x.device) for d in ("int32", "float64", "int32", "float64")]
        if x.size:
            _envelope(f.reshape(shape), steps[axis], *new)
        nearest = new[2].reshape(x.shape)
        grid = list(places(x, sparse=True))
        grid[axis] = treadle.maximum(nearest, 0)
        found = [p[tuple(grid)] for p in found] + [nearest]
        f = new[3].reshape(x.shape)
    none = f == math.inf  # without any zero, SciPy gives the distance to a point just before the first element
    grid = zip(places(x, sparse=True), steps, strict=True)
    beyond = sum(((p + (d == 0)) * s) ** 2 for d, (p, s) in enumerate(grid))
    f = treadle.where(none, beyond, f)
    found = [treadle.where(none, -1 if d == 0 else 0, p).astype("int32") for d, p in enumerate(found)]
    results = []
    if return_distances:
        results.append((treadle.sqrt(f), distances, "float64"))
    if return_indices:
        results.append((treadle.stack(found), indices, "int32"))
    out = []
    for r, target, dtype in results:
        if target is None:
            out.append(r)
        elif target.shape != r.shape or str(target.dtype) != dtype:
            raise RuntimeError(f"distances and indices have the shape {r.shape} and the dtype {dtype}")
        else:
            deliver(r, target)
    return None if not out else out[0] if len(out) == 1 else tuple(out)
