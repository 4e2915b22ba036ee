"""treadle.pycuda.curandom: distributions by their moments and Kolmogorov's distance, streams, seeds, Sobol's evenness."""

import hashlib
import math
import statistics

import numpy as np
import pytest

from treadle.pycuda import curandom, gpuarray
from treadle.pycuda._arrays import _sobol
from treadle.pycuda._driver import _streams

PSEUDO = [curandom.XORWOWRandomNumberGenerator, curandom.MRG32k3aRandomNumberGenerator]
SOBOL = [curandom.Sobol32RandomNumberGenerator, curandom.Sobol64RandomNumberGenerator,
         curandom.ScrambledSobol32RandomNumberGenerator, curandom.ScrambledSobol64RandomNumberGenerator]  # fmt: skip
NORMAL = statistics.NormalDist()


def seeded(value):
    """A seed_getter: every generator gets a seed of its own that follows from value."""
    return lambda n: gpuarray.to_gpu(np.random.default_rng(value).integers(-(2**31), 2**31, n, dtype="int32"))


def made(cls, seed=1):
    return cls(seeded(seed)) if cls in PSEUDO else cls()


def distance(x, cdf):
    """Kolmogorov's: the greatest difference between x's distribution and the one it should have."""
    x = np.sort(np.asarray(x, dtype="float64").reshape(-1))
    f = np.array([cdf(v) for v in x])
    k = np.arange(x.size)
    return max((f - k / x.size).max(), ((k + 1) / x.size - f).max())


N = 8192
FAR = 2.5 / math.sqrt(N)  # exceeded once in 10^5 draws


def uniform(v):
    return min(max(v, 0.0), 1.0)


@pytest.mark.parametrize("cls", [*PSEUDO, *SOBOL])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributions(dev, cls, dtype):
    g = made(cls)
    u = g.gen_uniform(N, dtype).get()
    assert u.dtype == dtype and u.min() > 0 and u.max() <= 1
    assert distance(u, uniform) < FAR
    x = g.gen_normal((64, N // 64), dtype).get()
    assert x.shape == (64, N // 64) and distance(x, NORMAL.cdf) < FAR
    y = g.gen_log_normal(N, dtype, 1.5, 0.25).get()
    assert distance(np.log(y), statistics.NormalDist(1.5, 0.25).cdf) < FAR
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 5 / math.sqrt(N) or cls in SOBOL


@pytest.mark.parametrize("cls", [*PSEUDO, *SOBOL])
def test_integers(dev, cls):
    g = made(cls)
    for dtype in ("uint32", "int32", "uint64", "int64"):
        if dtype.endswith("64") and g.generator_bits == 32:
            with pytest.raises(NotImplementedError):
                g.gen_uniform(10, dtype)
            continue
        x = g.gen_uniform(N, dtype).get()
        info = np.iinfo(dtype)
        assert distance((x.astype("float64") - info.min) / 2.0**info.bits, uniform) < FAR
        bits = np.unpackbits(x.view("uint8")).reshape(N, -1).mean(axis=0)
        # 128 plain points of each dimension have 7 digits, the others are 0
        free = bits if cls in PSEUDO or "Scrambled" in cls.__name__ else bits.reshape(-1, 8)[-1][:7]
        assert np.abs(free - 0.5).max() < 5 / math.sqrt(N)
    with pytest.raises(NotImplementedError):
        g.gen_uniform(10, "int8")


def chances(rate, most):
    return np.exp([-rate + k * math.log(rate) - math.lgamma(k + 1) for k in range(most)])


@pytest.mark.parametrize("cls", [PSEUDO[0], SOBOL[0], SOBOL[3]])
@pytest.mark.parametrize("rate", [0.3, 13.0, 150.0, 900.0])
def test_poisson(dev, cls, rate):
    g = made(cls)
    g.call_skip_ahead(128)  # Sobol's first points all are 0
    x = g.gen_poisson(N, "uint32", rate).get()
    want = np.cumsum(chances(rate, int(rate + 12 * math.sqrt(rate) + 12)))
    have = np.cumsum(np.bincount(x, minlength=want.size)) / N
    assert np.abs(have[: want.size] - want).max() < FAR
    assert abs(x.mean() - rate) < 5 * math.sqrt(rate / N) and abs(x.var() / rate - 1) < 0.15
    for dtype in ("float32", "float64", "uint32"):
        rates = gpuarray.empty(N, dtype).fill(10)
        g.fill_poisson(rates)
        assert rates.dtype == dtype and abs(rates.get().mean() - 10) < 5 * math.sqrt(10 / N)
    assert (g.gen_poisson(100, "uint32", 0).get() == 0).all()
    for bad, error in ((-1, ValueError), (math.nan, ValueError)):
        with pytest.raises(error):
            g.gen_poisson(5, "uint32", bad)
    with pytest.raises(NotImplementedError):
        g.gen_poisson(5, "float32", 3.0)


def stream(cls, seed, n=2000):
    return made(cls, seed).gen_uniform(n, "uint32").get()


@pytest.mark.parametrize("cls", PSEUDO)
def test_seeds(dev, cls):
    first = stream(cls, 1)
    assert np.array_equal(first, stream(cls, 1))
    others = [stream(cls, s) for s in range(2, 6)] + [stream(c, 1) for c in PSEUDO if c is not cls]
    assert all((first != other).mean() > 0.99 for other in others)
    equal = cls(lambda n: gpuarray.empty(n, "int32").fill(5)).gen_uniform(4096, "uint32").get()
    assert np.unique(equal).size > 4080  # generators with one seed are kept apart
    with pytest.raises(TypeError, match="int32"):
        cls(lambda n: gpuarray.zeros(n, "int64"))
    with pytest.raises(TypeError, match="int32"):
        cls(lambda n: gpuarray.zeros(3, "int32"))
    for getter in (curandom.seed_getter_uniform, curandom.seed_getter_unique):
        assert getter(7).shape == (7,) and getter(7).dtype == np.int32


def test_streams_of_all_seeds_differ():
    """The first blocks of many keys and places: no two are alike."""
    count = 1 << 14
    seen = set()
    for kind in (1, 2):
        for place in (0, 1, 1 << 32):
            keys = np.arange(count, dtype="uint64") + np.uint64(kind << 48)
            out = np.empty(count, "uint64")
            _streams.filler(_streams.philox, _streams.long_word)(out, np.zeros(1), np.zeros(count, "uint64"), keys, np.full(count, place, "uint64"))
            seen.update(out.tolist())
    assert len(seen) == 6 * count


def test_values_are_philox():
    """The published test vectors of Philox4x32-10 for a counter and key of zeros and of ones."""
    for bits, want in ((0, (0x6627E8D5, 0xE169C58D)), (2**64 - 1, (0x408F276D, 0x41C83B0E))):
        all_ones = np.array([bits], "uint64")
        out = np.empty(1, "uint64")
        _streams.filler(_streams.philox, _streams.long_word)(out, np.zeros(1), all_ones, all_ones, all_ones)
        assert out[0] == want[0] << 32 | want[1]


@pytest.mark.parametrize("cls", [PSEUDO[0], SOBOL[1]])
def test_moving_on(dev, cls):
    g, h = made(cls), made(cls)
    count = g.block_count * g.generators_per_block
    x = g.gen_uniform(count * 7, "float64").get().reshape(7, count)
    assert np.array_equal(h.gen_uniform(count * 2, "float64").get().reshape(2, count), x[:2])
    h.call_skip_ahead(3)
    assert np.array_equal(h.gen_uniform(count, "float64").get(), x[5])
    odd = made(cls)
    odd.gen_uniform(5, "float64")  # the first five generators have moved, the others not
    assert np.array_equal(odd.gen_uniform(count, "float64").get(), np.concatenate((x[1, :5], x[0, 5:])))
    some = made(cls)
    some.call_skip_ahead_array(gpuarray.to_gpu(np.arange(count) % 3))
    assert np.array_equal(some.gen_uniform(count, "float64").get(), x[np.arange(count) % 3, np.arange(count)])
    late = cls(seeded(1), 4) if cls in PSEUDO else cls(offset=4)
    assert np.array_equal(late.gen_uniform(count, "float64").get(), x[4])
    with pytest.raises(ValueError):
        g.call_skip_ahead(-1)
    with pytest.raises(TypeError):
        g.call_skip_ahead(gpuarray.zeros(3, "int32"))


def test_sequences(dev):
    for cls in PSEUDO:
        streams = [stream(cls, 1)]
        for move in ("call_skip_ahead_sequence", "call_skip_ahead_subsequence"):
            g = made(cls)
            if not hasattr(g, move):
                continue
            getattr(g, move)(1)
            streams.append(g.gen_uniform(2000, "uint32").get())
            h = made(cls)
            getattr(h, move + "_array")(gpuarray.to_gpu(np.ones(4096, "uint32")))
            assert np.array_equal(h.gen_uniform(2000, "uint32").get(), streams[-1])
        assert len({s.tobytes() for s in streams}) == len(streams)


def test_layouts(dev):
    """Elements are filled as memory has them; parts with gaps, too."""
    want = made(PSEUDO[0]).gen_uniform(12, "float32").get()
    f = gpuarray.empty((3, 4), "float32", order="F")
    made(PSEUDO[0]).fill_uniform(f)
    assert np.array_equal(f.get().T.reshape(-1), want)
    wide = gpuarray.zeros((3, 8), "float32")
    made(PSEUDO[0]).fill_uniform(wide[:, ::2])
    assert np.array_equal(wide.get()[:, ::2].reshape(-1), want) and not wide.get()[:, 1::2].any()
    made(PSEUDO[0]).fill_uniform(gpuarray.empty(0, "float32"))
    with pytest.raises(TypeError):
        made(PSEUDO[0]).fill_uniform(np.zeros(3))


# ---- Sobol ----


def test_direction_vectors():
    """The first dimensions' points are those of Joe and Kuo: a digest of 1024 points of 21 dimensions."""
    v, n = _sobol.vectors(21, 32), np.arange(1024, dtype="uint32")
    gray, x = n ^ n >> 1, np.zeros((1024, 21), "uint32")
    for k in range(32):
        x ^= np.where((gray >> k & 1)[:, None] == 1, v[:, k], 0).astype("uint32")
    assert hashlib.sha256(x.astype("<u4").tobytes()).hexdigest() == "74bf268dfbed42d4ed3a6f5664d1c20516ee10873079831f2e845d3fe07884b6"
    assert x[1].tolist() == [1 << 31] * 21 and x[2, :2].tolist() == [3 << 30, 1 << 30]


def test_primitive_polynomials():
    """As many as there are: Euler's function of 2^k - 1, divided by k."""
    assert [len(_sobol.primitive(k)) for k in range(1, 11)] == [1, 1, 2, 2, 6, 6, 18, 16, 48, 60]
    assert _sobol.vectors(1111, 32).shape == (1111, 32)
    with pytest.raises(ValueError, match="1111"):
        _sobol.vectors(1112, 32)


@pytest.mark.parametrize("cls", SOBOL)
def test_every_interval_has_a_point(dev, cls):
    """Of 2^k points of any dimension one falls into each of 2^k intervals, and of the first two into each rectangle."""
    points = cls().gen_uniform(64 * 1024, "float64").get().reshape(1024, 64)
    cells = np.ceil(points * 1024).astype(int)
    assert all(np.unique(cells[:, d]).size == 1024 for d in range(64))
    for wide in range(11):
        across = (np.ceil(points[:, 0] * 2**wide) - 1) * 2 ** (10 - wide) + np.ceil(points[:, 1] * 2 ** (10 - wide)) - 1
        assert np.unique(across).size == 1024


def test_tables_of_ones_own(dev):
    g = curandom.Sobol32RandomNumberGenerator(curandom.generate_direction_vectors(64, curandom.direction_vector_set.VECTOR_32))
    assert np.array_equal(g.gen_uniform(640, "uint32").get(), made(SOBOL[0]).gen_uniform(640, "uint32").get())
    shift = curandom.generate_scramble_constants64(64)
    assert shift.dtype == np.uint64 and curandom.generate_scramble_constants32(5).shape == (5,)
    plain = curandom.generate_direction_vectors(64, curandom.direction_vector_set.VECTOR_64)
    h = curandom.ScrambledSobol64RandomNumberGenerator(plain, shift)
    want = made(SOBOL[1]).gen_uniform(640, "uint64").get().reshape(10, 64) ^ shift.get()
    assert np.array_equal(h.gen_uniform(640, "uint64").get().reshape(10, 64), want)
    for bad in (gpuarray.zeros((3, 32), "uint32"), np.zeros((64, 32), "uint32"), gpuarray.zeros((64, 32), "int32")):
        with pytest.raises(TypeError, match="dir_vector"):
            curandom.Sobol32RandomNumberGenerator(bad)
    with pytest.raises(ValueError, match="direction_vector_set"):
        curandom.generate_direction_vectors(3, 7)


def test_means_come_near_faster(dev):
    """The mean of a smooth function: Sobol's points are nearer than pseudo-random ones can be."""
    x = curandom.ScrambledSobol32RandomNumberGenerator().gen_uniform(64 * 4096, "float64").get().reshape(4096, 64)
    means = (x[:, :4] ** 2 * 3).prod(axis=1).mean()
    assert abs(means - 1) < 0.02  # the deviation of as many independent points is 0.04
    assert np.abs(x.mean(axis=0) - 0.5).max() < 1e-3


def test_inverse_of_the_normal_distribution():
    p = np.concatenate((np.linspace(1e-3, 1 - 1e-3, 999), 10.0 ** -np.arange(4, 16), 1 - 10.0 ** -np.arange(4, 15)))
    got = [_streams.inverse_normal(float(v)) for v in p]
    np.testing.assert_allclose(got, [NORMAL.inv_cdf(float(v)) for v in p], rtol=1e-13, atol=1e-15)


# ---- rand ----


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint32"])
def test_rand(dev, dtype):
    np.random.seed(3)
    a, b = curandom.rand((64, N // 64), dtype=np.dtype(dtype)), curandom.rand(N, dtype=dtype)
    np.random.seed(3)
    again = curandom.rand((64, N // 64), dtype=dtype)
    assert a.shape == (64, N // 64) and a.dtype == dtype
    assert np.array_equal(a.get(), again.get()) and not np.array_equal(a.get().reshape(-1), b.get())
    x = a.get().astype("float64") if dtype[0] == "f" else (a.get().astype("float64") - np.iinfo(dtype).min) / 2**32
    assert distance(x, uniform) < FAR and x.min() >= 0 and x.max() < 1
    with pytest.raises(NotImplementedError):
        curandom.rand(3, dtype="int8")


def test_version():
    assert curandom.get_curand_version() >= (5, 0, 0)
