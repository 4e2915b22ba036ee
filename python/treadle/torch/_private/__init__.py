"""PyTorch's private names that libraries import: {PyTorch's module: the names here}.

Functions that are steps of PyTorch's optimizers do what is needed here, which is mostly nothing.
"""

import dataclasses
import operator

from ... import torch
from .._tensor._layout import layout
from . import _functional

OF = {
    "torch.backends.cuda": "SDPAParams can_use_cudnn_attention can_use_efficient_attention can_use_flash_attention",
    "torch.distributed.tensor": "Partial Placement Replicate Shard",
    "torch.distributed.tensor.placement_types": "Partial Placement Replicate Shard",
    "torch.distributions.utils": "_standard_normal _sum_rightmost",
    "torch.nn.functional": _functional.NAMES,
    "torch.nn.modules": "_get_activation_fn",
    "torch.nn.attention.flex_attention": "_DEFAULT_SPARSE_BLOCK_SIZE",
    "torch.optim.optimizer": "_default_to_fused_or_foreach _disable_dynamo_if_unsupported _dispatch_sqrt "
    "_get_capturable_supported_devices _get_value _use_grad_for_differentiable _view_as_real ParamsT",
    "torch.serialization": "FILE_LIKE MAP_LOCATION",
    "torch.utils.data.dataloader": "_collate_fn_t _worker_init_fn_t _BaseDataLoaderIter _MultiProcessingDataLoaderIter "
    "_SingleProcessDataLoaderIter",
    "torch.utils.checkpoint": "_infer_device_type get_device_states set_device_states",
    "torch.nn.modules.module": "_EXTRA_STATE_KEY_SUFFIX",
    "torch.jit": "TracerWarning",
    "torch.cuda": "_initialized",
    "torch": "SymBool SymFloat SymInt _assert_async _check_is_size _check_tensor_all _check_with _shape_as_tensor "
    "_softmax_backward_data jagged sparse_bsc sparse_bsr sparse_csc sparse_csr sym_float sym_int sym_ite sym_max "
    "sym_min sym_not sym_sum torch",
}

FILE_LIKE = MAP_LOCATION = ParamsT = _collate_fn_t = _worker_init_fn_t = object  # in annotations
_DEFAULT_SPARSE_BLOCK_SIZE = 128  # of flex_attention's masks
_EXTRA_STATE_KEY_SUFFIX = "_extra_state"  # in state_dict's keys
_initialized = True  # CUDA is initialised at its first use
jagged, sparse_bsc, sparse_bsr, sparse_csc, sparse_csr = map(  # layouts that tensors do not have here
    layout, "jagged sparse_bsc sparse_bsr sparse_csc sparse_csr".split()
)


class TracerWarning(Warning):
    """Never issued, because nothing is traced."""


# ---- sizes: numbers here, never symbols ----


class SymInt:
    """A class without instances: sizes are ints here."""


class SymFloat:
    """A class without instances: numbers are floats here."""


class SymBool:
    """A class without instances: conditions are bools here."""


sym_float, sym_int, sym_not, sym_max, sym_min = float, int, operator.not_, max, min


def sym_sum(args):
    """sum(args)."""
    return sum(args)


def sym_ite(b, t, f):
    """t if b else f."""
    return t if b else f


def _shape_as_tensor(input):
    """The shape as an int64 tensor."""
    return torch.tensor(input.shape, dtype=torch.int64)


# ---- checks ----


def _check_with(error_type, cond, message=None):
    """Raise error_type with the text message() unless cond, a bool, is true."""
    if not cond:
        raise error_type("Expected cond to be True, but got False" if message is None else str(message()))


def _check_tensor_all(cond, message=None):
    """Raise RuntimeError if an element of cond is false."""
    _check_with(RuntimeError, bool(cond.all()), message)


def _check_is_size(i, message=None, *, max=None):
    """Raise RuntimeError if i is no size."""
    _check_with(RuntimeError, i >= 0 and (max is None or i <= max), message)


def _assert_async(input, assert_msg="Expected Tensor with single nonzero value, but got zero"):
    """Raise RuntimeError if the one element is zero. This waits for the value."""
    _check_with(RuntimeError, bool(input), lambda: assert_msg)


def found(module, name):
    """The value of a name of a private module of PyTorch's, or None if this package has none."""
    if name not in OF.get(module, "").split():
        return None
    return globals()[name] if name in globals() else getattr(_functional, name)


# ---- distributions ----


def _standard_normal(shape, dtype, device):
    """Draws from the normal distribution of mean 0 and deviation 1."""
    return torch.randn(shape, dtype=dtype, device=device)


def _sum_rightmost(value, dim):
    """The sum over the last dim dimensions."""
    return value if dim == 0 else value.reshape(value.shape[: value.dim() - dim] + (-1,)).sum(-1)


# ---- how a tensor lies on several devices: said in tables of models that never use them ----


class Placement:
    """How a tensor is distributed along one dimension of a mesh."""

    def is_shard(self, dim=None):
        """Does each process hold a part (along dim)?"""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self):
        """Does each process hold the whole tensor?"""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op=None):
        """Is the tensor the sum of the processes' values?"""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclasses.dataclass(frozen=True)
class Replicate(Placement):
    """Each process holds the whole tensor."""


@dataclasses.dataclass(frozen=True)
class Shard(Placement):
    """Each process holds a part along dim."""

    dim: int


@dataclasses.dataclass(frozen=True)
class Partial(Placement):
    """The tensor is the sum of the processes' values."""

    reduce_op: str = "sum"


# ---- attention ----


class SDPAParams:
    """The description of an attention by which PyTorch chooses a kernel."""

    def __init__(self, query, key, value, attn_mask=None, dropout=0.0, is_causal=False, enable_gqa=False):
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


def can_use_flash_attention(params, debug=False):
    """False: attention has one kernel here, and calls no library."""
    return False


can_use_cudnn_attention = can_use_efficient_attention = can_use_flash_attention


def _get_activation_fn(activation):
    """The function of a Transformer layer's activation. RuntimeError: another name than relu and gelu."""
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(torch.nn.functional, activation)


def _softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of softmax along dim, given its result."""
    scaled = grad_output * output
    return (scaled - output * scaled.sum(dim, keepdim=True)).to(input_dtype)


# ---- optimizers ----


def _use_grad_for_differentiable(step):
    """The step of an optimizer, unchanged. The optimizer itself decides whether a step is differentiable."""
    return step


def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    """A decorator that returns the function unchanged."""
    return lambda step: step


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """(False, False): all parameters go through one kernel without these modes."""
    return False, False


def _get_capturable_supported_devices(supports_xla=True):
    return ["cuda"]


def _get_value(x):
    """The number in a tensor of one element. Numbers stay as they are."""
    return x.item() if isinstance(x, torch.Tensor) else x


def _dispatch_sqrt(x):
    """The square root of a tensor or a number."""
    return x.sqrt() if isinstance(x, torch.Tensor) else x**0.5


def _view_as_real(params, *states):
    """Replace complex tensors in lists of tensors and states by pairs of real numbers."""
    for values in (params, *states):
        for i, value in enumerate(values):
            if torch.is_complex(value):
                values[i] = torch.view_as_real(value)


# ---- batches ----


class _BaseDataLoaderIter:
    """A name for annotations. A DataLoader's iterator is a generator here."""


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """A class without instances."""


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """A class without instances."""


# ---- checkpoints ----


def _infer_device_type(*args):
    """The kind of GPU among the arguments, or of the default."""
    return next((a.device.type for a in args if isinstance(a, torch.Tensor) and a.device.type != "cpu"), "cuda")


def get_device_states(*args):
    """(numbers of the GPUs on which tensors among the arguments lie, the states of their random generators)."""
    numbers = sorted({a.get_device() for a in args if isinstance(a, torch.Tensor) and a.device.type == "cuda"})
    return numbers, [torch.cuda.get_rng_state(n) for n in numbers]


def set_device_states(devices, states, *, device_type=None):
    """Restore the states that get_device_states returned."""
    for number, state in zip(devices, states, strict=True):
        torch.cuda.set_rng_state(state, number)
