"""Autocast: the table of operations that take half types, and the wrappers that cast for them.

Until a program enters its first autocast, operations cost nothing more. That first autocast replaces each operation of
the table, in every module that holds it and in Tensor, by a wrapper that looks at its thread's mode. A wrapper switches
the mode off while its operation runs, so the operations that it is composed of compute in the dtype that was chosen for
it.
"""

import functools
import sys
import threading
import types

from .._core import Builtin
from ._override import put, shown_as, target
from ._prim import Tensor, recording
from ._tensor import _dtypes

# The lists of PyTorch for GPUs and CPUs. low: half types. full: float32. Both cast floats other than float64. kept: the
# operation runs as it is, and so does what it is composed of. An operation in none of them promotes its operands as it
# does without autocast.
_LOW = (
    "matmul __matmul__ __rmatmul__ mm bmm addmm addbmm baddbmm chain_matmul einsum prelu linear conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d scaled_dot_product_attention linalg.matmul linalg.multi_dot "
    "linalg.vecdot "
)
# Operations that PyTorch has of its own but that are composed of others here, some of them listed.
_WHOLE = (
    "batch_norm instance_norm rms_norm gelu silu mish elu selu celu glu logsigmoid hardswish softshrink tanhshrink "
    "logit logcumsumexp "
)
_LOSSES = (
    "binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy ctc_loss hinge_embedding_loss huber_loss "
    "kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss nll_loss poisson_nll_loss "
    "smooth_l1_loss soft_margin_loss triplet_margin_loss "
)
TABLE = {
    "cuda": {
        "low": _LOW + "mv addmv addr",
        "kept": _WHOLE + "dot vdot inner tensordot bilinear",
        "full": _LOSSES
        + """
            acos arccos asin arcsin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow __pow__
            __rpow__ __rtruediv__ softplus layer_norm group_norm frobenius_norm nuclear_norm cosine_similarity dist
            pdist cdist renorm logsumexp interpolate upsample normalize prod sum cumprod cumsum softmax softmin
            log_softmax norm linalg.norm linalg.vector_norm linalg.matrix_norm special.softmax special.log_softmax
            special.expm1 special.log1p special.erfinv special.logsumexp""",
    },
    "cpu": {
        "low": _LOW + "inner tensordot",
        "kept": _WHOLE + "mv addmv dot vdot bilinear",
        "full": _LOSSES
        + """
            binary_cross_entropy avg_pool3d max_pool3d adaptive_avg_pool3d adaptive_max_pool3d polar prod quantile
            nanquantile stft cdist trace view_as_complex cholesky_inverse cholesky_solve inverse lu_solve orgqr pinverse
            triangular_solve svd linalg.cholesky linalg.cholesky_ex linalg.cond linalg.eig linalg.eigh linalg.eigvals
            linalg.eigvalsh linalg.householder_product linalg.inv linalg.inv_ex linalg.lstsq linalg.lu_factor
            linalg.lu_factor_ex linalg.matrix_rank linalg.pinv linalg.qr linalg.solve linalg.solve_triangular linalg.svd
            linalg.svdvals linalg.tensorinv linalg.tensorsolve """
        + " ".join(f"fft.{k}{n}" for k in "fft ifft rfft irfft hfft ihfft".split() for n in ("", "2", "n")),
    },
}
TABLE["null"] = TABLE["cuda"]
HALVES = {"cuda": "float16", "null": "float16", "cpu": "bfloat16"}


class _State(threading.local):
    """A thread's mode. on: {device type: dtype} of the casts that happen now; a wrapper empties it while its operation
    runs. asked: the same for is_autocast_enabled, which must not see that."""

    on = asked = types.MappingProxyType({})
    chosen = types.MappingProxyType({})  # dtypes that set_autocast_dtype has named
    nesting = 0
    caching = True

    def __init__(self):
        self.cache = {}


state = _State()


class again:
    """The thread's present mode, as a context manager. A checkpoint enters it later, so that what it computes again has
    the same dtypes."""

    def __init__(self):
        self.mode = state.on, state.asked, state.chosen, state.caching

    def __enter__(self):
        self.before = state.on, state.asked, state.chosen, state.caching
        state.on, state.asked, state.chosen, state.caching = self.mode

    def __exit__(self, *_):
        state.on, state.asked, state.chosen, state.caching = self.before


_lock = threading.Lock()
_installed = False


def half_of(kind):
    """The dtype that autocast uses on a kind of device when the program names none."""
    return state.chosen.get(kind) or _dtypes.DTYPES[HALVES[kind]]


def _cast(t, dtype):
    """t in dtype, if t holds floats other than float64. Inside of one autocast a parameter is cast only once."""
    if t.dtype is dtype or t.dtype._kind != "f" or t.dtype._name == "float64":
        return t
    keep = state.caching and t.is_leaf and t.requires_grad and dtype._name != "float32"
    if not keep:
        return t.to(dtype)
    key = id(t), dtype, recording()
    found = state.cache.get(key)
    if found is None or found[1] != t._version:
        found = state.cache[key] = t, t._version, t.to(dtype)
    return found[2]


def _cast_all(o, dtype, where):
    if isinstance(o, Tensor):
        return _cast(o, dtype) if o.device.type == where else o
    return type(o)(_cast_all(v, dtype, where) for v in o) if type(o) in (list, tuple) else o


def _first(args):
    """The device type of the first tensor among args, or None if there is none."""
    for a in args:
        if isinstance(a, Tensor):
            return a.device.type
        if type(a) in (list, tuple) and a and isinstance(a[0], Tensor):
            return a[0].device.type
    return None


def _run(f, kinds, args, kwargs):
    where = _first((*args, *kwargs.values()))
    low = state.on.get(where)
    kind = kinds.get(where)
    if low is None or kind is None or kwargs.get("out") is not None:
        return f(*args, **kwargs)
    told = any(isinstance(a, _dtypes.dtype) for a in (*args, *kwargs.values()))  # the caller chose the dtype
    if kind == "low" or (kind == "full" and not told):
        dtype = low if kind == "low" else _dtypes.DTYPES["float32"]
        args = [_cast_all(a, dtype, where) for a in args]
        kwargs = {k: _cast_all(v, dtype, where) for k, v in kwargs.items()}
    on, state.on = state.on, {}
    try:
        return f(*args, **kwargs)
    finally:
        state.on = on


def _asking(f, kinds):
    @functools.wraps(f)
    def op(*args, **kwargs):
        return _run(f, kinds, args, kwargs) if state.on else f(*args, **kwargs)

    op._plain = getattr(f, "_plain", f)
    shown_as(f, op)
    return op


def _kinds():
    """{name: {device type: "low", "full" or "kept"}} for all names of the table."""
    found = {}
    for where, lists in TABLE.items():
        for kind, names in lists.items():
            for name in names.split():
                found.setdefault(name, {})[where] = kind
    return found


def _places():
    """The places to replace: (name in the table, namespace that holds it, attribute name there)."""
    from importlib import import_module

    kinds = _kinds()
    torch, functional = import_module(__package__), import_module(f"{__package__}.nn.functional")
    for name, rule in kinds.items():
        part, _, own = name.rpartition(".")
        for space in (import_module(f"{__package__}.{part}"),) if part else (torch, functional, Tensor):
            if hasattr(space, own):
                yield space, own, rule


def replace_held(new, but):
    """Replace functions wherever an imported module holds them, but not in the namespace `but`. new: {id of the old
    function: (old, new)}. A Builtin stays: `put_wrapped` has given it another target."""
    new = {k: pair for k, pair in new.items() if type(pair[0]) is not Builtin}
    for kind in vars(sys.modules[f"{__package__}.nn.modules"]).values():
        old = vars(kind).get("_call") if isinstance(kind, type) else None
        if isinstance(old, staticmethod) and id(old.__func__) in new:
            kind._call = staticmethod(new[id(old.__func__)][1])
    for module in list(sys.modules.values()):  # names that programs have imported
        held = getattr(module, "__dict__", None)
        if isinstance(module, types.ModuleType) and held is not but:
            for name, value in list(held.items()):
                if id(value) in new and new[id(value)][0] is value:
                    held[name] = new[id(value)][1]


def put_wrapped(space, name, wrap, new):
    """Put wrap(function) in the place of a function of `space`, and enter both in `new`, replace_held's table."""
    old = getattr(space, name)
    if id(old) not in new:
        made = wrap(target(old))
        new[id(old)] = old, made
        new.setdefault(id(target(old)), (target(old), made))
    put(space, name, new[id(old)][1])


def install():
    """Replace the operations of the table. Only the first call does anything."""
    global _installed
    with _lock:
        if _installed:
            return
        new = {}
        for space, name, rule in _places():
            old = getattr(space, name)
            if isinstance(old, type):
                continue
            within = getattr(old, "_watched", None)  # what the package's own modules call
            put_wrapped(space, name, lambda f, rule=rule: _asking(f, rule), new)
            if within is not None:
                new.setdefault(id(within), (within, _asking(within, rule)))
        replace_held(new, globals())
        _installed = True
