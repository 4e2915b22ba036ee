"""td.stream(rows=True): calls a function with one chunk of rows after the other, and puts its results together."""

from concurrent.futures import ThreadPoolExecutor
from math import prod

import numpy as np

from .. import _core
from ._source_host import Records, from_host, into, own_chunks

_BYTES = 16 << 20  # of a chunk: it stays in the last-level cache
_PARTS = 16  # of the memory that is left, for what the function needs beside its rows


class _Rows:
    """A source, cut into rows.  What a reader gives is read one chunk ahead, by a thread."""

    def __init__(self, source):
        self.x = from_host(source)
        self.reads = not isinstance(source, np.ndarray) and not isinstance(self.x, Records)
        self.chunk = (own_chunks(source) or (1,))[0]
        self.nbytes = prod(self.x.shape[1:]) * self.x.dtype.itemsize

    def __len__(self):
        return self.x.shape[0]

    def part(self, lo, hi):
        if isinstance(self.x, Records):
            return self.x.rows(lo, hi)
        return from_host(self.x[lo:hi].get(), self.x.device) if self.reads else self.x[lo:hi]


def _fitting(sources, outs):
    """How many rows go at once: whole chunks of the largest source's and the target's own, where they fit."""
    row = sum(s.nbytes for s in sources) or 1
    device = _core.device()
    room = min(_core._memory_left(device) // _PARTS, _BYTES)
    n = max(room // row, 1)
    own = max(((own_chunks(o) or (1,))[0] for o in outs), default=1)
    own = max(own, max(sources, key=lambda s: s.nbytes).chunk)
    return max(n // own * own, own if own * row <= 4 * room else n)


def _leaves(made):
    """The arrays in what the function returned, in tuples, lists and dicts of such too."""
    if isinstance(made, dict):
        made = list(made.values())
    return [x for m in made for x in _leaves(m)] if isinstance(made, (tuple, list)) else [made]


def _with(made, new):
    """What the function returned with the next of the arrays `new`, an iterator, in the places of its own."""
    if isinstance(made, dict):
        return {k: _with(m, new) for k, m in made.items()}
    return type(made)(_with(m, new) for m in made) if isinstance(made, (tuple, list)) else next(new)


class _Result:
    """Where the rows of one result go: to out, or to memory on the host."""

    def __init__(self, out, n):
        self.out, self.given, self.n = out, out is not None, n

    def put(self, made, lo, hi):
        if not isinstance(made, _core.ndarray):
            raise TypeError(f"stream: with rows=True f returns arrays, not {type(made).__name__}")
        if made.shape[:1] != (hi - lo,):
            raise ValueError(f"stream: with rows=True f gave shape {made.shape} for {hi - lo} rows")
        if not self.given and self.out is None:
            bits = "uint16" if made.dtype.kind == "V" else made.dtype
            self.bfloat, self.out = made.dtype.kind == "V", np.empty((self.n, *made.shape[1:]), bits)
        shape = tuple(self.out.shape)
        if shape != (self.n, *made.shape[1:]):
            raise ValueError(f"stream: rows of shape {made.shape[1:]} do not fit out=, of shape {shape}")
        if isinstance(self.out, np.ndarray):
            into(made.view("uint16") if not self.given and self.bfloat else made, self.out[lo:hi], 0)
        elif isinstance(self.out, _core.ndarray):
            self.out[lo:hi] = made
        else:
            self.out[lo:hi] = np.asarray(made.get(), dtype=self.out.dtype)

    def value(self):
        if self.given:
            return self.out
        x = from_host(self.out)
        return x.view("bfloat16") if self.bfloat else x


def in_chunks(f, sources, out, many):
    """f of chunks of rows of the sources, put together along the first axis."""
    parts = [_Rows(s) for s in sources]
    n = len(parts[0])
    if any(len(p) != n for p in parts):
        raise ValueError(f"stream: with rows=True sources of {', '.join(str(len(p)) for p in parts)} rows")
    if not n:
        return f(*(p.x for p in parts))
    outs = _leaves(out) if out is not None else []
    step = many or _fitting(parts, outs)
    results = None
    with ThreadPoolExecutor(1, thread_name_prefix="treadle-rows") as ahead:

        def read(lo):
            hi = min(lo + step, n)
            return [ahead.submit(p.part, lo, hi) if p.reads else None for p in parts] if lo < n else None

        coming = read(0)
        for lo in range(0, n, step):
            hi, here = min(lo + step, n), coming
            rows = [p.part(lo, hi) if c is None else c.result() for p, c in zip(parts, here, strict=True)]
            coming = read(hi)
            made = _leaves(like := f(*rows))
            if results is None:
                results = [_Result(o, n) for o in (outs or [None] * len(made))]
            for r, m in zip(results, made, strict=True):
                r.put(m, lo, hi)
    return _with(like, iter([r.value() for r in results]))
