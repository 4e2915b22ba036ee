"""Sharded arrays against NumPy: each kind of function on each placement, random programs, and what moves."""

import pickle
import random
import subprocess
import sys

import numpy
import pytest

import treadle as td
from treadle.sharding import Replicate, Shard, ShardedArray

MESHES = {"null": ("null", "null:1", "null:2"), "cpu": ("cpu", "cpu")}
GPUS = [d.name for d in td.devices() if d.name.startswith("cuda")]
if GPUS:
    MESHES["cuda"] = tuple(GPUS) if len(GPUS) > 1 else (GPUS[0], GPUS[0])
SHAPES = [(7, 5), (2, 4), (1, 6), (12, 6)]

# Each is called with NumPy and NumPy's arrays, and with treadle and sharded ones: x of floats, i of integers.
CASES = [
    "x * 2 + 1", "1 - x", "x + x[0]", "x + x[:, :1]", "x * i", "x > 0", "-x", "abs(x)", "x ** 2", "i % 3", "i // 2", "i & 3",
    "np.sin(x)", "np.exp(x) * x", "np.maximum(x, 0)", "np.where(x > 0, x, -x)", "np.clip(x, -1, 1)", "x.clip(0, 1)",
    "np.divmod(i, 3)", "np.modf(x)", "np.isnan(x)", "x.astype('float32')", "np.add(x, 1)", "np.hypot(x, i)", "x.real",
    "np.nan_to_num(x)", "np.isclose(x, x)", "np.multiply.outer(x[0], x[:, 0])", "x + np.arange(x.shape[1])",
    "np.subtract(x, 1, out=x.copy())", "i.astype(bool)", "np.angle(x + 1j)", "(x + 1j).imag",
    "x.sum()", "x.sum(0)", "x.sum(1)", "x.sum(0, keepdims=True)", "x.sum(axis=(0, 1))", "i.sum()", "x.prod(1)", "x.max()",
    "x.min(0)", "x.max(1)", "np.any(x > 1)", "np.all(x > -9, axis=0)", "np.count_nonzero(x > 0, axis=0)", "x.mean()",
    "x.mean(0)", "x.mean(1)", "i.mean(0)", "x.std()", "x.var(0)", "x.std(1, ddof=1)", "x.var(0, keepdims=True)", "np.ptp(x, 0)",
    "x.argmax()", "x.argmax(0)", "x.argmin(1)", "np.add.reduce(x)", "np.maximum.reduce(x, axis=1)", "np.nansum(x, 0)",
    "np.nanmean(x)", "np.nanmax(x, 1)", "x.sum(dtype='float32')", "np.sum(x, initial=3.0)", "np.max(x, initial=0.5)",
    "np.average(x, axis=0)", "np.linalg.norm(x)", "np.linalg.norm(x, axis=1)", "x.astype('float16').sum(0)",
    "np.cumsum(x, 0)", "np.cumsum(x, 1)", "np.cumprod(x, 0)", "np.cumsum(x)", "np.sort(x, 0)", "np.sort(x, 1)", "np.argsort(x, 1)",
    "np.median(x, 0)", "np.median(x)", "np.percentile(x, [20, 50], axis=1)", "np.quantile(x, 0.3, axis=0)", "np.diff(x, axis=0)",
    "np.diff(x, axis=1)", "np.diff(x, 2, 0)", "np.fft.fft(x, axis=0)", "np.fft.rfft(x, axis=1)", "np.fft.fft2(x)",
    "np.add.accumulate(x, axis=1)", "np.partition(x, 1, axis=1)", "np.repeat(x, 2, axis=1)", "np.trapezoid(x, axis=1)",
    "np.gradient(x[:, 0]) if len(x) > 1 else 0", "np.unique(i)", "np.bincount(i.ravel())", "np.histogram(x, 4)[0]",
    "np.sort(x[:, 0])", "np.sort(x.ravel())", "np.cumsum(x[:, 1])", "np.argmax(x[:, 1])", "np.cumsum(i.ravel())", "np.searchsorted(np.sort(x[0]), x)",
    "x @ x.T", "x.T @ x", "x @ x[0]", "x[:, 0] @ x", "x[0] @ x[0]", "np.dot(x, x.T)", "np.dot(2, x)", "np.outer(x[0], x[:, 1])",
    "np.inner(x[0], x[0])", "np.vdot(x[:, 0], x[:, 0])", "np.einsum('ij,ij->i', x, x)", "np.einsum('ij,kj->ik', x, x)",
    "np.einsum('ij->j', x)", "np.einsum('ij,ij', x, x)", "np.tensordot(x, x, ((0,), (0,)))", "np.trace(x)",
    "np.linalg.svd(x, compute_uv=False)", "np.stack([x, x]) @ np.stack([x, x]).swapaxes(1, 2)", "np.cov(x)", "np.kron(x, x)",
    "x[0]", "x[-1]", "x[:, 2]", "x[0, 1]", "x[1:]", "x[:-1]", "x[::2]", "x[1::2, ::2]", "x[::-1]", "x[:, ::-1]", "x[None]", "x[..., 0]",
    "x[:, None] - x[None]", "x[5:]", "x[-1:, 1:]", "x[[0, 0, -1]]", "x[:, [1, 0, 2]]", "x[np.array([[0, 0], [-1, 0]])]", "x[x > 0]",
    "x[x[:, 0] > 0]", "x[:, x[0] > 0]", "x[x > 99]", "x[[0], [1]]", "x[np.arange(len(x)), 0]", "np.take(x, [0, 0], 0)", "x[()]", "x[1:][:-1]",
    "np.nonzero(x > 0)", "np.argwhere(x > 0)", "np.flatnonzero(x > 0)", "np.extract(x > 0, x)", "np.compress([True], x, axis=0)",
    "x[1:] - x[:-1]", "x[:-2] + x[2:] + x[1:-1] if len(x) > 2 else 0", "x[::2][1:]", "x[1:, 1:] * x[:-1, :-1]", "(x[1:] + x[:-1]).sum(0)",
    "x.T", "x.T + 1", "x.transpose(1, 0)", "np.swapaxes(x, 0, 1)", "np.moveaxis(x, 0, 1)", "x.reshape(-1)", "x.ravel()", "x.flatten()",
    "x.reshape(x.shape[1], -1)", "x.reshape(1, *x.shape)", "x.reshape(*x.shape, 1)", "x.reshape(-1, 1)", "x[:, None].squeeze(1)", "np.squeeze(x[None])",
    "np.expand_dims(x, (0, 2))", "np.broadcast_to(x, (3, *x.shape))", "np.flip(x)", "np.flip(x, 0)", "np.flipud(x)", "np.roll(x, 1)", "np.roll(x, 2, 0)",
    "np.roll(x, -1, 1)", "np.concatenate([x, x * 2])", "np.concatenate([x, x], 1)", "np.concatenate([x, i])", "np.stack([x, x])", "np.stack([x, x], 2)",
    "np.vstack([x, x[:1]])", "np.hstack([x, x])", "np.pad(x, 1)", "np.pad(x, ((0, 0), (1, 2)))", "np.tile(x, (2, 1))", "np.split(x, 1)", "np.array_split(x, 3)",
    "np.atleast_3d(x)", "np.rot90(x)", "np.tril(x)", "np.meshgrid(x[0], x[0])", "np.append(x, x, 0)", "np.delete(x, 0, 0)", "np.insert(x, 0, 1, 0)",
    "np.zeros_like(x)", "np.ones_like(x) + 1", "np.full_like(x, 3)", "x.copy()", "np.array(x)", "np.asarray(x, 'float32')", "np.copy(x)", "x.tolist()",
    "float(x.sum())", "int(i[0, 0])", "bool(x[0, 0] > 0)", "len(x)", "x.shape", "x.size", "x.ndim", "x.nbytes", "[float(r[0]) for r in x]", "x[0, 0].item()",
    "np.allclose(x, x)", "np.array_equal(x, x + 1)", "3.0 in i", "x.item(1)", "np.shape(x)", "x.dtype == 'float64'", "np.interp(x, [-2, 2], [0, 1])", "i.tobytes()",
    "np.isin(i, [1, 2])", "np.round(x, 2)", "np.convolve(x[0], [1, 2])", "np.select([x > 0], [x])", "np.digitize(x, [-1, 0, 1])", "np.ediff1d(x)",
]  # fmt: skip

# Each changes its copies of x and i; what they hold afterwards is compared.
CHANGES = [
    "x[...] = 3", "x[1:] = 0", "x[:, 1] = 5", "x[0] = i[0]", "x[-1, 2] = 9", "x += 1", "x *= x", "x -= x[0]", "x[1:] += x[:-1]", "x[1:] = x[:-1]",
    "x[:-1] = x[1:] * 2", "x[::2] = -1", "x[::-1] = x.copy()", "x[x > 0] = 0", "x[x[:, 0] > 0] = 7", "x[x > 0] *= 2", "x[[0, -1]] = 4", "x[[0, -1]] += 1",
    "x[:, [0, 2]] = 8", "x[x < 0] = np.abs(x[x < 0])", "x.fill(2)", "x.sort(0)", "x.sort()", "np.add(x, 1, out=x)", "np.multiply(x, i, out=x)",
    "y = x[1:]; y[...] = 6", "y = x[0]; y[1] = 6", "y = x.T; y[2] = 6", "y = x.reshape(x.shape[0], 1, -1); y[0, 0, 3] = 6", "y = x[:, 1:]; y *= 2",
    "x[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])", "i[i > 1] -= 1", "x[:] = np.arange(x.shape[1])", "x[...] = x[::-1]",
    "i <<= 1", "x[0, :] = x[-1, :]", "x[[0, 0, -1]] = x[[0, 0, -1]] * 2", "np.put(x, [0, 1], 5)", "np.copyto(x, 1.5)", "np.fill_diagonal(x, 3)", "x[None] = 2",
    "x[...] = x.mean(0)", "x -= x.mean(1, keepdims=True)", "np.clip(x, 0, 1, out=x)", "x[x.shape[0] // 2:] = x[:x.shape[0] - x.shape[0] // 2]",
]  # fmt: skip


def data(shape):
    rng = numpy.random.default_rng(sum(shape))
    return rng.standard_normal(shape), rng.integers(0, 9, shape)


def on_host(r):
    if isinstance(r, (tuple, list)):
        return [on_host(item) for item in r]
    assert not isinstance(r, td.ndarray), "an array on one device"
    return r.get() if isinstance(r, ShardedArray) else r


def same(got, want):
    got = on_host(got)
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            same(a, b)
        return
    assert numpy.shape(got) == numpy.shape(want)
    if isinstance(want, (numpy.ndarray, numpy.generic)):
        assert numpy.asarray(got).dtype == want.dtype
        near = 2e-3 if want.dtype == "float16" else 1e-5 if want.dtype in ("float32", "complex64") else 1e-12
        numpy.testing.assert_allclose(got, want, rtol=near, atol=near)
    else:
        assert got == (pytest.approx(want, rel=1e-12) if isinstance(want, float) else want)


def places(mesh):
    return [(mesh, 0), (mesh, 1), (mesh, None)]


@pytest.fixture(autouse=True)
def quiet():
    before, td.config.fallback = td.config.fallback, "allow"
    yield
    td.config.fallback = before


@pytest.fixture(params=sorted(MESHES))
def mesh(request):
    return td.mesh(*MESHES[request.param])


@pytest.mark.parametrize("text", CASES)
@pytest.mark.filterwarnings("ignore")
def test_functions_give_what_numpy_gives(text, mesh):
    for shape in SHAPES:
        x, i = data(shape)
        try:
            want = eval(text, {"np": numpy, "x": x, "i": i})
        except (IndexError, ValueError) as error:
            want = error
        for axis in (0, 1, None):
            given = {"np": td, "x": td.shard(x, axis, mesh), "i": td.shard(i, axis, mesh)}
            if isinstance(want, Exception):
                with pytest.raises(type(want)):
                    eval(text, given)
            else:
                same(eval(text, given), want)


@pytest.mark.parametrize("text", CHANGES)
@pytest.mark.filterwarnings("ignore")
def test_writes_change_what_numpy_changes(text, mesh):
    for shape in SHAPES:
        x, i = data(shape)
        for axis in (0, 1, None):
            theirs = {"np": numpy, "x": x.copy(), "i": i.copy()}
            ours = {"np": td, "x": td.shard(x, axis, mesh), "i": td.shard(i, axis, mesh)}
            for s in ours["x"].shards, theirs["x"]:  # copies on the other devices, where it is replicated
                assert len(s)
            try:
                exec(text, theirs)
            except (IndexError, ValueError) as error:
                with pytest.raises(type(error)):
                    exec(text, ours)
                continue
            exec(text, ours)
            same([ours["x"], ours["i"]], [theirs["x"], theirs["i"]])
            if axis is None:
                for part in ours["x"].shards:
                    same(part.get(), theirs["x"])


# ---- random programs ----


def part(rng, shape):
    """A random basic key for an array of that shape."""
    key = []
    for n in shape:
        a, b = sorted((rng.randrange(n + 1), rng.randrange(n + 1)))
        key.append(
            rng.choice([slice(None), slice(a, b), slice(a, None), slice(a, b, rng.choice((1, 2, 3))), slice(None, None, -1)])
            if rng.random() < 0.8 or not n
            else rng.randrange(-n, n)
        )
    return tuple(key[: rng.randrange(len(shape) + 1)])


def step(rng, pool):
    """One random operation as f(np, arrays) that returns a new array or None."""
    k, j = rng.randrange(len(pool)), rng.randrange(len(pool))
    x = pool[k]
    kind = rng.randrange(14)
    if kind == 0:
        key = part(rng, x.shape)
        return lambda np, a: a[k][key]
    if kind == 1:
        key, number = part(rng, x.shape), rng.randrange(-5, 6)
        return lambda np, a: a[k].__setitem__(key, number)
    if kind == 2 and pool[j].ndim <= x.ndim:
        key = part(rng, x.shape)
        try:
            numpy.broadcast_to(pool[j], x[key].shape)
        except ValueError:
            return None
        return lambda np, a: a[k].__setitem__(key, a[j])
    if kind == 3:
        try:
            numpy.broadcast_shapes(x.shape, pool[j].shape)
        except ValueError:
            return None
        return lambda np, a: np.add(a[k], a[j]) if numpy.broadcast(a[k], a[j]).size < 4000 else None
    if kind == 4 and x.ndim:
        axis, keep = rng.choice([None, *range(x.ndim)]), rng.random() < 0.5
        return lambda np, a: a[k].sum(axis, keepdims=keep) if x.size else None
    if kind == 5 and x.ndim:
        order = rng.sample(range(x.ndim), x.ndim)
        return lambda np, a: np.transpose(a[k], order)
    if kind == 6 and x.size:
        return lambda np, a: a[k].reshape(rng_shape(x.shape)).copy()
    if kind == 7 and x.ndim:
        axis, shift = rng.randrange(x.ndim), rng.randrange(-3, 4)
        return lambda np, a: np.roll(a[k], shift, axis)
    if kind == 8 and x.ndim:
        axis = rng.randrange(x.ndim)
        return lambda np, a: np.cumsum(a[k], axis) if x.size else None
    if kind == 9 and x.ndim and len(x):
        rows = [rng.randrange(len(x)) for _ in range(rng.randrange(1, 6))]
        return lambda np, a: a[k][rows]
    if kind == 10 and x.ndim:
        return lambda np, a: a[k][a[k] > 0] if x.size else None
    if kind == 11 and x.ndim:
        axis = rng.randrange(x.ndim)
        return lambda np, a: np.concatenate([a[k], a[k]], axis) if x.size < 500 else None
    if kind == 12 and x.ndim and x.size:
        return lambda np, a: np.sort(a[k], rng_axis(x))
    if kind == 13 and x.ndim:
        number = rng.randrange(1, 4)
        return (lambda np, a: a[k].__setitem__(..., a[k] * number - a[k] // 3)) if abs(x).max(initial=0) < 1e6 else None
    return None


def rng_shape(shape):
    return (*shape[:-2], shape[-2] * shape[-1]) if len(shape) > 1 else (*shape, 1)


def rng_axis(x):
    return x.size % x.ndim


@pytest.mark.filterwarnings("ignore")
def test_random_programs_give_what_numpy_gives(mesh):
    first = random.SystemRandom().randrange(1 << 32)
    for seed in range(first, first + 40):
        print("seed", seed)
        rng = random.Random(seed)
        theirs, ours = [], []
        for _ in range(3):
            shape = tuple(rng.choice((1, 2, 3, 5, 8, 13)) for _ in range(rng.randrange(1, 4)))
            x = numpy.random.default_rng(rng.randrange(99)).integers(-9, 9, shape)
            theirs.append(x.copy())
            ours.append(td.shard(x, rng.choice([None, *range(len(shape))]), mesh))
        for _ in range(25):
            f = step(rng, theirs)
            if f is None:
                continue
            want = f(numpy, theirs)
            if want is not None and numpy.ndim(want) and rng.random() < 0.8:
                got = f(td, ours)
                # views of treadle's and NumPy's may differ where an operation has to move elements
                theirs.append(want.copy())
                ours.append(got.copy() if type(got) is ShardedArray else got)
            elif want is None:
                f(td, ours)
            if len(theirs) > 8:
                del theirs[0], ours[0]
            for n, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                assert numpy.array_equal(on_host(a), b), (seed, n)


# ---- making, moving, leaving ----

DRAWS = [
    "random(7)", "random((5, 3))", "random((5, 3), 'float32')", "standard_normal((4, 5))", "integers(0, 10, (7, 3))",
    "standard_normal((9, 5), dtype='float32')", "integers(5, size=9)", "normal(1, 2, (5, 3))", "uniform(2, 3, 11)",
    "exponential(size=(5, 2))", "permutation(7)", "integers(0, 2**40, 7)", "choice(5, 3)", "random()",
]  # fmt: skip


def test_draws_are_those_of_one_device(mesh):
    for seed in range(3):
        several = td.random.default_rng(seed, device=mesh)
        one = td.random.default_rng(seed, device=mesh[0])
        for text in DRAWS:
            got, want = (eval(f"g.{text}", {"g": g}) for g in (several, one))
            got, want = (r.get() if hasattr(r, "get") else r for r in (got, want))
            assert numpy.array_equal(got, want), text
        assert several.state == one.state


def test_where_elements_lie(mesh):
    n = len(mesh)
    x = td.asarray(numpy.arange(10.0), device=mesh)
    assert x.placement == Shard(0) and x.device == mesh and [s.device for s in x.shards] == list(mesh)
    assert [len(s) for s in x.shards] == [10 * (i + 1) // n - 10 * i // n for i in range(n)]
    assert td.shard(x, None, mesh).placement == Replicate() == x.sum().placement
    assert x.reshard(None).reshard(0).placement == Shard(0)
    for made in (
        td.zeros((4, 3), device=mesh), td.ones(5, device=mesh), td.full((3,), 2, device=mesh), td.arange(7, device=mesh),
        td.arange(2, 20, 3, device=mesh), td.linspace(0, 1, 9, device=mesh), td.eye(4, device=mesh), td.arange(0.0, 1.0, 0.1, device=mesh),
        td.array([[1, 2], [3, 4]], dtype="float32", device=mesh),
    ):  # fmt: skip
        assert made.placement == Shard(0)
    same(td.arange(2, 20, 3, device=mesh), numpy.arange(2, 20, 3))
    same(td.full((3,), 2, device=mesh), numpy.full(3, 2))
    same(td.arange(0.0, 1.0, 0.1, device=mesh), numpy.arange(0.0, 1.0, 0.1))
    back = pickle.loads(pickle.dumps(x))
    assert back.placement == x.placement and numpy.array_equal(back.get(), x.get())
    out = numpy.empty(10)
    assert x.get(out) is out and out[9] == 9
    assert numpy.array_equal(numpy.asarray(x), numpy.arange(10.0)) and numpy.sin(x).placement == Shard(0)
    assert numpy.sum(x) == 45 and numpy.concatenate([x, x]).shape == (20,)
    assert isinstance(x.to_device(mesh[-1]), td.ndarray) and x.to_device(mesh[-1]).device == mesh[-1]


def test_only_halos_move():
    mesh = td.mesh("null", "null:1")
    x = td.asarray(numpy.ones((100, 8)), device=mesh)
    td.sharding.moves(clear=True)
    y = (x[2:] + x[:-2] - 2 * x[1:-1]).evaluate()
    rows = sum(nbytes for _, _, _, nbytes in td.sharding.moves(clear=True)) / 64
    assert rows <= 4, "only neighbours' rows are sent"
    assert y.placement == Shard(0)
    (x * x + 1).evaluate()
    x.sum(1).evaluate()
    td.sort(x, 1).evaluate()
    assert td.sharding.moves() == []
    x[1:-1] = x[2:] + x[:-2]
    assert [(what.split(":")[0], file.split(":")[0]) for what, file, *_ in td.sharding.moves(clear=True)]
    x.sum(0).evaluate()
    assert "test_sharding" in td.sharding.moves()[0][1]


def test_what_is_refused_says_why(mesh):
    x = td.ones((6, 4), device=mesh)
    with pytest.raises(ValueError, match="lie on mesh"):
        x + td.ones((6, 4), device=td.mesh("cpu"))
    with pytest.raises(ValueError, match="could not be broadcast"):
        x + td.ones((5, 4), device=mesh)
    with pytest.raises(ValueError, match="axis 2 is out of bounds"):
        td.shard(numpy.ones((2, 2)), 2, mesh)
    with pytest.raises(ValueError, match="at least one device"):
        td.sharding.Mesh([])
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        x[6]
    with pytest.raises(TypeError, match="same_kind"):
        np_int = td.ones((6, 4), "int64", device=mesh)
        np_int += 0.5
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError, match="a device is a name"):
        td.zeros(3, device=3.5)
    with pytest.raises(TypeError, match="before it made its first mesh"):
        td.sort.__wrapped__(x)
    with pytest.raises(ValueError, match="could not broadcast"):
        x[1:] = numpy.ones((4, 4))
    assert numpy.array_equal(x.get(), numpy.ones((6, 4)))


def test_sorts_of_many_equal_elements_and_nan(mesh):
    rng = numpy.random.default_rng(random.SystemRandom().randrange(1 << 32))
    for n in (1, 2, 3, 50, 1000, 70_001):
        for values in (
            rng.standard_normal(n).astype("float32"), rng.integers(0, 3, n), numpy.zeros(n), numpy.arange(n)[::-1],
            numpy.where(rng.random(n) < 0.4, numpy.nan, rng.random(n)), rng.integers(0, 255, n).astype("uint8"),
        ):  # fmt: skip
            x = td.shard(values, 0, mesh)
            assert numpy.array_equal(td.sort(x).get(), numpy.sort(values), equal_nan=values.dtype.kind == "f")
            assert numpy.array_equal(x.get(), values, equal_nan=values.dtype.kind == "f")


def test_a_mesh_made_in_the_call():
    text = "import treadle as td; x = td.{}, device=td.mesh('cpu', 'cpu')); assert x.placement == td.sharding.Shard(0), x"
    for call in ("zeros((4, 2)", "asarray([1, 2, 3]", "linspace(0, 1, 5", "eye(3", "arange(5", "full(3, 7"):
        done = subprocess.run([sys.executable, "-c", text.format(call)], capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr


def test_explain_tells_what_moved(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np, treadle as td\nx = td.ones((64, 64), device=td.mesh('null', 'null:1'))\n"
        "print(float((x[1:] - x[:-1]).sum()))\n"
    )
    run = [sys.executable, "-m", "treadle", "--explain", str(program)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.stdout == "0.0\n", done.stderr
    assert "moved between the devices of sharded arrays" in done.stderr and "program.py:3" in done.stderr


def test_files_are_read_by_other_meshes(mesh, tmp_path):
    values = numpy.random.default_rng(0).random((50, 6))
    for axis in (0, 1, None):
        td.save(tmp_path / "x", td.shard(values, axis, mesh))
        assert numpy.array_equal(numpy.load(tmp_path / "x.npy"), values)
        mapped = numpy.load(tmp_path / "x.npy", mmap_mode="r")
        again = td.shard(mapped, 1, td.mesh(*["null"] * 4))
        assert [s.shape for s in again.shards] == [(50, 1), (50, 2), (50, 1), (50, 2)]
        assert numpy.array_equal(again.get(), values)
