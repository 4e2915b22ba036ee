"""Random numbers: the same on every device and however they are fused; distributed as they say."""

import numpy as np
import pytest

import treadle as td

DRAWS = [
    ("random", {"size": (50, 7)}), ("random", {"size": 33, "dtype": "float32"}), ("integers", {"low": 0, "high": 10, "size": 40}),
    ("integers", {"low": -5, "high": 100, "size": (3, 5), "dtype": "int32"}), ("integers", {"low": 2**40, "high": 2**62, "size": 9}),
]  # fmt: skip


@pytest.mark.parametrize("name,args", DRAWS)
def test_bit_equal_on_all_devices(name, args, dev):
    ours = getattr(td.random.default_rng(3, device=dev), name)(**args)
    cpu = getattr(td.random.default_rng(3, device="cpu"), name)(**args)
    assert ours.device == dev and ours.get().tobytes() == cpu.get().tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_on_all_devices(dtype, dev):
    ours = td.random.default_rng(3, device=dev).standard_normal(101, dtype=dtype).get()
    cpu = td.random.default_rng(3, device="cpu").standard_normal(101, dtype=dtype).get()
    np.testing.assert_allclose(ours, cpu, rtol=8 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)


@pytest.mark.parametrize("n", [4096, 4097])
def test_normals_are_those_of_box_and_muller(n, dev):
    """From the uniforms of the same seed; n odd: where lanes do not begin at a counter's share."""
    u = td.random.default_rng(11, device=dev).random(n + n % 2, dtype="float32").get().astype("f8")
    r, angle = np.sqrt(-2 * np.log(u[0::2] + 2.0**-24)), 2 * np.pi * u[1::2]
    want = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1).ravel()[:n]
    got = td.random.default_rng(11, device=dev).standard_normal(n, dtype="float32").get()
    assert np.abs(got - want).max() < 3 * 2.0**-22  # 3 units in the last place of the greatest


@pytest.mark.parametrize("shape", [(64,), (1000,), (3, 256), (5, 100), (5, 33), (9, 2), (64, 4), (2, 3, 68)])
@pytest.mark.parametrize("name", ["random", "standard_normal"])
def test_fusing_with_rows_changes_nothing(name, shape, dev):
    """Whole registers of counters, rows that begin between counters, lanes across short rows: one draw's values."""
    row = np.arange(shape[-1], dtype="float32")
    draws = [getattr(td.random.default_rng(6, device=dev), name)(n, dtype="float32") for n in (shape, int(np.prod(shape)))]
    want = draws[1].get().reshape(shape)
    assert (draws[0] * td.array(row, device=dev)).get().tobytes() == (want * row).tobytes()


def test_fusing_changes_nothing():
    a = td.random.default_rng(5)
    x, y = a.random(100), a.random(100)
    fused = (x + y).get()
    b = td.random.default_rng(5)
    u = b.random(100).get()
    v = b.random(100).get()
    assert fused.tobytes() == (u + v).tobytes()
    late, early = td.random.default_rng(9), td.random.default_rng(9)
    first, second = late.random(10), late.random(10)
    assert second.get().tobytes() != first.get().tobytes()
    assert early.random(10).get().tobytes() == first.get().tobytes()
    assert x.get().tobytes() == u.tobytes() and x.get().tobytes() == x.get().tobytes()


def test_distributions():
    g = td.random.default_rng(1)
    u = g.random(200_000).get()
    assert 0 <= u.min() and u.max() < 1 and abs(u.mean() - 0.5) < 4e-3 and abs(u.var() - 1 / 12) < 1e-3
    assert np.histogram(u, 16, (0, 1))[0].std() < 300
    n = g.normal(3, 2, 200_000).get()
    assert abs(n.mean() - 3) < 0.02 and abs(n.std() - 2) < 0.02 and abs(((n - 3) ** 3).mean()) < 0.2
    i = g.integers(-3, 7, 100_000).get()
    assert set(np.unique(i)) == set(range(-3, 7)) and np.bincount(i + 3).min() > 9_400
    assert set(np.unique(g.integers(1, 3, 1000, endpoint=True).get())) == {1, 2, 3}
    r = g.uniform(-2, 5, 50_000).get()
    assert -2 <= r.min() < -1.9 and 4.9 < r.max() <= 5
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.01


def test_seeds():
    def draw(s):
        return td.random.default_rng(s).random(4).get().tobytes()

    assert draw(1) == draw(1) != draw(2)
    assert draw(None) != draw(None) and draw([1, 2]) == draw((1, 2)) != draw([2, 1])
    assert len({draw(s) for s in range(200)}) == 200
    g = td.random.default_rng(4)
    saved = g.state
    a = g.random(5).get()
    g.state = saved
    assert g.random(5).get().tobytes() == a.tobytes()


def test_shapes_and_dtypes():
    g = td.random.default_rng(0)
    assert g.random().shape == () and g.random(()).shape == () and g.random(3).shape == (3,) and g.random((0, 2)).shape == (0, 2)
    assert g.random(3).dtype == "float64" and g.random(3, dtype="float32").dtype == "float32"
    assert g.integers(5, size=2).dtype == "int64" and g.integers(5, size=2, dtype="uint8").dtype == "uint8"
    assert g.normal(td.zeros(4), 1).shape == (4,) and g.normal([0.0, 10.0], [[1.0], [2.0]]).shape == (2, 2)
    out = td.zeros((2, 3))
    assert g.random(out=out) is out and float(out.max()) > 0
    for bad in (lambda: g.random(3, dtype="int32"), lambda: g.integers(3, dtype="float32")):
        with pytest.raises(TypeError):
            bad()
    for bad in (lambda: g.integers(5, 5), lambda: g.integers(300, dtype="uint8"), lambda: g.normal(0, -1), lambda: g.random((-1,))):
        with pytest.raises(ValueError):
            bad()


def test_module_level():
    def draws():
        td.random.seed(3)
        return [td.random.rand(2, 3), td.random.randn(4), td.random.random((2,)), td.random.randint(0, 9, 5), td.random.normal(1, 2, 3),
                td.random.uniform(2, 3, (2, 2)), td.random.random_sample(2), td.random.standard_normal(2), td.random.choice(5, 3)]  # fmt: skip

    a, b = draws(), draws()
    for x, y in zip(a, b, strict=True):
        assert x.shape == y.shape and x.get().tobytes() == y.get().tobytes()
    assert a[0].shape == (2, 3) and 2 <= float(a[5].min()) <= float(a[5].max()) < 3
    assert set(td.random.choice(td.asarray([5, 7]), 20).tolist()) <= {5, 7}
    assert td.random.rand().shape == ()
