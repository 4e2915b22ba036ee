"""Runs functions that are not compiled: the first items in this process, the others in worker processes.

A worker process needs half a second to start and milliseconds to answer, so a small map is done here before a worker
answers. A worker receives bytes and unpickles them inside of the call. If it cannot import the function, it returns
the reason; ProcessPoolExecutor's own unpickling would end the worker instead.
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

_HERE = 0.01  # seconds for which a map's first items run in this process
_CHUNKS = 32  # slices for each worker
_PROCESS = frozenset("os posix signal sys ctypes _ctypes multiprocessing subprocess resource faulthandler".split())


@functools.lru_cache
def _is_guarded(file):
    """Whether the program checks __name__, so that a worker process can import it without running it all.

    Processes do not import a package's __main__, so such a file counts as guarded."""
    if os.path.basename(file) == "__main__.py":
        return True
    try:
        with open(file, "rb") as f:
            return re.search(rb"\b__name__\s*(?:==|!=|in\b)|(?:==|!=)\s*__name__\b", f.read()) is not None
    except OSError:
        return True


def reaches_workers(fn, row):
    """None, or the reason why fn(*row) cannot be sent to another process."""
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
    """Whether fn's code uses a module that acts on the whole process (os, signal, …) or sets a global, as far as its
    bytecode shows."""
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
    """Run the pickled work in a worker: (None, the pickled results), or (the reason why the function cannot be
    imported, None)."""
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
    """An iterator over fn's results.

    One thread of this process computes the rows of the first _HERE seconds. The workers of a pool compute the others.
    Where they cannot import the function, `threads` do.

    here is fn in the form that this process calls. pool() returns the pool of workers. missed(why) is called when
    workers cannot import fn."""

    def __init__(self, fn, here, items, n, pool, threads, chunksize, until, missed, at_once):
        self._fn, self._items, self._n, self._size = fn, items, n, chunksize
        self._pool, self._threads, self._missed, self._until = pool, threads, missed, until
        self._here, self._values, self._failed = here, collections.deque(), None
        self._lock, self._over, self._stop = threading.Lock(), threading.Event(), False
        # this process runs the items before _end; None while that is open
        self._begun, self._end, self._futures = -1, None, []
        if at_once:
            self._rest(0)
            self._over.set()
        else:
            threads.submit(self._first)

    def _first(self):
        with self._lock:
            if self._end is not None:  # all threads were busy until the workers took over
                return
            self._begun = 0
        ends = time.monotonic() + _HERE
        try:
            for k, row in enumerate(zip(*self._items, strict=False)):
                with self._lock:
                    if self._stop or k == (self._n if self._end is None else self._end):
                        return
                    self._begun = k
                # a copy, as a worker gets: changes in place do not reach the caller's object
                own = pickle.loads(pickle.dumps(row))
                self._values.append(self._here(*own))
                if time.monotonic() > ends:
                    self._rest(k + 1)
        except BaseException as error:
            error.__traceback__ = error.__traceback__.tb_next  # drop this frame from the traceback
            self._failed = error
        finally:
            self._over.set()

    def _rest(self, end):
        """Give the items from `end` on to the workers, unless that was done before."""
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
                self._rest(self._begun + 1)  # the current item takes long: let the workers start meanwhile
            if not self._over.wait(self._left()):
                raise TimeoutError()
            while self._values:
                yield self._values.popleft()  # keep no reference, so that the caller alone holds the value
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
        """Start no more items, and cancel those that no worker has begun."""
        with self._lock:
            self._stop = True
        for _, future in self._futures:
            future.cancel()
