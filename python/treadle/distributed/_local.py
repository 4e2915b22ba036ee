"""Collectives on host memory: the algorithms, and the backend "local", which sends messages through sockets.

Every process adds in the order of the ranks, so that all get the same bits.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy

import treadle

from .. import _core
from ._errors import DistributedError, PeerError
from ._group import Group

_SMALL = 1 << 14  # bytes; up to this size each process sends its whole array to all, which saves a second step

_COMBINE = {"sum": numpy.add, "mean": numpy.add, "prod": numpy.multiply, "min": numpy.minimum, "max": numpy.maximum}


def host(a):
    """a's memory as a C-contiguous NumPy array: the memory itself where it is contiguous, else a copy. bfloat16 is
    given as its bits."""
    if a.dtype.kind == "V":
        a = a.view("uint16")
    view = _core._host_view(a)
    return numpy.ascontiguousarray(view)


def combine(op, pieces, dtype, out):
    """Reduce flat arrays, in order, into out. out may be the first of them."""
    if dtype.kind == "V":  # bfloat16, which NumPy lacks: sum in float32, round once
        wide = [treadle.array(p, device="cpu").view(dtype).astype("float32").get() for p in pieces]
        combine(op, wide, wide[0].dtype, wide[0])
        out[...] = treadle.array(wide[0], device="cpu").astype(dtype).view("uint16").get()
        return
    f = _COMBINE[op]
    if out is not pieces[0]:
        out[...] = pieces[0]
    for p in pieces[1:]:
        f(out, p, out=out)
    if op == "mean":
        numpy.divide(out, len(pieces), out=out)


def overdue(kind, seconds):
    """What is raised where a collective has not ended in the group's time."""
    return PeerError(f"{kind} has not ended after {seconds} s: do all processes call it?")


class Job:
    """Transfers, and what is done after them. It keeps the memory that they use alive."""

    def __init__(self, pendings, timeout, keep=None):
        self._pendings, self._timeout, self._keep = pendings, timeout, keep

    def done(self):
        return all(p.done() for p in self._pendings)

    def wait(self, timeout=None):
        for p in self._pendings:
            try:
                p.wait(self._timeout if timeout is None else timeout)
            except TimeoutError:
                if timeout is not None:
                    raise
                raise overdue("a collective", self._timeout) from None
        self._pendings, self._keep = [], None


class Later:
    """A collective that runs on a thread."""

    def __init__(self, future, timeout):
        self._future, self._timeout = future, timeout

    def done(self):
        return self._future.done()

    def wait(self, timeout=None):
        try:
            self._future.result(self._timeout if timeout is None else timeout)
        except TimeoutError:
            if timeout is not None:
                raise
            raise overdue("a collective", self._timeout) from None


class HostGroup(Group):
    """A group whose collectives consist of messages. _post starts the sends and receives of one step and returns their
    Pendings."""

    def __init__(self, rank, ranks, device, name, timeout):
        super().__init__(rank, ranks, device, name)
        self.timeout = timeout

    def _post(self, kind, step, sends, recvs):
        raise NotImplementedError  # the kinds of connections below have it

    def _finish(self, pendings):
        Job(pendings, self.timeout).wait()

    def _collective(self, kind, number, src, dst, dtype, op, root):
        """Run one collective on flat host memory."""
        getattr(self, "_" + kind)(number, src, dst, dtype, op, root)

    def _step(self, kind, number, step, sends, recvs):
        self._finish(self._post(kind, (number, step), sends, recvs))

    def _broadcast(self, number, src, dst, dtype, op, root):
        """Along a binary tree: receive from the parent, then send to both children."""
        me, n = (self.rank - root) % self.size, self.size
        if me:
            self._step("broadcast", number, 0, [], [(dst, ((me - 1) // 2 + root) % n)])
        else:
            dst[:] = src
        below = [((c + root) % n) for c in (2 * me + 1, 2 * me + 2) if c < n]
        self._step("broadcast", number, 0, [(dst, r) for r in below], [])

    def _all_reduce(self, number, src, dst, dtype, op, root):
        n = self.size
        if src.nbytes <= _SMALL:
            pieces = [src if r == self.rank else numpy.empty_like(src) for r in range(n)]
            others = [r for r in range(n) if r != self.rank]
            self._step("all_reduce", number, 0, [(src, r) for r in others], [(pieces[r], r) for r in others])
            combine(op, pieces, dtype, dst)
            return
        at = [src.size * r // n for r in range(n + 1)]
        mine = dst[at[self.rank] : at[self.rank + 1]]
        self._scatter_sums("all_reduce", number, [src[at[r] : at[r + 1]] for r in range(n)], mine, dtype, op)
        others = [r for r in range(n) if r != self.rank]
        self._step("all_reduce", number, 1, [(mine, r) for r in others], [(dst[at[r] : at[r + 1]], r) for r in others])

    def _scatter_sums(self, kind, number, parts, out, dtype, op):
        others = [r for r in range(self.size) if r != self.rank]
        mine = parts[self.rank]
        pieces = [mine if r == self.rank else numpy.empty_like(mine) for r in range(self.size)]
        self._step(kind, number, 0, [(parts[r], r) for r in others], [(pieces[r], r) for r in others])
        combine(op, pieces, dtype, out)

    def _reduce(self, number, src, dst, dtype, op, root):
        if self.rank != root:
            self._step("reduce", number, 0, [(src, root)], [])
            return
        pieces = [src if r == root else numpy.empty_like(src) for r in range(self.size)]
        self._step("reduce", number, 0, [], [(pieces[r], r) for r in range(self.size) if r != root])
        combine(op, pieces, dtype, dst)

    def _all_gather(self, number, src, dst, dtype, op, root):
        rows = dst.reshape(self.size, -1)
        rows[self.rank] = src
        others = [r for r in range(self.size) if r != self.rank]
        self._step("all_gather", number, 0, [(src, r) for r in others], [(rows[r], r) for r in others])

    def _reduce_scatter(self, number, src, dst, dtype, op, root):
        self._scatter_sums("reduce_scatter", number, list(src.reshape(self.size, -1)), dst, dtype, op)

    def _all_to_all(self, number, src, dst, dtype, op, root):
        give, take = src.reshape(self.size, -1), dst.reshape(self.size, -1)
        take[self.rank] = give[self.rank]
        others = [r for r in range(self.size) if r != self.rank]
        self._step("all_to_all", number, 0, [(give[r], r) for r in others], [(take[r], r) for r in others])


class LocalGroup(HostGroup):
    """A group whose messages go through a Mesh of sockets."""

    backend = "local"

    def __init__(self, mesh, rank, ranks, device, name="0"):
        super().__init__(rank, ranks, device, name, mesh.timeout)
        self._mesh = mesh
        self._to, self._from = [0] * len(ranks), [0] * len(ranks)
        self._threads = None

    def _tag(self, *numbers):
        return ":".join(map(str, (self.name, *numbers))).encode()

    def _post(self, kind, step, sends, recvs):
        what, tag = kind.encode(), self._tag(*step)
        got = [self._mesh.receive(self.ranks[r], tag, what, view) for view, r in recvs]
        return got + [self._mesh.send(self.ranks[r], tag, what, view) for view, r in sends]

    def _start(self, kind, src, dst, op, root, wait):
        args = kind, self.count, host(src).reshape(-1), host(dst).reshape(-1), src.dtype, op, root
        if self._threads is None:
            self._threads = ThreadPoolExecutor(8, thread_name_prefix="treadle-collective")
        return Later(self._threads.submit(self._collective, *args), self.timeout)

    def _exchange(self, kind, sends, recvs, wait):
        """Each direction between two ranks is counted, and the count is in the tag: the n-th send meets the n-th
        receive."""
        pendings, copies = [], []
        here = [a for a, r in sends if r == self.rank]
        for a, r in recvs:
            if r == self.rank:
                if not here:
                    raise DistributedError(f"{kind}: this process receives from itself and sends itself nothing")
                host(a)[...] = host(here.pop(0))
            else:
                self._from[r] += 1
                tag = self._tag(-1, r, self.rank, self._from[r])
                pendings.append(self._mesh.receive(self.ranks[r], tag, b"message", host(a)))
        if here:
            raise DistributedError(f"{kind}: this process sends to itself and receives nothing from there")
        for a, r in sends:
            if r != self.rank:
                self._to[r] += 1
                copies.append(host(a))
                tag = self._tag(-1, self.rank, r, self._to[r])
                pendings.append(self._mesh.send(self.ranks[r], tag, b"message", copies[-1]))
        return Job(pendings, self.timeout, (copies, recvs))

    def _split(self, ranks, name):
        if self.rank not in ranks:
            return None
        return LocalGroup(self._mesh, ranks.index(self.rank), [self.ranks[r] for r in ranks], self.device, name)

    def abort(self, why):
        self._mesh.fail(why)

    def close(self):
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None
