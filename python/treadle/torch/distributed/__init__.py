"""``torch.distributed``: PyTorch's collectives, implemented by treadle.distributed. They write into the tensors that
they are given.

The backends "nccl" (GPUs), "gloo" (CPUs, by sockets) and "mpi" (CPUs under mpirun) are treadle's. A process has one
device, and the tensors of a group lie on it.
"""

import os
import socket
from datetime import timedelta
from types import SimpleNamespace

import treadle

from ... import _core
from ... import distributed as _dist
from ...distributed import DistributedError as DistError
from ...distributed import _launch, _process
from .. import _modules
from ..autograd.grad_mode import no_grad
from . import _objects
from ._stores import FileStore as FileStore
from ._stores import HashStore as HashStore
from ._stores import PrefixStore as PrefixStore
from ._stores import Store as Store
from ._stores import TCPStore as TCPStore

Tensor = _core.Tensor
DistBackendError = DistNetworkError = DistStoreError = DistError
default_pg_timeout = timedelta(minutes=30)

_BACKENDS = {"nccl": "nccl", "gloo": "local", "mpi": "mpi"}
_NAMES = {v: k for k, v in _BACKENDS.items()}


class ReduceOp:
    """How a collective combines values."""

    SUM, AVG, PRODUCT, MIN, MAX = "sum", "mean", "prod", "min", "max"
    RedOpType = str  # the type of those


reduce_op = ReduceOp


class Backend(str):
    """The name of a backend."""

    UNDEFINED, GLOO, NCCL, MPI = "undefined", "gloo", "nccl", "mpi"


class _World:
    """``group.WORLD``: the group that init_process_group created."""

    @property
    def WORLD(self):
        return _dist.world() if _dist.is_initialized() else None


group = _World()
GroupMember = SimpleNamespace(NON_GROUP_MEMBER=object())
ProcessGroup = _dist.Group


class Work:
    """A collective in progress. Its tensors may be read after wait()."""

    def __init__(self, work, put):
        self._work, self._put = work, put

    def wait(self, timeout=None):
        """Wait for the result, and return True. On a GPU only later work waits."""
        seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
        if self._put is not None:
            self._put(self._work.wait(seconds))
            self._put = None
        return True

    def is_completed(self):
        return self._put is None or self._work.done()

    is_success = is_completed

    def result(self):
        return []


# ---- starting and ending ----


def is_available():
    """True: the module is there."""
    return True


def is_nccl_available():
    """Is there a GPU? NCCL is looked for when it is first used."""
    return _core._gpu_count() > 0 or (_core.options()["device"] or "").startswith("null")


def is_gloo_available():
    """Whether the backend "gloo" can be asked for."""
    return True


def is_mpi_available():
    """Whether mpi4py is installed."""
    from importlib.util import find_spec

    return find_spec("mpi4py") is not None


def is_torchelastic_launched():
    """Whether torchrun started the process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_initialized():
    """Whether init_process_group has been called."""
    return _dist.is_initialized()


def _place(init_method, rank, world_size):
    method = init_method or "env://"
    if method.startswith("tcp://"):
        return _launch.explicit(rank if rank >= 0 else None, world_size if world_size >= 0 else None, method[6:])
    if not method.startswith("env://"):
        raise ValueError(f"init_process_group: init_method {method!r} is neither env:// nor tcp://host:port")
    env = dict(os.environ)
    env.update({k: str(v) for k, v in (("RANK", rank), ("WORLD_SIZE", world_size)) if v >= 0})
    return _launch.place(env)


def _met(store, rank):
    """An address at which the processes of a store find each other. Rank 0 publishes it."""
    if rank == 0:
        with socket.create_server((store.host, 0)) as free:
            store.set("treadle/port", str(free.getsockname()[1]))
    return f"tcp://{store.host}:{store.get('treadle/port').decode()}"


def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
):
    """Connect to the other processes, as treadle.distributed.init() does. The device is device_id. Without it a process
    that uses GPUs takes the current one."""
    if isinstance(store, TCPStore) and init_method is None:  # the store's processes meet at a port that it publishes
        init_method = _met(store, rank)
    elif store is not None:
        raise ValueError("init_process_group: store is a TCPStore; or give init_method='tcp://host:port'")
    name = (backend or "").lower()
    if not name or ":" in name:  # as in "cpu:gloo,cuda:nccl": a process has one device here
        name = "nccl" if is_nccl_available() else "gloo"
    if name not in _BACKENDS:
        raise ValueError(f"init_process_group: backend {backend!r} is none of {', '.join(_BACKENDS)}")
    place = _place(init_method, rank, world_size)
    device = None
    if name != "nccl":
        device = "cpu"
    elif device_id is not None:
        device = f"cuda:{device_id}" if isinstance(device_id, int) else str(device_id)
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout or 1800.0
    carrier = "mpi" if name == "gloo" and place.mpi else _BACKENDS[name]
    _process._begin(carrier, device, place, seconds)


def destroy_process_group(group=None):
    """End a group, by default the world."""
    if group is None or group is _process._state["world"]:
        _dist.finalize()
    else:
        group.close()


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, **ignored):
    """Create a group of these processes. All processes call it; those outside of the group get
    GroupMember.NON_GROUP_MEMBER."""
    made = _dist.group(sorted(range(get_world_size()) if ranks is None else ranks))
    return GroupMember.NON_GROUP_MEMBER if made is None else made


def _group(g):
    return _dist.world() if g is None else g


def get_rank(group=None):
    """This process's rank, -1 outside of the group."""
    return -1 if group is GroupMember.NON_GROUP_MEMBER else _group(group).rank


def get_world_size(group=None):
    """How many processes the group has."""
    return -1 if group is GroupMember.NON_GROUP_MEMBER else _group(group).size


def get_backend(group=None):
    """The name of the group's backend."""
    return Backend(_NAMES[_group(group).backend])


def get_process_group_ranks(group):
    """The world's ranks of the group's processes."""
    return list(_group(group).ranks)


def get_group_rank(group, global_rank):
    """The rank in group of the process that is global_rank in the world."""
    return group.ranks.index(global_rank)


def get_global_rank(group, group_rank):
    """The rank in the world of the group's process group_rank."""
    return group.ranks[group_rank]


def get_node_local_rank(fallback_rank=None):
    """LOCAL_RANK of the environment, else fallback_rank."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment: pass fallback_rank")
    return fallback_rank


# ---- collectives ----


def _within(group, rank, group_rank=None):
    """The group's number of a process, given its rank in the world."""
    if group_rank is not None:
        return group_rank
    g = _group(group)
    if rank not in g.ranks:
        raise ValueError(f"Global rank {rank} is not part of group {g}")
    return g.ranks.index(rank)


def _fill(tensor, array):
    with no_grad():
        tensor.copy_(_core.tensor_wrap(array))


def _fill_all(tensors, arrays):
    for t, a in zip(tensors, arrays):
        _fill(t, a.reshape(tuple(t.shape)))


def _end(work, put, async_op):
    handle = Work(work, put)
    if async_op:
        return handle
    handle.wait()
    return None


def _member(g):
    return g is not GroupMember.NON_GROUP_MEMBER


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Put the sum (PRODUCT, MIN, MAX, AVG) of all processes' tensors into each of them."""
    if _member(group):
        work = _group(group).all_reduce_([tensor._array], op, wait=not async_op)
        return Work(work, lambda done: None) if async_op else None


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce of all the tensors at once."""
    if _member(group):
        work = _group(group).all_reduce_([t._array for t in tensors], op, wait=not async_op)
        return Work(work, lambda done: None) if async_op else None


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """As all_reduce, but only into the tensor of process dst."""
    if not _member(group):
        return None
    g, root = _group(group), _within(group, dst, group_dst)
    work = g.reduce(tensor._array, op, root, wait=False)
    return _end(work, lambda a: g.rank == root and _fill(tensor, a), async_op)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """Copy process src's tensor to all processes."""
    if _member(group):
        work = _group(group).broadcast(tensor._array, _within(group, src, group_src), wait=False)
        return _end(work, lambda a: _fill(tensor, a), async_op)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Put all processes' tensors into a list of as many tensors."""
    if _member(group):
        work = _group(group).all_gather(tensor._array, wait=False)
        return _end(work, lambda a: _fill_all(tensor_list, a), async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """Put all processes' tensors, one after another or stacked, into one tensor."""
    if _member(group):
        work = _group(group).all_gather(input_tensor._array, wait=False)
        return _end(work, lambda a: _fill(output_tensor, a.reshape(tuple(output_tensor.shape))), async_op)


def _stacked(tensors):
    return treadle.stack([t._array for t in tensors])


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Combine the r-th tensors of all processes' lists, and put the result into process r's tensor."""
    if _member(group):
        work = _group(group).reduce_scatter(_stacked(input_list), op, wait=False)
        return _end(work, lambda a: _fill(output, a), async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """Combine the r-th parts of all processes' tensors, and put the result into process r's tensor."""
    if _member(group):
        g = _group(group)
        work = g.reduce_scatter(input._array.reshape((g.size, *output.shape)), op, wait=False)
        return _end(work, lambda a: _fill(output, a), async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """Send part r of the tensor to process r. The parts are equal, or have the split sizes."""
    if not _member(group):
        return None
    g = _group(group)

    def cut(t, sizes):
        if not sizes and t.shape[0] % g.size:
            raise RuntimeError(f"all_to_all_single: {t.shape[0]} rows do not divide by {g.size} processes")
        ends, at = [], 0
        for n in sizes or [t.shape[0] // g.size] * g.size:
            ends.append((at, at + n))
            at += n
        return [t[i:j] for i, j in ends]

    return all_to_all(cut(output, output_split_sizes), cut(input, input_split_sizes), group, async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Send tensor r of the list to process r."""
    if _member(group):
        g = _group(group)
        sends = [(t._array, r) for r, t in enumerate(input_tensor_list)]
        work = g.exchange(sends, [(t._array, r) for r, t in enumerate(output_tensor_list)], wait=False)
        return _end(work, lambda arrays: _fill_all(output_tensor_list, arrays), async_op)


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """Put all processes' tensors into the list of process dst."""
    if _member(group):
        root = _within(group, 0 if dst is None and group_dst is None else dst, group_dst)
        work = _group(group).gather(tensor._array, root, wait=False)
        return _end(work, lambda a: a is not None and _fill_all(gather_list, a), async_op)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Put tensor r of process src's list into process r's tensor."""
    if _member(group):
        g = _group(group)
        root = _within(group, 0 if src is None and group_src is None else src, group_src)
        rows = _stacked(scatter_list) if g.rank == root else None
        work = g.scatter(rows, root, like=tensor._array, wait=False)
        return _end(work, lambda a: _fill(tensor, a), async_op)


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """send without waiting: returns a Work."""
    if _member(group):
        work = _group(group).send(tensor._array, _within(group, dst, group_dst), wait=False)
        return Work(work, lambda none: None)


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """recv without waiting: returns a Work."""
    if _member(group):
        if src is None and group_src is None:
            raise ValueError("recv: src is the rank that sends; there is no receiving from any")
        work = _group(group).recv(tensor._array, _within(group, src, group_src), wait=False)
        return Work(work, lambda a: _fill(tensor, a))


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Send the tensor to process dst."""
    if _member(group):
        isend(tensor, dst, group, tag, group_dst).wait()


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receive what process src sends into the tensor. Returns src."""
    if not _member(group):
        return -1
    irecv(tensor, src, group, tag, group_src).wait()
    return src


class P2POp:
    """An isend or irecv of a tensor, for batch_isend_irecv."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError("P2POp: op is isend or irecv")
        self.op, self.tensor, self.group = op, tensor, group
        self.group_peer = _within(group, peer, group_peer)


def batch_isend_irecv(p2p_op_list):
    """Do sends and receives together. Returns a list of one Work."""
    g = _group(p2p_op_list[0].group)
    sends = [(p.tensor._array, p.group_peer) for p in p2p_op_list if p.op is isend]
    into = [p for p in p2p_op_list if p.op is irecv]
    work = g.exchange(sends, [(p.tensor._array, p.group_peer) for p in into], wait=False)
    return [Work(work, lambda arrays: _fill_all([p.tensor for p in into], arrays))]


def barrier(group=None, async_op=False, device_ids=None):
    """Wait until all processes have called it."""
    if _member(group):
        _group(group).barrier()
        return Work(None, None) if async_op else None


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """barrier()."""
    barrier(group)


# ---- objects ----


def _packed(g, thing):
    data = _objects.dumped(thing)
    return treadle.array(list(data), "uint8", device=g.device), len(data)


def _gathered(g, thing):
    """All processes' objects."""
    data, n = _packed(g, thing)
    sizes = g.all_gather(treadle.array([n], "int64", device=g.device)).get()[:, 0]
    room = treadle.zeros(int(sizes.max()), "uint8", device=g.device)
    room[:n] = data
    return [_objects.loaded(row[:k].tobytes()) for row, k in zip(g.all_gather(room).get(), sizes)]


def all_gather_object(object_list, obj, group=None):
    """Put all processes' objects, which are pickled, into a list of as many."""
    if _member(group):
        object_list[:] = _gathered(_group(group), obj)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """all_gather_object for process dst alone."""
    if _member(group):
        g = _group(group)
        root = _within(group, 0 if dst is None and group_dst is None else dst, group_dst)
        objects = _gathered(g, obj)
        if g.rank == root:
            object_gather_list[:] = objects


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """Copy process src's objects into all processes' lists."""
    if _member(group):
        g = _group(group)
        root = _within(group, 0 if src is None and group_src is None else src, group_src)
        object_list[:] = _gathered(g, list(object_list) if g.rank == root else None)[root]


def scatter_object_list(
    scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None
):
    """Put object r of process src's list into the first place of process r's list."""
    if _member(group):
        g = _group(group)
        root = _within(group, 0 if src is None and group_src is None else src, group_src)
        objects = _gathered(g, scatter_object_input_list if g.rank == root else None)[root]
        scatter_object_output_list[0] = objects[g.rank]


# ---- PyTorch's other names ----

all_gather_single = all_gather_into_tensor
reduce_scatter_single = reduce_scatter_tensor


def gather_into_tensor(output_tensor, input_tensor, dst=0, group=None, async_op=False, group_dst=None):
    """gather into output_tensor, the parts one below another. All processes but dst pass None."""
    to = _within(group, dst, group_dst)
    mine = get_rank(group) == to
    parts = list(output_tensor.chunk(get_world_size(group))) if mine else None
    return gather(input_tensor, parts, group=group, async_op=async_op, group_dst=to)


gather_single = gather_into_tensor


def get_pg_count():
    """The number of groups."""
    return len(_process._state["groups"]) + is_initialized()


def is_backend_available(backend):
    """Is it "gloo", "mpi" with mpi4py, or "nccl" with a GPU?"""
    asked = {"gloo": is_gloo_available, "nccl": is_nccl_available, "mpi": is_mpi_available}
    return asked[backend.lower()]() if backend.lower() in asked else False


def is_ucc_available():
    """False."""
    return False


is_xccl_available = is_ucc_available


def get_default_backend_for_device(device):
    """ "nccl" for GPUs, "gloo" for the CPU."""
    return "gloo" if str(device).partition(":")[0] == "cpu" else "nccl"


def supports_complex(reduceOp):
    """Can this operation combine complex tensors?"""
    return reduceOp in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT)


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """(this process's group, all groups) for groups of group_size consecutive processes. Raises ValueError unless the
    size divides the world's."""
    size = get_world_size()
    group_size = int(os.environ.get("LOCAL_WORLD_SIZE", size)) if group_size is None else group_size
    if group_size <= 0 or size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
    return new_subgroups_by_enumeration([list(range(i, i + group_size)) for i in range(0, size, group_size)])


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None):
    """(this process's group or None, all groups) for lists of ranks."""
    made = [new_group(ranks) for ranks in ranks_per_subgroup_list]
    mine = [g for g, ranks in zip(made, ranks_per_subgroup_list, strict=True) if get_rank() in ranks]
    return (mine[0] if mine else None), made


class DebugLevel:
    """How much PyTorch logs. It is kept and changes nothing."""

    OFF, INFO, DETAIL = "OFF", "INFO", "DETAIL"


_debug = [os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF")]


def get_debug_level():
    """What set_debug_level was told."""
    return _debug[0]


def set_debug_level(level):
    """Keep the level. It changes nothing."""
    _debug[0] = level


def set_debug_level_from_env():
    """Set the level that TORCH_DISTRIBUTED_DEBUG gives."""
    _debug[0] = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF")


_LATER = {"DeviceMesh": "device_mesh", "init_device_mesh": "device_mesh"}
_absent, __dir__ = _modules.refusing("torch.distributed")


def __getattr__(name):
    from importlib import import_module

    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return _absent(name)
