"""What collectives take and give, whoever carries them: shapes, dtypes, handles of work that is under way."""

import treadle

from .. import _core

REDUCTIONS = ("sum", "prod", "min", "max", "mean")


class Work:
    """A collective that was started with wait=False. Its array may be read after wait()."""

    def __init__(self, job, result, out=None):
        self._job, self._result, self._out = job, result, out

    def done(self):
        """Has it ended? Never waits."""
        return self._job is None or self._job.done()

    def wait(self, timeout=None):
        """The result, the same object every time. On a GPU this orders later work behind the collective and does not
        stop the host; elsewhere it waits.

        Raises what went wrong: PeerError, DistributedError; TimeoutError after timeout seconds.
        """
        if self._job is not None:
            self._job.wait(timeout)
            self._job = None
            if self._out is not None:
                self._out[...] = self._result
                self._result = self._out
        return self._result


class _Parts:
    """Collectives whose results are put into arrays when they have been waited for."""

    def __init__(self, works, put):
        self._works, self._put = works, put

    def done(self):
        return all(w.done() for w in self._works)

    def wait(self, timeout=None):
        results = [w.wait(timeout) for w in self._works]
        if self._put is not None:
            self._put(results)
            self._put = None


class Group:
    """Processes that call collectives together: made by init() and group().

    ``rank`` is this process's number in the group, ``size`` how many there are, ``ranks`` their numbers in the whole
    program, ``device`` where the arrays lie, ``backend`` who carries them ("nccl", "mpi", "local").
    """

    backend = None

    def __init__(self, rank, ranks, device, name):
        self.rank, self.ranks, self.size, self.device = rank, tuple(ranks), len(ranks), device
        self.name = name  # alike in all processes of the group, as the counts are
        self._count = self._splits = 0

    def __repr__(self):
        return f"<{self.backend} group, rank {self.rank} of {self.size}, {self.device}>"

    @property
    def count(self):
        """How many collectives have been called."""
        return self._count

    # ---- collectives ----

    def broadcast(self, a, root=0, *, out=None, wait=True):
        """The array of rank `root`; a gives shape and dtype, elsewhere its values do not matter."""
        return self._run("broadcast", a, a.shape, out, wait, root=self._peer(root))

    def all_reduce(self, a, op="sum", *, out=None, wait=True):
        """The sum (prod, min, max, mean) of all processes' arrays, the same bits everywhere."""
        return self._run("all_reduce", a, a.shape, out, wait, op=op)

    def all_reduce_(self, arrays, op="sum", *, wait=True):
        """The same for a list of arrays at once, each of which gets its result: the list. Between GPUs by one launch,
        in their memory where that is in C order; elsewhere by one message for each dtype.

        With wait=False nothing may read or write the arrays before the Work's wait()."""
        arrays = list(arrays)
        for a in arrays:
            self._own("all_reduce", a)
            self._reduction("all_reduce", a, op)
        work = Work(self._reduce_in_place([a for a in arrays if a.size], op, wait), arrays)
        return work.wait() if wait else work

    def reduce(self, a, op="sum", root=0, *, out=None, wait=True):
        """As all_reduce, but only rank `root` has the values; elsewhere they are undefined."""
        return self._run("reduce", a, a.shape, out, wait, op=op, root=self._peer(root))

    def all_gather(self, a, *, out=None, wait=True):
        """All processes' arrays, stacked: shape (size, *a.shape)."""
        return self._run("all_gather", a, (self.size, *a.shape), out, wait)

    def reduce_scatter(self, a, op="sum", *, out=None, wait=True):
        """Of a of shape (size, …): row r of all processes' arrays reduced, on rank r."""
        return self._run("reduce_scatter", a, self._rows("reduce_scatter", a), out, wait, op=op)

    def all_to_all(self, a, *, out=None, wait=True):
        """Of a of shape (size, …): row r goes to rank r; row r of the result came from there."""
        self._rows("all_to_all", a)
        return self._run("all_to_all", a, a.shape, out, wait)

    def gather(self, a, root=0, *, out=None, wait=True):
        """As all_gather, but only rank `root` gets the arrays; None elsewhere."""
        root = self._peer(root)
        sends, recvs = [(a, root)], []
        if self.rank == root:
            result = self._empty("gather", (self.size, *a.shape), a)
            recvs = [(result[r], r) for r in range(self.size)]
        work = self._exchange("gather", sends, recvs, wait)
        return self._end(work, result if self.rank == root else None, out, wait)

    def scatter(self, a, root=0, *, like=None, out=None, wait=True):
        """Row r of rank `root`'s array of shape (size, …), on rank r; elsewhere like gives its shape and dtype."""
        root = self._peer(root)
        if self.rank == root:
            self._rows("scatter", a)
            like = a[0]
        elif like is None:
            raise TypeError("scatter: like= gives the shape and dtype of what comes where rank is not root")
        result = self._empty("scatter", like.shape, like)
        sends = [(a[r], r) for r in range(self.size)] if self.rank == root else []
        work = self._exchange("scatter", sends, [(result, root)], wait)
        return self._end(work, result, out, wait)

    def send(self, a, peer, *, wait=True):
        """Sends a to the process `peer`, which receives. Orders of sends between two processes are kept."""
        job = self._exchange("send", [(self._own("send", a), self._peer(peer))], [], wait)
        return self._end(job, None, None, wait)

    def recv(self, like, peer, *, out=None, wait=True):
        """What the process `peer` sends; like gives shape and dtype."""
        result = self._empty("recv", like.shape, like)
        return self._end(self._exchange("recv", [], [(result, self._peer(peer))], wait), result, out, wait)

    def exchange(self, sends, likes, *, wait=True):
        """Several sends and receives at once: sends is a list of (array, peer), likes of (array that gives shape and
        dtype, peer). Returns the list of what came."""
        results = [self._empty("exchange", like.shape, like) for like, _ in likes]
        recvs = [(r, self._peer(peer)) for r, (_, peer) in zip(results, likes)]
        sends = [(self._own("exchange", a), self._peer(peer)) for a, peer in sends]
        return self._end(self._exchange("exchange", sends, recvs, wait), results, None, wait)

    def barrier(self):
        """Returns when all processes of the group have called it."""
        self.all_reduce(treadle.zeros(1, "int32", device=self.device)).get()

    # ---- what backends do ----

    def _start(self, kind, src, dst, op, root, wait):
        """Starts a collective from src into dst, both on the device: an object with wait(timeout) and done().

        wait: the caller will call wait() at once."""
        raise NotImplementedError

    def _reduce_in_place(self, arrays, op, wait):
        """The same for several arrays, none of them empty: joined to one for each dtype."""
        alike = {}
        for a in arrays:
            alike.setdefault(a.dtype, []).append(a)
        flats = [treadle.concatenate([a.reshape(-1) for a in some]) for some in alike.values()]
        works = [self.all_reduce(flat, op, wait=False) for flat in flats]

        def put(results):
            for some, flat in zip(alike.values(), results):
                at = 0
                for a in some:
                    a[...] = flat[at : at + a.size].reshape(a.shape)
                    at += a.size

        return _Parts(works, put)

    def _exchange(self, kind, sends, recvs, wait):
        """The same for pairs (array, peer); arrays to receive into are views of results or results."""
        raise NotImplementedError

    def split(self, ranks):
        """Collective over this group: a group of those of its ranks; None on the others."""
        self._splits += 1
        return self._split(list(ranks), f"{self.name}.{self._splits}")

    def _split(self, ranks, name):
        raise NotImplementedError

    def drain(self):
        """Returns when what was started has ended."""

    def close(self):
        """Ends the group: what was started is finished, the connections go."""

    # ---- checks ----

    def _peer(self, peer):
        if not isinstance(peer, int) or not 0 <= peer < self.size:
            raise ValueError(f"there is no rank {peer!r} in a group of {self.size}")
        return peer

    def _own(self, kind, a):
        if not isinstance(a, _core.ndarray):
            raise TypeError(f"{kind}: a treadle array, not {type(a).__name__}")
        if a.device != self.device:
            raise ValueError(f"{kind}: the array lies on {a.device}, the group's on {self.device}")
        return a

    def _rows(self, kind, a):
        if a.ndim == 0 or a.shape[0] != self.size:
            raise ValueError(f"{kind}: shape {a.shape}, where axis 0 has to be the group's {self.size} ranks")
        return a.shape[1:]

    def _empty(self, kind, shape, like):
        self._own(kind, like)
        return treadle.empty(shape, like.dtype, device=self.device)

    @staticmethod
    def _reduction(kind, a, op):
        if op not in REDUCTIONS:
            raise ValueError(f"{kind}: op {op!r} is none of {', '.join(REDUCTIONS)}")
        if op == "mean" and a.dtype.kind in "biu":
            raise TypeError(f"{kind}: the mean of {a.dtype} is no {a.dtype}; cast to a float first")
        if a.dtype.kind == "c" and op not in ("sum", "mean"):
            raise TypeError(f"{kind}: complex numbers have sum and mean, not {op}")

    def _run(self, kind, a, shape, out, wait, op=None, root=0):
        self._own(kind, a)
        if op is not None:
            self._reduction(kind, a, op)
        result = treadle.empty(shape, a.dtype, device=self.device)
        self._count += 1
        job = self._start(kind, a, result, op, root, wait) if a.size else None
        return self._end(job, result, out, wait)

    @staticmethod
    def _end(job, result, out, wait):
        if out is not None and (out.shape != result.shape or out.dtype != result.dtype):
            raise ValueError(
                f"out has {out.shape} elements of {out.dtype}, the result {result.shape} of {result.dtype}"
            )
        work = Work(job, result, out)
        return work.wait() if wait else work
