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
    """Runs f(*args) in n new processes of this machine, which have called init(): the list of what they return.

    f and args are pickled, so f stands in a module (and a program's own start in ``if __name__ == "__main__":``).
    ``devices`` is a device for all, or a list of n. Where one raises, its exception is raised here, with its traceback
    as the cause, and the others are ended; PeerError: one died. ``timeout``: seconds after which they are ended with
    TimeoutError.
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
    """The Group that init() made. DistributedError: it was not called."""
    return _group(None)


def group(ranks, parent=None):
    """A Group of those processes, numbered in this order; None in the others. All processes of parent (default: all)
    call it.
    """
    parent, ranks = _group(parent), list(ranks)
    if not ranks or len(set(ranks)) != len(ranks) or not all(0 <= r < parent.size for r in ranks):
        raise ValueError(f"group: {ranks} are no ranks of a group of {parent.size}")
    g = parent.split(ranks)
    if g is not None:
        _state["groups"].append(g)
    return g


def local_group(devices):
    """Several devices of this process as a group, without init(): see LocalDevices."""
    from ._nccl import LocalDevices

    return LocalDevices(devices)


def rank(group=None):
    """This process's number."""
    return _group(group).rank


def size(group=None):
    """How many processes there are."""
    return _group(group).size


# ---- collectives: those of the group, by default of all processes ----


def broadcast(a, root=0, *, out=None, group=None, wait=True):
    """The array of process `root`, on all of them; a gives shape and dtype, elsewhere its values do not matter."""
    return _group(group).broadcast(a, root, out=out, wait=wait)


def all_reduce(a, op="sum", *, out=None, group=None, wait=True):
    """The sum of all processes' arrays, the same bits everywhere. op: "sum", "prod", "min", "max", "mean"."""
    return _group(group).all_reduce(a, op, out=out, wait=wait)


def all_reduce_(arrays, op="sum", *, group=None, wait=True):
    """The same for a list of arrays at once, each of which gets its result in place: the list. Between GPUs one launch,
    elsewhere one message for each dtype. With wait=False nothing may use the arrays before the Work's wait()."""
    return _group(group).all_reduce_(arrays, op, wait=wait)


def reduce(a, op="sum", root=0, *, out=None, group=None, wait=True):
    """As all_reduce, but only process `root` has the values; elsewhere they are undefined."""
    return _group(group).reduce(a, op, root, out=out, wait=wait)


def all_gather(a, *, out=None, group=None, wait=True):
    """All processes' arrays, stacked: shape (size, *a.shape)."""
    return _group(group).all_gather(a, out=out, wait=wait)


def reduce_scatter(a, op="sum", *, out=None, group=None, wait=True):
    """Of a of shape (size, …): row r of all processes' arrays reduced, on process r."""
    return _group(group).reduce_scatter(a, op, out=out, wait=wait)


def all_to_all(a, *, out=None, group=None, wait=True):
    """Of a of shape (size, …): row r goes to process r; row r of the result came from there."""
    return _group(group).all_to_all(a, out=out, wait=wait)


def gather(a, root=0, *, out=None, group=None, wait=True):
    """As all_gather, but only process `root` gets the arrays; None elsewhere."""
    return _group(group).gather(a, root, out=out, wait=wait)


def scatter(a, root=0, *, like=None, out=None, group=None, wait=True):
    """Row r of process `root`'s array, on process r; elsewhere `like` gives shape and dtype of a row."""
    return _group(group).scatter(a, root, like=like, out=out, wait=wait)


def send(a, peer, *, group=None, wait=True):
    """Sends a to the process `peer`, which receives it with recv."""
    return _group(group).send(a, peer, wait=wait)


def recv(like, peer, *, out=None, group=None, wait=True):
    """What the process `peer` sends; like gives shape and dtype."""
    return _group(group).recv(like, peer, out=out, wait=wait)


def exchange(sends, likes, *, group=None, wait=True):
    """Several sends and receives at once: lists of (array, peer); likes give shapes and dtypes. Returns what came."""
    return _group(group).exchange(sends, likes, wait=wait)


def barrier(group=None):
    """Returns when all processes have called it."""
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
