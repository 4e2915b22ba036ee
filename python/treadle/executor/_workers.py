"""Functions that are not compiled: which processes they can run in, the first items here, the rest in workers.

A worker process starts in half a second and answers in milliseconds, so a small map is through here before one has
answered. What a worker is sent is bytes, which it unpickles inside of a call: one that does not find the function says
so, where the pool's own reading would end the worker.
"""

import collections
import dis
import functools
import os
import pickle
import re
import sys
import threading
import time
import traceback
import types
from concurrent.futures import TimeoutError

from ._remote import raised

_HERE = 0.01  # seconds that a map's first items may take in this process
_CHUNKS = 32  # a worker's share is cut into so many
_PROCESS = frozenset("os posix signal sys ctypes _ctypes multiprocessing subprocess resource faulthandler".split())


@functools.lru_cache
def _is_guarded(file):
    """Does the program tell whether it is run or imported? Packages' __main__ are not imported by processes."""
    if os.path.basename(file) == "__main__.py":
        return True
    try:
        with open(file, "rb") as f:
            return re.search(rb"\b__name__\s*(?:==|!=|in\b)|(?:==|!=)\s*__name__\b", f.read()) is not None
    except OSError:
        return True


def reaches_workers(fn, row):
    """None, or why fn(*row) cannot be sent to another process."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    inner = fn.func if isinstance(fn, functools.partial) else fn
    if file is None or not os.path.exists(file):
        if getattr(inner, "__module__", None) == "__main__":
            return "it was typed in, and other processes cannot import it"
    elif not _is_guarded(file):
        return f"{file} has no `if __name__ == \"__main__\"`, so that each process that imports it would run it all"
    try:
        pickle.dumps((fn, row))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def acts_on_process(fn, seen=None):
    """Does fn name what acts on the whole process (os, signal, …) or set globals, as far as its code tells?"""
    seen = set() if seen is None else seen
    fn = fn.func if isinstance(fn, functools.partial) else getattr(fn, "__func__", fn)
    if isinstance(fn, types.ModuleType):
        return fn.__name__.partition(".")[0] in _PROCESS
    if not isinstance(fn, types.FunctionType):
        return (getattr(fn, "__module__", None) or "") in _PROCESS
    if fn in seen:
        return False
    seen.add(fn)
    codes = [fn.__code__]
    for code in codes:
        codes.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
        for step in dis.get_instructions(code):
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                return True
            if step.opname == "IMPORT_NAME" and step.argval in _PROCESS:
                return True
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and acts_on_process(fn.__globals__.get(step.argval), seen):
                return True
    return False


# ---- in a worker ----


def _loaded(work):
    """(None, the results of fn over rows as bytes), or (why the function cannot be found here, None)."""
    try:
        fn, rows = pickle.loads(work)
    except Exception as error:
        return f"{type(error).__name__}: {error}", None
    values, failed = [], None
    for row in rows:
        try:
            values.append(fn(*row))
        except Exception as error:
            failed = error, "".join(traceback.format_exception(error))
            break
    return None, pickle.dumps((values, failed))


# ---- in this process ----


class Mixed:
    """An iterator over fn's results over rows: those of the first _HERE seconds from one thread of this process, the
    others from a pool's workers, or from `threads` where these do not find the function.

    here is fn as it is called in this process. pool() gives the workers.
    missed(why) is told that workers do not find fn."""

    def __init__(self, fn, here, items, n, pool, threads, chunksize, until, missed, at_once):
        self._fn, self._items, self._n, self._size = fn, items, n, chunksize
        self._pool, self._threads, self._missed, self._until = pool, threads, missed, until
        self._here, self._values, self._failed = here, collections.deque(), None
        self._lock, self._over, self._stop = threading.Lock(), threading.Event(), False
        self._begun, self._end, self._futures = -1, None, []  # the items before `end` are run here
        if at_once:
            self._rest(0)
            self._over.set()
        else:
            threads.submit(self._first)

    def _first(self):
        with self._lock:
            if self._end is not None:  # all threads were busy
                return
            self._begun = 0
        ends = time.monotonic() + _HERE
        try:
            for k, row in enumerate(zip(*self._items, strict=False)):
                with self._lock:
                    if self._stop or k == (self._n if self._end is None else self._end):
                        return
                    self._begun = k
                own = pickle.loads(pickle.dumps(row))  # what fn changes in place is not the caller's, as in a worker
                self._values.append(self._here(*own))
                if time.monotonic() > ends:
                    self._rest(k + 1)
        except BaseException as error:
            error.__traceback__ = error.__traceback__.tb_next  # without this frame
            self._failed = error
        finally:
            self._over.set()

    def _rest(self, end):
        """Gives the items from `end` on to the workers, if nobody has."""
        with self._lock:
            if self._end is not None or self._stop:
                return
            self._end = end
            if self._begun < 0:
                self._over.set()
            if end >= self._n:
                return
            pool = self._pool()
            size = self._size if self._size > 1 else max(1, (self._n - end) // (_CHUNKS * pool._max_workers))
            for lo in range(end, self._n, size):
                rows = list(zip(*(c[lo : lo + size] for c in self._items), strict=True))
                self._futures.append((rows, pool.submit(_loaded, pickle.dumps((self._fn, rows)))))

    def _left(self):
        if self._until is None:
            return None
        return max(self._until - time.monotonic(), 0)

    def __iter__(self):
        try:
            left = self._left()
            if not self._over.wait(_HERE if left is None else min(left, _HERE)):
                self._rest(self._begun + 1)  # a long item: workers need not wait for it
            if not self._over.wait(self._left()):
                raise TimeoutError()
            while self._values:
                yield self._values.popleft()  # which the caller alone holds then
            if self._failed is not None:
                raise self._failed
            while self._futures:
                rows, future = self._futures.pop(0)
                yield from self._of(rows, future)
        finally:
            self.close()

    def _of(self, rows, future):
        missing, made = future.result(timeout=self._left())
        if missing is not None:
            self._missed(missing)
            yield from self._threads.map(self._here, *zip(*rows, strict=True), timeout=self._left())
            return
        values, failed = pickle.loads(made)
        yield from values
        if failed is not None:
            raise raised(*failed)

    def close(self):
        """Begins no more items, and cancels those that wait for a worker."""
        with self._lock:
            self._stop = True
        for _, future in self._futures:
            future.cancel()
