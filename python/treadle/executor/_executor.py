"""DeviceExecutor: decides how a function runs, and owns the pools of threads and processes."""

import concurrent.futures
import functools
import itertools
import multiprocessing
import threading
import time
import warnings
from concurrent.futures.process import BrokenProcessPool

from .. import _core
from .._exchange._awaiting import Future
from .._observe._progress import NO_BAR, Progress
from . import _remote
from ._choice import chosen
from ._columns import columns, columns_of, rows
from ._mapper import Refused, joined
from ._results import Job, Results, buffered, slices
from ._workers import Mixed, acts_on_process, reaches_workers

_PARTS = 64  # slices that a map is cut into for an engine


def _several(devices, device, engine):
    """The devices that share each map. An empty list means the device that is current at the time of the call."""
    if devices is None:
        return [] if device is None else [_core.device(device)]
    if device is not None or engine is not None:
        raise TypeError(f"DeviceExecutor: give devices or {'device' if engine is None else 'engine'}, not both")
    if devices == "all":
        found = _core.devices()
    else:
        found = [_core.device(d) for d in ([devices] if isinstance(devices, str) else devices)]
    if not found or len(set(map(str, found))) < len(found):
        raise ValueError(f"DeviceExecutor: devices are different ones, at least one, not {devices!r}")
    return found


def _on(device, fn, /, *args, **kwargs):
    with device:
        return fn(*args, **kwargs)


class DeviceExecutor(concurrent.futures.Executor):
    """An executor of concurrent.futures whose map compiles functions of numbers and runs them on a device.

    Parameters
    ----------
    device : device or str, optional
        The device; None means the current one.
    max_workers : int, optional
        Threads, and processes.
    thread_name_prefix : str, default ''
        As ThreadPoolExecutor's.
    initializer : callable, optional
        Run in each worker thread and worker process first.
    initargs : tuple, default ()
        Arguments of the initializer.
    devices : sequence of device or str, or 'all', optional
        Several devices, which share each map: whichever is free computes the next items. 'all': the GPUs and the CPU.
        Functions of math may differ between devices in the last bit. submit takes them in turn.
    engine : object with submit(fn, *args), optional
        An executor, dask.distributed.Client or MPIPoolExecutor whose workers run the work, each on its own device; it
        is not shut down with this one.
    mp_context, max_tasks_per_child : any, optional
        As ProcessPoolExecutor's; None: worker processes are spawned.

    Raises
    ------
    ValueError
        max_workers is not positive; devices is empty, or names a device twice.
    TypeError
        Both device and devices, or devices and engine, are given.

    Examples
    --------
    >>> from treadle.executor import DeviceExecutor
    >>> with DeviceExecutor("cpu") as executor:
    ...     list(executor.map(lambda x: x * x, [1, 2, 3]))
    [1, 4, 9]
    """

    def __init__(self, device=None, max_workers=None, thread_name_prefix="", initializer=None, initargs=(), *,
                 devices=None, engine=None, mp_context=None, max_tasks_per_child=None):  # fmt: skip
        if isinstance(device, int) and not isinstance(device, bool) and max_workers is None:
            # like ThreadPoolExecutor(4) and ProcessPoolExecutor(4): a lone int is max_workers
            device, max_workers = None, device
        self._devices = _several(devices, device, engine)  # empty: the device that is current when work is submitted
        self._device = self._devices[0] if self._devices else None
        self._turn = itertools.cycle(self._devices or [None])
        self._threads = concurrent.futures.ThreadPoolExecutor(max_workers, thread_name_prefix, initializer, initargs)
        self._setup = {"max_workers": max_workers, "initializer": initializer, "initargs": initargs,
                       "mp_context": mp_context or multiprocessing.get_context("spawn")}  # fmt: skip
        if max_tasks_per_child is not None:
            self._setup["max_tasks_per_child"] = max_tasks_per_child
        # The first items of a map may run in this process, unless the program has said how its worker processes are
        # set up.
        self._is_free = initializer is None and mp_context is None and max_tasks_per_child is None
        self._engine, self._processes, self._jobs, self._missed = engine, None, set(), {}
        self._lock, self._closed, self._warned = threading.Lock(), False, set()

    # ---- submit ----

    def submit(self, fn, /, *args, **kwargs):
        """Run a function on a thread, or by the engine.

        Parameters
        ----------
        fn : callable
            The function.
        *args : any
            Passed on to fn.
        **kwargs : any
            Passed on to fn.

        Returns
        -------
        Future
            Of fn's result; a coroutine can also await it.

        Raises
        ------
        RuntimeError
            The executor was shut down.

        Examples
        --------
        >>> from treadle.executor import DeviceExecutor
        >>> with DeviceExecutor("cpu") as executor:
        ...     executor.submit(abs, -3).result()
        3
        """
        if self._engine is not None:
            self._check_open()
            return self._engine.submit(fn, *args, **kwargs)
        device = next(self._turn)
        call = (fn,) if device is None else (_on, device, fn)
        future = self._threads.submit(*call, *args, **kwargs)
        future.__class__ = Future  # a Future that a coroutine can await as well
        return future

    def submit_to_processes(self, fn, /, *args, **kwargs):
        """Run a function in a worker process, or on a thread where it cannot be sent to one.

        Parameters
        ----------
        fn : callable
            The function.
        *args : any
            Passed on to fn.
        **kwargs : any
            Passed on to fn.

        Returns
        -------
        Future
            Of fn's result.

        Raises
        ------
        RuntimeError
            The executor was shut down.

        Examples
        --------
        >>> from treadle.executor import DeviceExecutor
        >>> callable(DeviceExecutor.submit_to_processes)
        True
        """
        alone = reaches_workers(fn, (args, kwargs))
        if alone is not None:
            self._warn(fn, f"runs in threads ({alone})")
            return DeviceExecutor.submit(self, fn, *args, **kwargs)
        try:
            return self._pool().submit(fn, *args, **kwargs)
        except BrokenProcessPool:  # a worker died after the pool was made
            self._processes = None
            return self._pool().submit(fn, *args, **kwargs)

    def _check_open(self):
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")

    # ---- map ----

    def map(self, fn, *iterables, timeout=None, chunksize=1, buffersize=None, as_array=False, progress=False):
        """The results of a function over zip(*iterables), in order: Python's values and Python's exceptions.

        A function of numbers is compiled and runs over all items on the device. An item that int64 does not hold, that
        divides by zero or that raises is run again by Python. What cannot be compiled is run by worker processes, as
        ProcessPoolExecutor does, or by threads where it cannot be sent to another process; one PerformanceWarning says
        why.

        Parameters
        ----------
        fn : callable
            The function.
        *iterables : iterable
            Lists, ranges, arrays (their items are the numbers that tolist() gives), or any others, which are read to
            their end at once.
        timeout : float, optional
            Seconds from now after which the iterator raises TimeoutError.
        chunksize : int, default 1
            Items that a worker process is given at once; 1 means that it is chosen.
        buffersize : int, optional
            How far iterables are read ahead of the results that were taken, so that they may be endless.
        as_array : bool, default False
            Return all results as one array on the device.
        progress : bool, default False
            Show a bar (tqdm).

        Returns
        -------
        iterator or ndarray
            The results.

        Raises
        ------
        RuntimeError
            The executor was shut down.
        ValueError
            chunksize or buffersize is less than 1.
        TimeoutError
            The time is over; the iterator raises it.

        Examples
        --------
        >>> from treadle.executor import DeviceExecutor
        >>> with DeviceExecutor("cpu") as executor:
        ...     executor.map(lambda x: x + 0.5, range(3), as_array=True)
        array([0.5, 1.5, 2.5])
        """
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
        """An iterator over fn's results for the n rows of these columns."""
        if self._engine is not None:
            return Results(self._by_engine(fn, found, n, chunksize, until, bar))
        if not n:
            return Results(told(iter(()), bar))
        try:
            job = self._job(chosen(fn, found, n, self._devices or [_core.device()], as_array))
        except Refused as why:
            return told(self._by_python(fn, found, n, until, chunksize, why), bar)
        return Results(slices(job, until, bar, 8 * (len(found) + 1)), job)

    def _joined(self, parts):
        return joined(parts, self._device or _core.device())

    def _job(self, mappers):
        """Start the threads that run the mappers, and return their Job."""
        job = Job(mappers, self._jobs.discard)
        with self._lock:
            self._check_open()
            self._jobs.add(job)
        try:
            job.start()
        except BaseException:  # Ctrl-C while a thread starts: nobody will take the results
            job.cancel()
            raise
        return job

    # ---- what is not compiled ----

    def _by_python(self, fn, found, n, until, chunksize, why):
        items = [c.items for c in found]
        changed = "what it is or reads has changed since it was imported" if why.here else None
        key = getattr(fn, "__code__", None)
        alone = changed or self._missed.get(key) or reaches_workers(fn, tuple(c.first() for c in found))
        where = "worker processes" if alone is None else f"threads ({alone})"
        self._warn(fn, f"runs in {where}: {why}")
        if alone is not None:
            timeout = None if until is None else until - time.monotonic()
            return self._threads.map(self._here(fn), *items, timeout=timeout)

        def missed(reason):
            if key is not None:
                self._missed[key] = f"other processes do not find it: {reason}"

        at_once = not self._is_free or acts_on_process(fn)
        mixed = Mixed(fn, self._here(fn), items, n, self._pool, self._threads, chunksize, until, missed, at_once)
        return self._watched(mixed)

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

    def _watched(self, results):
        """Yield the results. If a worker died, drop the process pool, so that the next call makes a new one."""
        try:
            yield from results
        except BrokenProcessPool:
            with self._lock:
                pool, self._processes = self._processes, None
            if pool is not None:
                pool.shutdown(wait=False)
            raise
        finally:
            results.close()

    # ---- engines ----

    def _by_engine(self, fn, found, n, chunksize, until, bar):
        size = chunksize if chunksize > 1 else max(1, -(-n // _PARTS))
        own = {}
        if type(self._engine).__module__.split(".")[0] == "distributed":
            own = {"pure": False}
            fn = _remote.sent_once(self._engine, fn)
        futures = [
            self._engine.submit(_remote.run, fn, [c.part(lo, min(lo + size, n)) for c in found], **own)
            for lo in range(0, n, size)
        ]
        return engine_slices(futures, until, bar)

    # ---- the end ----

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Take no more work.

        Parameters
        ----------
        wait : bool, default True
            Wait for what is under way; the engine goes on.
        cancel_futures : bool, default False
            Cancel what has not begun.

        Examples
        --------
        >>> from treadle.executor import DeviceExecutor
        >>> DeviceExecutor("cpu").shutdown()
        """
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
    """Yield the results and count them on the progress bar. No reference to a result that was taken stays here."""
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
    """Yield the results of the futures in order, a slice at a time. Closing the generator early cancels the rest."""
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
