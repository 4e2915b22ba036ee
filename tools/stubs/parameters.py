"""What the functions' parameters take, by name and module, by what a docstring says, and by default.

A type is the text that a stub has, in the names of whole.pyi's aliases and of write.py's known(). Where a parameter is
not found it takes Any: a checker that refuses a right program costs more than one that lets a wrong one pass.
"""

import fnmatch
import functools
import inspect
import re

_ARRAYS = "_ArrayLike"
_NORM = 'Literal["backward", "ortho", "forward"] | None'
_CASTING = 'Literal["no", "equiv", "safe", "same_kind", "unsafe"]'
_POLICY = 'Literal["propagate", "raise", "omit"]'
_EDGES = (
    "Literal['reflect', 'constant', 'nearest', 'mirror', 'wrap', 'grid-constant', 'grid-mirror', 'grid-wrap'] "
    "| Sequence[str]"
)
_CALL = "Callable[..., Any]"

# (modules that it holds of, {type: names of parameters}); what stands lower goes before what stands above.
BY_NAME = [
    (
        "*",
        {
            "bool": "keepdims keepdim requires_grad",
            "_DeviceLike | None": "device",
        },
    ),
    # NumPy's: operands are array-likes.
    (
        "treadle treadle.fft treadle.linalg treadle.emath",
        {
            _ARRAYS: (
                "a x x1 x2 arr ary m y b v ar1 ar2 a1 a2 element test_elements condition weights fweights aweights "
                "xp fp array choices condlist values mask ind indices repeats q A bins val prepend append to_end "
                "to_begin fill_value where a_min a_max minlength sorter left right"
            ),
            "ndarray | None": "out",
            "_Axis": "axis axes",
            "_DTypeLike | None": "dtype",
            "_DTypeLike": "arg1 arg2",
            "_Order": "order",
            _CASTING: "casting",
            "_ArrayLike | None": "initial",
            "_Int": (
                "axis1 axis2 axisa axisb axisc ndmin ndim edgeitems threshold precision k M N num rowvar width "
                "max_line_width decimals deg min_digits exp_digits max_rows n offset edge_order"
            ),
            "Literal['quicksort', 'mergesort', 'heapsort', 'stable'] | None": "kind",
            "bool | None": "stable",
            "_Real": "rtol atol rcond tol ddof correction discont d dx",
            "Literal['raise', 'wrap', 'clip']": "mode",
            "Literal['left', 'right']": "side",
            "Literal['L', 'U']": "UPLO",
            "_Shape | None": "s",
            "_Shape": "newshape new_shape",
            "Any": "optimize accept_error",
            "str": "encoding delimiter comments bitorder trim separator newline header footer symbol prefix suffix",
        },
    ),
    (
        "treadle.random",
        {
            "_Shape | None": "size",
            "_DTypeLike | None": "dtype",
            _ARRAYS: (
                "shape scale loc df mean dfnum dfden nonc low high sigma lam left right mu kappa alpha pvals cov "
                "ngood nbad nsample a b p x colors n mode"
            ),
            "_Real": "tol",
            "_Int": "length delta jumps n_children",
            "ndarray | None": "out",
            "_Int | None": "axis",
            _CALL: "f",
        },
    ),
    (
        "treadle.polynomial*",
        {
            _ARRAYS: "x y z c c1 c2 w coef roots off pol domain window lbnd arg",
            "_Int": "deg pow maxpower npts axis m",
            "_Real": "scl rcond tol",
            "str": "symbol",
        },
    ),
    # SciPy's.
    (
        "treadle.scipy treadle.scipy.* treadle.special treadle.cupyx.* treadle.fft",
        {
            "bool": (
                "overwrite_x overwrite_a overwrite_b overwrite_ab overwrite_v overwrite_y overwrite_data "
                "overwrite_bd overwrite_input check_finite monic explicit directed unweighted lower orthogonalize "
                "vectorized analog prefilter return_predecessors return_sign derivative sym scaled "
                "homogeneous_coords"
            ),
            "_Int": (
                "maxiter maxfun maxprint ndigits nulp decimal nperseg noverlap nfft blocksize numtaps "
                "iterations"
            ),
            "_Int | None": "maxiter nperseg noverlap nfft workers",
            "_Real": "rtol atol xtol ftol gtol f_tol f_rtol x_tol x_rtol tol dx cval alpha fs epsilon",
            _NORM: "norm",
            _POLICY: "nan_policy",
            _CASTING: "casting",
        },
    ),
    (
        "treadle.scipy.fft treadle.scipy.fftpack treadle.fft treadle.cupyx.scipy.fft",
        {
            _ARRAYS: "x a",
            "_Int": "axis",
            "_Axis": "axes",
            "_Int | None": "n",
            "_Shape | None": "s shape",
            "_Real": "d mu offset dln",
        },
    ),
    (
        "treadle.scipy.ndimage treadle.scipy.special treadle.special treadle.scipy.signal.windows",
        {
            _ARRAYS: (
                "input x x1 x2 x3 x4 x5 x6 x7 matrix structure footprint labels values coordinates mask weights "
                "index markers where"
            ),
            "_Axis": "axis axes",
            "_Int": "M repetition",
            "_DTypeLike | None": "dtype",
            "_Order": "order",
            "_Real": "truncate nbar sll at att beta std sig tau",
        },
    ),
    (
        "treadle.scipy.ndimage",
        {
            "_ArrayLike | None": "structure footprint labels index weights mask axes output_shape",
            "Any": "output order sigma derivative",
            _ARRAYS: "weights shift zoom origin size",
            _EDGES: (
                "mode"
            ),
        },
    ),
    (
        "treadle.scipy.special treadle.special",
        {
            _ARRAYS: "n m k v z alpha mu p q s a b c r d y theta phi lmbda beta nu delta h2 k2 p1 q1",
            "_Int": "nt N",
        },
    ),
    (
        "treadle.scipy.stats treadle.scipy.signal treadle.scipy.interpolate treadle.scipy.linalg "
        "treadle.scipy.integrate treadle.scipy.spatial.distance treadle.scipy.cluster.* "
        "treadle.scipy.stats.mstats",
        {
            _ARRAYS: "x y a b in1 in2 u v w sos zi q r x0 y0 xi yi f_exp f_obs data xa xb XA XB Z",
            "_Axis": "axis axes",
            "_DTypeLike | None": "dtype",
        },
    ),
    (
        "treadle.scipy.optimize",
        {
            _ARRAYS: "x0 xdata ydata p0 A_ub b_ub A_eq b_eq",
            _CALL: "fprime",
        },
    ),
    (
        "treadle.scipy.sparse",
        {
            "_DTypeLike | None": "dtype",
            "_Int": "offset k m n",
            "_Int | None": "axis",
            "_Shape": "shape",
            "str | None": "format",
            "bool": "copy",
        },
    ),
    (
        "treadle.scipy.special treadle.special",
        {"bool": "subok exact extend", "ndarray | tuple[ndarray | None, ...] | None": "out"},
    ),
    (
        "treadle.pycuda treadle.pycuda.*",
        {
            "_DTypeLike | None": "dtype dtype_out dtype_in dtype_a dtype_b dtype_z",
            "_Shape": "shape",
            "_Int": "width height pitch offset nbytes count word_size shared_size priority",
            "_Real": "mean stddev lambda_value",
            "_Order": "order",
            "str": "name operation neutral reduce_expr map_expr scan_expr preamble name_prefix loop_prep after_loop",
        },
    ),
    ("treadle.cuda treadle.cuda.*", {"_Int": "width height sizeInBytes pitchInBytes delta", "_Shape": "shape"}),
    # Kernels': a device is a number or an object of CUDA's names.
    (
        "treadle.cuda treadle.cuda.* treadle.pycuda treadle.pycuda.*",
        {
            "Any": "device",
        },
    ),
    # PyTorch's.
    (
        "treadle.torch treadle.torch.*",
        {
            "dtype | None": "dtype",
            "Tensor | Sequence[Tensor] | None": "out",
            "_TensorDevice": "device",
            "memory_format | None": "memory_format",
            "Generator | None": "generator",
            "int": (
                "dim0 dim1 dim2 axis0 axis1 diagonal groups in_channels out_channels in_features out_features "
                "num_features num_classes num_groups input_size hidden_size num_layers n_fft padding_idx last_epoch "
                "num_embeddings embedding_dim embed_dim num_heads step_size T_max global_step cache_size "
                "upscale_factor downscale_factor"
            ),
            "float | Tensor": (
                "eps lr weight_decay momentum margin lambd negative_slope dropout gamma rtol atol p max_norm "
                "norm_type scale threshold lr_decay betas"
            ),
            "bool": (
                "align_corners train training inplace foreach affine track_running_stats batch_first bidirectional "
                "maximize amsgrad nesterov capturable differentiable fused"
            ),
            "str": "reduction nonlinearity padding_mode rounding_mode",
            "bool | None": "validate_args size_average align_corners foreach fused",
        },
    ),
    (
        "treadle.torch.optim treadle.torch.optim.*",
        {
            "tuple[float | Tensor, float | Tensor]": "betas",
        },
    ),
    (
        "treadle.torch.distributions treadle.torch.distributions.*",
        {
            "_Operand": (
                "loc scale probs logits concentration concentration0 concentration1 rate df df1 df2 low high value"
            ),
            "Sequence[int]": "sample_shape",
            "Any": "p q dist",
        },
    ),
    (
        "treadle.torch treadle.torch.fft treadle.torch.special treadle.torch.linalg "
        "treadle.torch.nn.functional",
        {
            "Tensor": (
                "tensor tensor1 tensor2 mat mat1 mat2 vec vec1 vec2 batch1 batch2 A B src query target anchor "
                "positive negative self"
            ),
            "_Operand": "other x1 x2 exponent alpha beta end start",
            "Tensor | None": "weight bias running_mean running_var",
            _NORM: "norm",
            "int | None": "n hop_length win_length",
            "Sequence[int] | None": "s",
        },
    ),
    (
        "treadle.torch treadle.torch.fft treadle.torch.special treadle.torch.linalg treadle.torch.nn.*",
        {
            "_Operand": "input",
            "int | Sequence[int]": "dim kernel_size stride padding dilation output_padding output_size",
        },
    ),
    (
        "treadle.torch.nn.functional",
        {
            "str | int | Sequence[int]": "padding",
        },
    ),
]

# (function, parameter): the name means something else.
OTHERWISE = {
    "treadle.vectorize": {"a": "Any"},
    "treadle.stream": {"out": "Any"},
    "treadle.apply_along_axis": {"axis": "int"},
    **{  # fields, not a layout in memory; a kind that only partition has
        f"treadle.{of}{name}": {"order": "str | Sequence[str] | None"} | ({"kind": "str"} if "part" in name else {})
        for of in ("", "ndarray.")
        for name in ("sort", "argsort", "partition", "argpartition")
    },
    "treadle.isdtype": {"dtype": "Any", "kind": "Any"},
    "treadle.isin": {"kind": "Literal['sort', 'table'] | None"},
    "treadle.in1d": {"kind": "Literal['sort', 'table'] | None"},
    "treadle.graph.__get__": {"kind": "Any"},
    "treadle.frombuffer": {"dtype": "_DTypeLike"},
    "treadle.from_dlpack": {"x": "Any"},
    "treadle.Stream": {"device": "_DeviceLike | bool | None"},
}


@functools.cache
def table(module):
    """{parameter: type} of the functions of a module."""
    found = {}
    for patterns, types in BY_NAME:
        if any(fnmatch.fnmatchcase(module, pattern) for pattern in patterns.split()):
            found |= {name: text for text, names in types.items() for name in names.split()}
    return found


# ---- docstrings ----

_LINE = re.compile(r"^(\*{0,2}[A-Za-z_]\w*(?:, ?\*{0,2}[A-Za-z_]\w*)*) ?: (\S.*)$", re.M)
_CHOICES = re.compile(r"""\{((?:None|["'][\w -]*["'])(?:, ?(?:None|["'][\w -]*["']))*)\}$""")
_WORDS = [
    (r"(?:\([\w`, +-]+\) |[123]-?[dD] )?array[_-]like(?: of (?:ints?|floats?|bools?))?|ndarray(?: of \w+)?", _ARRAYS),
    (r"bool|boolean", "bool"),
    (r"int|integer|(?:non-negative|positive) int(?:eger)?|int, positive", "_Int"),
    (r"float|number|scalar", "_Real"),
    (r"str|string", "str"),
    (r"callable(?:,? ``f\(x, ?\*args\)``| f\(x, ?\*args\))?|function", _CALL),
]


def of_words(text):
    """The type that a docstring's words say, or None."""
    text = re.sub(r",? ?(optional|default:.*|default .*|shape \(.*)$", "", text.strip().rstrip("."))
    text = re.sub(r",? ?(optional|default:.*|shape \(.*)$", "", text).strip(" ,")
    text, none = re.subn(r",? or None$", "", text)
    choices = _CHOICES.match(text)
    if choices:
        names = [name.strip() for name in choices[1].split(",")]
        none |= "None" in names
        found = f"Literal[{', '.join(name for name in names if name != 'None')}]"
    else:
        found = next((kind for words, kind in _WORDS if re.fullmatch(words, text)), None)
    return f"{found} | None" if found and none else found


def documented(f, module):
    """{parameter: type} of what the docstring says in NumPy's form; what it says otherwise is not there. Where sparse
    matrices go an array-like may be one, too."""
    doc = inspect.getdoc(f) or ""
    if not re.search(r"^Parameters\n-{3,}", doc, re.M):
        return {}
    pairs = [(name.strip(" *"), of_words(text)) for names, text in _LINE.findall(doc) for name in names.split(",")]
    first = {}
    for name, text in pairs:
        first.setdefault(name, text)
    sparse = module.startswith("treadle.scipy.sparse")
    return {name: text for name, text in first.items() if text and not (sparse and text.startswith(_ARRAYS))}


# ---- defaults ----


def by_default(value, module):
    """The type that a default tells, or None: a number's may stand for arrays."""
    scipy = module.startswith(("treadle.scipy", "treadle.special", "treadle.cupyx"))
    if isinstance(value, bool):
        return None if scipy else "bool"
    if module.startswith("treadle.torch") and type(value) in (str, float):
        return "str" if type(value) is str else "float | Tensor"
    return None


def takes_none(text):
    return re.search(r"\b(None|Any|_Axis|_Order)\b", re.sub(r"\[.*?\]", "", text)) is not None


# What of a type's words takes a default of a Python type.
_TAKES = {
    str: {"str", "_Order", "_DTypeLike", "_DeviceLike", "_TensorDevice", "_ArrayLike"},
    bool: {"bool", "int", "_Int", "float", "_Real", "_ArrayLike", "_Operand"},
    int: {"int", "_Int", "float", "_Real", "_ArrayLike", "_Operand", "_Axis", "_Shape"},
    float: {"float", "_Real", "_ArrayLike", "_Operand"},
    tuple: {"tuple", "Sequence", "_ArrayLike", "_Axis", "_Shape"},
    list: {"list", "Sequence", "_ArrayLike", "_Axis", "_Shape"},
}


def takes(text, value):
    """Whether a default is of a type; NumPy's for "not given" is of none, one that this does not know of all."""
    if type(value).__name__ == "_NoValueType":
        return False
    if type(value) is str and "Literal" in text and re.search(rf"['\"]{re.escape(value)}['\"]", text):
        return True
    words = set(re.findall(r"\w+", re.sub(r"'[^']*'|\"[^\"]*\"", "", text)))
    return type(value) not in _TAKES or "Any" in words or bool(words & _TAKES[type(value)])
