"""Results that come in slices while a thread computes the next ones."""

import collections
import itertools
import threading
import time
import warnings
from concurrent.futures import TimeoutError

from .._core import PerformanceWarning, _obey
from ._columns import columns_of
from ._exact import LONGEST


class Job(threading.Thread):
    """Runs slices of a mapper, small ones first, until it has them all, one fails, or nobody wants them any more."""

    FIRST, MOST, LONG = 1 << 6, 1 << 18, 0.02  # items of a slice; seconds after which slices do not grow

    def __init__(self, mapper, done):
        super().__init__(name="treadle-map")
        self._mapper, self._done = mapper, done
        self._scale = 1 if mapper.device.kind == "cpu" or mapper.words > LONGEST else 16
        self._ready, self._parts = threading.Condition(), collections.deque()
        self._over, self._unwanted = False, bytearray(1)
        self.note = None  # what to tell the caller at the end

    def run(self):
        _obey(self._unwanted)
        try:
            self._slices()
        except BaseException as error:
            self._give(([], error))
        finally:
            _obey(None)
            self._done(self)
            with self._ready:
                self._over = True
                self.note, self._mapper = self._mapper.note(), None
                self._ready.notify_all()

    def _slices(self):
        lo, size = 0, self.FIRST * self._scale
        while lo < self._mapper.n and not self._unwanted[0]:
            hi = min(lo + size, self._mapper.n)
            began = time.perf_counter()
            part = self._mapper.run(lo, hi)
            self._give(part)
            if part[1] is not None:
                return
            if time.perf_counter() - began < self.LONG:
                size = min(8 * size, self.MOST * self._scale)
            lo = hi

    def _give(self, part):
        with self._ready:
            self._parts.append(part)
            self._ready.notify_all()

    def cancel(self):
        """No further slice is begun, and the compiled function leaves the one that it is in."""
        self._unwanted[0] = 1

    def next(self, until):
        """The next slice's results and exception; None: there is none. TimeoutError: it is later than `until`."""
        with self._ready:
            while not self._parts and not self._over:
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError()
                self._ready.wait(left)
            return self._parts.popleft() if self._parts else None


def slices(job, until, progress, nbytes):
    """A generator of the job's slices; whoever leaves it early cancels the job."""
    try:
        while (part := job.next(until)) is not None:
            values, error = part
            progress.add(len(values), nbytes * len(values))
            yield values
            if error is not None:
                try:
                    raise error
                finally:
                    del part, error  # no circle through the traceback
        if job.note:
            warnings.warn(job.note, PerformanceWarning, stacklevel=2)
    finally:
        progress.close()
        job.cancel()


def buffered(first, coming, begin, size):
    """A generator of the results of slices of rows: those of `first`, of `size` rows, then those of begin(columns, n)
    for rows that are read from `coming` while results are taken, one for each."""
    flying, rows = collections.deque([first]), []
    try:
        while flying:
            for value in flying[0]:
                rows.extend(itertools.islice(coming, 1))
                if 2 * len(rows) >= size:
                    flying.append(begin(*columns_of(rows)))
                    rows = []
                yield value
            flying.popleft()
            if rows and not flying:
                flying.append(begin(*columns_of(rows)))
                rows = []
    finally:
        for results in flying:
            results.close()


class Results:
    """An iterator over all slices' values; the slices are parts. close(): the rest is not wanted."""

    def __init__(self, parts, job=None):
        self.parts, self._job = parts, job
        self._values = itertools.chain.from_iterable(parts)

    def __iter__(self):
        return self._values

    def __next__(self):
        return next(self._values)

    def close(self):
        self.parts.close()
        if self._job is not None:
            self._job.cancel()
        self._values = iter(())
