"""treadle.fft against numpy.fft: values, dtypes, shapes, errors, on every device."""

import ctypes
import itertools
import math
import pathlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treadle as td
from treadle import _core

F, N = td.fft, np.fft
DTYPES = ["?", "i4", "f2", "f4", "f8", "c8", "c16"]
ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MANY = ["fftn", "ifftn", "rfftn", "irfftn"]
REAL = {"rfft", "ihfft", "rfftn", "rfft2"}  # take no complex numbers


def draw(rng, shape, dt):
    x = rng.normal(size=shape) * 3
    return (x + 1j * rng.normal(size=shape) if np.dtype(dt).kind == "c" else x).astype(dt)


def same(got, want, what=""):
    assert isinstance(got, td._core.ndarray), what
    assert got.shape == want.shape and got.dtype == want.dtype, (what, got.shape, want.shape, got.dtype, want.dtype)
    tol = {"f2": 2e-2, "f4": 1e-4, "c8": 1e-4}.get(want.dtype.str[1:], 1e-10)
    np.testing.assert_allclose(got.get(), want, rtol=tol, atol=10 * tol, err_msg=str(what))


@pytest.fixture(autouse=True)
def no_trips(dev):
    """Nothing here is computed on the host but where the CPU's library is NumPy."""
    before, td.config.fallback = td.config.fallback, "error"
    yield
    td.config.fallback = before


def functions(names, dt):
    return [n for n in names if not (np.dtype(dt).kind == "c" and n in REAL)]


@pytest.mark.parametrize("dt", DTYPES)
def test_one_axis(dev, rng, dt):
    x = draw(rng, (3, 4, 5), dt)
    t = td.asarray(x)
    for name in functions(ONE, dt):
        f, g = getattr(F, name), getattr(N, name)
        for axis, n in itertools.product((0, 1, -1), (None, 1, 3, 8)):
            same(f(t, n, axis), g(x, n, axis), (name, axis, n))
        for norm in ("backward", "ortho", "forward"):
            same(f(t, norm=norm), g(x, norm=norm), (name, norm))


@pytest.mark.parametrize("dt", DTYPES)
def test_several_axes(dev, rng, dt):
    x = draw(rng, (3, 4, 2), dt)
    t = td.asarray(x)
    for name in functions(MANY, dt):
        f, g = getattr(F, name), getattr(N, name)
        for s, axes in ((None, None), (None, (0, 2)), (None, (2, 0)), ((4, 3), (1, 2)), ((5,), (0,)), ((3, -1), (0, 1)),
                        (None, (1, 0, 2)), (None, (0, 0)), (None, (1,))):  # fmt: skip
            same(f(t, s, axes), g(x, s, axes), (name, s, axes))
        same(f(t, norm="ortho"), g(x, norm="ortho"), name)
    for name in functions(["fft2", "ifft2", "rfft2", "irfft2"], dt):
        same(getattr(F, name)(t), getattr(N, name)(x), name)


def test_more_axes_than_a_plan_has(dev, rng):
    x = rng.normal(size=(2, 3, 2, 3, 2))
    t = td.asarray(x)
    for name in MANY:
        same(getattr(F, name)(t), getattr(N, name)(x), name)
        same(getattr(F, name)(t, axes=(4, 0, 2, 1)), getattr(N, name)(x, axes=(4, 0, 2, 1)), name)


@given(st.data())
def test_layouts(data):
    """Views of every kind, read where they lie or copied, and never written over."""
    x = np.arange(2 * 6 * 6 * 4, dtype="c16").reshape(2, 6, 6, 4) ** 0.5 * (1 - 0.5j)
    cuts = tuple(data.draw(st.sampled_from([slice(None), slice(1, None), slice(None, None, 2), slice(None, None, -1), 0]))
                 for _ in range(3))  # fmt: skip
    t = td.asarray(x)
    v, w = t[cuts], x[cuts]
    order = data.draw(st.permutations(range(w.ndim)))
    v, w = v.transpose(order), w.transpose(order)
    if data.draw(st.booleans()):
        v, w = td.broadcast_to(v[..., :1], w.shape), np.broadcast_to(w[..., :1], w.shape)
    axes = data.draw(st.permutations(range(w.ndim)))[: data.draw(st.integers(1, w.ndim))]
    name = data.draw(st.sampled_from(MANY))
    if name in REAL:
        v, w = v.imag, w.imag
    if name == "irfftn" and w.shape[axes[-1]] == 1:
        return
    same(getattr(F, name)(v, axes=axes), getattr(N, name)(w, axes=axes), (name, cuts, order, axes))
    np.testing.assert_array_equal(t.get(), x)


def test_out(dev, rng):
    x = draw(rng, (3, 4), "c16")
    t, r = td.asarray(x), td.empty((3, 4), "c16")
    assert F.fft(t, out=r) is r
    same(r, N.fft(x))
    assert F.ifftn(t, out=t) is t
    same(t, N.ifftn(x))
    with pytest.raises(ValueError, match="wrong shape"):
        F.fft(t, 3, out=r)


@pytest.mark.parametrize("dt", DTYPES[2:])
def test_large(dev, rng, dt):
    """Enough numbers for several threads and for rows in vectors; cut, turned and filled up."""
    x = draw(rng, (120, 7, 150), dt)[:, ::-1, ::2]
    t = td.asarray(x)
    for name in functions(ONE, dt):
        for axis, n in ((-1, None), (0, 100), (0, 131)):
            same(getattr(F, name)(t, n, axis), getattr(N, name)(x, n, axis), (name, axis, n))
    for name in functions(MANY, dt):
        for s, axes in ((None, None), (None, (2, 0)), ((128, 81), (0, 2))):
            same(getattr(F, name)(t, s, axes), getattr(N, name)(x, s, axes), (name, s, axes))


def test_scale_stays_lazy(dev, rng):
    """A transform there and back, with what is done between."""
    x = rng.normal(size=16)
    t = td.asarray(x)
    k = F.rfftfreq(16)
    same(F.irfft(F.rfft(t) * (k < 0.3)), N.irfft(N.rfft(x) * (N.rfftfreq(16) < 0.3)))


def test_frequencies(dev):
    x = np.arange(30).reshape(5, 6)
    t = td.asarray(x)
    for n in (1, 4, 5):
        same(F.fftfreq(n, 0.3), N.fftfreq(n, 0.3))
        same(F.rfftfreq(n, 0.3), N.rfftfreq(n, 0.3))
    assert F.fftfreq(4, dtype="f4").dtype == np.float32
    for axes in (None, 0, -1, (0, 1), (1,)):
        same(F.fftshift(t, axes), N.fftshift(x, axes))
        same(F.ifftshift(t, axes), N.ifftshift(x, axes))


ERRORS = ["fft(x, 0)", "fft(x, axis=3)", "fft(x, norm='none')", "hfft(x, norm='none')", "fftn(x, (2, 3), (0,))", "fftn(x, axes=(0, 5))",
          "rfft(x * 1j)", "fftfreq(1.5)", "irfft(x[..., :1])", "fft(x[0, 0])", "rfftn(x, axes=())"]  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_errors(dev, text):
    x = np.ones((3, 4))

    def outcome(m, x):
        try:
            eval(f"m.{text}")
        except Exception as e:
            return next((k for k in (IndexError, ValueError, TypeError) if isinstance(e, k)), type(e))
        return None

    want = outcome(N, x)
    assert want and outcome(F, td.asarray(x)) is want


def test_empty(dev):
    for shape, axis in (((0, 4), 1), ((2, 0, 3), 2)):
        x = np.zeros(shape)
        same(F.fft(td.asarray(x), axis=axis), N.fft(x, axis=axis))
        same(F.rfft(td.asarray(x), axis=axis), N.rfft(x, axis=axis))
        same(F.irfft(td.asarray(x), axis=axis), N.irfft(x, axis=axis))


def test_plans_are_bounded(dev):
    if dev == "cpu":
        return
    most = _core._fourier_plans(dev)[1]
    x = np.arange(most + 20.0)
    t = td.asarray(x)
    for n in [*range(1, most + 20), 1, 2, 3]:
        same(F.fft(t[:n]), N.fft(x[:n]))
    assert _core._fourier_plans(dev) == (most, most)


def test_in_a_recording(dev, rng):
    """A transform can be recorded: its workspace is the recording's, its plan stays."""
    f = td.graph(lambda x: F.ifft(F.fft(x) * 2).real + 1)
    for _ in range(3):
        x = rng.normal(size=12)
        if dev == "cpu":
            with pytest.raises(ValueError, match="captured"):
                f(td.asarray(x))
            return
        same(f(td.asarray(x)), 2 * x + 1)


def test_in_a_profile(dev):
    if dev == "cpu":
        return
    with td.profile() as p:
        F.fft(td.ones(8, "c8"))
        td.linalg.inv(td.eye(2))
        td.synchronize()
    kinds = {r.kind: r.name for r in p.records}
    assert kinds["fourier"] == "fourier" and kinds["solve"] == "getrs"


class Side(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("stride", ctypes.POINTER(ctypes.c_int64))]


class Job(ctypes.Structure):
    """td_ducc_job of src/dev/lib/ducc.h."""

    _fields_ = [("kind", ctypes.c_int), ("wide", ctypes.c_int), ("inverse", ctypes.c_int), ("ndim", ctypes.c_int), ("naxes", ctypes.c_int),
                ("axes", ctypes.POINTER(ctypes.c_int)), ("factor", ctypes.c_double), ("in_", Side), ("out", Side),
                ("threads", ctypes.c_int), ("parallel", ctypes.c_void_p)]  # fmt: skip


@pytest.mark.parametrize("level", ["base", "avx2"])
@pytest.mark.parametrize("dt", ["f4", "f8", "c8", "c16"])
def test_levels_of_vector_instructions(rng, level, dt):
    """The code for every CPU is tested where a better one is at hand, too."""
    f = getattr(ctypes.CDLL(pathlib.Path(td.__file__).parent / "libtreadle_fft.so"), f"td_ducc_{level}", None)
    if f is None or (level == "avx2" and "avx2" not in pathlib.Path("/proc/cpuinfo").read_text()):
        pytest.skip("not of this machine")

    def side(a):
        ints = lambda values: (ctypes.c_int64 * a.ndim)(*values)  # noqa: E731
        return Side(a.ctypes.data, ints(a.shape), ints(n // a.itemsize for n in a.strides))

    for shape, axes in (((64,), (0,)), ((1009,), (0,)), ((30, 77), (1,)), ((30, 77), (0,)), ((12, 10, 14), (2, 0, 1))):
        x = draw(rng, shape, dt)
        for inverse in (False, True):
            want = (np.fft.ifftn if inverse else np.fft.fftn)(x, axes=axes, norm="ortho").astype(np.result_type(dt, "c8"))
            out = np.empty_like(want)
            job = Job(kind=3 if x.dtype.kind == "f" else 0, wide=x.dtype in ("f8", "c16"), inverse=inverse, ndim=x.ndim,
                      naxes=len(axes), axes=(ctypes.c_int * len(axes))(*axes), in_=side(x), out=side(out), threads=1,
                      factor=math.prod(shape[k] for k in axes) ** -0.5)  # fmt: skip
            assert f(ctypes.byref(job), ctypes.create_string_buffer(256), ctypes.c_size_t(256)) == 0
            tol = 1e-4 if out.dtype == "c8" else 1e-11
            np.testing.assert_allclose(out, want, rtol=tol, atol=tol)
