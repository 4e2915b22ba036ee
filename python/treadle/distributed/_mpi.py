"""Collectives over MPI, by mpi4py."""

import numpy

from ._local import HostGroup, combine, host


def _module():
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ModuleNotFoundError(f"the backend 'mpi' needs mpi4py: pip install mpi4py, and an MPI ({error})") from None
    return MPI


class _Requests:
    """Transfers of MPI. They keep the memory that they use alive."""

    def __init__(self, requests, keep, then=None):
        self._requests, self._keep, self._then = requests, keep, then

    def done(self):
        return all(r.Test() for r in self._requests)

    def wait(self, timeout=None):
        """Wait for all transfers. MPI has no timeout: if a process dies, its launcher ends the others."""
        for r in self._requests:
            r.Wait()
        if self._then is not None:
            self._then()
        self._requests, self._keep, self._then = [], None, None


class MpiGroup(HostGroup):
    """A group over a communicator of MPI."""

    backend = "mpi"

    def __init__(self, comm, ranks, device, name, timeout):
        super().__init__(comm.Get_rank(), ranks, device, name, timeout)
        self._comm = comm

    def _operation(self, op):
        MPI = _module()
        return {"sum": MPI.SUM, "mean": MPI.SUM, "prod": MPI.PROD, "min": MPI.MIN, "max": MPI.MAX}[op]

    @staticmethod
    def _native(dtype):
        """Whether MPI reduces this dtype itself. It lacks half precision, and its operations on bool differ."""
        return dtype.kind in "iu" or (dtype.kind in "fc" and dtype.itemsize > 2)

    def _start(self, kind, src, dst, op, root, wait):
        a, b = host(src).reshape(-1), host(dst).reshape(-1)
        c = self._comm
        if op is not None and not self._native(src.dtype):
            return self._by_rows(kind, src.dtype, a, b, op)
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
        return _Requests([request], (a, b), then)

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

        return _Requests([request], (a, b, rows), then)

    def _exchange(self, kind, sends, recvs, wait):
        requests, keep = [], []
        for a, r in recvs:
            keep.append(host(a).reshape(-1))
            requests.append(self._comm.Irecv(self._bytes(keep[-1]), r))
        for a, r in sends:
            keep.append(host(a).reshape(-1))
            requests.append(self._comm.Isend(self._bytes(keep[-1]), r))
        return _Requests(requests, (keep, recvs))

    def _split(self, ranks, name):
        MPI = _module()
        mine = self.rank in ranks
        comm = self._comm.Split(0 if mine else MPI.UNDEFINED, ranks.index(self.rank) if mine else 0)
        return MpiGroup(comm, [self.ranks[r] for r in ranks], self.device, name, self.timeout) if mine else None

    def abort(self, why):
        self._comm.Abort(1)


def world(device, timeout):
    """The group of all processes that mpirun started."""
    comm = _module().COMM_WORLD.Dup()
    return MpiGroup(comm, range(comm.Get_size()), device, "0", timeout)
