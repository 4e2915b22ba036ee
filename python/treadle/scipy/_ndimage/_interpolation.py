"""Spline interpolation of images, of order 0 to 5.

A recursive filter along each axis computes the splines' coefficients (Unser, Aldroubi, Eden 1993), with one thread for
each line. A value is a sum of coefficients times B-splines, with one thread for each value.
"""

import functools
import math
import warnings

import numpy
import numpy as np

import treadle

from ... import _core
from ..._compile._generate import define, index, nest
from ..._compile._jit import jit
from .._arguments import axis_of, host
from ._support import deliver, each, output_dtype, to_dtype

MODES = {
    "nearest": 0, "wrap": 1, "reflect": 2, "grid-mirror": 2, "mirror": 3, "constant": 4, "grid-wrap": 5,
    "grid-constant": 6,
}  # fmt: skip
_ROOTS = {
    2: (math.sqrt(8.0) - 3.0,),
    3: (math.sqrt(3.0) - 2.0,),
    4: (
        math.sqrt(664.0 - math.sqrt(438976.0)) + math.sqrt(304.0) - 19.0,
        math.sqrt(664.0 + math.sqrt(438976.0)) - math.sqrt(304.0) - 19.0,
    ),
    5: (
        math.sqrt(67.5 - math.sqrt(4436.25)) + math.sqrt(26.25) - 6.5,
        math.sqrt(67.5 + math.sqrt(4436.25)) - math.sqrt(26.25) - 6.5,
    ),
}


# ---- coefficients ----


def _first_mirrored(y, i, j, n, z, m):
    """The sum of z^k y[-k] over m terms, with y mirrored about its first element."""
    s = y[i, 0, j]
    p = z
    if m < n:
        for t in range(1, m):
            s += p * y[i, t, j]
            p *= z
        return s
    q = math.pow(z, 2.0 * n - 3.0)
    for t in range(1, n - 1):
        s += (p + q) * y[i, t, j]
        p *= z
        q /= z
    s += p * y[i, n - 1, j]
    return s / (1.0 - p * p)


def _first_reflected(y, i, j, n, z, m):
    """The initial value of the filter for y mirrored at the edge of its first element."""
    s = y[i, 0, j]
    p = z
    if m < n:
        for t in range(m):
            s += p * y[i, t, j]
            p *= z
        return s
    r = 0.0
    q = math.pow(z, 2.0 * n)
    whole = 1.0 - q
    for t in range(n):
        r += (p + q) * y[i, t, j]
        p *= z
        q /= z
    return s + r / whole


def _first_wrapped(y, i, j, n, z, m):
    """The initial value of the filter for periodic y."""
    s = y[i, 0, j]
    p = z
    for t in range(1, min(m, n)):
        s += p * y[i, n - t, j]
        p *= z
    return s / (1.0 - p) if m >= n else s


def _last_wrapped(y, i, j, n, z, m):
    s = y[i, n - 1, j]
    p = z
    for t in range(min(m, n) - 1):
        s += p * y[i, t, j]
        p *= z
    return -z * (s / (1.0 - p) if m >= n else s)


@jit(error_model="numpy")
def _spline_lines(y, roots, terms, gain, mode):
    """Replace y, of three axes, by its spline coefficients along the middle one. mode: 0 reflect, 1 mirror, 2 wrap."""
    for i in range(y.shape[0]):
        for j in range(y.shape[2]):
            n = y.shape[1]
            for t in range(n):
                y[i, t, j] = y[i, t, j] * gain
            for r in range(roots.shape[0]):
                z = roots[r]
                m = terms[r]
                if mode == 0:
                    y[i, 0, j] = _first_reflected(y, i, j, n, z, m)
                elif mode == 1:
                    y[i, 0, j] = _first_mirrored(y, i, j, n, z, m)
                else:
                    y[i, 0, j] = _first_wrapped(y, i, j, n, z, m)
                for t in range(1, n):
                    y[i, t, j] = y[i, t, j] + z * y[i, t - 1, j]
                if mode == 0:
                    y[i, n - 1, j] = z / (z - 1.0) * y[i, n - 1, j]
                elif mode == 1:
                    y[i, n - 1, j] = z / (z * z - 1.0) * (y[i, n - 1, j] + z * y[i, n - 2, j])
                else:
                    y[i, n - 1, j] = _last_wrapped(y, i, j, n, z, m)
                for s in range(1, n):
                    t = n - 1 - s
                    y[i, t, j] = z * (y[i, t + 1, j] - y[i, t, j])


def _mode(mode):
    if mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    return MODES[mode]


def _coefficients(x, order, axis, mode):
    """A new array with the spline coefficients of x, of float64, along one axis."""
    n = x.shape[axis]
    if n < 2 or not x.size:
        return x
    y = treadle.array(x, order="C").reshape((math.prod(x.shape[:axis]), n, math.prod(x.shape[axis + 1 :])))
    roots = _ROOTS[order]
    gain = math.prod((1.0 - z) * (1.0 - 1.0 / z) for z in roots)
    terms = [int(math.ceil(math.log(1e-18) / math.log(abs(z)))) for z in roots]
    edge = {0: 0, 2: 0, 5: 2}.get(_mode(mode), 1)
    device = x.device
    _spline_lines(y, _core.asarray(numpy.array(roots), device=device), _core.asarray(numpy.array(terms), device=device),
                  gain, edge)  # fmt: skip
    return y.reshape(x.shape)


def _check_order(order, least=0):
    if not least <= order <= 5:
        raise RuntimeError("spline order not supported")


def _complex_pair(f, x, output):
    """Apply f, for real arrays, to the two parts of a complex one."""
    d = output_dtype(output, x, to_complex=True)
    return deliver((f(x.real) + f(x.imag) * 1j).astype(d), output)


def spline_filter1d(input, order=3, axis=-1, output=numpy.float64, mode="mirror"):
    """The spline coefficients of input along axis."""
    _check_order(order)
    x = _core.asarray(input)
    if x.dtype.kind == "c":
        d = None if output is numpy.float64 else output
        return _complex_pair(lambda a: spline_filter1d(a, order, axis, "float64", mode), x, d)
    axis, d = axis_of(axis, x.ndim), output_dtype(output, x)
    r = x if order < 2 else _coefficients(x.astype("float64"), order, axis, mode)
    return deliver(to_dtype(r, d), output)


def spline_filter(input, order=3, output=numpy.float64, mode="mirror"):
    """The spline coefficients of input along all axes, for orders 2 to 5."""
    _check_order(order, 2)
    x = _core.asarray(input)
    if x.dtype.kind == "c":
        d = None if output is numpy.float64 else output
        return _complex_pair(lambda a: spline_filter(a, order, "float64", mode), x, d)
    d = output_dtype(output, x)
    r = x.astype("float64")
    for axis in range(x.ndim):
        r = to_dtype(_coefficients(r.astype("float64"), order, axis, mode), d)
    return deliver(to_dtype(r, d), output)


# ---- values ----


def reach(c, n, mode):
    """Map a coordinate into the image as mode says. In mode 4 a coordinate outside becomes -1."""
    if mode == 0:
        return min(max(c, 0.0), n - 1.0)
    if mode == 4:
        return c if 0.0 <= c <= n - 1.0 else -1.0
    if mode == 1 and not 0.0 <= c <= n - 1.0:
        m = n - 1.0
        if m < 1.0:
            return 0.0
        if c < 0.0:
            return c + m * (np.floor(-c / m) + 1.0)
        return c - m * np.floor(c / m)
    if mode in (2, 3, 5) and not 0.0 <= c <= n - 1.0:
        return _turned_back(c, n, mode)
    return c


def _turned_back(c, n, mode):
    """Map a coordinate outside a mirrored or repeated image into it. One halfway between two elements rounds as
    SciPy's."""
    if mode == 5:
        return c - n * np.trunc(c / n) if c > 0.0 else c + n * (np.trunc(-c / n) + 1.0)
    if n == 1:
        return 0.0
    less = 1.0 if mode == 2 else 0.0
    m = 2.0 * n - 2.0 + 2.0 * less
    c -= m * np.trunc(c / m)
    if c > 0.0:
        return m - c - less if c >= n else c
    return c + m if c < -n or (mode == 3 and c <= 1 - n) else -c - less


def tap(t, n, mode):
    """Map the index t of a coefficient into the array. -1 means that there is none."""
    if 0 <= t < n:
        return t
    if mode == 6:
        return -1
    if mode == 5:
        return t % n
    if mode == 2:
        t = t % (2 * n)
        return t if t < n else 2 * n - 1 - t
    if mode == 0:
        return 0 if t < 0 else n - 1
    if n == 1:
        return 0
    t = t % (2 * n - 2)
    return t if t < n else 2 * n - 2 - t


def spline2(u):
    a = abs(u)
    return 0.75 - a * a if a < 0.5 else 0.5 * (1.5 - a) * (1.5 - a)


def spline3(u):
    a = abs(u)
    if a < 1.0:
        return a * a * (a - 2.0) * 0.5 + 2.0 / 3.0
    a = 2.0 - a
    return a * a * a / 6.0


def spline4(u):
    a = abs(u)
    if a < 0.5:
        a *= a
        return a * (a * 0.25 - 0.625) + 115.0 / 192.0
    if a < 1.5:
        return a * (a * (a * (5.0 / 6.0 - a / 6.0) - 1.25) + 5.0 / 24.0) + 55.0 / 96.0
    a = (a - 2.5) * (a - 2.5)
    return a * a / 24.0


def spline5(u):
    a = abs(u)
    if a < 1.0:
        s = a * a
        return s * (s * (0.25 - a / 12.0) - 0.5) + 0.55
    if a < 2.0:
        return a * (a * (a * (a * (a / 24.0 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425
    a = 3.0 - a
    return a * a * a * a * a / 120.0


def to_signed(v):
    return v + 0.5 if v > 0.0 else v - 0.5


def to_unsigned(v):
    return v + 0.5 if v > 0.0 else 0.0


def as_is(v):
    return v


_BSPLINES = {2: spline2, 3: spline3, 4: spline4, 5: spline5}
# How the kernel computes the coordinate c of axis {d} from an index in out.
_COORDINATES = {
    "map": lambda d, ndim: f"place[{d}, {index(ndim)}]",
    "matrix": lambda d, ndim: " + ".join(
        [f"shift[{d}]", *[f"place[{d}, {e}] * np.float64({c})" for e, c in enumerate(index(ndim).split(", "))]]
    ),
    "scale": lambda d, ndim: f"(np.float64({index(ndim).split(', ')[d]}) + shift[{d}] + half) * place[{d}] - half",
}


def _weights(d, order):
    """Lines of code that compute the first coefficient's index and the weights for coordinate c{d}."""
    if order == 0:
        return [f"f{d} = np.int64(np.floor(c{d} + 0.5))", f"w{d}_0 = 1.0"]
    if order == 1:
        return [f"f{d} = np.int64(np.floor(c{d}))", f"w{d}_1 = c{d} - f{d}", f"w{d}_0 = 1.0 - w{d}_1"]
    base = f"np.floor(c{d})" if order % 2 else f"np.floor(c{d} + 0.5)"
    lines = [f"f{d} = np.int64({base}) - {order // 2}"]
    return lines + [f"w{d}_{t} = _spline{order}(c{d} - (f{d} + {t}))" for t in range(order + 1)]


def _sums(orders, d, taps, holes, lines):
    """Append lines that sum over axes d and after, given the taps of the axes before. Returns the sum's name."""
    if d == len(orders):
        at = ", ".join(f"t{e}_{t}" for e, t in enumerate(taps))
        name = "v" + "_".join(map(str, taps))
        if holes:
            some = " and ".join(f"t{e}_{t} >= 0" for e, t in enumerate(taps))
            lines += [f"{name} = cval", f"if {some}:", f"    {name} = np.float64(x[{at}])"]
        else:
            lines.append(f"{name} = np.float64(x[{at}])")
        return name
    name = "s" + "_".join(map(str, taps))
    for t in range(orders[d] + 1):
        value = _sums(orders, d + 1, (*taps, t), holes, lines)
        lines.append(f"{name} {'+=' if t else '='} w{d}_{t} * {value}")
    return name


@functools.lru_cache(maxsize=128)
def _transform_kernel(kind, ndim, orders, holes, dtype):
    body, d_in = [], range(len(orders))
    for d in d_in:
        more = " + pad" if orders[d] > 1 else ""
        body.append(f"c{d} = _reach({_COORDINATES[kind](d, ndim)}{more}, x.shape[{d}], mode)")
    body.append("s = cval")
    inner = []
    for d in d_in:
        inner += _weights(d, orders[d])
        inner += [f"t{d}_{t} = _tap(f{d} + {t}, x.shape[{d}], mode)" for t in range(orders[d] + 1)]
    inner.append(f"s = {_sums(orders, 0, (), holes, inner)}")
    body.append(f"if mode != 4 or {' and '.join(f'c{d} >= 0.0' for d in d_in)}:")
    body += ["    " + line for line in inner]
    body.append(f"out[{index(ndim)}] = _result(_rounded(s))")
    kind_of = numpy.dtype(dtype).kind
    space = {f"_spline{n}": f for n, f in _BSPLINES.items()} | {
        "_reach": reach, "_tap": tap, "np": numpy, "_result": numpy.dtype(dtype).type,
        "_rounded": to_signed if kind_of == "i" else to_unsigned if kind_of in "ub" else as_is,
    }  # fmt: skip
    head = "def transform(x, place, shift, half, pad, mode, cval, out):"
    lines = [head, *nest([f"out.shape[{d}]" for d in range(ndim)], body), ""]
    return jit(define("\n".join(lines), "transform", **space), error_model="numpy")


def _transform(kind, x, place, shift, half, shape, output, orders, mode, cval, prefilter):
    """Interpolate x at transformed coordinates. orders: the spline's order for each axis of x."""
    code = _mode(mode)
    for order in orders:
        _check_order(order)
    if x.dtype.kind == "c":
        d, c = output_dtype(output, x, to_complex=True), complex(cval)
        re = _transform(kind, x.real, place, shift, half, shape, None, orders, mode, c.real, prefilter)
        im = _transform(kind, x.imag, place, shift, half, shape, None, orders, mode, c.imag, prefilter)
        return deliver((re + im * 1j).astype(d), output)
    d, pad = output_dtype(output, x), 0
    if prefilter and max(orders) > 1:
        if code in (0, 6):
            pad = 12
            keywords = {"constant_values": x.dtype.type(cval).item()} if code == 6 else {}
            width = [(pad, pad) if o > 1 else (0, 0) for o in orders]
            x = treadle.pad(x, width, "edge" if code == 0 else "constant", **keywords)
        x = x.astype("float64")
        for axis, order in enumerate(orders):
            if order > 1:
                x = _coefficients(x, order, axis, mode)
    out = _core.empty(shape, d, device=x.device)
    if out.size:
        kernel = _transform_kernel(kind, len(shape), tuple(orders), code == 6, str(d))
        kernel(x, place, shift, half, float(pad), code, float(cval), out)
    return deliver(out, output)


def _small(values, x):
    return _core.asarray(numpy.ascontiguousarray(values, numpy.float64), device=x.device)


def _image(input):
    x = _core.asarray(input)
    if x.ndim < 1:
        raise RuntimeError("input and output rank must be > 0")
    return x


def map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    """Interpolate input at coordinates, whose first axis runs over input's axes."""
    x, c = _image(input), _core.asarray(coordinates)
    if c.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    if c.ndim < 2:
        raise RuntimeError("input and output rank must be > 0")
    if c.shape[0] != x.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    c = c.astype("float64")
    orders = [order] * x.ndim
    return _transform("map", x, c, _small([0], x), 0.0, c.shape[1:], output, orders, mode, cval, prefilter)


def affine_transform(
    input, matrix, offset=0.0, output_shape=None, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    """Interpolate input at matrix @ index + offset. matrix may be a diagonal, or homogeneous."""
    x, m = _image(input), host(matrix, float)
    if output_shape is None:
        output_shape = output.shape if hasattr(output, "shape") else x.shape
    if m.ndim not in (1, 2) or m.shape[0] < 1:
        raise RuntimeError("no proper affine matrix provided")
    if m.ndim == 2 and m.shape[1] == x.ndim + 1 and m.shape[0] in (x.ndim, x.ndim + 1):
        if m.shape[0] == x.ndim + 1 and m[-1].tolist() != [0] * x.ndim + [1]:
            raise ValueError(f"Expected homogeneous transformation matrix, but its bottom row is {m[-1].tolist()}")
        m, offset = m[: x.ndim, : x.ndim], m[: x.ndim, x.ndim]
    if m.shape[0] != x.ndim:
        raise RuntimeError("affine matrix has wrong number of rows")
    if m.ndim == 2 and m.shape[1] != len(output_shape):
        raise RuntimeError("affine matrix has wrong number of columns")
    offset = host(each(host(offset).tolist(), x.ndim), float)
    kind, shift = ("scale", offset / m) if m.ndim == 1 else ("matrix", offset)
    orders = [order] * x.ndim
    shape = tuple(map(int, output_shape))
    return _transform(kind, x, _small(m, x), _small(shift, x), 0.0, shape, output, orders, mode, cval, prefilter)


def shift(input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    """Shift the image. shift: one number, or one for each axis."""
    x = _image(input)
    moves = -host(each(host(shift).tolist(), x.ndim), float)
    ones, moves = _small(numpy.ones(x.ndim), x), _small(moves, x)
    return _transform("scale", x, ones, moves, 0.0, x.shape, output, [order] * x.ndim, mode, cval, prefilter)


def zoom(input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False):
    """Resize the image by the factor zoom. With grid_mode elements are cells with an extent, otherwise points."""
    x = _image(input)
    factors = each(host(zoom).tolist(), x.ndim)
    shape = tuple(int(round(n * z)) for n, z in zip(x.shape, factors, strict=True))
    if all(z == 1 for z in factors) and prefilter:
        return deliver(treadle.copy(x).astype(output_dtype(output, x, x.dtype.kind == "c")), output)
    if grid_mode and mode in ("constant", "wrap"):
        warnings.warn(f"It is recommended to use mode = grid-{mode} instead of {mode} when grid_mode is True.",
                      stacklevel=2)  # fmt: skip
    less = 0 if grid_mode else 1
    steps = [(n - less) / (s - less) if s != less else 1.0 for n, s in zip(x.shape, shape, strict=True)]
    steps, none, half = _small(steps, x), _small(numpy.zeros(x.ndim), x), 0.5 if grid_mode else 0.0
    return _transform("scale", x, steps, none, half, shape, output, [order] * x.ndim, mode, cval, prefilter)


def rotate(
    input, angle, axes=(1, 0), reshape=True, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    """Rotate the image by angle, in degrees, in the plane of two axes. reshape enlarges the result to hold all of
    it."""
    x = _core.asarray(input)
    if x.ndim < 2:
        raise ValueError("input array should be at least 2D")
    axes = list(axes)
    if len(axes) != 2:
        raise ValueError("axes should contain exactly two values")
    if not all(float(a).is_integer() for a in axes):
        raise ValueError("axes should contain only integer values")
    axes = sorted(a + x.ndim if a < 0 else a for a in axes)
    if axes[0] < 0 or axes[1] >= x.ndim:
        raise ValueError("invalid rotation plane specified")
    turns = angle / 90.0  # exact at multiples of 90 degrees
    exact = {0: (1.0, 0.0), 1: (0.0, 1.0), 2: (-1.0, 0.0), 3: (0.0, -1.0)}.get(turns % 4)
    c, s = exact or (math.cos(math.radians(angle)), math.sin(math.radians(angle)))
    matrix = numpy.array([[c, s], [-s, c]])
    plane = numpy.array([x.shape[a] for a in axes])
    new = plane
    if reshape:
        bounds = matrix @ [[0, 0, plane[0], plane[0]], [0, plane[1], 0, plane[1]]]
        new = (numpy.ptp(bounds, axis=1) + 0.5).astype(int)
    offset = (plane - 1) / 2 - matrix @ ((new - 1) / 2)
    full, moves, shape = numpy.eye(x.ndim), numpy.zeros(x.ndim), list(x.shape)
    full[numpy.ix_(axes, axes)], moves[axes] = matrix, offset
    for a, n in zip(axes, new, strict=True):
        shape[a] = int(n)
    orders, full, moves = [order if a in axes else 0 for a in range(x.ndim)], _small(full, x), _small(moves, x)
    return _transform("matrix", x, full, moves, 0.0, tuple(shape), output, orders, mode, cval, prefilter)
