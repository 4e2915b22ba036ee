"""Arrays as NumPy's, lazy, compiled for the machine: ``import treadle as np``.

Operations are recorded and run, fused into few kernels, when a value is looked at: on an NVIDIA GPU
where a driver and a device are found, else on the CPU. ``python -m treadle info`` says what was found.
"""

from . import _core, _watch
from ._core import (
    CompileError,
    DeviceError,
    Error,
    Event,
    LaunchError,
    LimitError,
    LogicError,
    MissingLibraryError,
    OutOfMemoryError,
    PerformanceWarning,
    Stream,
    __version__,
    asnumpy,
    device,
    devices,
    evaluate,
    from_dlpack,
    synchronize,
    ufunc,
    use,
)
from ._core import ndarray_of_programs as ndarray

# Modules and the names that they hold; each is imported when one of its names is first asked for. What NumPy computes
# for treadle, and NumPy's own objects, stand in _names.
_HOME = {
    "_numpy._calculus._covariance": "corrcoef cov",
    "_numpy._calculus._differences": "diff ediff1d gradient interp trapezoid unwrap",
    "_numpy._calculus._powers": "vander",
    "_numpy._calculus._sliding": "convolve correlate",
    "_numpy._bits": "bitwise_count packbits unpackbits",
    "_numpy._errstate": "errstate geterr geterrcall seterr seterrcall",
    "_numpy._files": "frombuffer fromfile fromiter fromregex fromstring genfromtxt load loadtxt save savetxt savez "
    "savez_compressed",
    "_compile._fuse": "fuse",
    "_cupy._functions": "AxisError ComplexWarning Inf Infinity ModuleDeprecationWarning NAN NINF NZERO NaN PINF PZERO "
    "RankWarning TooHardError VisibleDeprecationWarning alltrue asfarray byte_bounds cfloat clear_memo complex_ "
    "cumproduct disable_experimental_feature_warning float_ fromDlpack get_array_module in1d infty is_available "
    "issctype issubclass_ issubsctype memoize msort obj2sctype product round_ sctype2char singlecomplex sometrue trapz "
    "who",
    "_numpy._grids": "c_ index_exp mgrid ogrid r_ s_",
    "_exchange._host": "fallbacks",
    "_numpy._iterate": "apply_along_axis apply_over_axes broadcast frompyfunc ndenumerate nditer",
    "_numpy._poly": "poly poly1d polyadd polyder polydiv polyfit polyint polymul polysub polyval roots",
    "_numpy._texts": "array2string array_repr array_str",
    "_numpy._windows": "bartlett blackman hamming hanning i0 kaiser",
    "_compile._graph": "graph",
    "distributed._errors": "DistributedError PeerError",
    "cuda._pools": "get_default_memory_pool get_default_pinned_memory_pool",
    "_compile._build": "build",
    "_compile._guvectorize": "guvectorize",
    "_compile._jit": "jit njit prange",
    "_compile._stencil": "stencil",
    "unchanged": "install load_ipython_extension",
    "_compile._vectorize": "vectorize",
    "_vmap._vmap": "map vmap",
    "sharding._make": "mesh shard",
    "_observe._profile": "profile",
    "_observe._doctor": "doctor",
    "_observe._debug": "debug",
    "_numpy._create._copies": "asanyarray asarray_chkfinite ascontiguousarray asfortranarray copy isfortran require",
    "_numpy._create._filled": "empty_like full_like ones_like zeros_like",
    "_numpy._create._ranges": "geomspace linspace logspace",
    "_numpy._create._matrices": "eye identity tri tril triu",
    "_numpy._create._coordinates": "fromfunction indices meshgrid",
    "linalg._einsum": "einsum einsum_path",
    "_numpy._floats": "divmod frexp ldexp modf nextafter spacing",
    "_select._indexing": "argwhere compress extract flatnonzero nonzero take",
    "_numpy._math._values": "around clip fix float_power nan_to_num round sinc where",
    "_numpy._math._compare": "allclose array_equal array_equiv isclose isneginf isposinf",
    "_numpy._math._complex": "angle imag iscomplex iscomplexobj isreal isrealobj real real_if_close",
    "_numpy._math._averages": "average ptp",
    "_numpy._math._questions": "common_type isscalar ndim shape size",
    "_numpy._namespace": "__array_namespace_info__ astype cumulative_prod cumulative_sum finfo",
    "_numpy._nan": "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar",
    "_select._quantile": "median nanmedian nanpercentile nanquantile percentile quantile",
    "_numpy._overlap": "may_share_memory shares_memory",
    "_numpy._pad": "pad",
    "_raw._kernel": "RawKernel RawModule",
    "_raw._element": "ElementwiseKernel",
    "_raw._reduce": "ReductionKernel",
    "linalg._products": "cross dot inner kron matmul matvec outer tensordot vdot vecdot vecmat",
    "linalg._diagonals": "diag diagonal diagflat trace",
    "_numpy._join": "append atleast_1d atleast_2d atleast_3d block column_stack concat concatenate dstack hstack "
    "row_stack stack unstack vstack",
    "_numpy._repeat": "copyto repeat resize roll tile",
    "_numpy._shape": "broadcast_arrays broadcast_shapes broadcast_to expand_dims flip fliplr flipud matrix_transpose "
    "moveaxis permute_dims ravel reshape rollaxis rot90 squeeze swapaxes transpose",
    "_numpy._split": "array_split dsplit hsplit split vsplit",
    "_select._counting": "bincount histogram histogram2d histogram_bin_edges histogramdd",
    "_select._searching": "digitize searchsorted",
    "_select._choosing": "choose delete insert piecewise select trim_zeros",
    "_select._positions": "diag_indices ix_ mask_indices ravel_multi_index tril_indices triu_indices unravel_index "
    "diag_indices_from tril_indices_from triu_indices_from",
    "_select._writing": "fill_diagonal place put put_along_axis putmask take_along_axis",
    "_select._sets": "intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse "
    "unique_values",
    "_exchange._source_host": "from_host",
    "_exchange._stream": "stream",
    "_select._sorting": "argpartition argsort cumprod cumsum lexsort partition sort sort_complex",
    "_select._top": "topk",
}
_MODULES = set(
    "cache cuda cupyx demo distributed emath executor fft lib linalg memory polynomial pycuda random scipy sharding "
    "special testing torch typed types".split()
)

# Their functions have a counterpart in NumPy.
_DOORS = ("_numpy.", "_select.", "linalg.")
_FROM = {name: module for module, names in _HOME.items() for name in names.split()}

__array_api_version__ = "2024.12"
newaxis = None
e = 2.718281828459045
pi = 3.141592653589793
euler_gamma = 0.5772156649015329
inf = float("inf")
nan = float("nan")


# Names here of rows of the table of operations: the row. Where _HOME has a name, that is more than the row.
_ROWS = {
    name: row
    for face in ("numpy", "treadle")
    for name, row in _core.op_names(face).items()
    if "." not in name and name not in _FROM
}
# NumPy's synonyms: the name that is meant.
ALIASES = {name: row for name, row in _ROWS.items() if name != row} | {"amax": "max", "amin": "min"}

_watch.watch()
_ufuncs = _core.ufuncs()
globals().update((name, _ufuncs[row]) for name, row in _ROWS.items())
# Functions of the core that may meet arguments without numbers, which NumPy then computes (src/python/common/door.c).
_CREATED = "arange array asarray empty full ones zeros".split()
globals().update(
    (name, _core.door(name, getattr(_core, name))) for name in (*_CREATED, *(row[0] for row in _core.reductions()))
)
globals().update((k, globals()[v]) for k, v in ALIASES.items())


def __getattr__(name):
    if name in _FROM:
        value = getattr(_load(_FROM[name]), name)
        if _FROM[name].startswith(_DOORS) and type(value) in (type(_load), type(len)):
            value = _door(name, value)
    elif name in _MODULES:
        return _load(name)
    elif name == "bfloat16":  # NumPy has none; a dtype that this package's functions take
        value = _core._bfloat16()
    elif name == "bool":  # NumPy 1 has it under its other name only
        value = __getattr__("bool_")
    elif name == "__all__":  # from treadle import *
        import numpy

        value = sorted({*numpy.__all__}.intersection([*__dir__(), "__version__", "__array_namespace_info__"]))
    elif name == "config":
        value = _load("_config").Config(**_core.options())
    else:
        value = _load("_numpy._names").find(name)
    globals()[name] = value
    return value


def _door(name, f):
    """The door of a function of the package's (src/python/common/door.c): one for all of its names."""
    if (f.__module__ or "").partition(".")[0] == "numpy":
        return f
    if f not in _doors:
        _doors[f] = _core.door(f.__name__ if f.__name__ in _FROM else name, f)
    return _doors[f]


_doors = {}


def _load(module):
    from importlib import import_module

    return import_module("treadle." + module)


if _core.options()["checks"] != "none":
    _load("_config").set_checks(_core.options()["checks"])
if _core.options()["profile"]:
    _load("_observe._profile").whole_program(_core.options()["profile"])


def __dir__():
    names = _load("_numpy._names")
    every = {*globals(), *_FROM, *_MODULES, *names.numpys_here(), *names.HOST, "bfloat16", "bool", "config"}
    return sorted(n for n in every if not n.startswith("_"))
