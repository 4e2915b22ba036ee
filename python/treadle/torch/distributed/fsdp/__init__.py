"""torch.distributed.fsdp: data parallelism under FSDP's names. Parameters are not sharded: each process keeps them
whole, and gradients are averaged as by DistributedDataParallel. Results are the same, but no memory is saved."""

import contextlib
import dataclasses
import enum

from ... import _modules
from ... import distributed as _dist
from ...autograd.grad_mode import no_grad
from ...nn.parallel import DistributedDataParallel
from ..device_mesh import DeviceMesh

_HALF = "give torch.autocast the dtype: parameters and gradients keep theirs"


class ShardingStrategy(enum.Enum):
    """PyTorch's ways to shard. All have the same effect here."""

    FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD, _HYBRID_SHARD_ZERO2 = range(1, 6)


class BackwardPrefetch(enum.Enum):
    """When PyTorch gathers parameters. They are always there here."""

    BACKWARD_PRE, BACKWARD_POST = 1, 2


class StateDictType(enum.Enum):
    """Forms of state dictionaries. All are full ones here."""

    FULL_STATE_DICT, LOCAL_STATE_DICT, SHARDED_STATE_DICT = 1, 2, 3


@dataclasses.dataclass
class MixedPrecision:
    """Dtypes of parameters, gradients and buffers. Only None and float32 are accepted."""

    param_dtype: object = None
    reduce_dtype: object = None
    buffer_dtype: object = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True


@dataclasses.dataclass(frozen=True)
class MixedPrecisionPolicy:
    """Dtypes of parameters, gradients and results. Only None and float32 are accepted."""

    param_dtype: object = None
    reduce_dtype: object = None
    output_dtype: object = None
    cast_forward_inputs: bool = True


@dataclasses.dataclass
class CPUOffload:
    """offload_params: PyTorch keeps parameters on the CPU. Only False is accepted."""

    offload_params: bool = False


@dataclasses.dataclass
class StateDictConfig:
    """Where a state dictionary lies."""

    offload_to_cpu: bool = False


@dataclasses.dataclass
class FullStateDictConfig(StateDictConfig):
    """A full state dictionary. rank0_only: the other ranks get an empty one."""

    rank0_only: bool = False


def _checked(mixed_precision, cpu_offload):
    for name in ("param_dtype", "reduce_dtype", "buffer_dtype", "output_dtype"):
        dtype = getattr(mixed_precision, name, None)
        if dtype is not None and str(dtype) != "torch.float32":
            raise NotImplementedError(f"fsdp: {name}={dtype} is not in treadle.torch: {_HALF}")
    if getattr(cpu_offload, "offload_params", False):
        raise NotImplementedError("fsdp: offload_params is not in treadle.torch: parameters stay on their device")


class FullyShardedDataParallel(DistributedDataParallel):
    """module with gradients that are means over all processes. The parameters are whole in each process.

    Options that say how PyTorch shards are accepted. Raises NotImplementedError for parameters of half types and for
    offloading.
    """

    def __init__(
        self, module, process_group=None, sharding_strategy=None, cpu_offload=None, auto_wrap_policy=None,
        backward_prefetch=None, mixed_precision=None, ignored_modules=None, param_init_fn=None, device_id=None,
        sync_module_states=False, forward_prefetch=False, limit_all_gathers=True, use_orig_params=False,
        ignored_states=None, device_mesh=None,
    ):  # fmt: skip
        _checked(mixed_precision, cpu_offload)
        if device_id is not None:
            module = module.to(device_id if not isinstance(device_id, int) else f"cuda:{device_id}")
        if isinstance(device_mesh, DeviceMesh) and process_group is None:
            process_group = device_mesh.get_group(0) if device_mesh.ndim == 1 else None
        super().__init__(module, process_group=process_group, find_unused_parameters=True)
        self._full = FullStateDictConfig()

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(module, state_dict_type, state_dict_config=None, optim_state_dict_config=None):
        """A context manager in which module.state_dict() follows the configuration."""
        before, module._full = module._full, state_dict_config or FullStateDictConfig()
        try:
            yield
        finally:
            module._full = before

    @staticmethod
    def set_state_dict_type(module, state_dict_type, state_dict_config=None, optim_state_dict_config=None):
        """Let module.state_dict() follow the configuration from now on."""
        module._full = state_dict_config or FullStateDictConfig()

    @staticmethod
    def optim_state_dict(model, optim, optim_state_dict=None, group=None):
        """The optimizer's state."""
        return optim.state_dict() if optim_state_dict is None else optim_state_dict

    full_optim_state_dict = optim_state_dict

    @staticmethod
    def optim_state_dict_to_load(
        model, optim, optim_state_dict, is_named_optimizer=False, load_directly=False, group=None
    ):
        """The optimizer's state, unchanged."""
        if load_directly:
            optim.load_state_dict(optim_state_dict)
        return optim_state_dict

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(
        module, recurse=True, writeback=True, rank0_only=False, offload_to_cpu=False, with_grads=False
    ):
        """A context manager without effect: parameters are whole."""
        yield

    def state_dict(self, *args, **kwargs):
        """The module's state, by its own names. Other ranks than 0 get {} if rank0_only is set."""
        if self._full.__dict__.get("rank0_only") and _dist.get_rank(self.process_group):
            return {}
        found = self.module.state_dict(*args, **kwargs)
        if self._full.offload_to_cpu:
            for k, v in found.items():
                found[k] = v.cpu()
        return found

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Load the module's state, by its own names."""
        return self.module.load_state_dict(state_dict, strict, assign)

    def clip_grad_norm_(self, max_norm, norm_type=2.0):
        """nn.utils.clip_grad_norm_ of all gradients."""
        from ...nn.utils import clip_grad_norm_

        return clip_grad_norm_(self.module.parameters(), max_norm, norm_type)


class FSDPModule:
    """The class that fully_shard() gives a module: the module's own, with methods that have nothing to do."""

    def unshard(self, async_op=False):
        """Does nothing: parameters are whole."""

    def reshard(self):
        """Does nothing: parameters stay whole."""

    def set_requires_gradient_sync(self, requires_gradient_sync, *, recurse=True):
        """Set whether the next backward passes average gradients."""
        for m in self.modules() if recurse else (self,):
            if isinstance(m, FSDPModule):
                m._synced[0] = requires_gradient_sync

    def _nothing(self, *args, **kwargs):
        """Does nothing."""

    set_is_last_backward = set_modules_to_forward_prefetch = set_modules_to_backward_prefetch = _nothing
    set_reshard_after_backward = set_reshard_after_forward = set_unshard_in_backward = _nothing


def fully_shard(module, *, mesh=None, reshard_after_forward=None, shard_placement_fn=None, mp_policy=None,
                offload_policy=None, ignored_params=None, **unused):  # fmt: skip
    """The module itself. Its parameters start from process 0's values, and its gradients are averaged over all
    processes during the backward pass. Raises RuntimeError if no group of processes exists, NotImplementedError for
    half types."""
    _checked(mp_policy, None)
    group = mesh.get_group(0) if mesh is not None and mesh.ndim == 1 else None
    size, synced = _dist.get_world_size(group), [True]
    for p in module.parameters():
        if getattr(p, "_fsdp", False) or p in (ignored_params or ()):
            continue
        p._fsdp = True
        if size > 1:
            with no_grad():
                _dist.broadcast(p.detach(), 0, group=group)

            def average(p):
                if synced[0]:
                    _dist.all_reduce(p.grad, _dist.ReduceOp.AVG, group=group)

            if p.requires_grad:
                p.register_post_accumulate_grad_hook(average)
    cls = type(module)
    if not issubclass(cls, FSDPModule):
        module.__class__ = type("FSDP" + cls.__name__, (FSDPModule, cls), {})
    module.__dict__["_synced"] = synced
    return module


def register_fsdp_forward_method(module, method_name):
    """Does nothing: parameters are whole in all methods."""


__getattr__, __dir__ = _modules.refusing("torch.distributed.fsdp")
