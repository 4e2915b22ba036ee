"""Kernels that compute each element from its neighbours in a footprint.

They are generated as text for a number of axes and compiled once for that and the dtypes. Away from the borders they
read neighbours directly. At the borders they map each index as the mode says, so no padded copy is needed.
"""

import functools

import numpy

import treadle

from ... import _core
from ..._compile._generate import define, index, nest
from ..._compile._jit import jit

_LETTERS = "ijklmnop"
FILTER_MODES = {
    "reflect": 0, "grid-mirror": 0, "mirror": 1, "nearest": 2, "wrap": 3, "grid-wrap": 3, "constant": 4,
    "grid-constant": 4,
}  # fmt: skip


def place(t, n, mode):
    """Map the index t into n elements. -1 means outside, in mode constant. mode: a number in FILTER_MODES."""
    if 0 <= t < n:
        return t
    if mode == 4:
        return -1
    if mode == 2:
        return 0 if t < 0 else n - 1
    if mode == 3:
        return t % n
    if mode == 1:
        if n == 1:
            return 0
        t = t % (2 * n - 2)
        return t if t < n else 2 * n - 2 - t
    t = t % (2 * n)
    return t if t < n else 2 * n - 1 - t


def _walk(ndim, head, inside, loop, near, far, finish):
    """The text of a loop over out: head, then loop with the lines near where inside holds and far elsewhere, then
    finish."""
    body = [*head, f"if {inside}:", f"    {loop}", *[f"        {line}" for line in near], "else:", f"    {loop}"]
    body += [*[f"        {line}" for line in far], *finish]
    return nest([f"out.shape[{d}]" for d in range(ndim)], body)


@functools.lru_cache(maxsize=256)
def _footprint_kernel(ndim, start, step, finish, dtype):
    """A kernel for footprints over all axes. off[tap, d]: the offsets of the neighbours; wei[tap]: their weights."""
    letters = _LETTERS[:ndim]
    extra = [f"{a}{d}" for d in range(ndim) for a in ("low", "high", "mode")]
    near = [f"v = x[{', '.join(f'{c} + off[tap, {d}]' for d, c in enumerate(letters))}]", *step]
    far = [f"p{d} = _place({c} + off[tap, {d}], x.shape[{d}], mode{d})" for d, c in enumerate(letters)]
    far += ["v = edge", f"if {' and '.join(f'p{d} >= 0' for d in range(ndim))}:"]
    far += [f"    v = x[{', '.join(f'p{d}' for d in range(ndim))}]", *step]
    inside = " and ".join(f"low{d} <= {c} < x.shape[{d}] - high{d}" for d, c in enumerate(letters))
    lines = [f"def filter_nd(x, off, wei, edge, first, {', '.join(extra)}, out):"]
    ends = [f"out[{index(ndim)}] = _result({finish})"]
    lines += _walk(ndim, start, inside, "for tap in range(off.shape[0]):", near, far, ends)
    space = {"_place": place, "_result": numpy.dtype(dtype).type, "np": numpy}
    return jit(define("\n".join([*lines, ""]), "filter_nd", **space))


@functools.lru_cache(maxsize=256)
def _line_kernel(ndim, axis, start, step, finish, dtype):
    """A kernel for count neighbours along one axis. The first of them is `low` elements before the centre."""
    letters = list(_LETTERS[:ndim])
    c = letters[axis]
    at = [*letters[:axis], f"{c} + tap - low", *letters[axis + 1 :]]
    mapped = [*letters[:axis], "to", *letters[axis + 1 :]]
    near = [f"v = x[{', '.join(at)}]", *step]
    far = [f"to = _place({c} + tap - low, x.shape[{axis}], mode)", "v = edge", "if to >= 0:"]
    far += [f"    v = x[{', '.join(mapped)}]", *step]
    inside = f"low <= {c} < x.shape[{axis}] - high"
    lines = ["def filter_1d(x, wei, edge, first, count, low, high, mode, out):"]
    lines += _walk(
        ndim, start, inside, "for tap in range(count):", near, far, [f"out[{index(ndim)}] = _result({finish})"]
    )
    space = {"_place": place, "_result": numpy.dtype(dtype).type, "np": numpy}
    return jit(define("\n".join([*lines, ""]), "filter_1d", **space))


# For each filter: (code before the loop, code for a neighbour v, the result).
SUM = (("s = np.float64(0)",), ("s += wei[tap] * np.float64(v)",), "s")
MEAN = (("s = np.float64(0)",), ("s += np.float64(v)",), "s / count")
LEAST = (("s = first",), ("if v < s:", "    s = v"), "s")
MOST = (("s = first",), ("if v > s:", "    s = v"), "s")
LEAST_LESS = (("s = first",), ("u = np.float64(v) - wei[tap]", "if u < s:", "    s = u"), "s")
MOST_MORE = (("s = first",), ("u = np.float64(v) + wei[tap]", "if u > s:", "    s = u"), "s")
ALL = (("s = first",), ("if not v:", "    s = np.bool_(False)"), "s")
ANY = (("s = first",), ("if v:", "    s = np.bool_(True)"), "s")


def _edge(x, cval, modes):
    """(x, cval) in a dtype that holds cval too, if one of the modes uses it."""
    if 4 in modes and x.dtype.kind in "biu" and x.dtype.type(cval) != cval:
        x = x.astype("float64")
    return x, x.dtype.type(cval if 4 in modes else 0)


def _first(what, dtype):
    if what in (ALL, ANY):
        return numpy.bool_(what is ALL)
    if what in (LEAST_LESS, MOST_MORE):
        return numpy.float64(numpy.inf if what is LEAST_LESS else -numpy.inf)
    if what not in (LEAST, MOST):
        return numpy.float64(0)
    if dtype.kind == "b":
        return numpy.bool_(what is LEAST)
    if dtype.kind == "f":
        return dtype.type(numpy.inf if what is LEAST else -numpy.inf)
    return dtype.type(numpy.iinfo(dtype).max if what is LEAST else numpy.iinfo(dtype).min)


def over_footprint(what, x, offsets, weights, modes, cval, dtype):
    """Apply the filter `what` over offsets, NumPy's array of (count, ndim). modes: a number for each axis."""
    x, edge = _edge(x, cval, modes)
    out = _core.empty(x.shape, dtype, device=x.device)
    if not out.size:
        return out
    o = _core.asarray(numpy.ascontiguousarray(offsets, numpy.int64), device=x.device)
    w = _core.asarray(numpy.ascontiguousarray(weights, numpy.float64), device=x.device)
    low, high = numpy.maximum(-offsets.min(0), 0).tolist(), numpy.maximum(offsets.max(0), 0).tolist()
    extra = [v for d in range(x.ndim) for v in (low[d], high[d], modes[d])]
    _footprint_kernel(x.ndim, *what, str(out.dtype))(x, o, w, edge, _first(what, x.dtype), *extra, out)
    return out


def along_axis(what, x, axis, weights, low, mode, cval, dtype):
    """Apply the filter `what` over len(weights) neighbours along axis. The first is `low` elements before the
    centre."""
    x, edge = _edge(x, cval, (mode,))
    n, count = x.shape[axis], len(weights)
    before, after = int(numpy.prod(x.shape[:axis])), int(numpy.prod(x.shape[axis + 1 :]))
    shape = [s for s, keep in ((before, before > 1), (n, True), (after, after > 1)) if keep]
    out = _core.empty(shape, dtype, device=x.device)
    if out.size:
        w = _core.asarray(numpy.ascontiguousarray(weights, numpy.float64), device=x.device)
        kernel = _line_kernel(len(shape), int(before > 1), *what, str(out.dtype))
        first = _first(what, x.dtype)
        kernel(x.reshape(shape), w, edge, first, count, low, count - 1 - low, mode, out)
    return out.reshape(x.shape)


# ---- selection ----


def _network(n):
    """Batcher's odd-even merge sorting network for n values: the pairs to compare and exchange, in order."""
    pairs = []
    p = 1
    while p < n:
        k = p
        while k >= 1:
            for j in range(k % p, n - k, 2 * k):
                for i in range(min(k, n - j - k)):
                    if (i + j) // (2 * p) == (i + j + k) // (2 * p):
                        pairs.append((i + j, i + j + k))
            k //= 2
        p *= 2
    return pairs


def _needed(n, rank):
    """The pairs of the network that affect the value of a rank, each with flags that tell which results are needed."""
    wanted, kept = {rank}, []
    for a, b in reversed(_network(n)):
        if a in wanted or b in wanted:
            kept.append((a, b, a in wanted, b in wanted))
            wanted |= {a, b}
    return kept[::-1]


@functools.lru_cache(maxsize=64)
def _network_kernel(ndim, n, rank):
    letters = _LETTERS[:ndim]
    body = [f"v{k} = x[{', '.join(f'{c} + off[{k}, {d}]' for d, c in enumerate(letters))}]" for k in range(n)]
    for a, b, low, high in _needed(n, rank):
        if low and high:
            body.append(f"v{a}, v{b} = min(v{a}, v{b}), max(v{a}, v{b})")
        else:
            body.append(f"v{a} = min(v{a}, v{b})" if low else f"v{b} = max(v{a}, v{b})")
    body.append(f"out[{index(ndim)}] = v{rank}")
    lines = ["def select(x, off, out):", *nest([f"out.shape[{d}]" for d in range(ndim)], body), ""]
    return jit(define("\n".join(lines), "select"))


@functools.lru_cache(maxsize=16)
def _counting_kernel(ndim):
    """A kernel that selects by counting. The result is the candidate v with less <= rank < upto, where less values are
    below v and upto values are at most v."""
    letters = _LETTERS[:ndim]
    at = ", ".join(f"{c} + off[{{0}}, {d}]" for d, c in enumerate(letters))
    body = [
        f"s = x[{at.format(0)}]", "for tap in range(off.shape[0]):", f"    v = x[{at.format('tap')}]",
        "    less = 0", "    upto = 0",
        "    for other in range(off.shape[0]):", f"        u = x[{at.format('other')}]", "        if u < v:",
        "            less += 1", "        if u <= v:", "            upto += 1", "    if less <= rank < upto:",
        "        s = v", f"out[{index(ndim)}] = s",
    ]  # fmt: skip
    lines = ["def select(x, off, rank, out):", *nest([f"out.shape[{d}]" for d in range(ndim)], body), ""]
    return jit(define("\n".join(lines), "select"))


_PAD = {0: "symmetric", 1: "reflect", 2: "edge", 3: "wrap", 4: "constant"}
NETWORK_MAX = 81  # values; for more, the network's code takes seconds to compile


def rank_of(x, offsets, rank, modes, cval):
    """The value of a rank among the neighbours at offsets of each element, in a dtype that also holds cval."""
    x, edge = _edge(x, cval, modes)
    low, high = numpy.maximum(-offsets.min(0), 0).tolist(), numpy.maximum(offsets.max(0), 0).tolist()
    padded = x
    for d in range(x.ndim):
        if low[d] or high[d]:
            width = [(0, 0)] * d + [(low[d], high[d])] + [(0, 0)] * (x.ndim - d - 1)
            keywords = {"constant_values": edge.item()} if modes[d] == 4 else {}
            padded = treadle.pad(padded, width, _PAD[modes[d]], **keywords)
    out = _core.empty(x.shape, x.dtype, device=x.device)
    if out.size:
        o = _core.asarray(numpy.ascontiguousarray(offsets + numpy.array(low), numpy.int64), device=x.device)
        if len(offsets) <= NETWORK_MAX:
            _network_kernel(x.ndim, len(offsets), rank)(padded, o, out)
        else:
            _counting_kernel(x.ndim)(padded, o, rank, out)
    return out
