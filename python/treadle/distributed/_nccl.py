"""Collectives between GPUs by NCCL: one process for each GPU, or several GPUs of one process."""

import json
import threading
import time
import weakref

import treadle

from .. import _core
from ._errors import DistributedError, PeerError
from ._group import Group, Work, _Parts

_LOOK = 0.25  # seconds between two checks of the collectives in progress
_TOGETHER = 2.0  # seconds that a process which leaves waits for the others to leave too
_AT_ONCE = 256  # reductions in one launch: as many as a recorded graph takes

# NCCL lacks 16-bit integers. Wider ones carry them: the low bits of sums and products are the same.
_WIDER = {"int16": "int32", "uint16": "uint32"}


class _Job:
    """Collectives in progress, and an event after them on each device."""

    def __init__(self, group, events, then=None):
        self._group, self._events, self._then = group, events, then

    def done(self):
        return all(e.done for e in self._events)

    def wait(self, timeout=None):
        """Order the device's later work after the collectives. With a timeout, also block the host until they have
        ended."""
        self._group.check()
        if timeout is not None:
            until = time.monotonic() + timeout
            while not self.done():
                self._group.check()
                if time.monotonic() > until:
                    raise TimeoutError(f"waited {timeout} s")
                time.sleep(0.0005)
        for e in self._events:
            e.wait(0)
        if self._then is not None:
            self._then()
            self._then = None


class _Watch:
    """A thread that watches this process's groups. It aborts those that lost a process or whose collective does not
    end."""

    def __init__(self):
        self._groups = weakref.WeakSet()
        self._stop = threading.Event()
        self._thread = None
        self._lock = threading.Lock()

    def add(self, group):
        with self._lock:
            self._groups.add(group)
            if self._thread is None:
                self._stop = threading.Event()
                self._thread = threading.Thread(target=self._run, args=(self._stop,), name="treadle-nccl", daemon=True)
                self._thread.start()

    def lose(self, who):
        """A process has died: abort the groups that it belongs to."""
        with self._lock:
            groups = list(self._groups)
        for g in groups:
            if who == "" or int(who) in g.ranks:
                g.abort(f"the process of rank {who or 0} has gone")

    def leave(self, who, said):
        """A process has left properly. It reports how many collectives it called in each group."""
        counts = json.loads(said)
        with self._lock:
            groups = list(self._groups)
        for g in groups:
            if g.name in counts:
                g.leave(int(who), counts[g.name])

    def _run(self, stop):
        while not stop.wait(_LOOK):
            with self._lock:
                groups = list(self._groups)
            for g in groups:
                g.look()
            del groups

    def forget(self, group):
        """Stop watching the group. The thread ends with the last group."""
        with self._lock:
            self._groups.discard(group)
            if self._groups or self._thread is None:
                return
            thread, self._thread = self._thread, None
        self._stop.set()
        if thread is not threading.current_thread():
            thread.join()


class _Places:
    """What the groups of one process and of several have in common: the capsules of _core, and how they are closed."""

    def _open(self, places, timeout):
        self._places, self._timeout, self._failed = places, timeout, None
        self._ending = threading.RLock()  # held while the capsules are closed, since abort() uses them
        self._mark = None  # (deadline, collectives begun, events after them)
        self._seen = 0  # collectives begun at the last mark that was reached

    def check(self):
        """Raise PeerError where the group is broken, DistributedError where it was closed."""
        if self._failed is not None:
            for p in self._places or ():
                _core._nccl_check(p)
            raise PeerError(f"the group is broken: {self._failed}")
        if self._places is None:
            raise DistributedError("the group was closed")

    def _calls(self, calls, wait):
        """Start calls (place, op, src, dst, reduction, peer) as one group of NCCL calls."""
        self.check()
        try:
            return _core._nccl_run(calls, not wait)
        except DistributedError:
            self.check()  # prefer the watcher's reason
            raise

    def _counts(self):
        """How many collectives have begun, and how many of their calls have returned."""
        counts = [_core._nccl_count(p) for p in self._places]
        return sum(c[0] for c in counts), sum(c[1] for c in counts)

    def _ended(self):
        """Whether all collectives before the current mark have ended. Set a mark where there is none and a collective
        has begun since.

        Marks are set here and not in the calls of collectives, to keep those fast."""
        if self._mark is None:
            begun, _ = self._counts()
            if begun == self._seen:
                return True
            events = [e for p in self._places for e in _core._nccl_marks(p)]
            self._mark = time.monotonic() + self._timeout, begun, events
        _, begun, events = self._mark
        if self._counts()[1] < begun or not all(e.done for e in events):
            return False
        self._mark, self._seen = None, begun
        return True

    def look(self):
        """Abort the group where NCCL reports an error or a collective has passed its deadline."""
        places = self._places
        if places is None or self._failed is not None:
            return
        try:
            for p in places:
                _core._nccl_check(p)
            with self._ending:
                late = not self._ended() and self._mark[0] < time.monotonic()
        except DistributedError as error:
            self.abort(str(error))
            return
        if late:
            self.abort(f"a collective has not ended after {self._timeout} s: do all processes call it?")

    def abort(self, why):
        with self._ending:
            if self._failed is None and self._places is not None:
                self._failed = why
                for p in self._places:
                    _core._nccl_abort(p, why)

    def drain(self):
        """Return when the collectives in progress have ended or the group was aborted."""
        while self._failed is None and self._places is not None:
            with self._ending:
                if self._ended() and self._ended():  # twice: the first mark may be older than the latest collective
                    return
            time.sleep(0.0005)

    def close(self):
        """Wait for the collectives in progress, then close the group."""
        self.drain()
        with self._ending:
            places, self._places = self._places, None
            self._mark = None
            for p in places or ():
                _core._nccl_close(p)


def _flat(a):
    """a in C order, so that its memory can be given to NCCL."""
    return treadle.ascontiguousarray(a) if a.ndim else a


def _numbers(a):
    """The array that NCCL gets instead of a: complex numbers as pairs of floats, 16-bit integers as wider ones."""
    if a.dtype.kind == "c":
        return a.view(f"float{a.dtype.itemsize * 4}") if a.ndim else a.reshape(1).view(f"float{a.dtype.itemsize * 4}")
    wider = _WIDER.get(a.dtype.name)
    return a.astype(wider) if wider else a


class NcclGroup(_Places, Group):
    """One device of this process, in a group with other processes."""

    backend = "nccl"

    def __init__(self, rank, ranks, device, name, place, timeout, watch):
        super().__init__(rank, ranks, device, name)
        self._open([place], timeout)
        self._watch, self._ends = watch, set()
        watch.add(self)

    @property
    def count(self):
        """Counted by the core, since replayed recordings call collectives too."""
        return _core._nccl_count(self._places[0])[0] if self._places else 0

    def leave(self, rank, count):
        """The process of this rank has left properly after `count` collectives."""
        if rank == self.ranks[self.rank] or not self._places:
            return
        self._ends.add(rank)
        _core._nccl_left(self._places[0], rank, count)
        if self.count > count:
            self.abort(f"rank {rank} has left, and a collective waits for it")

    def all_reduce_(self, arrays, op="sum", *, wait=True):
        arrays = list(arrays)
        event = self._at_once(arrays, op, wait)
        if event is NotImplemented:  # mixed dtypes, or too many arrays for one launch
            return super().all_reduce_(arrays, op, wait=wait)
        return arrays if wait else Work(event and _Job(self, [event]), arrays)

    def _at_once(self, arrays, op, wait):
        self.check()
        try:
            return _core._nccl_reduce(self._places[0], arrays, op, not wait)
        except DistributedError:
            self.check()  # prefer the watcher's reason
            raise

    def _reduce_in_place(self, arrays, op, wait):
        jobs = []
        for i in range(0, len(arrays), _AT_ONCE):
            some = arrays[i : i + _AT_ONCE]
            event = self._at_once(some, op, wait)
            if event is NotImplemented:
                jobs.append(super()._reduce_in_place(some, op, wait))
            elif event is not None:
                jobs.append(_Job(self, [event]))
        return _Parts(jobs, None) if jobs else None

    def _start(self, kind, src, dst, op, root, wait):
        place = self._places[0] if self._places else None
        src = _flat(src)
        if kind == "all_to_all":
            peers = range(self.size)
            calls = [(place, "send", src[r], None, "sum", r) for r in peers]
            calls += [(place, "recv", None, dst[r], "sum", r) for r in peers]
            return _Job(self, self._calls(calls, wait))
        give, take, then = src, dst, None
        if op is not None:
            give = _numbers(src)
            if give.dtype != src.dtype and src.dtype.kind == "c":
                take = _numbers(dst)
            elif give.dtype != src.dtype:
                take = treadle.empty(dst.shape, give.dtype, device=self.device)

                def then():
                    dst[...] = take.astype(dst.dtype)

        return _Job(self, self._calls([(place, kind, give, take, op or "sum", root)], wait), then)

    def _exchange(self, kind, sends, recvs, wait):
        place = self._places[0] if self._places else None
        calls = [(place, "send", _flat(a), None, "sum", r) for a, r in sends]
        calls += [(place, "recv", None, a, "sum", r) for a, r in recvs]
        return _Job(self, self._calls(calls, wait)) if calls else None

    def close(self):
        """Wait for the collectives in progress and leave.

        NCCL closes a group on all sides together. If other processes stay in it, abort it on this side."""
        self.drain()
        until = time.monotonic() + _TOGETHER
        while self._failed is None and len(self._ends) < self.size - 1:
            if time.monotonic() > until:
                self.abort("this process has left, others stay")
            time.sleep(0.001)
        super().close()
        self._watch.forget(self)

    def _split(self, ranks, name):
        """Make a group of these ranks. The first of them makes NCCL's id, and a broadcast hands it to all."""
        bits = treadle.zeros(128, "uint8", device=self.device)
        if self.rank == ranks[0]:
            bits = treadle.array(list(_core._nccl_id(self.device)), "uint8", device=self.device)
        bits = self.broadcast(bits, ranks[0]).tobytes()
        if self.rank not in ranks:
            return None
        rank = ranks.index(self.rank)
        place = _join(self.device, rank, len(ranks), bits, self._timeout)
        return NcclGroup(rank, [self.ranks[r] for r in ranks], self.device, name, place, self._timeout, self._watch)


def _join(device, rank, size, name, timeout):
    """Join an NCCL group.

    NCCL has no timeout for that, so a thread joins. If it does not return in time, it is abandoned."""
    answer = []

    def run():
        try:
            answer.append(_core._nccl_join((device,), (rank,), size, name)[0])
        except BaseException as error:  # raised again by the waiting thread
            answer.append(error)

    thread = threading.Thread(target=run, name="treadle-join", daemon=True)
    thread.start()
    thread.join(timeout)
    if not answer:
        raise TimeoutError(f"NCCL: rank {rank} waited {timeout} s for the {size} processes of the group")
    if isinstance(answer[0], BaseException):
        raise answer[0]
    return answer[0]


def world(device, place, store, timeout):
    """The group of all processes. NCCL's id goes through the store, or under mpirun through MPI."""
    watch = _Watch()
    name = _core._nccl_id(device) if place.rank == 0 else None
    if store is not None:
        if place.rank == 0:
            store.set("nccl", name)
        name = store.get("nccl")
    elif place.mpi:
        from ._mpi import _module

        name = _module().COMM_WORLD.bcast(name, 0)
    capsule = _join(device, place.rank, place.size, name, timeout)
    group = NcclGroup(place.rank, range(place.size), device, "0", capsule, timeout, watch)
    if store is not None:
        store.watch(watch.lose, watch.leave)
    return group


class LocalDevices(_Places):
    """Several devices of this process as a group: collectives take and give lists, an array for each device.

    ``devices`` are names or Devices, GPUs of one kind. Methods are those of a Group, called once for all:
    ``all_reduce([a0, a1])`` gives the list of sums, each on its device. With one device, or on the CPU, there is
    nothing to carry and NCCL is not needed.
    """

    backend = "nccl"

    def __init__(self, devices, timeout=600.0):
        self.devices = [_core.device(d) for d in devices]
        self.size = len(self.devices)
        if not self.devices or len(set(self.devices)) != self.size:
            raise ValueError(f"local_group: {self.devices} are not one or more different devices")
        places = ()
        if self.size > 1:
            name = _core._nccl_id(self.devices[0])
            places = _core._nccl_join(tuple(self.devices), tuple(range(self.size)), self.size, name)
        self._open(places, timeout)

    def __repr__(self):
        return f"<local group of {', '.join(map(str, self.devices))}>"

    def broadcast(self, a, root=0, *, wait=True):
        """a, an array on device number `root`, on all devices: a list."""
        results = [a if r == root else treadle.empty(a.shape, a.dtype, device=d) for r, d in enumerate(self.devices)]
        rows = [(a if r == root else None, out, "broadcast", "sum", root) for r, out in enumerate(results)]
        if self.size > 1:
            results[root] = treadle.empty(a.shape, a.dtype, device=self.devices[root])
            rows[root] = (a, results[root], "broadcast", "sum", root)
        return self._go(rows, results, wait)

    def all_reduce(self, arrays, op="sum", *, wait=True):
        """The sum (prod, min, max, mean) of the arrays, on each device."""
        return self._reduce("all_reduce", arrays, op, [a.shape for a in arrays], wait)

    def reduce_scatter(self, arrays, op="sum", *, wait=True):
        """Of arrays of shape (size, …): row r of all of them reduced, on device r."""
        for a in arrays:
            if a.ndim == 0 or a.shape[0] != self.size:
                raise ValueError(f"reduce_scatter: shape {a.shape}, where axis 0 has to be {self.size} devices")
        return self._reduce("reduce_scatter", arrays, op, [a.shape[1:] for a in arrays], wait)

    def all_gather(self, arrays, *, wait=True):
        """The arrays stacked, on each device."""
        self._check("all_gather", arrays)
        shape = (self.size, *arrays[0].shape)
        results = [treadle.empty(shape, a.dtype, device=d) for a, d in zip(arrays, self.devices)]
        if self.size == 1:
            return self._go([], [arrays[0].reshape(shape)], wait)
        return self._go([(_flat(a), r, "all_gather", "sum", 0) for a, r in zip(arrays, results)], results, wait)

    def _check(self, kind, arrays):
        if len(arrays) != self.size:
            raise ValueError(f"{kind}: {len(arrays)} arrays for {self.size} devices")
        for a, d in zip(arrays, self.devices):
            if a.device != d:
                raise ValueError(f"{kind}: an array on {a.device} where one on {d} is due")
        if len({(a.shape, a.dtype) for a in arrays}) > 1:
            raise ValueError(f"{kind}: shapes and dtypes differ: {[(a.shape, str(a.dtype)) for a in arrays]}")

    def _reduce(self, kind, arrays, op, shapes, wait):
        self._check(kind, arrays)
        for a in arrays[:1]:
            Group._reduction(kind, a, op)
        if self.size == 1:
            return self._go([], [arrays[0].reshape(shapes[0])], wait)
        rows, results, behind = [], [], []
        for a, shape, d in zip(arrays, shapes, self.devices):
            result, give = treadle.empty(shape, a.dtype, device=d), _numbers(_flat(a))
            take = _numbers(result) if a.dtype.kind == "c" else result
            if give.dtype != take.dtype:
                take = treadle.empty(shape, give.dtype, device=d)
                behind.append((result, take))
            rows.append((give, take, kind, op, 0))
            results.append(result)
        return self._go(rows, results, wait, behind)

    def _go(self, rows, results, wait, behind=()):
        def then():
            for result, wide in behind:
                result[...] = wide.astype(result.dtype)

        self.check()
        job = None
        if rows and self.size > 1 and results[0].size:
            calls = [(p, kind, src, dst, op, peer) for p, (src, dst, kind, op, peer) in zip(self._places, rows)]
            job = _Job(self, self._calls(calls, wait), then)
        work = Work(job, results)
        return work.wait() if wait else work
