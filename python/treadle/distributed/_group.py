"""Groups and their collectives for every backend: checks of shapes and dtypes, and handles of collectives in progress.
"""

import treadle

from .. import _core

REDUCTIONS = ("sum", "prod", "min", "max", "mean")


class Work:
    """A collective that was started with wait=False; its array may be read after wait().

    Parameters
    ----------
    job : object
        The backend's job.
    result : callable
        Gives the array when the job has ended.
    out : ndarray, optional
        The array that is filled.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.all_reduce(np.ones(2), wait=False).wait()
    array([1., 1.])
    >>> distributed.finalize()
    """

    def __init__(self, job, result, out=None):
        self._job, self._result, self._out = job, result, out

    def done(self):
        """Whether the collective has ended.


        Returns
        -------
        bool
            Never waits.

        Examples
        --------
        >>> from treadle import distributed
        >>> group = distributed.init("local", "cpu")
        >>> work = distributed.all_reduce(np.ones(2), wait=False)
        >>> x = work.wait()
        >>> work.done()
        True
        >>> distributed.finalize()
        """
        return self._job is None or self._job.done()

    def wait(self, timeout=None):
        """The result, the same object every time.

        On a GPU this orders later work after the collective and does not stop the host; elsewhere it waits.

        Parameters
        ----------
        timeout : float, optional
            Seconds.

        Returns
        -------
        ndarray, or list of them
            What the collective gives.

        Raises
        ------
        TimeoutError
            The time is over.
        PeerError, DistributedError
            What went wrong.

        Examples
        --------
        >>> from treadle import distributed
        >>> group = distributed.init("local", "cpu")
        >>> distributed.all_reduce(np.ones(2), wait=False).wait()
        array([1., 1.])
        >>> distributed.finalize()
        """
        if self._job is not None:
            self._job.wait(timeout)
            self._job = None
            if self._out is not None:
                self._out[...] = self._result
                self._result = self._out
        return self._result


class _Parts:
    """Several collectives at once. After waiting, put(results) copies their results to where they belong."""

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

    Parameters
    ----------
    rank : int
        This process's number in the group.
    ranks : list of ints
        The processes' numbers in the whole program.
    device : device
        Where the arrays lie.
    name : str
        Name of the group in messages.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> group.size, group.backend
    (1, 'local')
    >>> distributed.finalize()
    """

    backend = None

    def __init__(self, rank, ranks, device, name):
        self.rank, self.ranks, self.size, self.device = rank, tuple(ranks), len(ranks), device
        self.name = name  # every process numbers its groups alike, so the names agree
        self._count = self._splits = 0

    def __repr__(self):
        return f"<{self.backend} group, rank {self.rank} of {self.size}, {self.device}>"

    @property
    def count(self):
        """How many collectives this group has started."""
        return self._count

    # ---- collectives ----

    def broadcast(self, a, root=0, *, out=None, wait=True):
        """As treadle.distributed.broadcast."""
        return self._run("broadcast", a, a.shape, out, wait, root=self._peer(root))

    def all_reduce(self, a, op="sum", *, out=None, wait=True):
        """As treadle.distributed.all_reduce."""
        return self._run("all_reduce", a, a.shape, out, wait, op=op)

    def all_reduce_(self, arrays, op="sum", *, wait=True):
        """As treadle.distributed.all_reduce_."""
        arrays = list(arrays)
        for a in arrays:
            self._own("all_reduce", a)
            self._reduction("all_reduce", a, op)
        work = Work(self._reduce_in_place([a for a in arrays if a.size], op, wait), arrays)
        return work.wait() if wait else work

    def reduce(self, a, op="sum", root=0, *, out=None, wait=True):
        """As treadle.distributed.reduce."""
        return self._run("reduce", a, a.shape, out, wait, op=op, root=self._peer(root))

    def all_gather(self, a, *, out=None, wait=True):
        """As treadle.distributed.all_gather."""
        return self._run("all_gather", a, (self.size, *a.shape), out, wait)

    def reduce_scatter(self, a, op="sum", *, out=None, wait=True):
        """As treadle.distributed.reduce_scatter."""
        return self._run("reduce_scatter", a, self._rows("reduce_scatter", a), out, wait, op=op)

    def all_to_all(self, a, *, out=None, wait=True):
        """As treadle.distributed.all_to_all."""
        self._rows("all_to_all", a)
        return self._run("all_to_all", a, a.shape, out, wait)

    def gather(self, a, root=0, *, out=None, wait=True):
        """As treadle.distributed.gather."""
        root = self._peer(root)
        sends, recvs = [(a, root)], []
        if self.rank == root:
            result = self._empty("gather", (self.size, *a.shape), a)
            recvs = [(result[r], r) for r in range(self.size)]
        work = self._exchange("gather", sends, recvs, wait)
        return self._end(work, result if self.rank == root else None, out, wait)

    def scatter(self, a, root=0, *, like=None, out=None, wait=True):
        """As treadle.distributed.scatter."""
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
        """As treadle.distributed.send."""
        job = self._exchange("send", [(self._own("send", a), self._peer(peer))], [], wait)
        return self._end(job, None, None, wait)

    def recv(self, like, peer, *, out=None, wait=True):
        """As treadle.distributed.recv."""
        result = self._empty("recv", like.shape, like)
        return self._end(self._exchange("recv", [], [(result, self._peer(peer))], wait), result, out, wait)

    def exchange(self, sends, likes, *, wait=True):
        """As treadle.distributed.exchange."""
        results = [self._empty("exchange", like.shape, like) for like, _ in likes]
        recvs = [(r, self._peer(peer)) for r, (_, peer) in zip(results, likes)]
        sends = [(self._own("exchange", a), self._peer(peer)) for a, peer in sends]
        return self._end(self._exchange("exchange", sends, recvs, wait), results, None, wait)

    def barrier(self):
        """As treadle.distributed.barrier."""
        self.all_reduce(treadle.zeros(1, "int32", device=self.device)).get()

    # ---- what backends do ----

    def _start(self, kind, src, dst, op, root, wait):
        """Start a collective from src into dst, both on the device. Return an object with wait(timeout) and done().

        wait: the caller calls wait() immediately."""
        raise NotImplementedError  # each backend has its own

    def _reduce_in_place(self, arrays, op, wait):
        """All-reduce several arrays in place, none of them empty. Arrays of one dtype are joined into one message."""
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
        """Start sends and receives, given as pairs (array, peer). Received values are written into the given arrays."""
        raise NotImplementedError  # each backend has its own

    def split(self, ranks):
        """A group of some processes of this one; all of them call it.

        Parameters
        ----------
        ranks : sequence of ints
            Their numbers in this group.

        Returns
        -------
        Group or None
            None in the processes that are left out.

        Examples
        --------
        >>> from treadle import distributed
        >>> distributed.init("local", "cpu").split([0]).size
        1
        >>> distributed.finalize()
        """
        self._splits += 1
        return self._split(list(ranks), f"{self.name}.{self._splits}")

    def _split(self, ranks, name):
        raise NotImplementedError  # each backend has its own

    def drain(self):
        """Return when all collectives that were started have ended.


        Raises
        ------
        PeerError
            A process has gone.

        Examples
        --------
        >>> from treadle import distributed
        >>> distributed.init("local", "cpu").drain()
        >>> distributed.finalize()
        """

    def close(self):
        """End the group: what was started is finished, and the connections close.

        Examples
        --------
        >>> from treadle import distributed
        >>> distributed.init("local", "cpu").close()
        >>> distributed.finalize()
        """

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
