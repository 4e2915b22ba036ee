"""Creation, shapes, putting together and taking apart, against NumPy's function of the same name."""

import numpy as np
import pytest
from numpy_side import REAL, check, values

import treadle as td

X = np.arange(24, dtype="float32").reshape(2, 3, 4)

# The same text is run with np = numpy and np = treadle; a, m, v are a 3-d, a 2-d and a 1-d array.
CREATION = """
np.zeros(3); np.zeros((2, 3), dtype="int8"); np.ones((2, 0)); np.ones((), "float32"); np.full((2, 2), 7)
np.full(3, 2.5); np.full((2, 3), v[:3]); np.full(2, 1, dtype="float32"); np.zeros_like(a); np.ones_like(m, dtype=int)
np.full_like(m, 3); np.empty_like(a)[:0]; np.arange(5); np.arange(2, 9); np.arange(9, 2, -3); np.arange(0, 1, 0.125)
np.arange(3.0); np.arange(5, dtype="float32"); np.arange(0); np.arange(5, 1); np.arange(-3, 3, 2, dtype="int8")
np.arange(np.int64(4)); np.linspace(0, 1, 11); np.linspace(1, 2, 5, endpoint=False); np.linspace(3, 3, 1)
np.linspace(0, 10, 4, dtype=int); np.linspace(0, 1, 0); np.linspace(-1, 1, 7, retstep=True)[0]
np.eye(3); np.eye(3, 5, 1); np.eye(4, k=-2, dtype="float32"); np.identity(3); np.tri(3, 4, -1); np.tril(m); np.triu(m, 1)
np.array([1, 2, 3]); np.array([[1.5, 2], [3, 4]]); np.array([True, False]); np.array(5); np.array(2.5); np.array([])
np.array([[]]); np.array([1, 2.5, True]); np.array([1, 2], dtype="float32"); np.array(v, ndmin=3); np.array((1, (2)))
np.array([[1, 2], [3, 4]], dtype=np.int8); np.asarray(range(5)); np.array([np.float32(1), np.float32(2)])
np.array([2**62, -(2**63)]); np.array(2**63); np.array([1, 2**63 + 1], dtype="uint64"); np.asarray(3, dtype="float32")
np.meshgrid(v, v[:2])[0]; np.meshgrid(v, v[:2])[1]; np.meshgrid(v, v[:2], indexing="ij")[1]
np.meshgrid(v, v[:2], sparse=True)[0]; np.indices((2, 3)); np.fromfunction(lambda i, j: i * 10 + j, (3, 4))
np.logspace(0, 2, 5); np.geomspace(1, 8, 4); np.diag(v); np.diag(v, -1); np.diag(m); np.diag(m, 1); np.diag(m, -1)
np.diagonal(a, 1, 1, 2); np.trace(m); np.trace(m, 1)
"""
SHAPES = """
np.reshape(a, (4, 6)); np.reshape(a, (-1, 2)); np.reshape(a, -1, order="F"); a.reshape(6, 4); a.reshape((2, -1))
a.reshape(6, 4, order="F"); a.T; np.transpose(a, (1, 0, 2)); a.transpose(2, 0, 1); a.transpose((0, -1, 1))
a.transpose(); a.T.reshape(4, 6); a.T.ravel(); np.ravel(a); a.flatten(); a.flatten("F"); a.swapaxes(0, 2)
np.swapaxes(m, 0, 1); np.moveaxis(a, 0, -1); np.moveaxis(a, (0, 1), (2, 0)); np.rollaxis(a, 2); np.rollaxis(a, 0, 3)
np.expand_dims(v, 0); np.expand_dims(v, (0, 2)); np.squeeze(a[:1]); np.squeeze(a[:1, :, :1], 0); a[:1].squeeze(axis=0)
np.broadcast_to(v, (2, 4)); np.broadcast_arrays(v, m[:, :1])[0]; np.broadcast_arrays(v, m[:, :1])[1]
np.flip(a); np.flip(a, 1); np.flip(a, (0, 2)); np.fliplr(m); np.flipud(m); np.rot90(m); np.rot90(m, 2); np.rot90(m, -1)
np.roll(v, 1); np.roll(v, -2); np.roll(m, 1); np.roll(m, 1, 0); np.roll(m, (1, 2), (0, 1)); np.roll(m, 5, 1); np.roll(m, 0)
np.concatenate([m, m]); np.concatenate([m, m[:1]], 0); np.concatenate([m, m], axis=1); np.concatenate([m, v], axis=None)
np.concatenate([m.astype("int8"), m.astype("float32")]); np.concatenate((v, [1, 2])); np.stack([v, v]); np.stack([m, m], 1)
np.stack([m, m], -1); np.vstack([v, v]); np.vstack([m, v]); np.hstack([v, v]); np.hstack([m, m]); np.dstack([m, m])
np.dstack([v, v]); np.column_stack([v, v]); np.append(v, 3); np.append(m, m, 0); np.tile(v, 2); np.tile(v, (2, 2))
np.tile(m, (2, 1, 2)); np.repeat(v, 2); np.repeat(m, 2, 0); np.repeat(m, [1, 0, 2], 0); np.split(v, 2)[1]
np.split(v, [1, 3])[1]; np.array_split(v, 3)[0]; np.array_split(v, 3)[2]; np.hsplit(m, 2)[1]; np.vsplit(m, 3)[2]
np.atleast_1d(np.array(1.0)); np.atleast_2d(v); np.atleast_3d(v); np.atleast_3d(m); np.pad(v, 2); np.pad(m, ((1, 0), (2, 3)))
np.pad(v, 1, mode="edge"); np.pad(m, 2, mode="reflect"); np.pad(v, (1, 2), mode="wrap"); np.pad(v, 1, constant_values=9)
np.resize(v, (2, 3)); np.copy(m.T)
"""
MATHS = """
np.where(m > 3, m, 0); np.where(m > 3, m, -m); np.where(v > 1)[0]; np.where([True, False], 1, 2.5); np.where(v > 1, 1, 0)
np.clip(m, 2, 5); np.clip(m, None, 5); m.clip(2); np.clip(v, v[::-1], 2); np.round(m / 3, 2); np.round(m / 3)
m.round(1); np.round(np.array([15, 25, 35]), -1); np.around(v / 2); np.isclose(v, v + 1e-9); np.isclose([1e10, 1e-7], [1.00001e10, 1e-8])
np.isclose(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), equal_nan=True); np.nan_to_num(np.array([np.nan, np.inf, -np.inf, 1]))
np.diff(v); np.diff(m, axis=0); np.dot(m.T, m); np.dot(v, v); np.dot(2.0, v); m @ m.T; m @ v; v @ m.T; a @ m.T; np.inner(m, m)
np.outer(v, v); np.vdot(m, m); np.tensordot(a, m, axes=([2], [1])); np.tensordot(m, m.T, 1); np.dot(a, m.T); np.matmul(a, v)
np.nonzero(m)[1]; np.argwhere(m > 4); np.flatnonzero(m > 4); np.take(v, [0, 2, -1]); np.take(m, [1, 0], axis=1)
np.compress([True, False, True], m, axis=0); np.extract(m > 3, m); np.isin(v, [1, 3]); np.ptp(m); np.float_power(v, 2)
np.sinc(v); np.fix(v - 1.5); np.isposinf(v / 0); np.average(m, axis=0); np.ndim(m) + v; np.size(m) + v; np.real(m)
"""


def lines(text):
    return [part.strip() for line in text.strip().splitlines() for part in line.split(";") if part.strip()]


def arrays(np_like):
    x = {"a": X, "m": X[0].astype("float64") - 2, "v": np.arange(4.0)}
    return x if np_like is np else {k: td.asarray(y) for k, y in x.items()}


@pytest.mark.parametrize("text", lines(CREATION) + lines(SHAPES) + lines(MATHS))
def test_as_numpy(text):
    with np.errstate(all="ignore"):
        theirs = eval(text, {"np": np}, arrays(np))
    check(eval(text, {"np": td}, arrays(td)), theirs, 2, text)


@pytest.mark.parametrize("text", [t for t in lines(SHAPES) + lines(MATHS) if "np." in t][::4])
def test_devices(text, dev):
    with np.errstate(all="ignore"):
        theirs = eval(text, {"np": np}, arrays(np))
    check(eval(text, {"np": td}, arrays(td)), theirs, 2, text)


def test_names_are_where_the_package_says():
    for name, module in td._FROM.items():
        value = td._core._behind(getattr(td, name))
        assert callable(value) or isinstance(value, (bool, float)) or hasattr(value, "__getitem__"), name
        own = td._core._behind(getattr(td._load(module), name))
        # a vmap before has put its own around it
        assert value is own or td._core._behind(getattr(value, "__wrapped__", None)) is own


def test_missing_names():
    with pytest.raises(AttributeError, match="get"):
        td.no_such_function  # noqa: B018


@pytest.mark.parametrize("dtype", REAL)
def test_members(dtype, rng):
    x = values((3, 4), dtype, rng)
    t = td.asarray(x)
    for name in ("shape", "ndim", "size", "itemsize", "nbytes", "strides", "dtype"):
        assert getattr(t, name) == getattr(x, name), name
    assert len(t) == 3 and t.tolist() == x.tolist() and t.tobytes() == x.tobytes()
    assert t.item(1, 2) == x.item(1, 2) and t.item(5) == x.item(5) and t[0, 0].item() == x[0, 0].item()
    assert type(t.item(0)) is type(x.item(0))
    check(t.copy(), x)
    assert [r.tolist() for r in t] == x.tolist()


def test_views_share_and_copies_do_not():
    t, x = td.asarray(X), X.copy()
    t.reshape(4, 6)[1] = -1
    x.reshape(4, 6)[1] = -1
    t.T[0] = 5
    x.T[0] = 5
    t.ravel()[3] = 9
    x.ravel()[3] = 9
    x[:, ::2].ravel()[0] = x[0, ::2].ravel()[0] = 8  # copies: the elements lie apart
    t.flatten()[0] = 1000
    td.array(t)[0] = 1000
    t.copy()[0] = 1000
    check(t, x)
    assert td.asarray(t) is t


def test_shape_can_be_set():
    t = td.arange(6)
    t.shape = (2, 3)
    check(t, np.arange(6).reshape(2, 3))
    with pytest.raises(AttributeError):
        t.T.shape = (6,)
    with pytest.raises(ValueError):
        t.shape = (4,)


def test_flags():
    t = td.zeros((3, 4))
    assert t.flags.c_contiguous and t.flags["C_CONTIGUOUS"] and not t.flags.f_contiguous
    assert t.T.flags.f_contiguous and not t[:, ::2].flags.c_contiguous
    assert not td.broadcast_to(t, (2, 3, 4)).flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        td.broadcast_to(t, (2, 3, 4))[0] = 1


def test_fill_astype_copy():
    t = td.zeros((2, 2), "float32")
    t.fill(3)
    check(t, np.full((2, 2), 3, "float32"))
    assert t.astype("float32", copy=False) is t and t.astype("float32") is not t
    with pytest.raises(TypeError):
        t.astype("int32", casting="safe")


def test_dtype_spellings():
    for spelling in ("float32", "f4", "<f4", np.float32, np.dtype("float32"), td.float32):
        assert td.zeros(2, dtype=spelling).dtype == np.float32
    for spelling, meant in ((float, "float64"), (int, "int64"), (bool, "bool"), ("single", "float32"), (np.intp, "int64")):
        assert td.zeros(2, dtype=spelling).dtype == meant
    for theirs in ("datetime64[s]", object, "S3", ">f4"):
        assert type(td.zeros(2, dtype=theirs)) is np.ndarray and td.zeros(2, dtype=theirs).dtype == theirs
    with pytest.raises(TypeError):
        td.zeros(2, dtype="nonsense")


def test_complex_travels():
    z = np.array([1 + 2j, 3 - 1j])
    check(td.asarray(z), z)
    check(td.array([1 + 2j, 3]), np.array([1 + 2j, 3]))


def test_float_index_like_numbers():
    t = td.asarray([3])
    assert float(td.asarray(2.5)) == 2.5 and int(t[0]) == 3 and range(5)[t[0]] == 3
    assert complex(td.asarray(2.5)) == 2.5 and round(float(td.asarray(2.5))) == 2
    assert bool(td.asarray([1])) and not bool(td.asarray(0.0))
    assert 2.5 in td.asarray([1.0, 2.5]) and 7 not in td.asarray([1.0])
