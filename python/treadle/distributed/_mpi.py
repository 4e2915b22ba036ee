"""Collectives over MPI, by mpi4py."""

import atexit
import sys
import time
import zlib

import numpy

from ._errors import DistributedError, PeerError
from ._local import HostGroup, combine, host, overdue


def _module():
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ModuleNotFoundError(f"the backend 'mpi' needs mpi4py: pip install mpi4py, and an MPI ({error})") from None
    return MPI


_GRACE = 2.0  # seconds that a collective still gets to end when a process that takes part has left
_SPIN = 2e-4  # seconds for which a wait only asks; then it sleeps between questions, longer and longer
_SLEEP = 1e-3


class Peers:
    """What the processes of a job tell each other beside their collectives: who has left.

    MPI says nothing of a process that ended its program, by an exception or sys.exit(), while others wait for it: it
    waits in MPI_Finalize for them. So a process that leaves sends a message to all others, and a process that waits
    looks for such messages. One that ends by an exception ends the job."""

    def __init__(self, comm):
        self._comm, self._gone, self._open = comm, {}, True
        hook = sys.excepthook

        def end_all(kind, error, trace):
            hook(kind, error, trace)
            if self._open:
                self.end()

        sys.excepthook = self._hook = end_all
        self._before = hook

    def end(self):
        """End all processes of the job, this one too."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._comm.Abort(1)

    def leave(self):
        """Tell the others that this process takes part in nothing more."""
        self._open = False
        if sys.excepthook is self._hook:
            sys.excepthook = self._before
        if self._comm.Get_size() > 1:
            for r in range(self._comm.Get_size()):
                if r != self._comm.Get_rank():
                    self._comm.Isend(numpy.zeros(0, "u1"), r)

    def missing(self, ranks):
        """The first of the ranks that left more than _GRACE seconds ago, or None."""
        MPI = _module()
        status = MPI.Status()
        while self._comm.Iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status):
            self._comm.Recv(numpy.zeros(0, "u1"), status.Get_source(), status.Get_tag())
            self._gone[status.Get_source()] = time.monotonic()
        now = time.monotonic()
        return next((r for r in ranks if now - self._gone.get(r, now) > _GRACE), None)


class _Requests:
    """Transfers of MPI, as pairs of a request and the number of bytes that has to come (None: not looked at). They keep
    the memory that they use alive.

    then() runs after all of them; ranks are the processes that they wait for."""

    def __init__(self, group, kind, requests, keep, ranks, then=None):
        self._group, self._kind, self._requests, self._ranks = group, kind, requests, ranks
        self._keep, self._then, self._failed = keep, then, None

    def done(self):
        return self._error() is None and not self._requests

    def _error(self):
        """Look at what has ended. The exception that wait() raises, or None."""
        self._failed = self._failed or self._look()
        return self._failed

    def _look(self):
        MPI = _module()
        status = MPI.Status()
        left = []
        for request, nbytes in self._requests:
            try:
                if not request.Test(status):
                    left.append((request, nbytes))
                elif callable(nbytes):
                    nbytes()
                elif nbytes is not None and status.Get_count(MPI.BYTE) != nbytes:
                    return DistributedError(
                        f"{self._kind}: rank {status.Get_source()} sent {status.Get_count(MPI.BYTE)} bytes, "
                        f"{nbytes} were expected"
                    )
            except MPI.Exception as error:
                return DistributedError(f"{self._kind}: {error}: do all processes give arrays of one shape and dtype?")
            except DistributedError as error:
                return error
        self._requests = left
        return None

    def wait(self, timeout=None):
        limit = self._group.timeout if timeout is None else timeout
        begin = time.monotonic()
        pause = 0.0
        while (error := self._error()) is None and self._requests:
            passed = time.monotonic() - begin
            if passed > limit:
                if timeout is not None:
                    raise TimeoutError(f"{self._kind}: waited {timeout} s")
                error = overdue(self._kind, limit)
                break
            if passed > _SPIN:
                gone = self._group.peers.missing(self._ranks)
                if gone is not None:
                    error = PeerError(f"{self._kind}: rank {gone} has left")
                    break
                pause = min(_SLEEP, pause * 1.5 + 1e-5)
                time.sleep(pause)
        if error is not None:
            self._group.broken = str(error)
            raise error
        if self._then is not None:
            self._then()
        self._keep, self._then = None, None


class MpiGroup(HostGroup):
    """A group over a communicator of MPI."""

    backend = "mpi"

    def __init__(self, comm, ranks, device, name, timeout, peers):
        super().__init__(comm.Get_rank(), ranks, device, name, timeout)
        self._comm, self.peers, self.broken = comm, peers, None

    def _check(self, text):
        """A request that raises where the processes of the group do not make the same call with arrays alike.

        MPI itself would take one array's bytes for the other's, or wait for ever."""
        number = zlib.crc32(text.encode())
        mine, most = numpy.array([number, -number], "i8"), numpy.empty(2, "i8")

        def compare():
            if most[0] != -most[1]:
                raise DistributedError(
                    f"{text}: another process of the group makes another call here, or gives another shape or dtype"
                )

        return (self._comm.Iallreduce(mine, most, _module().MAX), compare), (mine, most)

    def _works(self, kind):
        if self.broken is not None:
            raise PeerError(f"{kind}: the group is broken: {self.broken}")

    def _operation(self, op):
        MPI = _module()
        return {"sum": MPI.SUM, "mean": MPI.SUM, "prod": MPI.PROD, "min": MPI.MIN, "max": MPI.MAX}[op]

    @staticmethod
    def _native(dtype):
        """Whether MPI reduces this dtype itself. It lacks half precision, and its operations on bool differ."""
        return dtype.kind in "iu" or (dtype.kind in "fc" and dtype.itemsize > 2)

    def _start(self, kind, src, dst, op, root, wait):
        self._works(kind)
        a, b = host(src).reshape(-1), host(dst).reshape(-1)
        c = self._comm
        told = f"{kind}({src.dtype}, {src.size} elements{op and f', {op!r}' or ''}{root and f', root={root}' or ''})"
        check, numbers = self._check(told)
        if op is not None and not self._native(src.dtype):
            request, keep, then = self._by_rows(kind, src.dtype, a, b, op)
            return _Requests(self, kind, [check, (request, None)], (keep, numbers), self.ranks, then)
        then = None
        if op == "mean":
            then = lambda: numpy.divide(b, self.size, out=b)  # noqa: E731  (None or a function)
        if kind == "all_reduce":
            request = c.Iallreduce(a, b, self._operation(op))
        elif kind == "reduce":
            request = c.Ireduce(a, b if self.rank == root else None, self._operation(op), root)
        elif kind == "reduce_scatter":
            request = c.Ireduce_scatter_block(a, b, self._operation(op))
        elif kind == "broadcast":
            b[:] = a
            request = c.Ibcast(self._bytes(b), root)
        elif kind == "all_gather":
            request = c.Iallgather(self._bytes(a), self._bytes(b))
        else:
            request = c.Ialltoall(self._bytes(a), self._bytes(b))
        return _Requests(self, kind, [check, (request, None)], (a, b, numbers), self.ranks, then)

    @staticmethod
    def _bytes(a):
        return a.view(numpy.uint8)

    def _by_rows(self, kind, dtype, a, b, op):
        """Reduce half precision and bool: gather the arrays of all processes, and reduce them here."""
        rows = numpy.empty((self.size, a.size), a.dtype)
        request = self._comm.Iallgather(self._bytes(a), self._bytes(rows.reshape(-1)))

        def then():
            mine = rows.reshape(self.size, self.size, -1)[:, self.rank] if kind == "reduce_scatter" else rows
            combine(op, list(mine), dtype, b)

        return request, (a, b, rows), then

    def _exchange(self, kind, sends, recvs, wait):
        self._works(kind)
        requests, keep = [], []
        for a, r in recvs:
            keep.append(host(a).reshape(-1))
            requests.append((self._comm.Irecv(self._bytes(keep[-1]), r), keep[-1].nbytes))
        for a, r in sends:
            keep.append(host(a).reshape(-1))
            requests.append((self._comm.Isend(self._bytes(keep[-1]), r), None))
        ranks = [self.ranks[r] for _, r in [*recvs, *sends]]
        return _Requests(self, kind, requests, (keep, recvs), ranks)

    def _split(self, ranks, name):
        MPI = _module()
        mine = self.rank in ranks
        comm = self._comm.Split(0 if mine else MPI.UNDEFINED, ranks.index(self.rank) if mine else 0)
        if not mine:
            return None
        return MpiGroup(comm, [self.ranks[r] for r in ranks], self.device, name, self.timeout, self.peers)

    def close(self):
        if self.name == "0":  # the group of all processes
            self.peers.leave()
            if self.broken is not None:  # MPI would wait for what never ends
                atexit.register(self.peers.end)

    def abort(self, why):
        self._comm.Abort(1)


def world(device, timeout):
    """The group of all processes that mpirun started."""
    whole = _module().COMM_WORLD
    comm = whole.Dup()
    return MpiGroup(comm, range(comm.Get_size()), device, "0", timeout, Peers(whole.Dup()))
