"""Several devices, processes and machines: collectives on treadle arrays.

    import treadle as td
    import treadle.distributed as dist

    dist.init()                                # started by mpirun, torchrun or dist.spawn
    total = dist.all_reduce(gradient, "mean")  # gradient: an array on this process's device

A program is started in one of these ways, and init() finds out in which:

- ``mpirun -n 4 python program.py``: MPI (mpi4py) carries arrays on CPUs, NCCL those on GPUs;
- ``torchrun --nproc-per-node 4 program.py``, or any launcher that sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT:
  NCCL for GPUs, sockets for CPUs;
- ``dist.spawn(f, 4, *args)`` in a program: the same, for processes of this machine.

Without any of them the program is a group of one. Collectives return a new array, or write ``out=`` and return that;
all processes of a group make the same calls in the same order, with arrays of one shape and dtype. Lazy values are
computed first. With ``wait=False`` they return a Work, whose wait() gives the array.

A process that dies breaks the groups that it is in: calls raise PeerError in finite time, also those that wait already.
"""

from .._public import dir_of as _dir_of
from .._words import near_in
from ._errors import DistributedError, PeerError
from ._group import REDUCTIONS, Group, Work
from ._process import BACKENDS, _group, _state, abort, finalize, init, is_initialized, launched

# ---- starting processes ----


def spawn(f, n, *args, backend=None, devices=None, timeout=None):
    """Run a function in new processes of this machine, which have called init().

    Parameters
    ----------
    f : callable
        It is pickled, so it stands in a module, and a program's own start in ``if __name__ == "__main__":``.
    n : int
        How many processes.
    *args : any
        Passed on to f; they are pickled.
    backend : {"nccl", "mpi", "local"}, optional
        As init's.
    devices : device, str or list of n of them, optional
        A device for all, or one for each.
    timeout : float, optional
        Seconds after which the processes are ended.

    Returns
    -------
    list
        What the processes return.

    Raises
    ------
    ValueError
        n is less than 1, or devices are not n.
    PeerError
        A process died.
    TimeoutError
        They did not end in time.
    Exception
        What f raises in a process is raised here too.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.spawn(abs, 2, -3, devices="cpu")
    [3, 3]
    """
    from ._spawn import start

    if n < 1:
        raise ValueError(f"spawn: {n} processes")
    if isinstance(devices, (list, tuple)) and len(devices) != n:
        raise ValueError(f"spawn: {len(devices)} devices for {n} processes")
    devices = list(map(str, devices)) if isinstance(devices, (list, tuple)) else devices and str(devices)
    return start(f, n, args, {"backend": backend, "device": devices}).join(timeout)


# ---- groups ----


def world():
    """The Group of all processes.

    Returns
    -------
    Group
        What init() returned.

    Raises
    ------
    DistributedError
        init() was not called.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.init("local", "cpu") is distributed.world()
    True
    >>> distributed.finalize()
    """
    return _group(None)


def group(ranks, parent=None):
    """A Group of some processes, numbered in the given order; all processes of parent call it.

    Parameters
    ----------
    ranks : sequence of ints
        Their numbers in parent.
    parent : Group, optional
        The processes that are chosen from; None means all.

    Returns
    -------
    Group or None
        None in the processes that are left out.

    Raises
    ------
    ValueError
        A number is named twice, or is nobody's.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.group([0]).ranks
    (0,)
    >>> distributed.finalize()
    """
    parent, ranks = _group(parent), list(ranks)
    if not ranks or len(set(ranks)) != len(ranks) or not all(0 <= r < parent.size for r in ranks):
        raise ValueError(f"group: {ranks} are no ranks of a group of {parent.size}")
    g = parent.split(ranks)
    if g is not None:
        _state["groups"].append(g)
    return g


def local_group(devices):
    """Several devices of this process as a group, without init().

    Parameters
    ----------
    devices : sequence of devices or str
        The devices.

    Returns
    -------
    LocalDevices
        Its collectives take and return a list with one array for each device.

    Raises
    ------
    ValueError
        There is no device, or one is named twice.

    Examples
    --------
    >>> from treadle import distributed
    >>> distributed.local_group(["cpu"]).all_reduce([np.ones(2)])
    [array([1., 1.])]
    """
    from ._nccl import LocalDevices

    return LocalDevices(devices)


def rank(group=None):
    """This process's number.

    Parameters
    ----------
    group : Group, optional
        The processes that take part; None means all.

    Returns
    -------
    int
        From 0 on.

    Raises
    ------
    DistributedError
        init() was not called.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.rank()
    0
    >>> distributed.finalize()
    """
    return _group(group).rank


def size(group=None):
    """How many processes there are.

    Parameters
    ----------
    group : Group, optional
        The processes that take part; None means all.

    Returns
    -------
    int
        1 in a program that was started by itself.

    Raises
    ------
    DistributedError
        init() was not called.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.size()
    1
    >>> distributed.finalize()
    """
    return _group(group).size


# ---- collectives: those of the group, by default of all processes ----


def broadcast(a, root=0, *, out=None, group=None, wait=True):
    """One process's array, on all of them.

    Parameters
    ----------
    a : ndarray
        The array; elsewhere it gives shape and dtype, and its values do not matter.
    root : int, default 0
        The process whose values are taken.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        Of a's shape and dtype.

    Raises
    ------
    PeerError
        A process has gone.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.broadcast(np.ones(2))
    array([1., 1.])
    >>> distributed.finalize()
    """
    return _group(group).broadcast(a, root, out=out, wait=wait)


def all_reduce(a, op="sum", *, out=None, group=None, wait=True):
    """The sum of all processes' arrays, or another reduction: the same bits everywhere.

    Parameters
    ----------
    a : ndarray
        Of one shape and dtype everywhere.
    op : {"sum", "prod", "min", "max", "mean"}, default 'sum'
        The reduction.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        Of a's shape and dtype.

    Raises
    ------
    ValueError
        op is another word.
    PeerError
        A process has gone.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.all_reduce(np.ones(2), "mean")
    array([1., 1.])
    >>> distributed.finalize()
    """
    return _group(group).all_reduce(a, op, out=out, wait=wait)


def all_reduce_(arrays, op="sum", *, group=None, wait=True):
    """all_reduce of several arrays at once, in place: between GPUs one launch, elsewhere one message for each dtype.

    Parameters
    ----------
    arrays : list of ndarrays
        Each gets its result.
    op : {"sum", "prod", "min", "max", "mean"}, default 'sum'
        The reduction.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    list of ndarrays or Work
        The same list; with wait=False nothing may use the arrays before the Work's wait().

    Raises
    ------
    ValueError
        op is another word.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.all_reduce_([np.ones(2)])
    [array([1., 1.])]
    >>> distributed.finalize()
    """
    return _group(group).all_reduce_(arrays, op, wait=wait)


def reduce(a, op="sum", root=0, *, out=None, group=None, wait=True):
    """all_reduce, of which one process alone has the values.

    Parameters
    ----------
    a : ndarray
        Of one shape and dtype everywhere.
    op : {"sum", "prod", "min", "max", "mean"}, default 'sum'
        The reduction.
    root : int, default 0
        The process that has the result; elsewhere the values are undefined.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        Of a's shape and dtype.

    Raises
    ------
    ValueError
        op is another word.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.reduce(np.ones(2))
    array([1., 1.])
    >>> distributed.finalize()
    """
    return _group(group).reduce(a, op, root, out=out, wait=wait)


def all_gather(a, *, out=None, group=None, wait=True):
    """All processes' arrays, stacked.

    Parameters
    ----------
    a : ndarray
        Of one shape and dtype everywhere.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work, shape (size, *a.shape)
        Row r is process r's array.

    Raises
    ------
    PeerError
        A process has gone.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.all_gather(np.ones(2)).shape
    (1, 2)
    >>> distributed.finalize()
    """
    return _group(group).all_gather(a, out=out, wait=wait)


def reduce_scatter(a, op="sum", *, out=None, group=None, wait=True):
    """Row r of all processes' arrays reduced, on process r.

    Parameters
    ----------
    a : ndarray, shape (size, ...)
        A row for each process.
    op : {"sum", "prod", "min", "max", "mean"}, default 'sum'
        The reduction.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work, shape a.shape[1:]
        This process's row.

    Raises
    ------
    ValueError
        a's first axis is not the number of processes.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.reduce_scatter(np.ones((1, 2)))
    array([1., 1.])
    >>> distributed.finalize()
    """
    return _group(group).reduce_scatter(a, op, out=out, wait=wait)


def all_to_all(a, *, out=None, group=None, wait=True):
    """Rows exchanged: row r goes to process r, and row r of the result came from there.

    Parameters
    ----------
    a : ndarray, shape (size, ...)
        A row for each process.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        Of a's shape.

    Raises
    ------
    ValueError
        a's first axis is not the number of processes.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.all_to_all(np.ones((1, 2)))
    array([[1., 1.]])
    >>> distributed.finalize()
    """
    return _group(group).all_to_all(a, out=out, wait=wait)


def gather(a, root=0, *, out=None, group=None, wait=True):
    """all_gather, of which one process alone gets the arrays.

    Parameters
    ----------
    a : ndarray
        Of one shape and dtype everywhere.
    root : int, default 0
        The process that gets them.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray, Work or None, shape (size, *a.shape)
        None elsewhere.

    Raises
    ------
    PeerError
        A process has gone.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.gather(np.ones(2)).shape
    (1, 2)
    >>> distributed.finalize()
    """
    return _group(group).gather(a, root, out=out, wait=wait)


def scatter(a, root=0, *, like=None, out=None, group=None, wait=True):
    """Row r of one process's array, on process r.

    Parameters
    ----------
    a : ndarray, shape (size, ...), or None
        The rows; None elsewhere.
    root : int, default 0
        The process that has them.
    like : ndarray, optional
        Gives shape and dtype of a row, elsewhere.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        This process's row.

    Raises
    ------
    ValueError
        a's first axis is not the number of processes.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.scatter(np.ones((1, 2)))
    array([1., 1.])
    >>> distributed.finalize()
    """
    return _group(group).scatter(a, root, like=like, out=out, wait=wait)


def send(a, peer, *, group=None, wait=True):
    """Send an array to one process, which receives it with recv.

    Parameters
    ----------
    a : ndarray
        The array.
    peer : int
        The process.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    None or Work
        A Work with wait=False.

    Raises
    ------
    ValueError
        peer is this process or nobody.

    Examples
    --------
    >>> from treadle import distributed
    >>> callable(distributed.send)
    True
    """
    return _group(group).send(a, peer, wait=wait)


def recv(like, peer, *, out=None, group=None, wait=True):
    """What one process sends.

    Parameters
    ----------
    like : ndarray
        Gives shape and dtype.
    peer : int
        The process.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        Of like's shape and dtype.

    Raises
    ------
    ValueError
        peer is this process or nobody.

    Examples
    --------
    >>> from treadle import distributed
    >>> callable(distributed.recv)
    True
    """
    return _group(group).recv(like, peer, out=out, wait=wait)


def exchange(sends, likes, *, group=None, wait=True):
    """Several sends and receives at once.

    Parameters
    ----------
    sends : list of pairs (ndarray, peer)
        What goes where.
    likes : list of pairs (ndarray, peer)
        Shape and dtype of what comes, and from where.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    list of ndarrays or Work
        What came, in the order of likes.

    Raises
    ------
    ValueError
        A peer is this process or nobody.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.exchange([], [])
    []
    >>> distributed.finalize()
    """
    return _group(group).exchange(sends, likes, wait=wait)


def barrier(group=None):
    """Return when all processes have called it.

    Parameters
    ----------
    group : Group, optional
        The processes that take part; None means all.

    Raises
    ------
    PeerError
        A process has gone.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.barrier()
    >>> distributed.finalize()
    """
    _group(group).barrier()


def __getattr__(name):
    if name in ("from_numpy", "use_devices"):  # Dask's arrays, imported when they are wanted
        from . import _dask

        return getattr(_dask, name)
    raise AttributeError(f"module 'treadle.distributed' has no attribute {name!r}{near_in(__name__, name)}", name=name)


__all__ = [
    "BACKENDS",
    "REDUCTIONS",
    "DistributedError",
    "Group",
    "PeerError",
    "Work",
    "abort",
    "all_gather",
    "all_reduce",
    "all_reduce_",
    "all_to_all",
    "barrier",
    "broadcast",
    "exchange",
    "finalize",
    "from_numpy",
    "gather",
    "group",
    "init",
    "is_initialized",
    "launched",
    "local_group",
    "rank",
    "recv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send",
    "size",
    "spawn",
    "use_devices",
    "world",
]

__dir__ = _dir_of(__name__)
