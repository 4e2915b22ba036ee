"""Recursive (IIR) and other filters along an axis.

One thread filters a line from its beginning to its end. On a GPU, a few long lines would use few threads. Such lines
are cut into pieces that are filtered at once with zero initial states; a second pass adds the effect of the states at
the cuts.
"""

import numpy

import treadle

from ... import _core
from ..._compile._jit import jit
from .._arguments import axis_of, host
from .._table import call
from ._convolve import _direct, convolve
from ._support import along, cut, extended, floating

_FEW, _LONG = 1024, 4096  # fewer lines than _FEW, of at least _LONG elements, are cut into pieces on a GPU


@jit
def _run(b, a, x, z, y):
    """Direct form II transposed. Lines are columns. z holds the states: the initial ones, then the final ones."""
    for j in range(x.shape[1]):
        last = z.shape[0] - 1
        for t in range(x.shape[0]):
            v = x[t, j]
            r = z[0, j] + b[0] * v
            for k in range(last):
                z[k, j] = z[k + 1, j] + b[k + 1] * v - a[k + 1] * r
            z[last, j] = b[last + 1] * v - a[last + 1] * r
            y[t, j] = r


@jit
def _chain(whole, ends, z, starts):
    """Compute the initial states of the pieces: the states before, carried through a whole piece, plus the final states
    that the piece has from zero."""
    for j in range(z.shape[1]):
        for c in range(starts.shape[1]):
            for k in range(z.shape[0]):
                starts[k, c, j] = z[k, j]
            for k in range(z.shape[0]):
                s = ends[k, c, j]
                for q in range(z.shape[0]):
                    s += whole[k, q] * starts[q, c, j]
                z[k, j] = s


@jit
def _add(response, starts, y):
    """Add to each piece the response to its initial states."""
    for c in range(y.shape[0]):
        for t in range(y.shape[1]):
            for j in range(y.shape[2]):
                s = y[c, t, j]
                for k in range(starts.shape[0]):
                    s += response[t, k] * starts[k, c, j]
                y[c, t, j] = s


def _whole(b, a, x, z):
    y = _core.empty(x.shape, x.dtype, device=x.device)
    if y.size:
        _run(b, a, x, z, y)
    return y


def _in_pieces(b, a, x, z):
    n, lines = x.shape
    order, device = z.shape[0], x.device
    length = max(64, int(n**0.5))
    count = n // length
    body = x[: count * length].reshape((count, length, lines))
    rows = treadle.moveaxis(body, 0, 1).reshape((length, count * lines))
    ends = treadle.zeros((order, count * lines), dtype=x.dtype, device=device)
    y = _whole(b, a, treadle.ascontiguousarray(rows), ends)
    y = treadle.ascontiguousarray(treadle.moveaxis(y.reshape((length, count, lines)), 1, 0))
    unit = treadle.eye(order, dtype=x.dtype, device=device)
    states = treadle.copy(unit)
    response = _whole(b, a, treadle.zeros((length, order), dtype=x.dtype, device=device), states)
    starts = _core.empty((order, count, lines), x.dtype, device=device)
    _chain(states, ends.reshape((order, count, lines)), z, starts)
    _add(response, starts, y)
    y = y.reshape((count * length, lines))
    rest = x[count * length :]
    return y if not rest.shape[0] else treadle.concatenate([y, _whole(b, a, treadle.ascontiguousarray(rest), z)])


def _filtered(b, a, x, z):
    """The filtered lines of x, which are columns. z becomes the final states."""
    if not x.device.host and x.shape[1] < _FEW and x.shape[0] >= _LONG:
        return _in_pieces(b, a, x, z)
    return _whole(b, a, x, z)


def _coefficients(b, a):
    b, a = numpy.atleast_1d(host(b)), numpy.atleast_1d(host(a))
    for name, c in (("b", b), ("a", a)):
        if c.ndim != 1 or not c.size:
            raise ValueError(f"Parameter {name} is not a non-empty 1d array, since {name}.shape={c.shape}!")
    return b, a


def _dtype(*arrays):
    d = numpy.result_type(*[x.dtype for x in arrays if x is not None])
    if d.kind not in "fc":
        d = numpy.dtype("float64")
    return d if d.itemsize > 2 else numpy.dtype("float32")


def _columns(x, axis, dtype):
    """x as a matrix, with axis first and all other axes flattened."""
    x = treadle.moveaxis(x, axis, 0)
    return treadle.ascontiguousarray(x.reshape((x.shape[0], -1 if x.size else 0)).astype(dtype)), x.shape[1:]


def lfilter(b, a, x, axis=-1, zi=None):
    """Filter x along axis by the rational transfer function b / a. With zi the result is (y, final states)."""
    b, a = _coefficients(b, a)
    x = treadle.atleast_1d(_core.asarray(x))
    axis = axis_of(axis, x.ndim)
    order = max(len(a), len(b)) - 1
    if zi is not None:
        zi = _core.asarray(zi, device=x.device)
        wanted = (*x.shape[:axis], order, *x.shape[axis + 1 :])
        if zi.ndim != x.ndim:
            raise ValueError(f"Dimensions of parameters x and zi must match, but x.ndim={x.ndim}, zi.ndim={zi.ndim}!")
        if zi.shape[axis] != order or any(s not in (1, w) for s, w in zip(zi.shape, wanted, strict=True) if s != w):
            raise ValueError(f"Unexpected shape for parameter zi: expected {wanted}, found {zi.shape}.")
        zi = treadle.broadcast_to(zi, wanted)
    d = _dtype(b, a, x, zi)
    if a[0] == 0:
        raise ValueError("a[0] must not be 0")
    b, a = (numpy.concatenate([c, numpy.zeros(order + 1 - len(c), c.dtype)]).astype(d) / d.type(a[0]) for c in (b, a))
    lines, rest = _columns(x, axis, d)
    if zi is None:
        z = treadle.zeros((order, lines.shape[1]), dtype=d, device=x.device)
    else:
        z = treadle.copy(_columns(zi, axis, d)[0])
    if order == 0:
        y = lines * d.type(b[0]).item()
    elif not a[1:].any() and zi is None:
        y = _direct(lines, _core.asarray(b.reshape(-1, 1), device=x.device), "full")[: lines.shape[0]]
    else:
        y = _filtered(_core.asarray(b, device=x.device), _core.asarray(a, device=x.device), lines, z)
    y = treadle.moveaxis(y.reshape((x.shape[axis], *rest)), 0, axis)
    return y if zi is None else (y, treadle.moveaxis(z.reshape((order, *rest)), 0, axis))


def _steady(b, a):
    """lfilter_zi for NumPy arrays. Solves (I - A^T) z = B for a constant input, A being the companion matrix."""
    while len(a) > 1 and a[0] == 0:
        a = a[1:]
    if not len(a):
        raise ValueError("There must be at least one nonzero `a` coefficient.")
    n = max(len(a), len(b))
    b, a = (numpy.concatenate([c / a[0], numpy.zeros(n - len(c))]) for c in (b, a))
    m = numpy.eye(n - 1)
    m[:, 0] += a[1:]
    m[numpy.arange(n - 2), numpy.arange(1, n - 1)] -= 1
    return numpy.linalg.solve(m, b[1:] - a[1:] * b[0]) if n > 1 else numpy.zeros(0)


def lfilter_zi(b, a):
    """The states of lfilter in its steady state for a constant input of 1."""
    return _core.asarray(_steady(*_coefficients(b, a)))


def lfiltic(b, a, y, x=None):
    """The states of lfilter after past outputs y and inputs x, the most recent first."""
    b, a = _coefficients(b, a)
    if a[0] == 0:
        raise ValueError("First element of a must be nonzero")
    m, n = len(b) - 1, len(a) - 1
    y = numpy.atleast_1d(host(y))
    x = numpy.zeros(m) if x is None else numpy.atleast_1d(host(x))
    d = numpy.result_type(b, a, y, x)
    d = d if d.kind in "fc" else numpy.dtype("float64")
    x, y = (numpy.concatenate([v.astype(d), numpy.zeros(max(k - len(v), 0), d)]) for v, k in ((x, m), (y, n)))
    z = numpy.zeros(max(m, n), d)
    for k in range(m):
        z[k] = (b[k + 1 :] * x[: m - k]).sum()
    for k in range(n):
        z[k] -= (a[k + 1 :] * y[: n - k]).sum()
    return _core.asarray(z / a[0])


def deconvolve(signal, divisor):
    """(quotient, remainder) of polynomials: signal = convolve(divisor, quotient) + remainder."""
    num, den = treadle.atleast_1d(_core.asarray(signal)), treadle.atleast_1d(_core.asarray(divisor))
    for name, a in (("signal", num), ("divisor", den)):
        if a.ndim != 1 or not a.size:
            raise ValueError(f"Parameter {name} must be non-empty 1d array, but its shape is {a.shape}!")
    if den.size > num.size:
        return treadle.zeros((0,), device=num.device), num
    impulse = treadle.zeros((num.size - den.size + 1,), device=num.device)
    impulse[0] = 1
    quotient = lfilter(num, den, impulse)
    return quotient, num - convolve(den, quotient)


# ---- second-order sections ----


def _sections(sos):
    s = numpy.atleast_2d(host(sos))
    if s.ndim != 2:
        raise ValueError("sos array must be 2D")
    if s.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if not (s[:, 3] == 1).all():
        raise ValueError("sos[:, 3] should be all ones")
    return s


def sosfilt(sos, x, axis=-1, zi=None):
    """Filter x along axis by a cascade of second-order sections. With zi the result is (y, final states)."""
    s = _sections(sos)
    x = _core.asarray(x)
    axis = axis_of(axis, x.ndim)
    shape = (len(s), *x.shape[:axis], 2, *x.shape[axis + 1 :])
    if zi is not None:
        zi = _core.asarray(zi, device=x.device)
        if zi.shape != shape:
            raise ValueError(
                f"Invalid zi shape. With axis={axis}, an input with shape {x.shape}, and an sos array with {len(s)} "
                f"sections, zi must have shape {shape}, got {zi.shape}."
            )
    d = _dtype(s, x, zi)
    y, rest = _columns(x, axis, d)
    ends = []
    for k, row in enumerate(s.astype(d)):
        if zi is None:
            z = treadle.zeros((2, y.shape[1]), dtype=d, device=x.device)
        else:
            z = treadle.copy(_columns(zi[k], axis, d)[0])
        y = _filtered(_core.asarray(row[:3], device=x.device), _core.asarray(row[3:], device=x.device), y, z)
        ends.append(z)
    y = treadle.moveaxis(y.reshape((x.shape[axis], *rest)), 0, axis)
    if zi is None:
        return y
    return y, treadle.stack([treadle.moveaxis(z.reshape((2, *rest)), 0, axis) for z in ends])


def sosfilt_zi(sos):
    """The states of sosfilt in its steady state for a constant input of 1."""
    s = _sections(sos).astype(float)
    z, gain = numpy.empty((len(s), 2)), 1.0
    for k, row in enumerate(s):
        z[k] = gain * _steady(row[:3], row[3:])
        gain *= row[:3].sum() / row[3:].sum()
    return _core.asarray(z)


# ---- forward and backward ----


def _padded(padtype, padlen, x, axis, taps):
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(
            f"Unknown value '{padtype}' given to padtype. padtype must be 'even', 'odd', 'constant', or None."
        )
    edge = 0 if padtype is None else 3 * taps if padlen is None else padlen
    if x.shape[axis] <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    return edge, extended(x, edge, axis, padtype)


def _there_and_back(x, edge, axis, run, shaped):
    """Filter the extended x forward and backward and cut the extension off. shaped: the states for an input of 1."""
    y, _ = run(x, shaped * cut(x, axis, 0, 1))
    y = cut(y, axis, None, None, -1)
    y, _ = run(y, shaped * cut(y, axis, 0, 1))
    y = cut(y, axis, None, None, -1)
    return cut(y, axis, edge, -edge) if edge else y


def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    """Filter x along axis forward and backward, for zero phase. SciPy runs method 'gust' on the host."""
    if method not in ("pad", "gust"):
        raise ValueError("method must be 'pad' or 'gust'.")
    if method == "gust":
        from scipy.signal import filtfilt as there

        keywords = {"axis": axis, "method": method, "irlen": irlen}
        return call("scipy.signal.filtfilt", there, (b, a, x), keywords, "method is gust")
    b, a = _coefficients(b, a)
    x = floating(x)
    edge, x = _padded(padtype, padlen, x, axis, max(len(a), len(b)))
    zi = _core.asarray(_steady(b, a).astype(x.real.dtype), device=x.device)
    return _there_and_back(x, edge, axis, lambda v, z: lfilter(b, a, v, axis, z), along(zi, axis, x.ndim))


def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    """Filter x along axis forward and backward by a cascade of second-order sections, for zero phase."""
    s = _sections(sos)
    x = floating(x)
    taps = 2 * len(s) + 1 - min((s[:, 2] == 0).sum(), (s[:, 5] == 0).sum())
    edge, x = _padded(padtype, padlen, x, axis, int(taps))
    shape = [1] * x.ndim
    shape[axis] = 2
    zi = sosfilt_zi(s).astype(x.real.dtype).reshape((len(s), *shape))
    zi = _core.asarray(zi, device=x.device)

    def run(v, z):
        return sosfilt(s, v, axis, z)

    return _there_and_back(x, edge, axis, run, zi)
