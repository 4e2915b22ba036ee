"""Seen: a recording of what a program did: the profile's records, NumPy's work on the host, and fallbacks.

`--explain`, `--doctor` and `treadle.doctor()` all read one Seen.
"""

import time

from .. import _core
from .._callers import site
from .._exchange import _host, _moves
from . import _profile

_tell_host = None  # set where programs run unchanged: function(recorder or None), told who records NumPy's work
_open = []  # the Seen objects that are recording


class Work:
    """NumPy's work under one name at one line: counts, times and the last array.

    across: bytes between neighbouring elements if the array was not contiguous, else 0."""

    __slots__ = ("across", "calls", "dtype", "elements", "ns", "shape", "strides")

    def __init__(self):
        self.calls = self.elements = self.ns = self.across = 0
        self.dtype, self.shape, self.strides = None, (), ()


class Seen:
    """A context manager: what happens in it is seen.

    profile: the profile; records: its records, named; host: {(name, file, line): Work}; why: {(name, file, line): what
    treadle said when it declined};
    fallbacks: as treadle.fallbacks() lists them, with nanoseconds; moves: as treadle.sharding.moves() does;
    seconds: how long it took; device: its name."""

    def __init__(self):
        self.profile = _profile.profile()
        self.host, self.why, self.fallbacks, self.moves = {}, {}, [], []
        self.seconds, self.device, self.records = 0.0, "", []
        self._begin = self._before = self._moved = None

    def __enter__(self):
        self.profile.__enter__()
        self._before = _host.timed()
        self._moved = _moves.moves()
        self._begin = time.perf_counter()
        _open.append(self)
        _tell()
        return self

    def __exit__(self, *exc):
        self.seconds = time.perf_counter() - self._begin
        _open.remove(self)
        _tell()
        self.profile.__exit__(*exc)
        self.records = self.profile.named()
        self.device = _core.device().name
        self.fallbacks = _since(_host.timed(), self._before)
        before = {row[:2]: row[2:] for row in self._moved}
        rows = [(*row[:2], *(a - b for a, b in zip(row[2:], before.get(row[:2], (0, 0)), strict=True)))
                for row in _moves.moves()]  # fmt: skip
        self.moves = [row for row in rows if row[2]]
        return False

    def watch(self, name, elements, ns, array):
        """Record NumPy's work on arrays that stay on the host. array is the largest one."""
        at = site()
        if at[0].startswith("<frozen"):  # a library is being imported
            return
        work = self.host.setdefault((name.removeprefix("numpy."), *at), Work())
        work.calls += 1
        work.elements += elements
        work.ns += ns
        strides = getattr(array, "strides", None)
        if strides:
            work.dtype, work.shape, work.strides = array.dtype, array.shape, strides
            work.across = max(work.across, _apart(array.shape, strides, array.itemsize))

    def declined(self, name, why):
        """Record why treadle's function of that name declined a call."""
        self.why.setdefault((name.removeprefix("numpy."), *site()), why)


def _apart(shape, strides, size):
    """Bytes from one element to the next where they are not adjacent in memory, else 0."""
    steps = [abs(s) for n, s in zip(shape, strides, strict=True) if n > 1 and s]
    return min(steps) if steps and min(steps) > size else 0


def _since(now, before):
    """Fallbacks since `before`: (name, file, line, calls, bytes, ns), the largest first."""
    rows = []
    for key, entry in now.items():
        old = before.get(key, (0, 0, 0))
        calls, nbytes, ns = (a - b for a, b in zip(entry, old, strict=True))
        if calls > 0:
            rows.append((*key, calls, nbytes, ns))
    return sorted(rows, key=lambda r: -r[4])


class _Everyone:
    """Passes records on to all recording Seen objects, except during treadle's own measurements."""

    def watch(self, *work):
        if not _profile.is_measuring():
            for seen in _open:
                seen.watch(*work)

    def declined(self, name, why):
        for seen in _open:
            seen.declined(name, why)


def _tell():
    if _tell_host:
        _tell_host(_Everyone() if _open else None)


def hook(function):
    """Call function(recorder or None) now and whenever recording starts or ends."""
    global _tell_host

    _tell_host = function
    _tell()
