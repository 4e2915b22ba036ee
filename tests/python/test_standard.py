"""The Python array API standard, version 2024.12: names, signatures, dtypes and values as its text has them."""

import inspect
import math
import warnings

import numpy as np
import pytest
from numpy_side import check

import treadle as td

# The standard's parameters that have names: those of positional arguments are a library's own affair.
SIGNATURES = """
all axis keepdims|any axis keepdims|diff axis n prepend append|argmax axis keepdims|argmin axis keepdims|count_nonzero axis keepdims
cumulative_sum axis dtype include_initial|cumulative_prod axis dtype include_initial|max axis keepdims|mean axis keepdims
min axis keepdims|prod axis dtype keepdims|std axis correction keepdims|sum axis dtype keepdims|var axis correction keepdims
argsort axis descending stable|sort axis descending stable|searchsorted side sorter|take axis|take_along_axis axis
arange stop step dtype device|asarray dtype device copy|empty dtype device|empty_like dtype device|eye k dtype device
from_dlpack device copy|full dtype device|full_like dtype device|linspace dtype device endpoint|meshgrid indexing|ones dtype device
ones_like dtype device|tril k|triu k|zeros dtype device|zeros_like dtype device|astype copy device|clip min max
concat axis|expand_dims axis|flip axis|repeat axis|reshape shape copy|roll axis|stack axis|tensordot axes|vecdot axis|unstack axis
"""
NAMES = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift
bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite
isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply
negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 can_cast finfo iinfo isdtype
result_type broadcast_arrays broadcast_to matmul matrix_transpose moveaxis nonzero permute_dims squeeze tile unique_all
unique_counts unique_inverse unique_values where e inf nan newaxis pi linalg fft __array_namespace_info__ __array_api_version__
"""
ALL = [entry.split() for line in SIGNATURES.split("\n") for entry in line.split("|") if entry]


def test_names_are_there():
    missing = [n for n in [*NAMES.split(), *(row[0] for row in ALL)] if not hasattr(td, n)]
    assert not missing


@pytest.mark.parametrize("name, wanted", [(row[0], row[1:]) for row in ALL], ids=[row[0] for row in ALL])
def test_signatures(name, wanted):
    kinds = {k: p.kind for k, p in inspect.signature(getattr(td, name)).parameters.items()}
    missing = [
        p
        for p in wanted
        if kinds.get(p) not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    ]
    assert not missing, kinds


def test_methods_and_attributes():
    x = td.ones((2, 3))
    for name in "__array_namespace__ __dlpack__ __dlpack_device__ to_device device dtype ndim shape size T".split():
        assert hasattr(x, name)
    assert list(inspect.signature(x.to_device).parameters) == ["device", "stream"]
    assert list(inspect.signature(x.__dlpack__).parameters) == ["stream", "max_version", "dl_device", "copy"]


def test_versions_of_the_standard():
    x = td.ones(2)
    for version in ("2021.12", "2022.12", "2023.12", "2024.12", None):
        assert x.__array_namespace__(api_version=version) is td
    for version in ("2031.12", 2024):
        with pytest.raises(ValueError, match=f'Version "{version}" of the Array API Standard is not supported'):
            x.__array_namespace__(api_version=version)


# ---- reductions: NumPy's parameters and the standard's ----

REDUCTIONS = "sum prod min max any all mean var std".split()


def parameters(name, x, axis, mask):
    """The keyword arguments of a reduction beyond axis and keepdims."""
    if name not in ("min", "max"):
        yield {"where": mask}
    if name in ("sum", "prod", "min", "max"):
        yield {"initial": True}
        yield {"initial": 1, "where": mask}
    if name in ("var", "std"):
        yield {"correction": 1}
        yield {"correction": 1.5, "where": mask}
        yield {"ddof": 1, "mean": x.mean(axis, keepdims=True)}


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128", "bool", "uint8"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_with_masks_and_first_values(name, dtype, rng, dev):
    x = (rng.random((3, 2, 4)) * 9 - 2).clip(0).astype(dtype)
    mask = rng.random((2, 4)) < 0.7
    for axis in (None, (0, 2), -1) if dev == "cpu" else (1,):
        for kw in parameters(name, x, axis, mask):
            ours = getattr(td, name)(td.asarray(x), axis=axis, keepdims=axis == -1, **kw)
            with warnings.catch_warnings(action="ignore"):
                theirs = np.asarray(getattr(np, name)(x, axis=axis, keepdims=axis == -1, **kw))
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
            np.testing.assert_allclose(ours.get(), theirs, rtol=1e-5)


def test_reductions_of_nothing(dev):
    x = td.zeros((0, 3))
    assert td.max(x, axis=0, initial=-1).tolist() == [-1, -1, -1] and td.min(x, initial=5).item() == 5
    assert td.sum(x, initial=2).item() == 2 and td.sum([1, 2], where=[True, False]).item() == 1
    out = td.zeros(3)
    assert td.sum(td.ones((2, 3)), 0, where=[True, False, True], out=out) is out and out.tolist() == [2, 0, 2]


def test_what_reductions_refuse():
    x = td.arange(4)
    with pytest.raises(ValueError, match="'maximum' does not have an identity.*specify 'initial'"):
        td.max(x, where=x > 1)
    with pytest.raises(ValueError, match="ddof and correction"):
        td.var(x, ddof=1, correction=1)
    with pytest.raises(TypeError, match=r"from dtype\('int64'\) to dtype\('bool'\)"):
        td.sum(x, where=x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'start'"):
        td.sum(x, start=1)
    with pytest.raises(ValueError, match="broadcast"):
        td.sum(x, where=td.ones((2, 4), dtype=bool))


# ---- sorting, distinct elements, cumulative sums ----


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "float16", "float32", "float64", "complex64"])
def test_descending_order_is_stable_and_ends_with_nan(dtype, rng, dev):
    x = rng.integers(0, 2 if dtype == "bool" else 4, (3, 40)).astype(dtype)
    if x.dtype.kind in "fc":
        x[rng.random(x.shape) < 0.2] *= -1
        x[rng.random(x.shape) < 0.2] = math.nan
    for axis in (-1, 0, 1):
        rows = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])
        # The numbers from the largest on, then NaN; sorted() keeps the order of equal ones.
        wanted = [sorted(range(len(r)), key=lambda i: (1, 0, 0) if r[i] != r[i] else (0, -r[i].real, -r[i].imag)) for r in rows.tolist()]
        shape = np.moveaxis(x, axis, -1).shape
        at = np.moveaxis(np.reshape(wanted, shape), -1, axis)
        for r in (td.argsort(td.asarray(x), axis, descending=True), td.asarray(x).argsort(axis, stable=True, descending=True)):
            assert (r.get() == at).all()
        down, own = np.take_along_axis(x, at, axis), td.asarray(x)
        own.sort(axis, descending=True)
        for r in (td.sort(td.asarray(x), axis=axis, descending=True), own):
            np.testing.assert_array_equal(r.get(), down)
        np.testing.assert_array_equal(td.sort(td.asarray(x), axis=axis, descending=False).get(), np.sort(x, axis))
        if "descending" in inspect.signature(np.sort).parameters:
            assert (np.argsort(x, axis, descending=True, stable=True) == at).all()
    with pytest.raises(ValueError, match="kind and descending cannot both be given"):
        td.sort(td.asarray(x), kind="stable", descending=True)


def test_unique_functions(dev):
    x = td.asarray([[3.0, math.nan, 1.0], [math.nan, 3.0, 3.0]])
    r = td.unique_all(x)
    assert r._fields == ("values", "indices", "inverse_indices", "counts")
    np.testing.assert_array_equal(r.values.get(), [1, 3, math.nan, math.nan])
    assert (
        r.indices.tolist() == [2, 0, 1, 3] and r.counts.tolist() == [1, 3, 1, 1] and r.inverse_indices.shape == x.shape
    )
    np.testing.assert_array_equal(r.values[r.inverse_indices].get(), x.get())
    assert td.unique_counts(x).counts.tolist() == [1, 3, 1, 1] and td.unique_counts(x)._fields == ("values", "counts")
    assert td.unique_inverse(x)._fields == ("values", "inverse_indices") and td.unique_values(x).shape == (4,)


def test_cumulative_functions(dev):
    x = td.asarray([[1, 2], [3, 4]], dtype="int8")
    r = td.cumulative_sum(x, axis=1, include_initial=True)
    assert r.tolist() == [[0, 1, 3], [0, 3, 7]] and r.dtype == np.int64
    assert td.cumulative_prod(x[0], include_initial=True).tolist() == [1, 1, 2]
    assert td.cumulative_sum(x, axis=0, dtype="float32").dtype == np.float32
    with pytest.raises(ValueError, match="axis"):
        td.cumulative_sum(x)


# ---- limits, devices, creation ----


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_finfo(dtype):
    ours, theirs = td.finfo(td.dtype(dtype)), np.finfo(dtype)
    for name in "bits eps max min smallest_normal tiny epsneg resolution nmant dtype".split():
        assert getattr(ours, name) == getattr(theirs, name) and str(getattr(ours, name)) == str(getattr(theirs, name))
    assert isinstance(ours.eps, float) and isinstance(ours.bits, int) and td.finfo(td.ones(2, dtype)).eps == ours.eps


def test_limits_change_no_dtype():
    assert (td.ones(2, "float16") * td.finfo("float32").eps).dtype == np.float16


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_limits_beside_numpys_arrays_are_numpys_scalars(dtype):
    for limits in (np.finfo("float16"), np.finfo("float32"), np.finfo("float64")):
        a, ours = np.ones(2, dtype), td.finfo(limits.dtype)
        for f in (lambda a, e: a * e, lambda a, e: e - a, np.maximum, lambda a, e: np.add.outer(a, e)):
            got, want = f(a, ours.eps), f(a, limits.eps)
            assert type(got) is np.ndarray and got.dtype == want.dtype and (got == want).all()


def test_finfo_of_bfloat16():
    one = td.ones(1, "bfloat16")
    limits = td.finfo(one)
    assert (one + limits.eps > one).item() and not (one + limits.eps / 4 > one).item()
    assert td.isfinite(one * limits.max).item() and limits.bits == 16 and "max=3.38" in repr(limits)


def test_info_lists_devices():
    info = td.__array_namespace_info__()
    assert isinstance(info.devices(), list) and info.default_device() in info.devices()


def test_linspace_on_a_device():
    assert td.linspace(0, 1, 5, device="null").device == "null"
    assert td.linspace(td.zeros(2, device="null"), 1, 3).device == "null"


MAKERS = """arange(3)|empty(3)|eye(3)|full(3, 1)|identity(3)|indices((2, 3))|linspace(0, 1, 3)|logspace(0, 1, 3)|geomspace(1, 8, 4)
ones(3)|tri(3)|zeros(3)|asarray([1, 2])|array([1, 2])|fft.fftfreq(4)|fft.rfftfreq(4)|from_dlpack(np.arange(3))"""


@pytest.mark.parametrize("text", MAKERS.replace("\n", "|").split("|"))
def test_creation_takes_devices(text):
    for device in ("cpu", td.device("cpu"), "null"):
        assert eval(f"td.{text[:-1]}, device=device)", {"td": td, "np": np, "device": device}).device == device
    assert eval(f"td.{text}", {"td": td, "np": np}).device == "cpu"


def test_arange_by_name():
    check(td.arange(stop=5), np.arange(5))
    check(td.arange(start=1, stop=5, step=2), np.arange(1, 5, 2))
    with pytest.raises(TypeError, match="requires stop"):
        td.arange(start=3)


def test_clip_by_either_name(dev):
    x = td.arange(6)
    for ours in (td.clip(x, 1, 4), td.clip(x, min=1, max=4), td.clip(x, a_min=1, a_max=4), x.clip(max=4, min=1)):
        check(ours, np.arange(6).clip(1, 4))


# ---- special values ----

INF, NAN = math.inf, math.nan
SPECIAL = [
    ("expm1", 0j, 0j), ("expm1", complex(-0.0, 0), 0j), ("expm1", complex(INF, 0), complex(INF, 0)),
    ("expm1", complex(-INF, INF), complex(-1, 0)), ("expm1", complex(INF, INF), complex(INF, NAN)),
    ("expm1", complex(-INF, NAN), complex(-1, 0)), ("expm1", complex(INF, NAN), complex(INF, NAN)),
    ("expm1", complex(NAN, 0), complex(NAN, 0)), ("expm1", complex(NAN, 1), complex(NAN, NAN)),
    ("tanh", complex(INF, 2), complex(1, 0)), ("tanh", complex(INF, 3), complex(1, 0)),
    ("sign", complex(-0.0, -0.0), 0j), ("sign", complex(-0.0, 0), 0j),
]  # fmt: skip


@pytest.mark.parametrize("name, x, wanted", SPECIAL, ids=lambda v: str(v))
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_special_values_of_complex_functions(name, x, wanted, dtype, dev):
    got = getattr(td, name)(td.asarray([x], dtype=dtype)).item()
    for ours, theirs in ((got.real, wanted.real), (got.imag, wanted.imag)):
        assert (math.isnan(ours) and math.isnan(theirs)) or (
            ours == theirs and math.copysign(1, ours) == math.copysign(1, theirs)
        )


@pytest.mark.parametrize(
    "mask, shape", [((0, 0), (0, 1)), ((1, 0), (1, 1)), ((0,), (2,)), ((0,), (2, 3)), ((2, 0), (2, 3))]
)
def test_masks_without_elements(mask, shape, dev):
    x, m = td.ones(shape), td.zeros(mask, dtype=bool)
    check(x[m], np.ones(shape)[np.zeros(mask, bool)])
    x[m] = 5
    check(x, np.ones(shape))


def test_masks_of_another_shape():
    with pytest.raises(IndexError, match="axis 1; size of axis is 1"):
        td.ones((0, 1))[td.zeros((0, 3), dtype=bool)]


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("values", [5, 3000, 1 << 40])
def test_argsort_is_stable(dtype, values, rng):
    """Long rows, in which the quick sort's order is repaired, with NaN and zeros of both signs."""
    with np.errstate(all="ignore"):
        x = rng.integers(0, values, (2, 5000)).astype(dtype)
    if x.dtype.kind == "f":
        x[:, ::7], x[:, ::11], x[:, 5::13] = np.nan, -0.0, 0.0
    t = td.asarray(x)
    for kw in ({}, {"axis": 0}, {"axis": None}, {"kind": "stable"}, {"stable": True}):
        axis = kw.get("axis", -1)
        check(td.argsort(t, **kw), np.argsort(x, axis, kind="stable"))
    for kw in ({"kind": "quicksort"}, {"stable": False}):
        at = td.argsort(t, **kw).get()
        np.testing.assert_array_equal(np.take_along_axis(x, at, -1), np.sort(x))
