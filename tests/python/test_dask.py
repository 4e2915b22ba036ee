"""Dask's arrays with treadle's chunks on a cluster of two processes: operations, random numbers, devices, a worker that is
killed."""

import os
import signal
import sys
import time
import warnings

import numpy as np
import pytest

import treadle as td
import treadle.distributed as dist

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

HOST = np.random.default_rng(0).random((48, 32))


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.worker.daemon": True}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def x(client):
    return dist.from_numpy(HOST, chunks=(16, 16), devices=["cpu"])


def fallbacks():
    return td.fallbacks()


# With x in treadle's chunks or in NumPy's: the same values.
TEXTS = """
np.sin(x) * 2 + x.T.T - x.mean(axis=0) | x.map_blocks(lambda b: b * b.sum()) | x.sum() | x.std(axis=1) | x.argmax(axis=0) |
da.dot(x, x.T) | da.tensordot(x, x, axes=((0,), (0,))) | x.rechunk((48, 8)) | x.rechunk((24, 32)).cumsum(axis=0) |
da.linalg.svd(x.rechunk((16, 32)))[1] | da.concatenate([x, x[::-1]])[3:60:7, [1, 5]] | da.where(x > 0.5, x, 0).max(axis=0) |
x.map_overlap(lambda b: b * 2, depth=1, boundary='periodic')
"""


@pytest.mark.parametrize("text", [t.strip() for t in TEXTS.replace("\n", " ").split("|")])
def test_operations(client, x, text):
    theirs = eval(text, {"x": da.from_array(HOST, chunks=(16, 16)), "da": da, "np": np}).compute(scheduler="synchronous")
    ours = eval(text, {"x": x, "da": da, "np": np}).compute()
    assert isinstance(ours, td._core.ndarray) and ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours.get(), theirs, rtol=1e-9, atol=1e-9)


def test_chunks_are_on_the_workers(client, x):
    client.wait_for_workers(2)
    y = client.persist(x + 1)
    distributed.wait(y)
    assert isinstance(y._meta, td._core.ndarray) and isinstance(x._meta, td._core.ndarray)
    assert len({w for where in client.who_has(y).values() for w in where}) == 2
    assert client.submit(lambda b: type(b).__module__, client.futures_of(y)[0]).result() == "treadle"
    assert all(not rows for rows in client.run(fallbacks).values())


def test_sources(client):
    assert dist.from_numpy(td.arange(10), chunks=4).sum().compute() == 45
    half = dist.from_numpy(np.arange(6, dtype="float16"), chunks=2).compute()
    assert half.dtype == "float16" and half.tolist() == list(range(6))
    back = client.submit(lambda: td.arange(4.0).astype("bfloat16")).result()
    assert str(back.dtype) == str(td.dtype(td.bfloat16)) and back.astype("float32").tolist() == [0, 1, 2, 3]
    assert client.submit(lambda a: (a * 2).sum(), td.zeros((0, 3))).result() == 0


def test_random_numbers(client):
    def draw():
        return da.random.default_rng(td.random.default_rng(5)).normal(2.0, 3.0, size=(60, 50), chunks=20)

    a, b = draw().compute(), draw().compute()
    assert isinstance(a, td._core.ndarray) and (a == b).all()
    assert abs(a.mean() - 2) < 0.3 and abs(a.std() - 3) < 0.3 and len(np.unique(a.get())) == 3000
    with dask.config.set({"array.backend": "treadle"}):
        r = da.random.default_rng(1).random((20, 10), chunks=10)
        assert isinstance((r + da.ones((20, 10), chunks=10)).compute(), td.ndarray) and isinstance(r._meta, td._core.ndarray)
        assert da.arange(7, chunks=3).compute().tolist() == list(range(7))
        u, s, v = da.linalg.svd_compressed(r, 10, seed=2)
        np.testing.assert_allclose(((u * s) @ v).compute().get(), r.compute().get(), atol=1e-9)


MADE = {
    "array": lambda: da.array([1, 2, 3]),
    "asarray": lambda: da.asarray(np.arange(4.0)),
    "eye": lambda: da.eye(6, chunks=3),
    "linspace": lambda: da.linspace(0, 1, 7, chunks=3),
    "from_array": lambda: da.from_array(HOST, chunks=16),
    "zeros_like": lambda: da.zeros_like(da.ones((4, 3), chunks=2)),
    "full_like": lambda: da.full_like(da.ones(6, chunks=3), 2),
    "diag": lambda: da.diag(da.arange(4, chunks=2)),
    "tri": lambda: da.tri(6, chunks=3),
    "indices": lambda: da.indices((3, 4), chunks=2),
    "fromfunction": lambda: da.fromfunction(lambda i, j: i + j, chunks=2, shape=(4, 4), dtype=float),
}


@pytest.mark.parametrize("name", MADE)
def test_the_library_of_arrays(name):
    with dask.config.set({"array.backend": "numpy"}):
        want = MADE[name]().compute(scheduler="threads")
    with dask.config.set({"array.backend": "treadle"}):
        x = MADE[name]()
        got = x.compute(scheduler="threads")
    assert isinstance(x._meta, td._core.ndarray) and isinstance(got, td._core.ndarray)
    assert got.dtype == want.dtype and np.array_equal(got.get(), want)


def test_the_library_of_arrays_leaves_text_alone():
    with dask.config.set({"array.backend": "treadle"}):
        assert da.from_array(np.array(["a", "b"])).compute(scheduler="threads").tolist() == ["a", "b"]


def test_sizes():
    size = pytest.importorskip("dask.sizeof").sizeof
    assert size(td.zeros((1000, 10))) == 80000 == size(td.zeros((1000, 10)).T) and size(td.zeros(0)) == 0
    assert size(td.broadcast_to(td.zeros(10), (1000, 10))) == 80 and size(td.torch.zeros(100)) == 400


def test_work_is_done_within_its_task(client, x):
    """Arrays are lazy: a task would be done at once, and its failure would come later."""

    def too_much(b):
        return {"sums": [b[0, 0] + td.arange(1 << 44)]}

    chunk = client.futures_of(client.persist(x))[0]
    failed = client.submit(too_much, chunk)
    distributed.wait(failed)
    assert failed.status == "error" and isinstance(failed.exception(), MemoryError)
    done = client.submit(lambda b: td.matmul(b, b), chunk)
    distributed.wait(done)
    sizes = client.run(lambda dask_worker: [t.nbytes for t in dask_worker.state.tasks.values() if t.state == "memory"])
    assert 2048 in {n for of in sizes.values() for n in of}


def test_files(client, x, tmp_path):
    zarr = pytest.importorskip("zarr")
    x.to_zarr(str(tmp_path / "x.zarr"))
    assert np.array_equal(zarr.open(str(tmp_path / "x.zarr"))[:], HOST)
    target = zarr.create_array(store=str(tmp_path / "y.zarr"), shape=HOST.shape, chunks=(16, 16), dtype="f4", fill_value=0)
    da.store((x * 0).astype("f4"), target)  # Zarr looks for chunks that hold nothing else
    assert not target[:].any()
    back = da.from_zarr(str(tmp_path / "x.zarr")).map_blocks(td.asarray, meta=x._meta)
    assert np.array_equal(back.compute().get(), HOST)


def device_of(b):
    return b.device.name


def test_devices(client):
    client.wait_for_workers(2)
    y = dist.from_numpy(HOST, chunks=(16, 16), devices=["null:0", "null:1"]) * 2
    try:
        kept = client.persist(y)
        names = {client.submit(device_of, f).result() for f in client.futures_of(kept)}
        assert names <= {"null", "null:1"} and names
        each = client.run(lambda: td.device().name)
        assert sorted(each.values()) == ["null", "null:1"]
        np.testing.assert_allclose((kept + kept[::-1]).sum(axis=0).compute().get(), 4 * HOST.sum(0))
    finally:
        dist.use_devices(["cpu"])


@pytest.mark.skipif(sum(d.kind == "cuda" for d in td.devices()) < 2, reason="needs two GPUs")
def test_two_gpus(client):
    y = dist.from_numpy(HOST, chunks=(16, 16), devices=["cuda:0", "cuda:1"])
    try:
        kept = client.persist(y @ y.T)
        assert {client.submit(device_of, f).result() for f in client.futures_of(kept)} == {"cuda:0", "cuda:1"}
        np.testing.assert_allclose(kept.sum(axis=0).compute().get(), (HOST @ HOST.T).sum(0))
    finally:
        dist.use_devices(["cpu"])


def first_pid(folder):
    """The process that has left its number in the folder as the first one."""
    until = time.monotonic() + 60
    while not (begun := list(folder.iterdir())) and time.monotonic() < until:
        time.sleep(0.01)
    return int(begun[0].name)


def test_a_killed_worker(client, x, tmp_path):
    """The chunks that it had are computed again by the other one."""
    client.wait_for_workers(2)

    def slow(b):
        (tmp_path / str(os.getpid())).touch()
        while not (tmp_path / "go").exists():
            time.sleep(0.01)
        return b * 2

    result = client.compute(x.map_blocks(slow, meta=x._meta).rechunk((48, 8)).sum(axis=0))
    os.kill(first_pid(tmp_path), signal.SIGKILL)
    (tmp_path / "go").touch()
    np.testing.assert_allclose(result.result(timeout=60).get(), 2 * HOST.sum(0))
    assert len(list(tmp_path.iterdir())) >= 3  # another process has done some of it


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(ModuleNotFoundError, match="pip install"):
        dist.from_numpy(HOST)


def test_without_a_cluster():
    with dask.config.set(scheduler="threads"), warnings.catch_warnings():
        warnings.simplefilter("error")
        a = dist.from_numpy(HOST, chunks=16)
        np.testing.assert_allclose((a @ a.T).compute(scheduler="threads").get(), HOST @ HOST.T)


# ---- an executor whose work Dask's workers do ----


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def worded(n):
    return f"{n} of {os.getpid()}"


def test_executor(client):
    with td.executor.DeviceExecutor(engine=client) as ex:
        assert list(ex.map(collatz, range(1, 2000), chunksize=500)) == [collatz(n) for n in range(1, 2000)]
        assert list(ex.map(lambda a, b: a * b + 0.5, [1, 2, 3], np.array([1.5, 2, 4]))) == [2.0, 4.5, 12.5]
        doubled = ex.map(lambda x: x * 2.0, td.arange(1000.0), as_array=True, chunksize=250)
        assert isinstance(doubled, td._core.ndarray) and (doubled == td.arange(1000.0) * 2).all()
        words = list(ex.map(worded, range(100), chunksize=10))  # no numbers: the workers run it as Python
        assert [w.split()[0] for w in words] == [str(n) for n in range(100)]
        assert {int(w.split()[2]) for w in words} <= set(client.run(os.getpid).values())
        assert ex.submit(pow, 2, 10).result() == 1024
        assert list(ex.map(collatz, [])) == []
        for text in ("inverse", "again"):  # a failure leaves the executor usable
            got = []
            with pytest.raises(ZeroDivisionError) as raised:
                for value in ex.map(lambda x: 1 / x, [4.0, 2.0, 0.0, 1.0], chunksize=3):
                    got.append(value)
            # the worker's traceback; its source lines are there where cloudpickle keeps files' names (before 3.1.3)
            assert got == [0.25, 0.5] and "in <lambda>" in str(raised.value.__cause__), text
        with pytest.raises(TimeoutError):
            list(ex.map(lambda n: time.sleep(n) or n, [0.0, 2.0], timeout=0.5))
        assert list(ex.map(lambda n: n + 1, [2**63 - 1])) == [2**63]
    assert client.submit(pow, 2, 3).result() == 8  # the engine stays


class Counted:
    """A large function that counts how often it is pickled."""

    def __init__(self):
        self.table, self.pickled = np.arange(1 << 17), 0

    def __call__(self, n):
        return int(self.table[n]) + len(str(n))

    def __getstate__(self):
        self.pickled += 1
        return self.__dict__


def test_a_large_function_is_sent_once(client):
    f = Counted()
    with td.executor.DeviceExecutor(engine=client) as ex:
        assert list(ex.map(f, range(1000))) == [n + len(str(n)) for n in range(1000)]
    assert f.pickled <= 4  # 64 slices


def test_executor_with_a_killed_worker(client, tmp_path):
    client.wait_for_workers(2)
    path = str(tmp_path)

    def slow(n):
        with open(f"{path}/{os.getpid()}", "w"):
            time.sleep(0.05)
        return n * 2

    with td.executor.DeviceExecutor(engine=client) as ex:
        results = ex.map(slow, range(60), chunksize=4)
        os.kill(first_pid(tmp_path), signal.SIGKILL)
        assert list(results) == [2 * n for n in range(60)]
