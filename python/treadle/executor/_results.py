"""Results that arrive in slices, while threads compute the next slices."""

import collections
import itertools
import threading
import time
import warnings
from concurrent.futures import TimeoutError

from .._core import PerformanceWarning, _obey
from ._columns import columns_of
from ._exact import LONGEST


class Job:
    """The threads that compute a map slice by slice, until all rows are done, one fails, or the caller cancels.

    Each mapper has a device and a thread of its own. It takes the next slice as soon as its last one is done. The
    first slices are small."""

    # rows of the first and of the largest slice; a slice that takes longer (s) is not followed by a larger one
    FIRST, MOST, LONG = 1 << 6, 1 << 18, 0.02

    def __init__(self, mappers, done):
        self._mappers, self._done, self._busy, self._threads = mappers, done, len(mappers), []
        self._ready, self._parts = threading.Condition(), {}  # results of a slice by the number of its first row
        # numbers of rows: handed to mappers, handed to the caller, to compute
        self._taken, self._given, self._end = 0, 0, mappers[0].n
        self._unwanted = bytearray(1)
        self.note = None  # the warning for the caller, once all is done

    def start(self):
        for mapper in self._mappers:
            thread = threading.Thread(target=self._run, args=(mapper,), name="treadle-map")
            try:
                thread.start()
            except RuntimeError:  # the system allows no more threads
                self._leave()
                if self._busy <= 0:
                    raise
            else:
                self._threads.append(thread)

    def join(self):
        for thread in self._threads:
            thread.join()

    def _run(self, mapper):
        _obey(self._unwanted)
        try:
            self._slices(mapper)
        finally:
            _obey(None)
            self._leave()

    def _leave(self):
        with self._ready:
            self._busy -= 1
            if not self._busy:
                self._finish()
            self._ready.notify_all()

    def _finish(self):
        first = self._mappers[0]
        first.again = sum(m.again for m in self._mappers)
        self.note, self._mappers = first.note(), ()
        self._done(self)

    def _slices(self, mapper):
        scale = 1 if mapper.device.host or mapper.words > LONGEST else 16
        size = self.FIRST * scale
        while (rows := self._take(size)) is not None:
            began = time.perf_counter()
            try:
                part = mapper.run(*rows)
            except BaseException as error:
                part = [], error
            self._give(*rows, part)
            if time.perf_counter() - began < self.LONG:
                size = min(8 * size, self.MOST * scale)

    def _take(self, size):
        """Take the next slice: its first row and the row after its last. None where no slice is left or the job was
        cancelled."""
        with self._ready:
            lo, left = self._taken, self._end - self._taken
            if left <= 0 or self._unwanted[0]:
                return None
            if self._busy > 1:  # smaller slices near the end, so that all mappers finish at about the same time
                size = min(size, max(self.FIRST, left // (2 * self._busy)))
            self._taken = lo + min(size, left)
            return lo, self._taken

    def _give(self, lo, hi, part):
        with self._ready:
            self._parts[lo] = hi, part
            if part[1] is not None:
                self._end = min(self._end, lo)  # rows after the failed one are not needed
            self._ready.notify_all()

    def cancel(self):
        """Start no further slice, and make the compiled function return early from the current ones."""
        self._unwanted[0] = 1

    def next(self, until):
        """Wait for the next slice and return (results, exception). None where no slice is left.

        Raises TimeoutError at the time `until`."""
        with self._ready:
            while self._given not in self._parts and self._busy:
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError()
                self._ready.wait(left)
            if self._given not in self._parts:
                return None
            self._given, part = self._parts.pop(self._given)
            return part


def slices(job, until, progress, nbytes):
    """Yield the job's slices in order. Closing the generator early cancels the job."""
    try:
        while (part := job.next(until)) is not None:
            values, error = part
            progress.add(len(values), nbytes * len(values))
            yield values
            if error is not None:
                try:
                    raise error
                finally:
                    del part, error  # these would form a reference cycle through the traceback
        if job.note:
            warnings.warn(job.note, PerformanceWarning, stacklevel=2)
    finally:
        progress.close()
        job.cancel()


def buffered(first, coming, begin, size):
    """Yield results while reading as many new rows from `coming` as results are taken.

    `first` gives the results of the first `size` rows. begin(columns, n) starts the work on rows that were read later.
    """
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
    """An iterator over the values of all slices. close() cancels the rest."""

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
