"""PyTorch's names over treadle's arrays: ``import treadle.torch as torch``.

A Tensor is a lazy array with a history: operations are recorded, fused and compiled as all of treadle's, and so are
the backward passes that follow from them. Tensors lie on the CPU until a program moves them to a GPU.
"""

import math as _math

from .. import _core
from .._public import names as _public_names
from . import _device, _modules, _override, autograd, fft, linalg, random, special
from ._device import device, get_default_device, set_default_device
from ._register import FUNCTIONS, METHODS
from ._register import with_input as _with_input
from ._register import with_other_names as _with_other_names
from ._register import with_out as _with_out
from ._tensor import (
    _convert,
    _differences,
    _dtypes,
    _elementwise,
    _index,
    _layout,
    _misc,
    _order,
    _parts,
    _printing,
    _products,
    _reduce,
    _shape,
    _shared,
)
from ._tensor._create import tensor
from ._tensor._dtypes import can_cast, dtype, finfo, get_default_dtype, iinfo, promote_types, set_default_dtype
from ._tensor._printing import set_printoptions
from ._tensor._random import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from ._tensor._size import Size
from .autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

Tensor = _core.Tensor

pi, e, inf, nan = _math.pi, _math.e, _math.inf, _math.nan
newaxis = None
strided, layout, memory_format = _layout.strided_layout, _layout.layout, _layout.memory_format
OutOfMemoryError = _core.OutOfMemoryError
globals().update(_dtypes.NAMES)
globals().update(_layout.FORMATS)
globals().update(_convert.types(cuda=False))

# Methods of the core whose wrappers in this package take more arguments.
_OURS = set(
    "__format__ __pos__ __repr__ all any conj_physical lgamma lgamma_ logaddexp positive prod sign sign_ view".split()
)


def _attach():
    """Give the core's Tensor the methods that are composed in Python, and this module its functions."""
    _core._tensor_classes(
        size=Size, dtype={dt._numpy: dt for dt in _dtypes.DTYPES.values()}, device=_device.ours, make=_convert._made
    )
    native = set(vars(Tensor))
    for name, f in METHODS.items():
        if name not in native or name in _OURS:
            setattr(Tensor, name, _with_other_names(f, name))
    for name, value in _convert.facts().items():
        if name not in native:
            setattr(Tensor, name, value)
    for name, f in FUNCTIONS.items():
        own = getattr(Tensor, name) if name in native and METHODS.get(name) is f and name not in (*_TWO, *_OURS) else f
        globals()[name] = made = _with_out(own, name)
        if hasattr(made, "__globals__"):  # a Python function: pickle finds it here
            made.__module__ = __name__
    for name in (*(k + "_" for k in _elementwise.ROWS), *_AS_METHODS):
        if name not in globals() and hasattr(Tensor, name):
            globals()[name] = _with_input(getattr(Tensor, name))
    for name, method in _modules.refused_methods().items():
        setattr(Tensor, name, method)
    Tensor._make_subclass = staticmethod(_core._make_subclass)
    _override.attach(Tensor)


_TWO = {*_elementwise.ROWS_OF_TWO, "add", "sub", "div"}  # the first operand may be a number
# Methods that are functions of torch's just as they are.
_AS_METHODS = (
    "addmv_ clamp_ clamp_max_ clamp_min_ clip_ clone conj_physical_ detach detach_ erfinv_ fill_ frac_ gcd_ i0_ "
    "acosh_ arccosh_ index_put_ lcm_ ldexp_ logit_ nan_to_num_ resize_as_ round_ sinc_ xlogy_ zero_".split()
)
# Functions that are Python's in PyTorch, too. All others are built-in ones there.
_PYTHONS = set(
    "are_deterministic_algorithms_enabled atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes "
    "broadcast_tensors cartesian_prod cdist chain_matmul cholesky compile compiled_with_cxx11_abi cond einsum "
    "from_dlpack get_default_device get_deterministic_debug_mode get_device_module get_float32_matmul_precision "
    "get_rng_state initial_seed is_deterministic_algorithms_warn_only_enabled is_storage is_tensor "
    "is_warn_always_enabled load lobpcg lu manual_seed matrix_rank meshgrid norm pca_lowrank qr save seed "
    "set_default_device set_default_dtype set_default_tensor_type set_deterministic_debug_mode "
    "set_float32_matmul_precision set_printoptions set_rng_state set_warn_always split stft svd_lowrank tensordot "
    "typename unique unique_consecutive unravel_index use_deterministic_algorithms vmap while_loop".split()
)
_attach()


def result_type(tensor=None, other=None, *, scalar=None, scalar1=None, scalar2=None):  # noqa: F811 - PyTorch's name of the parameter
    """The dtype of an operation of two tensors or numbers."""
    both = [t for t in (tensor, other, scalar, scalar1, scalar2) if t is not None]
    if len(both) != 2:
        raise TypeError(f"result_type() takes two tensors or numbers ({len(both)} given)")
    return _dtypes.result_of([t for t in both if isinstance(t, Tensor)], [t for t in both if not isinstance(t, Tensor)])


def is_nonzero(input):
    """Is the one element not 0?"""
    return input.is_nonzero()


def get_device_module(device=None):  # noqa: F811 - PyTorch's name of the parameter
    """The module torch.cuda: GPUs are the only devices that have one."""
    from . import cuda

    return cuda


_override.built_in(globals(), [n for n in globals() if n not in _PYTHONS and n[0] != "_"], __name__)

# Submodules that are imported at their first use, and the names of this module that they define.
_MODULES = set(
    "accelerator amp backends compiler cpu cuda distributed distributions func futures hub jit library mps "
    "mtia multiprocessing nn optim profiler serialization signal sparse storage testing types utils version xpu".split()
)
_FROM = {"save": "serialization", "load": "serialization", "map": "_vmap", "vmap": "func", "autocast": "amp"}
_FROM |= dict.fromkeys(
    "GradScaler is_autocast_enabled get_autocast_dtype set_autocast_enabled set_autocast_dtype "
    "is_autocast_cache_enabled set_autocast_cache_enabled clear_autocast_cache is_autocast_cpu_enabled "
    "get_autocast_cpu_dtype get_autocast_gpu_dtype".split(),
    "amp",
)
_FROM |= {"sparse_coo_tensor": "sparse", "sparse_coo": "sparse"}
_FROM |= {"Stream": "cuda", "Event": "cuda", "ops": "library", "UntypedStorage": "storage", "TypedStorage": "storage"}
_FROM |= {"PyTorchFileReader": "serialization", "spmm": "sparse"}
_FROM |= dict.fromkeys(
    "affine_grid_generator alias_copy alpha_dropout_ as_strided_scatter celu_ cholesky cond "
    "constant_pad_nd conv_tbc convolution dropout_ embedding_bag embedding_renorm_ empty_permuted "
    "expand_copy feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ fill fork "
    "from_file get_deterministic_debug_mode grid_sampler grid_sampler_2d grid_sampler_3d gru_cell "
    "has_lapack has_mkl has_openmp has_spectral histogramdd init_num_threads is_anomaly_check_nan_enabled "
    "is_anomaly_enabled is_deterministic_algorithms_warn_only_enabled legacy_contiguous_format lstm_cell "
    "lu matrix_rank max_pool1d_with_indices nonzero_static norm_except_dim pca_lowrank qr rnn_relu_cell "
    "rnn_tanh_cell rrelu_ segment_reduce select_copy selu_ set_anomaly_enabled "
    "set_deterministic_debug_mode slice_copy split_copy split_with_sizes_copy svd_lowrank threshold_ "
    "unbind_copy unfold_copy view_as_complex_copy view_as_real_copy view_copy wait while_loop ".split(),
    "_older",
)
_FROM |= dict.fromkeys(
    "adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d bilinear conv1d conv2d conv3d conv_transpose1d "
    "conv_transpose2d conv_transpose3d max_pool1d max_pool2d max_pool3d rms_norm".split(),
    "nn.functional",
)
_FROM |= dict.fromkeys(
    "alpha_dropout batch_norm binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss dropout embedding "
    "group_norm hinge_embedding_loss instance_norm kl_div layer_norm margin_ranking_loss poisson_nll_loss rrelu "
    "triplet_margin_loss".split(),
    "nn._reordered",
)


def __getattr__(name):
    from importlib import import_module

    if name == "__version__":
        return import_module(f"{__name__}.version").__version__
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in ("_assert", "_check"):  # PyTorch's private checks, which libraries call
        return getattr(import_module(f"{__name__}._older"), name)
    if name.startswith("_foreach_"):
        globals()[name] = value = import_module(f"{__name__}._tensor._foreach").of(name)
        return value
    if name in _FROM:
        globals()[name] = getattr(import_module(f"{__name__}.{_FROM[name]}"), name)
        _override.built_in(globals(), {name} - _PYTHONS, __name__)
        return globals()[name]
    return _absent(name)


_absent, _ = _modules.refusing("torch")


def __dir__():
    return _public_names(__name__, {*_MODULES, *_FROM})
