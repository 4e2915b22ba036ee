"""Arrays whose elements stay on the host: windows, chunks, results on the host; differential against NumPy."""

import _thread
import asyncio
import concurrent.futures
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import treadle as td
from treadle import _core

N, M = 37, 6

EXPRESSIONS = {
    "sum": lambda np, x, y: x.sum(),
    "sum0": lambda np, x, y: x.sum(0),
    "sum1": lambda np, x, y: x.sum(1),
    "keep": lambda np, x, y: x.sum(0, keepdims=True),
    "mean": lambda np, x, y: x.mean(),
    "mean0": lambda np, x, y: x.mean(0),
    "std": lambda np, x, y: x.std(0),
    "var": lambda np, x, y: x.var(ddof=1),
    "prod": lambda np, x, y: x.prod(0),
    "min": lambda np, x, y: x.min(0),
    "max": lambda np, x, y: x.max(),
    "any": lambda np, x, y: (x > 0.9).any(0),
    "all": lambda np, x, y: (x > 0.1).all(),
    "count": lambda np, x, y: np.count_nonzero(x > 0.5, axis=0),
    "argmin": lambda np, x, y: x.argmin(),
    "argmax0": lambda np, x, y: x.argmax(0),
    "argmax1": lambda np, x, y: x.argmax(1),
    "map": lambda np, x, y: x * 2 + y,
    "standard": lambda np, x, y: (x - x.mean(0)) / x.std(0),
    "standard_sum": lambda np, x, y: ((x - x.mean(0)) / x.std(0)).max(),
    "rows": lambda np, x, y: x - x.mean(1, keepdims=True),
    "rows_sum": lambda np, x, y: (x / x.sum(1, keepdims=True)).sum(0),
    "outer": lambda np, x, y: (x[:, :, None] * y[:, None, :]).sum(0),
    "transposed": lambda np, x, y: (x.T + 1).sum(1),
    "transposed_map": lambda np, x, y: x.T * 3,
    "iota": lambda np, x, y: x + np.arange(N)[:, None] * 0.1,
    "iota_float": lambda np, x, y: (x.T * np.arange(0.1, 0.1 + 0.3 * N - 0.1, 0.3)).T,
    "sliced": lambda np, x, y: x[3:30:2, 1:] * y[4:31:2, :-1],
    "reversed": lambda np, x, y: x[::-1] - y,
    "ravel": lambda np, x, y: x.ravel().sum(),
    "where": lambda np, x, y: np.where(x > y, x, -y),
    "shape3": lambda np, x, y: x.reshape(N, 2, 3).max((0, 2)),
    "integers": lambda np, x, y: (x * 10).astype(np.int32).sum(0),
    "complex": lambda np, x, y: (x + 1j * y).mean(0),
    "complex_std": lambda np, x, y: (x + 1j * y).std(),
    "whole": lambda np, x, y: x - x[0] + y[-1],
    "nothing": lambda np, x, y: x[:0].sum(0),
}


class Reader:
    """What Zarr's and HDF5's arrays are: a shape, a dtype, slices with positive steps."""

    def __init__(self, a):
        self.a, self.shape, self.dtype, self.read = a, a.shape, a.dtype, 0

    def __getitem__(self, box):
        assert all(s.step > 0 for s in box)
        self.read += self.a[box].nbytes
        return self.a[box]


def sources(kind, dtype):
    rng = np.random.default_rng(3)
    a, b = rng.random((N, M)).astype(dtype), rng.random((N, M)).astype(dtype)
    if kind == "fortran":
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    elif kind == "strided":
        a, b = (np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3] for x in (a, b))
    return (a, b), tuple(map(Reader, (a, b))) if kind == "reader" else (a, b)


NULLS = "standard_sum argmax0 keep rows iota_float transposed complex_std".split()  # it interprets: a few are enough


def cases():
    for name in EXPRESSIONS:
        for kind in ("memory", "fortran", "strided", "reader"):
            yield pytest.param("cpu", name, kind, id=f"cpu-{name}-{kind}")
    for name in NULLS:
        for kind in ("memory", "reader"):
            yield pytest.param("null", name, kind, id=f"null-{name}-{kind}")


@pytest.mark.parametrize(("device", "name", "kind"), list(cases()))
def test_chunks_give_numpys_values(device, name, kind):
    (a, b), given = sources(kind, np.float32 if kind == "memory" else np.float64)
    want = EXPRESSIONS[name](np, a, b)
    with td.device(device):
        got = td.stream(lambda x, y: EXPRESSIONS[name](td, x, y), given, chunk=8)
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got.get(), want, rtol=2e-5, atol=1e-6)


# ---- what readers may give ----

GIVEN = {  # what a reader of shape (6, 4) gives for `n` rows: for a float64 source, for an int32 source
    "None": (lambda n: None, "NoneType", "NoneType"),
    "a number": (lambda n: 1, r"shape \(\) where", r"shape \(\) where"),
    "one row": (lambda n: np.ones((1, 4), "i4"), r"shape \(1, 4\) where", r"shape \(1, 4\) where"),
    "a row too many": (lambda n: np.ones((n + 1, 4), "i4"), r"shape \(\d, 4\) where", r"shape \(\d, 4\) where"),
    "flat": (lambda n: np.ones(4 * n, "i4"), "shape", "shape"),
    "fractions": (lambda n: np.full((n, 4), 1.9), 1.9, "gave float64 elements"),
    "complex": (lambda n: np.full((n, 4), 1j), "gave complex128", "gave complex128"),
    "text": (lambda n: np.full((n, 4), "3"), "gave <U1", "gave <U1"),
    "objects": (lambda n: np.full((n, 4), None), "gave object", "gave object"),
    "a masked element": (lambda n: np.ma.masked_equal(np.arange(4 * n).reshape(n, 4), 2), "masked", "masked"),
    "no masked element": (lambda n: np.ma.masked_equal(np.full((n, 4), 3), 2), 3, 3),
    "large integers": (lambda n: np.full((n, 4), 2**40), 2**40, "gave 1099511627776"),
    "small integers": (lambda n: np.full((n, 4), 7), 7, 7),
    "lists": (lambda n: [[5, 5, 5, 5]] * n, 5, 5),
    "our arrays": (lambda n: td.full((n, 4), 2, "int32"), 2, 2),
    "another byte order": (lambda n: np.full((n, 4), 6, ">i4"), 6, 6),
}


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_what_a_reader_gives_is_checked(dev, name, dtype):
    class Gives:
        shape = (6, 4)

        def __getitem__(self, box):
            return GIVEN[name][0](box[0].stop - box[0].start)

    Gives.dtype = np.dtype(dtype)
    want = GIVEN[name][1 + (dtype == "int32")]
    for run in (lambda x: td.stream(lambda x: x.max(), x, chunk=4), lambda x: td.from_host(x)[2:4].max()):
        if isinstance(want, str):
            with pytest.raises((TypeError, ValueError, OverflowError), match=want):
                run(Gives()).get()
        else:
            assert run(Gives()).get() == want


class Awaited:
    """A reader whose elements come after some time, as those of an object store do."""

    def __init__(self, a, error=None):
        self.a, self.shape, self.dtype, self.error, self.under_way, self.most = a, a.shape, a.dtype, error, 0, 0

    async def __getitem__(self, box):
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.01)
        self.under_way -= 1
        if self.error:
            raise self.error
        return self.a[box]


@pytest.mark.parametrize("shape", [(101, 3), (5,), (1, 4), (40, 2, 3)])
def test_readers_that_are_awaited(dev, shape):
    a = np.random.default_rng(3).random(shape)
    source = Awaited(a)
    np.testing.assert_allclose(td.stream(lambda x: x.sum(0), source).get(), a.sum(0))
    assert source.most == min(8, shape[0])  # at once
    assert np.array_equal(td.from_host(source)[::-2].get(), a[::-2])
    assert np.array_equal(td.stream(lambda x: x * 2, source, chunk=3, rows=True).get(), a * 2)


def test_readers_that_are_awaited_fail(dev):
    with pytest.raises(OSError, match="no such object"):
        td.from_host(Awaited(np.ones((9, 2)), OSError("no such object"))).sum().get()
    with pytest.raises(TypeError, match="gave NoneType"):
        td.from_host(type("Nothing", (Awaited,), {"__getitem__": nothing})(np.ones((9, 2)))).sum().get()


async def nothing(self, box):
    """A reader's __getitem__ that forgets to return."""


def test_zarrs_asynchronous_arrays(dev, tmp_path):
    zarr = pytest.importorskip("zarr")
    z = zarr.create_array(store=str(tmp_path / "z.zarr"), shape=(100, 4), dtype="f8", chunks=(10, 4))
    z[...] = np.arange(400.0).reshape(100, 4)
    assert np.array_equal(td.from_host(z.async_array).sum(0).get(), z[...].sum(0))


@pytest.mark.parametrize("kind", ["memory", "packed", "reader", "h5py"])
def test_records(dev, kind, tmp_path):
    a = np.zeros((50, 3), np.dtype([("x", "f4"), ("n", "i4"), ("p", "f8", (2,))], align=kind != "packed"))
    rng = np.random.default_rng(4)
    a["x"], a["n"], a["p"] = rng.random(a.shape), rng.integers(0, 9, a.shape), rng.random((*a.shape, 2))
    source = Reader(a) if kind == "reader" else a
    if kind == "h5py":
        file = pytest.importorskip("h5py").File(tmp_path / "a.h5", "w")
        source = file.create_dataset("a", data=a)
    records = td.from_host(source)
    assert records.shape == a.shape and records.dtype == a.dtype and len(records) == 50
    for name in ("x", "n", "p"):
        assert np.array_equal(records[name].get(), a[name]) and records[name].dtype == a[name].dtype
    got = td.stream(lambda r: (r["x"][..., None] * r["p"]).sum(0), source, chunk=8)
    np.testing.assert_allclose(got.get(), (a["x"][..., None] * a["p"]).sum(0))
    with pytest.raises(KeyError, match="no field 'y' among x, n, p"):
        records["y"]


def test_out_is_not_cut_in_silence(dev):
    for out in (np.zeros((4, 2), "i8"), Reader(np.zeros((4, 2), "i8"))):
        with pytest.raises(TypeError, match=r"result of float64 is not cast to out=, of int64"):
            td.stream(lambda x: x * 1.5, np.ones((4, 2)), out=out)


def test_views_as_bytes_are_numpys(dev):
    a = np.arange(6.0).reshape(2, 3)
    for dtype in ("V8", [("low", "u4"), ("high", "u4")]):
        x = td.asarray(a)
        got = x.view(dtype)
        assert np.array_equal(got, a.view(dtype)) and got.dtype == a.view(dtype).dtype
        assert got.flags.writeable == x.device.host  # the same memory; that of a device is copied
        if x.device.host:
            y = x + 1  # before the write
            got.view("f8")[:] = 7
            assert np.array_equal(y.get(), a + 1) and (x.get() == 7).all()


# ---- how often a source is read ----


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_standardising_and_reducing_reads_a_source_twice(dev, dtype):
    source = Reader(np.random.default_rng(0).random((100, 8)).astype(dtype))
    td.stream(lambda x: ((x - x.mean(0)) / x.std(0)).sum(), source, chunk=16).get()
    assert source.read == 2 * source.a.nbytes


def test_reductions_that_wait_are_computed_in_the_pass_of_one(dev):
    source = Reader(np.random.default_rng(0).random((100, 8)))
    made = td.stream(lambda x: (x.min(), x.argmax(0), x.var(), (x * 2).sum(1)), source, chunk=16)
    assert source.read == 2 * source.a.nbytes  # rows of a result are no reduction over rows
    a = source.a
    for got, want in zip(made, (a.min(), a.argmax(0), a.var(), (a * 2).sum(1)), strict=True):
        np.testing.assert_allclose(got.get(), want)


def test_slices_read_what_they_hold(dev):
    source = Reader(np.arange(600.0).reshape(100, 6))
    x = td.from_host(source)
    assert np.array_equal(x[10:14, ::2].get(), source.a[10:14, ::2])
    assert source.read == 12 * 8
    assert np.array_equal((x[7] + x[-1]).get(), source.a[7] + source.a[-1])
    assert source.read == 24 * 8


def test_a_source_is_what_it_is_when_it_is_read_and_is_never_written_to():
    a = np.ones((4, 3), np.float32)
    x = td.from_host(a, device="cpu")
    y = x + 1
    a[0] = 5
    assert y.get()[0, 0] == 6
    x[1] = 7
    x += 1
    assert a[1, 0] == 1 and x.get()[1, 0] == 8 and x.get()[0, 0] == 6


# ---- limits ----


@pytest.fixture
def limited(dev):
    """A device that holds a few megabytes; what a test computes does not fit."""
    before = td.memory.limit()
    td.memory.trim()
    td.memory.limit(td.memory.stats()["used"] + (10 << 20))
    yield dev
    td.memory.limit(before)


def big(columns=32):
    return np.random.default_rng(5).standard_normal((120000, columns), dtype=np.float32)


def test_what_does_not_fit_streams_and_stays_under_the_limit(limited):
    a = big()
    x = td.from_host(a)
    z = (x - x.mean(0)) / x.std(0)
    np.testing.assert_allclose(float((z * z).sum()), a.size, rtol=1e-4)
    assert td.memory.stats()["used"] <= td.memory.limit()
    np.testing.assert_allclose(z[110000:110003, ::5].get(), ((a - a.mean(0)) / a.std(0))[110000:110003, ::5], rtol=1e-3,
                               atol=1e-4)  # fmt: skip


def test_results_that_do_not_fit_go_to_the_host(limited):
    a = big()
    y = td.from_host(a) * 2
    td.evaluate(y)
    assert np.array_equal(y[17].get(), a[17] * 2)
    np.testing.assert_allclose(float(y.max()), a.max() * 2)
    assert np.array_equal(y.get(), a * 2)
    assert np.array_equal((td.from_host(a) + 1).get(), a + 1)  # straight into NumPy's memory


def test_one_operand_of_a_product_may_be_too_large(limited):
    a = big(16) if limited == "null" else big()
    x, b = td.from_host(a), np.linspace(-1, 1, 2 * a.shape[1], dtype=np.float32).reshape(-1, 2)
    np.testing.assert_allclose((x @ td.asarray(b)).get(), a @ b, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose((td.asarray(b.T.copy()) @ x.T).get(), b.T @ a.T, rtol=1e-3, atol=1e-4)
    if limited == "cpu":
        np.testing.assert_allclose((x.T @ x).get(), a.T @ a, rtol=1e-2, atol=1)


def test_sorts_and_histograms(limited):
    a = big()
    x = td.from_host(a)
    counts, edges = td.histogram(x, bins=16)
    want, ends = np.histogram(a, bins=16)
    assert np.array_equal(counts.get(), want) and np.allclose(td.asnumpy(edges), ends)
    assert np.array_equal(td.sort(td.from_host(a.reshape(-1))).get(), np.sort(a.reshape(-1)))
    assert np.array_equal(td.sort(x, axis=1).get(), np.sort(a, axis=1))
    places = (np.abs(a) * 10).astype(np.int64)
    assert np.array_equal(td.bincount(td.from_host(places.reshape(-1))).get(), np.bincount(places.reshape(-1)))


def test_numpy_gets_a_copy_of_what_the_limit_keeps_from_the_cpu():
    values = np.random.default_rng(0).standard_normal(4_000_000).astype("float32")
    with td.device("cpu"):
        td.memory.limit(8 << 20)
        try:
            x = td.from_host(values)
            np.testing.assert_array_equal(np.asarray(np.argsort(x)), np.argsort(values, kind="stable"))
            np.testing.assert_array_equal(np.asarray(x), values)
            with pytest.raises(MemoryError):
                np.asarray(x, copy=False)
        finally:
            td.memory.limit(None)


@pytest.mark.parametrize("dtype", ["int16", "uint8", "float16", "float64"])
def test_runs_merge_in_every_dtype(dtype):
    rng = np.random.default_rng(1)
    a = (rng.standard_normal(1 << 20) * 50).astype(dtype)
    if a.dtype.kind == "f":
        a[::1001] = np.nan
    with td.device("null"):
        before = td.memory.limit()
        td.memory.trim()
        td.memory.limit(td.memory.stats()["used"] + (8 << 20))
        try:
            assert np.array_equal(td.sort(td.from_host(a)).get(), np.sort(a), equal_nan=a.dtype.kind == "f")
        finally:
            td.memory.limit(before)


# ---- values whose rows a function computes ----

WIDE = 64
WEIGHTS = np.random.default_rng(11).random((WIDE, 24))
ROWWISE = {
    "sort": lambda np, x: np.sort(x, axis=1),
    "sort along 0": lambda np, x: np.sort(x.T, axis=0),
    "argsort": lambda np, x: np.argsort(x, axis=1, kind="stable"),
    "cumsum": lambda np, x: np.cumsum(x, axis=1),
    "cumprod": lambda np, x: np.cumprod(x, axis=-1),
    "partition": lambda np, x: np.partition(x, [5, 40], axis=1)[:, [5, 40]],
    "argpartition": lambda np, x: np.argpartition(x, 5, axis=1)[:, 5],
    "product": lambda np, x: x @ WEIGHTS,
    "product with a vector": lambda np, x: x @ WEIGHTS[:, 0],
    "product of columns": lambda np, x: WEIGHTS.T @ x.T,
    "product, then more": lambda np, x: np.maximum(x @ WEIGHTS - 7, 0).sum(0),
    "quantile": lambda np, x: np.quantile(x, 0.3, axis=1),
    "quantiles": lambda np, x: np.quantile(x, [0.3, 0.9], axis=1, keepdims=True),
    "percentile": lambda np, x: np.percentile(x, 20, axis=1),
    "median": lambda np, x: np.median(x, axis=-1),
    "median of two axes": lambda np, x: np.median(x.reshape(-1, 2, WIDE // 2), axis=(1, 2)),
    "nanmedian": lambda np, x: np.nanmedian(np.where(x < 0.1, np.nan, x), axis=1),
    "nanquantile": lambda np, x: np.nanquantile(x, 0.5, axis=1),
    "rfft": lambda np, x: np.fft.rfft(x, axis=1),
    "irfft": lambda np, x: np.fft.irfft(x, n=20, axis=1),
    "fft of an expression": lambda np, x: abs(np.fft.fft(x * 2 - x.mean(0), axis=1)),
    "fft2": lambda np, x: np.fft.fft2(x.reshape(-1, 8, WIDE // 8)),
    "roll": lambda np, x: np.roll(x, 3, axis=1),
    "roll of two axes": lambda np, x: np.roll(x.reshape(-1, 4, WIDE // 4), (1, -2), axis=(1, 2)),
    "gradient": lambda np, x: np.gradient(x, 0.5, axis=1),
    "corner of sorted": lambda np, x: np.sort(x, axis=1)[2:5, :3],
    "corner of an expression of it": lambda np, x: (np.sort(x, axis=1) * 2 + x)[2:5, 1:3],
    "sort of an expression": lambda np, x: np.sort(x * 2, axis=1) - x.mean(0),
    "sums of sorted": lambda np, x: np.sort(x, axis=1).sum(0),
    "columns of sorted": lambda np, x: np.sort(x, axis=1)[:, 3:60:7],
    "rows of sorted": lambda np, x: np.sort(x, axis=1)[5:900:3],
    "rows backwards": lambda np, x: np.sort(x, axis=1)[700:20:-3],
    "picked rows of sorted": lambda np, x: np.sort(x, axis=1)[[700, 5, 5, -1]],
    "picked columns of sorted": lambda np, x: np.sort(x, axis=1)[:, [7, 1]],
    "sorted where": lambda np, x: np.sort(x, axis=1)[x[:, 0] > 0.9],
    "backwards": lambda np, x: x[-1:-60:-2],
    "backwards through all": lambda np, x: x[::-1].sum(1),
    "both backwards": lambda np, x: x[::-1, ::-1] * 2,
    "weighed counts": lambda np, x: np.bincount((x * 9).astype("int64").ravel(), weights=x.ravel()),
    "weighed bins": lambda np, x: np.histogram(x, bins=7, weights=x * 2)[0],
    "weighed unequal bins": lambda np, x: np.histogram(x, bins=np.array([0, 0.1, 0.5, 1.0]), weights=x)[0],
}
ROWWISE_NULLS = "sort;argsort;product;median;sums of sorted;columns of sorted;backwards;weighed counts".split(";")


@pytest.fixture(scope="module")
def wide():
    return np.random.default_rng(10).random((12000, WIDE))


def rowwise_cases():
    for name in ROWWISE:
        for kind in ("memory", "reader", "fortran"):
            yield pytest.param("cpu", name, kind, id=f"cpu-{name}-{kind}")
    for name in ROWWISE_NULLS:
        yield pytest.param("null", name, "memory", id=f"null-{name}")


@pytest.mark.parametrize(("device", "name", "kind"), list(rowwise_cases()))
def test_rows_that_a_function_computes(device, name, kind, wide):
    a = np.asfortranarray(wide) if kind == "fortran" else wide
    a = a[:8000] if device == "null" else a
    want = ROWWISE[name](np, a)
    with td.device(device):
        before = td.memory.limit()
        td.memory.trim()
        td.memory.limit(td.memory.stats()["used"] + max(a.nbytes // 2, 5 << 19))
        try:
            out = np.zeros(want.shape, want.dtype)
            source = Reader(a) if kind == "reader" else a
            got = td.stream(lambda x: ROWWISE[name](td, x), source, out=out)
            again = ROWWISE[name](td, td.from_host(source)).get()
        finally:
            td.memory.limit(before)
    assert got is out and again.dtype == want.dtype
    for r in (got, again):
        np.testing.assert_allclose(r, want, rtol=1e-9, atol=1e-9)


def anonymous():
    """Bytes of this process's memory that show no file."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("RssAnon"))


@pytest.mark.parametrize("name", ["sort", "argsort", "cumsum", "product", "median", "rfft", "sort of an expression"])
def test_results_go_out_chunk_by_chunk(name, tmp_path):
    """A source of 128 MB by a limit of 32."""
    shape = (1 << 18, WIDE)
    a = np.lib.format.open_memmap(tmp_path / "a.npy", mode="w+", dtype="f8", shape=shape)
    a[...] = np.random.default_rng(1).random((1 << 12, WIDE)).repeat(64, 0)
    small = ROWWISE[name](np, a[:8])
    out = np.lib.format.open_memmap(tmp_path / "o.npy", mode="w+", dtype=small.dtype, shape=(len(a), *small.shape[1:]))
    most, done = [0], threading.Event()

    def watch():
        while not done.wait(0.001):
            most[0] = max(most[0], anonymous())

    with td.device("cpu"):
        td.stream(lambda x: ROWWISE[name](td, x), a[:100], out=out[:100])  # libraries load, threads start
        td.memory.trim()
        td.memory.limit(td.memory.stats()["used"] + (32 << 20))
        begun = anonymous()
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            td.stream(lambda x: ROWWISE[name](td, x), a, out=out)
        finally:
            done.set()
            watcher.join()
            td.memory.limit(None)
    if "expression" not in name:
        np.testing.assert_allclose(out[-8:], ROWWISE[name](np, a[-8:]))
    assert most[0] - begun < 64 << 20


# ---- a function of each chunk ----


@pytest.mark.parametrize("chunk", [None, 7, 1000])
@pytest.mark.parametrize("kind", ["memory", "reader"])
def test_rows_by_a_function(dev, kind, chunk):
    a = np.random.default_rng(3).random((300, 12))
    source = Reader(a) if kind == "reader" else a
    sizes = set()

    def f(x, y):
        sizes.add(len(x))
        return {"spectra": td.fft.rfft(x, axis=1), "places": (td.argmax(x, 1), (x + y).sum(1))}

    got = td.stream(f, (source, a), chunk=chunk, rows=True)
    np.testing.assert_allclose(got["spectra"].get(), np.fft.rfft(a, axis=1), atol=1e-12)
    assert chunk is None or sizes == {min(chunk, 300), 300 % chunk or chunk}


def test_rows_by_a_function_go_out(dev, tmp_path):
    a = np.random.default_rng(3).random((300, 12))
    out, total = np.zeros((300, 7), complex), np.zeros(300)
    made = td.stream(lambda x: (td.fft.rfft(x, axis=1), x.sum(1)), a, out=(out, total), chunk=64, rows=True)
    assert made[0] is out and made[1] is total
    np.testing.assert_allclose(out, np.fft.rfft(a, axis=1), atol=1e-12)
    np.testing.assert_allclose(total, a.sum(1))
    zarr = pytest.importorskip("zarr")
    z = zarr.create_array(store=str(tmp_path / "z.zarr"), shape=(300, 12), dtype="f8", chunks=(50, 12))
    assert td.stream(lambda x: td.sort(x, axis=1), a, out=z, rows=True) is z
    assert np.array_equal(z[:], np.sort(a, axis=1))
    assert np.array_equal(td.stream(lambda x: x * 2, z, rows=True).get(), z[:] * 2)
    bits = td.stream(lambda x: x.astype("bfloat16"), a, chunk=64, rows=True)
    assert bits.dtype == td.dtype(td.bfloat16) and np.allclose(bits.astype("float32").get(), a, rtol=1e-2)
    empty = td.stream(lambda x: x * 2, a[:0], rows=True)
    assert empty.shape == (0, 12)


@pytest.mark.parametrize(("f", "error", "match"), [
    (lambda x: x.sum(0), ValueError, r"f gave shape \(12,\) for 64 rows"),
    (lambda x: x[1:], ValueError, r"f gave shape \(63, 12\) for 64 rows"),
    (lambda x: x.sum(), ValueError, r"f gave shape \(\) for 64 rows"),
    (lambda x: 3, TypeError, "returns arrays, not int"),
])  # fmt: skip
def test_rows_that_are_none(dev, f, error, match):
    with pytest.raises(error, match=match):
        td.stream(f, np.ones((300, 12)), chunk=64, rows=True)
    with pytest.raises(ValueError, match="sources of 300, 200 rows"):
        td.stream(lambda x, y: x, (np.ones(300), np.ones(200)), rows=True)


# ---- a source's and a target's own chunks ----


def test_chunks_of_readers_and_writers_are_kept():
    a = np.random.default_rng(3).random((60000, 8))

    class Chunked(Reader):
        chunks, boxes = (700, 8), None

        def __getitem__(self, box):
            self.boxes.append((box[0].start, box[0].stop))
            return super().__getitem__(box)

        def __setitem__(self, box, values):
            self.boxes.append((box[0].start, box[0].stop))
            self.a[box] = values

    for reads, writes in ((Chunked, Reader), (Chunked, Chunked), (Reader, Chunked)):
        source, out = reads(a), writes(np.zeros_like(a))
        source.boxes, out.boxes = [], []
        if writes is Reader:
            out = out.a
        before = td.memory.limit()
        td.memory.trim()
        td.memory.limit(td.memory.stats()["used"] + (2 << 20))
        try:
            with td.device("cpu"):
                td.stream(lambda x: x * 2, source, out=out)
        finally:
            td.memory.limit(before)
        assert np.array_equal(getattr(out, "a", out), a * 2)
        boxes = source.boxes + getattr(out, "boxes", [])
        assert len(boxes) > 2 and all(lo % 700 == 0 for lo, _ in boxes)


# ---- indexing, cumulative operations, batches, orders ----

ROWS, COLS = 40000, 32
PICKED = np.random.default_rng(7).integers(-ROWS, ROWS, 3000)
MANY = np.random.default_rng(8).integers(0, ROWS, 2 * ROWS)
ACROSS = np.random.default_rng(9).integers(-COLS, COLS, 3000)

# What is larger than the limit stays outside of the result, or makes one that is larger too.
LARGE = {
    "rows": lambda np, x: x[PICKED],
    "rows of rows": lambda np, x: x[PICKED][PICKED[:99] % 3000][::-3, 1:],
    "columns of rows": lambda np, x: x[PICKED][:, [3, 1, 1]],
    "columns": lambda np, x: x[:, [5, 1]].sum(0),
    "points": lambda np, x: x[PICKED, ACROSS],
    "table": lambda np, x: x[PICKED.reshape(50, 60)],
    "take": lambda np, x: np.take(x, PICKED, axis=0).max(1),
    "expression": lambda np, x: (x * 2 + 1)[PICKED],
    "with a row": lambda np, x: (x - np.arange(float(COLS), dtype="float32"))[PICKED],
    "with places": lambda np, x: (x + np.arange(ROWS, dtype="float32")[:, None])[PICKED],
    "sums": lambda np, x: x.sum(1)[PICKED],
    "more than there are": lambda np, x: x[MANY] * 2,
    "table of more": lambda np, x: x[MANY.reshape(2, -1)].min((0, 2)),
    "mask": lambda np, x: x[x > 0.5],
    "mask of rows": lambda np, x: x[x[:, 0] > 0.5],
    "empty mask": lambda np, x: x[x > 2],
    "places": lambda np, x: np.flatnonzero(x > 0.9),
    "cumsum": lambda np, x: np.cumsum(x, dtype="float64"),
    "cumsum 0": lambda np, x: np.cumsum(x, 0, dtype="float64"),
    "cumsum 1": lambda np, x: np.cumsum(x, 1, dtype="float64"),
    "cumsum of ints": lambda np, x: np.cumsum((x * 10).astype("int32"), 0),
    "cumprod": lambda np, x: np.cumprod(x * 0.002 + 0.999, 0, dtype="float64"),
    "accumulate": lambda np, x: np.maximum.accumulate(x, 0),
    "batch": lambda np, x: x.reshape(-1, 20, COLS) @ np.ones((COLS, 3), "float32"),
    "batches": lambda np, x: x.reshape(-1, 20, COLS).transpose(0, 2, 1) @ x.reshape(-1, 20, COLS),
    "argsort": lambda np, x: np.argsort(x.reshape(-1), kind="stable"),
    "argsort of rows": lambda np, x: np.argsort(x.reshape(2, -1), axis=1, kind="stable"),
    "sorted rows": lambda np, x: np.sort(x.reshape(2, -1), axis=1),
}
LARGE_NULLS = "rows;columns of rows;points;expression;table of more;mask;places;cumsum 0;cumsum 1;argsort".split(";")


def large_cases():
    for name in LARGE:
        for kind in ("memory", "reader"):
            yield pytest.param("cpu", name, kind, id=f"cpu-{name}-{kind}")
    for k, name in enumerate(LARGE_NULLS):
        yield pytest.param("null", name, "reader" if k % 2 else "memory", id=f"null-{name}")
    yield pytest.param("null", "argsort of rows", "memory", id="null-argsort of rows")


@pytest.fixture(scope="module")
def large():
    a = np.random.default_rng(6).random((ROWS, COLS), dtype=np.float32)
    a[::7] = np.round(a[::7], 2)  # equal ones
    return a


@pytest.mark.parametrize(("device", "name", "kind"), list(large_cases()))
def test_sources_larger_than_the_limit(device, name, kind, large):
    a = large[:, :8].copy() if device == "null" and "sort" in name else large
    want = LARGE[name](np, a)
    with td.device(device):
        before = td.memory.limit()
        td.memory.trim()
        td.memory.limit(td.memory.stats()["used"] + (4 << 20))
        try:
            got = LARGE[name](td, td.from_host(Reader(a) if kind == "reader" else a))
            assert got.shape == want.shape and got.dtype == want.dtype
            got = got.get()
        finally:
            td.memory.limit(before)
    if "sort" in name or want.dtype.kind in "ib":
        assert np.array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=2e-5)


def test_indexing_reads_what_it_names(limited):
    source = Reader(big(64))
    x = td.from_host(source)
    assert np.array_equal(x[[7, 5, 7, -1]].get(), source.a[[7, 5, 7, -1]])
    assert source.read == 4 * 64 * 4  # rows 5 to 7 in one piece, and the last one
    with pytest.raises(IndexError, match="index 120000 is out of bounds for axis 0 with size 120000"):
        x[[0, 120000]]
    assert x[td.asarray([], dtype="int64")].get().shape == (0, 64)


def test_a_mask_that_changes_between_its_two_readings(limited):
    a = big()

    class Late(Reader):
        def __getitem__(self, box):
            if box[0].start == 0:
                self.read += 1
            return self.a[box] + (self.read > 1)

    late = Late(a)
    late.read = 0
    with pytest.raises(ValueError, match="select: the mask changed while it was read"):
        td.from_host(a)[td.from_host(late) > 1]


# ---- out= ----


def test_results_go_into_memory_files_and_writers(dev, tmp_path):
    a = np.random.default_rng(2).random((100, 7), dtype=np.float32)
    fortran, wide = np.zeros((100, 7), np.float32, order="F"), np.zeros((100, 14))[:, ::2]
    mapped = np.memmap(tmp_path / "out.dat", np.float32, "w+", shape=(100, 7))
    for out in (fortran, wide, mapped):
        assert td.stream(lambda x: x * 3, a, out=out, chunk=16) is out
        np.testing.assert_allclose(out, a * 3, rtol=1e-6)
    zarr = pytest.importorskip("zarr")
    z = zarr.create_array(store=str(tmp_path / "a.zarr"), shape=a.shape, dtype="f4", chunks=(32, 7))
    z[...] = a
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "b.h5", "w") as f:
        out = f.create_dataset("b", a.shape, "f8")
        td.stream(lambda x: x - 1, z, out=out, chunk=16)
        np.testing.assert_allclose(out[...], a - 1, rtol=1e-6)
        np.testing.assert_allclose(td.from_host(out).mean(0).get(), (a - 1).mean(0, dtype=np.float64), rtol=1e-6)
    total = np.zeros(7)
    td.stream(lambda x: x.sum(0), a, out=total, chunk=16)
    np.testing.assert_allclose(total, a.sum(0), rtol=1e-5)
    with pytest.raises(ValueError, match=r"shape \(100, 7\) does not fit out=, of shape \(7,\)"):
        td.stream(lambda x: x * 3, a, out=total)


# ---- what goes wrong ----


def leaves_nothing(device, f, error, match):
    """f fails so, frees what it had, and what it had failed with works afterwards."""
    td.evaluate()
    before = td.memory.stats(device)["used"]
    with pytest.raises(error, match=match):
        f()
    assert td.memory.stats(device)["used"] <= before


class Failing(Reader):
    def __init__(self, a, error, after):
        super().__init__(a)
        self.error, self.left = error, after

    def __getitem__(self, box):
        self.left -= 1
        if self.left == 0:
            raise self.error
        return super().__getitem__(box)


@pytest.mark.parametrize("error", [OSError("disk gone"), KeyboardInterrupt("now")], ids=["OSError", "KeyboardInterrupt"])
def test_a_reader_that_fails(dev, error):
    a = np.random.default_rng(2).random((100, 7))
    source = Failing(a, error, 4)
    x = td.from_host(source)
    leaves_nothing(dev, lambda: td.stream(lambda x: x.std(0), source, chunk=16), type(error), str(error))
    np.testing.assert_allclose(x.std(0).get(), a.std(0))


def test_a_writer_that_fails(dev):
    class Full:
        shape, dtype = (100, 7), np.dtype("f8")

        def __setitem__(self, box, values):
            if box[0].start:
                raise OSError(28, "No space left on device")

    a = np.random.default_rng(2).random((100, 7))
    leaves_nothing(dev, lambda: td.stream(lambda x: x + 1, a, out=Full(), chunk=16), OSError, "No space left")
    np.testing.assert_allclose(td.stream(lambda x: x + 1, a, chunk=16).get(), a + 1)


NO_ROOM = """
#include <errno.h>
#include <stdint.h>
int posix_fallocate(int fd, int64_t at, int64_t n) { (void)fd, (void)at, (void)n; return ENOSPC; }
int posix_fallocate64(int fd, int64_t at, int64_t n) { return posix_fallocate(fd, at, n); }
"""

FULL_DISK = """
import sys, numpy as np, treadle as td
out = np.memmap(sys.argv[1], np.float64, "w+", shape=(1 << 16, 8))
a = np.ones(out.shape)
try:
    td.stream(lambda x: x + 1, a, out=out, chunk=4096)
except OSError as e:
    assert "no room for the 4194304 bytes of out= in its file: No space left" in str(e), e
else:
    raise SystemExit("no error")
assert not out.any() and float(td.stream(lambda x: x.sum(), a, chunk=4096)) == a.size
"""


def test_a_full_disk_under_out(tmp_path):
    """Touching mapped memory for which a disk has no room would end the process."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("a C compiler makes the full disk")
    (tmp_path / "full.c").write_text(NO_ROOM)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "full.so", tmp_path / "full.c"], check=True)
    r = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path / "out.dat"], capture_output=True, text=True,
                       check=False, timeout=60, env={**os.environ, "LD_PRELOAD": str(tmp_path / "full.so")})  # fmt: skip
    assert r.returncode == 0, r.stderr


def test_an_interruption_in_the_middle(dev):
    a = np.random.default_rng(2).random((400, 7))
    x = td.from_host(a)
    seen = []

    class Slow(Reader):
        def __getitem__(self, box):
            seen.append(box)
            if len(seen) == 3:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # it waits or launches
            return super().__getitem__(box)

    leaves_nothing(dev, lambda: td.stream(lambda x: (x * x).sum(0), Slow(a), chunk=4), KeyboardInterrupt, None)
    assert len(seen) < 100
    np.testing.assert_allclose((x * x).sum(0).get(), (a * a).sum(0))


LONG = {
    "flat sort": lambda x, m: td.sort(x),
    "row sort": lambda x, m: td.evaluate(td.sort(m, axis=1)),
    "flat argsort": lambda x, m: td.argsort(x),
    "partition": lambda x, m: td.evaluate(td.partition(m, 300, axis=1)),
    "product": lambda x, m: m.T @ m,
    "product out": lambda x, m: td.stream(lambda m: m @ WEIGHTS.repeat(16, 0), m, out=np.zeros((len(m), 24))),
    "sorted rows": lambda x, m: td.stream(lambda m: td.sort(m, axis=1), m, out=np.zeros(m.shape)),
}


# The second is what Python sees of a signal that comes just before the main thread begins to wait: no wait ends by it.
HOW = {
    "signal": lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT),
    "overlooked": _thread.interrupt_main,
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("limit", [None, 96 << 20], ids=["all", "limited"])
@pytest.mark.parametrize("name", LONG)
def test_an_interruption_of_long_work(name, limit, how):
    """It arrives within a tenth of a second. A machine with other work to do gets three, and a few trials."""
    a = np.random.default_rng(0).random(1 << 24)  # NumPy sorts it in some two seconds
    with td.device("cpu"):
        x, m = td.from_host(a), td.from_host(a.reshape(-1, 1024))
        td.memory.trim()
        td.memory.limit(limit and td.memory.stats()["used"] + limit)
        try:
            took = []
            while not took or (took[-1] >= 0.3 and len(took) < 4):
                took.append(interrupted(lambda: LONG[name](x, m), HOW[how]))
        finally:
            td.memory.limit(None)
    assert took[-1] < 0.3, took


def interrupted(work, interrupt):
    """Seconds from an interruption to its arrival, in work that is done again and again."""
    sent = []

    def late():
        sent.append(time.monotonic())
        interrupt()

    timer = threading.Timer(0.02, late)
    try:
        timer.start()
        for _ in range(100):  # of what is quick, the next one is interrupted
            work()
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    finally:
        timer.cancel()
    raise AssertionError("no interruption")


INTERRUPTED = """
import signal, threading
import numpy as np, treadle as td
signal.signal(signal.SIGINT, signal.default_int_handler)
a = np.random.default_rng(0).random(1 << 24)
x, m = td.from_host(a, device="cpu"), td.from_host(a.reshape(-1, 1024), device="cpu")
for f in (lambda: td.sort(x), lambda: m @ np.ones((1024, 1024)), lambda: td.argsort(x), lambda: m.T @ m):
    threading.Timer(0.02, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)).start()
    try:
        while True:
            f()
    except KeyboardInterrupt:
        pass
"""


def test_a_program_ends_after_interruptions():
    """BLAS waits for ever where a program ends in the middle of a call on another thread."""
    subprocess.run([sys.executable, "-c", INTERRUPTED], check=True, timeout=60)


def test_nan_in_one_chunk(dev):
    a = np.random.default_rng(2).random((100, 7)) + 0.1
    a[55, 3] = -1
    x = td.from_host(a)
    with td.errstate(invalid="raise"):
        leaves_nothing(dev, lambda: td.stream(lambda x: td.log(x).sum(0), a, chunk=16), FloatingPointError, "invalid value")
    assert np.isnan(td.log(x).sum(0).get()).tolist() == [False, False, False, True, False, False, False]


def test_threads_share_passes(dev):
    a = np.random.default_rng(2).random((200, 5))
    x = td.from_host(Reader(a))
    wait = [x.mean(0), x.std(0), (x - x.mean(0)).max(), x.sum(1)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda y: _core._stream(y, 16).get(), wait * 3))
    for y, want in zip(got, [a.mean(0), a.std(0), (a - a.mean(0)).max(), a.sum(1)] * 3, strict=True):
        np.testing.assert_allclose(y, want)
