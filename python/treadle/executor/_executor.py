"""DeviceExecutor: which way a function goes, and the pools of threads and processes behind it."""

import concurrent.futures
import functools
import itertools
import multiprocessing
import os
import pickle
import re
import sys
import threading
import time
import warnings
from concurrent.futures.process import BrokenProcessPool

from .. import _core
from .._observe._progress import NO_BAR, Progress
from . import _remote
from ._choice import chosen
from ._columns import columns, columns_of, rows
from ._mapper import Refused, joined
from ._results import Job, Results, buffered, slices

_PARTS = 64  # slices of a map that an engine is given


def _on(device, fn, /, *args, **kwargs):
    with device:
        return fn(*args, **kwargs)


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


def _reaches_workers(fn, row):
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


class DeviceExecutor(concurrent.futures.Executor):
    """An executor of concurrent.futures whose map compiles functions of numbers and runs them on a device.

    device: a device or its name; None: the current one. max_workers: of threads and of processes. engine: an object
    with submit(fn, *args) -> future (an executor, dask.distributed.Client, mpi4py.futures.MPIPoolExecutor) whose
    workers run the work instead, each on its own device; it is not shut down with this one. thread_name_prefix,
    initializer, initargs: as of ThreadPoolExecutor; the initializer is run in worker processes too. mp_context,
    max_tasks_per_child: as of ProcessPoolExecutor; None: worker processes are spawned."""

    def __init__(self, device=None, max_workers=None, thread_name_prefix="", initializer=None, initargs=(), *,
                 engine=None, mp_context=None, max_tasks_per_child=None):  # fmt: skip
        if isinstance(device, int) and not isinstance(device, bool) and max_workers is None:
            device, max_workers = None, device  # ThreadPoolExecutor(4), ProcessPoolExecutor(4)
        self._device = None if device is None else _core.device(device)
        self._threads = concurrent.futures.ThreadPoolExecutor(max_workers, thread_name_prefix, initializer, initargs)
        self._setup = {"max_workers": max_workers, "initializer": initializer, "initargs": initargs,
                       "mp_context": mp_context or multiprocessing.get_context("spawn")}  # fmt: skip
        if max_tasks_per_child is not None:
            self._setup["max_tasks_per_child"] = max_tasks_per_child
        self._engine, self._processes, self._jobs = engine, None, set()
        self._lock, self._closed, self._warned = threading.Lock(), False, set()

    # ---- submit ----

    def submit(self, fn, /, *args, **kwargs):
        """A Future of fn(*args, **kwargs), which a thread runs, or the engine."""
        if self._engine is not None:
            self._check_open()
            return self._engine.submit(fn, *args, **kwargs)
        if self._device is not None:
            return self._threads.submit(_on, self._device, fn, *args, **kwargs)
        return self._threads.submit(fn, *args, **kwargs)

    def submit_to_processes(self, fn, /, *args, **kwargs):
        """As submit; a worker process runs it, or a thread where it cannot be sent to one."""
        alone = _reaches_workers(fn, (args, kwargs))
        if alone is not None:
            self._warn(fn, f"runs in threads ({alone})")
            return DeviceExecutor.submit(self, fn, *args, **kwargs)
        try:
            return self._pool().submit(fn, *args, **kwargs)
        except BrokenProcessPool:  # a worker has died since
            self._processes = None
            return self._pool().submit(fn, *args, **kwargs)

    def _check_open(self):
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")

    # ---- map ----

    def map(self, fn, *iterables, timeout=None, chunksize=1, buffersize=None, as_array=False, progress=False):
        """An iterator of fn's results over zip(*iterables), in order: Python's values, and Python's exceptions.

        A function of numbers is compiled and runs over all items on the device; an item that int64 does not hold, that
        divides by zero or raises is run again by Python. What cannot be compiled is run by worker processes, as
        ProcessPoolExecutor does, or by threads where it cannot be sent to another process; one PerformanceWarning
        says why.

        iterables: lists, ranges, arrays (their items are the numbers that tolist() gives), or any others, which are
        read to their end at once. timeout: seconds from now after which the iterator raises TimeoutError. chunksize:
        items that a worker process is given at once; 1: chosen. buffersize: iterables are read only so far ahead of the
        results that were taken, as of Python 3.14, so that they may be endless. as_array: returns all results as one
        array on the device. progress: shows a bar (tqdm). RuntimeError: the executor was shut down."""
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        if buffersize is not None and not isinstance(buffersize, int):
            raise TypeError("buffersize must be an integer or None")
        if buffersize is not None and buffersize < 1:
            raise ValueError("buffersize must be None or > 0")
        self._check_open()
        until = None if timeout is None else time.monotonic() + timeout
        name = getattr(fn, "__name__", "map")
        if buffersize is None:
            found, n = columns(iterables)
            results = self._mapped(fn, found, n, until, chunksize, as_array, Progress(progress, n, name))
        else:
            coming = rows(iterables)
            first = columns_of(list(itertools.islice(coming, buffersize)))
            begin = functools.partial(self._mapped, fn, until=until, chunksize=chunksize)
            results = begin(*first)
            results = told(buffered(results, coming, begin, buffersize), Progress(progress, None, name))
        if not as_array:
            return results
        return self._joined(list(getattr(results, "parts", None) or [list(results)]))

    def _mapped(self, fn, found, n, until, chunksize, as_array=False, bar=NO_BAR):
        """An iterator of fn's results over columns of n items."""
        if self._engine is not None:
            return Results(self._by_engine(fn, found, n, chunksize, until, bar))
        if not n:
            return Results(told(iter(()), bar))
        try:
            job = self._job(chosen(fn, found, n, self._device or _core.device(), as_array))
        except Refused as why:
            timeout = None if until is None else until - time.monotonic()
            return told(self._by_python(fn, found, n, timeout, chunksize, why), bar)
        return Results(slices(job, until, bar, 8 * (len(found) + 1)), job)

    def _joined(self, parts):
        return joined(parts, self._device or _core.device())

    def _job(self, mapper):
        """The thread that runs the mapper."""
        job = Job(mapper, self._jobs.discard)
        with self._lock:
            self._check_open()
            self._jobs.add(job)
        try:
            job.start()
        except BaseException:  # Ctrl-C while the thread begins: nobody gets its results
            job.cancel()
            raise
        return job

    # ---- what is not compiled ----

    def _by_python(self, fn, found, n, timeout, chunksize, why):
        items = [c.items for c in found]
        changed = "what it is or reads has changed since it was imported" if why.here else None
        alone = changed or _reaches_workers(fn, tuple(c.first() for c in found))
        where = "worker processes" if alone is None else f"threads ({alone})"
        self._warn(fn, f"runs in {where}: {why}")
        if alone is not None:
            return self._threads.map(self._here(fn), *items, timeout=timeout)
        pool = self._pool()
        if chunksize == 1:
            chunksize = max(1, n // (32 * pool._max_workers))
        return self._watched(pool, pool.map(fn, *items, timeout=timeout, chunksize=chunksize))

    def _here(self, fn):
        return fn if self._device is None else functools.partial(_on, self._device, fn)

    def _warn(self, fn, why):
        key = getattr(fn, "__code__", fn)
        try:
            known = key in self._warned
            self._warned.add(key)
        except TypeError:
            known = False
        if not known:
            name = getattr(fn, "__qualname__", None) or repr(fn)
            warnings.warn(f"DeviceExecutor.map: {name} {why}", _core.PerformanceWarning, stacklevel=5)

    def _pool(self):
        with self._lock:
            self._check_open()
            if self._processes is None:
                self._processes = concurrent.futures.ProcessPoolExecutor(**self._setup)
            return self._processes

    def _watched(self, pool, results):
        """results; a pool whose worker died is given up, so that the next call gets a new one."""
        try:
            yield from results
        except BrokenProcessPool:
            with self._lock:
                if self._processes is pool:
                    self._processes = None
            pool.shutdown(wait=False)
            raise
        finally:
            results.close()

    # ---- engines ----

    def _by_engine(self, fn, found, n, chunksize, until, bar):
        size = chunksize if chunksize > 1 else max(1, -(-n // _PARTS))
        own = {"pure": False} if type(self._engine).__module__.split(".")[0] == "distributed" else {}
        futures = [
            self._engine.submit(_remote.run, fn, [c.part(lo, min(lo + size, n)) for c in found], **own)
            for lo in range(0, n, size)
        ]
        return engine_slices(futures, until, bar)

    # ---- the end ----

    def shutdown(self, wait=True, *, cancel_futures=False):
        """No more work is taken; what is under way is waited for, unless wait is False. The engine stays."""
        with self._lock:
            self._closed = True
            jobs, pool = list(self._jobs), self._processes
        for job in jobs if cancel_futures else ():
            job.cancel()
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        if pool is not None:
            pool.shutdown(wait=wait, cancel_futures=cancel_futures)
        for job in jobs if wait else ():
            job.join()


def told(results, bar):
    """A generator of the results, which it does not hold on to."""
    try:
        while True:
            try:
                yield next(results)
            except StopIteration:
                return
            bar.add(1)
    finally:
        bar.close()
        if hasattr(results, "close"):
            results.close()


def engine_slices(futures, until, bar):
    """A generator of the futures' slices, in order; whoever leaves it early cancels the rest."""
    try:
        while futures:
            future = futures[0]
            left = None if until is None else until - time.monotonic()
            values, failed = future.result() if left is None else future.result(timeout=max(left, 0))
            futures.pop(0)
            bar.add(len(values))
            yield values
            if failed is not None:
                raise _remote.raised(*failed)
    finally:
        bar.close()
        for future in futures:
            future.cancel()
