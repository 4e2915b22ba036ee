"""treadle.cuda beside the compiler: arrays, records, host memory, streams, events, devices."""

import asyncio
import ctypes
import math
import multiprocessing
import re
import sys
import threading
import warnings

import numpy as np
import pytest

import treadle as td
from treadle import cuda, jit

LAYOUTS = {
    "C": lambda rng: rng.random((4, 6)),
    "F": lambda rng: np.asfortranarray(rng.random((4, 6))),
    "strided": lambda rng: rng.random((8, 12))[::2, ::2],
    "one axis": lambda rng: rng.random(10),
    "0-d": lambda rng: np.array(rng.random()),
    "empty": lambda rng: np.zeros((0, 3)),
}
RECORD = np.dtype([("x", "f4"), ("n", "i8")], align=True)

layouts = pytest.mark.parametrize("layout", LAYOUTS)


def streams():
    return {"none": None, "0": 0, "1": 1, "2": 2, "new": cuda.stream(), "default": cuda.default_stream(), "per thread": cuda.per_thread_default_stream()}


# ---- arrays ----


@layouts
@pytest.mark.parametrize("which", ["none", "0", "1", "2", "new", "default", "per thread"])
def test_there_and_back(dev, rng, layout, which):
    x, s = LAYOUTS[layout](rng), streams()[which]
    d = cuda.to_device(x, stream=s)
    assert isinstance(d, td._core.ndarray) and d.device == dev and d.dtype == x.dtype
    back = d.copy_to_host(stream=s)
    if s not in (None, 0, 1):
        (s if isinstance(s, td.Stream) else cuda.external_stream(s)).synchronize()
    assert np.array_equal(back, x) and back.flags.writeable
    if layout in ("C", "F"):
        assert back.strides == d.strides == x.strides
        assert (d.is_c_contiguous(), d.is_f_contiguous()) == (layout == "C", layout == "F")
    x[...] = 7  # the device's is a copy
    assert np.array_equal(d.copy_to_host(), back)


@layouts
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("own_stream", [False, True])
def test_copies_into_what_is_given(dev, rng, layout, order, own_stream):
    x, s = LAYOUTS[layout](rng), cuda.stream() if own_stream else 0
    d = cuda.device_array(x.shape, x.dtype, order=order)
    assert d.copy_to_device(x, stream=s) is None
    out = np.full(x.shape, -1.0)
    assert d.copy_to_host(out, stream=s) is out
    cuda.synchronize()
    assert np.array_equal(out, x)
    e = cuda.device_array_like(d)
    assert (e.shape, e.dtype, e.is_f_contiguous()) == (d.shape, d.dtype, d.is_f_contiguous())
    e.copy_to_device(d, stream=s)
    cuda.synchronize()
    assert np.array_equal(e.copy_to_host(), x)
    assert cuda.to_device(x, to=e) is e


def test_refusals(dev):
    d = cuda.device_array(4, np.float32)
    with pytest.raises(ValueError, match="shapes differ"):
        d.copy_to_device(np.zeros(3, np.float32))
    with pytest.raises(TypeError, match="dtypes differ"):
        d.copy_to_device(np.zeros(4))
    with pytest.raises(ValueError, match="shapes differ"):
        d.copy_to_host(np.zeros(5, np.float32))
    with pytest.raises(TypeError, match="a NumPy array"):
        d.copy_to_host([0] * 4)
    with pytest.raises(ValueError, match="order"):
        cuda.device_array(3, order="K")
    with pytest.raises(ValueError, match="strides"):
        cuda.device_array(3, np.float32, strides=(8,))
    with pytest.raises(TypeError, match="a stream is"):
        cuda.to_device(np.zeros(2), stream="s")
    with pytest.raises(TypeError):
        cuda.to_device(np.array(["a"]))
    with pytest.raises(TypeError, match="__cuda_array_interface__"):
        cuda.as_cuda_array(np.zeros(3))
    with pytest.raises(ValueError, match="axes, not one"):
        list(cuda.device_array((2, 2)).split(1))


def test_device_arrays_as_numba_has_them(dev, rng):
    x = rng.random(10)
    d = cuda.to_device(x)
    parts = list(d.split(4))
    assert [p.shape for p in parts] == [(4,), (4,), (2,)]
    parts[0][...] = 0  # they are views
    assert not d.copy_to_host()[:4].any()
    d.setitem(3, 5.0)
    assert d.getitem(3) == 5.0 and np.isscalar(d.getitem(3))
    assert np.array_equal(d.getitem(slice(5, 7)).copy_to_host(), x[5:7])
    assert d.bind(cuda.stream()) is d and d.alloc_size == d.nbytes == 80
    two = cuda.to_device(x.reshape(2, 5))
    assert two.ravel(order="C", stream=0).shape == (10,) and two.T.alloc_size == 80 and two[:, ::2].alloc_size == 80
    assert two[:1].squeeze(stream=cuda.stream()).shape == (5,)
    assert cuda.device_array((2, 3), strides=(8, 16)).is_f_contiguous()
    assert cuda.to_device(x, copy=False).shape == x.shape
    assert cuda.to_device(d) is d and cuda.as_cuda_array(d) is d and cuda.is_cuda_array(d) and not cuda.is_cuda_array(x)
    assert cuda.to_device([1, 2, 3]).dtype == np.int64 and cuda.to_device(np.float32(3)).shape == ()


def test_addresses(dev, rng):
    d = cuda.to_device(rng.random(8))
    m = d.gpu_data
    at = d.device_ctypes_pointer.value
    assert int(m) == m.device_pointer == at == cuda.cudadrv.driver.device_pointer(d) and m.size == 64
    assert d[3:].device_ctypes_pointer.value == at + 24
    assert isinstance(m.device_ctypes_pointer, ctypes.c_void_p) and int(m.view(16)) == at + 16
    m.view(0, 8).memset(0)
    assert d.copy_to_host()[0] == 0 and d.copy_to_host()[1:].all()
    p = cuda.current_context().memalloc(100)
    assert p.size == 100 and int(p) and cuda.cudadrv.driver.is_device_memory(p)


def test_interface_dict(dev, rng):
    x = rng.random((3, 4))
    d = cuda.to_device(x)
    if dev == "cpu":
        with pytest.raises(AttributeError):
            d.__cuda_array_interface__  # noqa: B018
        return
    desc = {"shape": (3, 4), "typestr": "<f8", "data": (d._address(), False), "version": 3}
    seen = cuda.from_cuda_array_interface(desc, owner=d)
    seen[0, 0] = 9
    assert d.copy_to_host()[0, 0] == 9 and seen.shape == (3, 4)

    class Foreign:
        __cuda_array_interface__ = desc

    assert cuda.is_cuda_array(Foreign()) and np.array_equal(cuda.as_cuda_array(Foreign()).copy_to_host(), d.copy_to_host())
    assert np.array_equal(cuda.to_device(Foreign()).copy_to_host(), d.copy_to_host())


# ---- records ----


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("own_stream", [False, True])
def test_records(dev, rng, order, own_stream):
    s = cuda.stream() if own_stream else 0
    x = np.zeros((3, 4), RECORD, order=order)
    x["x"], x["n"] = rng.random((3, 4)), rng.integers(0, 99, (3, 4))
    d = cuda.to_device(x, stream=s)
    assert (d.shape, d.dtype, d.strides, d.nbytes, d.ndim, d.size) == (x.shape, x.dtype, x.strides, x.nbytes, 2, 12)
    assert (d.is_c_contiguous(), d.is_f_contiguous()) == (order == "C", order == "F") and d.device == dev
    assert np.array_equal(d.copy_to_host(stream=s), x) and d.copy_to_host().strides == x.strides
    assert np.array_equal(d["x"].get(), x["x"]) and np.array_equal(d["n"].get(), x["n"])
    d["n"] = 5
    assert (d.copy_to_host()["n"] == 5).all() and np.array_equal(d["x"].get(), x["x"])
    assert np.array_equal(cuda.device_array_like(x).T.shape, (4, 3))
    e = cuda.device_array_like(d)
    e.copy_to_device(d)
    out = np.zeros_like(x)
    assert e.copy_to_host(out) is out and np.array_equal(out, d.copy_to_host()) and "DeviceRecords" in repr(e)
    assert td.types.typeof(d) == td.types.Array(td.types.from_dtype(RECORD), 2, order)
    with pytest.raises(ValueError, match="shapes differ"):
        d.copy_to_device(x[:2])
    with pytest.raises(TypeError, match="dtypes differ"):
        d.copy_to_device(np.zeros((3, 4)))


def test_records_along_one_axis(dev):
    x = np.array([(1, 2), (3, 4), (5, 6)], RECORD)
    d = cuda.to_device(x)
    assert d[1] == x[1] and len(d) == 3 and [tuple(r) for r in d] == [(1, 2), (3, 4), (5, 6)]
    d[0] = (7, 8)
    d[1:] = np.array([(9, 9), (0, 0)], RECORD)
    assert d.copy_to_host().tolist() == [(7, 8), (9, 9), (0, 0)]
    assert d[:2].copy_to_host().tolist() == [(7, 8), (9, 9)]


# ---- host memory ----


MADE = {
    "pinned": (cuda.pinned_array, cuda.pinned_array_like),
    "mapped": (cuda.mapped_array, cuda.mapped_array_like),
    "managed": (cuda.managed_array, None),
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("order", ["C", "F"])
def test_host_memory(dev, rng, kind, order):
    make, like = MADE[kind]
    x = rng.random((5, 7))
    a = make((5, 7), np.float64, order=order)
    a[...] = x
    assert a.flags[f"{order}_CONTIGUOUS"] and np.isclose((a + 1).sum(), (x + 1).sum())
    assert type(a + 1) is np.ndarray and type(a.sum()) is np.float64
    same = a
    a += 0
    assert a is same and type(a[1:]) is type(a)
    if like:
        b = like(a)
        assert (b.shape, b.dtype, b.strides) == (a.shape, a.dtype, a.strides)
    d = cuda.to_device(a, stream=cuda.stream())
    cuda.synchronize()
    assert np.array_equal(d.copy_to_host(), x)
    if kind == "pinned" and dev != "cpu":
        with pytest.raises(AttributeError, match="to_device"):
            _ = a._td_array
        return
    seen = a._td_array  # what kernels take: the same memory
    assert np.array_equal(seen.get(), x) and seen.strides == a.strides
    seen[2, 3] = -1
    cuda.synchronize()
    assert a[2, 3] == -1
    a[0, 0] = 11
    assert seen.get()[0, 0] == 11
    assert np.array_equal(a[1:3]._td_array.get(), a[1:3]) if order == "C" else True
    assert not hasattr(a.copy(), "_td_array") and not hasattr(a[::2, ::2], "_td_array")  # not that memory; not contiguous
    del a
    assert seen.get()[0, 0] == 11  # the array keeps the memory
    make((0, 3), np.int8), make((), np.int8), make(4, cuda.float32)


def test_mapped_records(dev):
    a = cuda.mapped_array(3, RECORD)
    a["n"] = [1, 2, 3]
    assert a._td_array["n"].get().tolist() == [1, 2, 3]


def test_pinned_copies_do_not_wait(rng):
    """On the null device work that was not waited for is late: what is read too early is not there."""
    with td.device("null"):
        x = rng.random(1000)
        d, a, s = cuda.to_device(x), cuda.pinned_array(1000), cuda.stream()
        a[...] = 0
        assert d.copy_to_host(a, stream=s) is a
        s.synchronize()
        assert np.array_equal(a, x)
        a[...] = 0
        d.copy_to_host(a)  # without a stream the values are there on return
        assert np.array_equal(a, x)
        tmp = cuda.pinned_array(1000)
        tmp[...] = 5
        d.copy_to_device(tmp, stream=s)
        del tmp  # the copy keeps its memory
        s.synchronize()
        assert (d.copy_to_host() == 5).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_contexts_pin_what_is_there(dev, rng, order):
    x, y = np.array(rng.random((3, 5)), order=order), np.arange(4)
    before = x.copy()
    with cuda.pinned(x, y):
        d = cuda.to_device(x, stream=cuda.stream())
    assert np.array_equal(d.copy_to_host(), before)
    with cuda.mapped(x) as d:
        d[1, 2] = 3
    assert x[1, 2] == 3
    with cuda.mapped(x, y, stream=cuda.stream()) as both:
        both[1][0] = 42
    assert y[0] == 42
    with cuda.pinned(x):  # given back: it can be pinned again
        pass
    with pytest.raises(ValueError, match="empty"):
        with cuda.pinned(np.zeros(0)):
            pass
    if dev != "cpu":
        with pytest.raises(td.DeviceError), cuda.pinned(x, x):
            pass


def test_context_memory(dev):
    c = cuda.current_context()
    m = c.memhostalloc(64, mapped=True)
    memoryview(m)[:4] = b"abcd"
    assert bytes(m.array().get()[:4]) == b"abcd" and m.nbytes == 64 and m.kind == "mapped" and m.device == dev
    m.release()
    m.release()
    with pytest.raises(ValueError, match="given back"):
        memoryview(m)
    own = np.zeros(8)
    pin = c.mempin(own)
    assert pin.kind == "registered" and pin.ptr == own.__array_interface__["data"][0]
    with pytest.raises(ValueError):
        c.memhostalloc(-1)
    with pytest.raises(ValueError, match="attach_global"):
        c.memallocmanaged(8, attach_global=False)
    assert c.memallocmanaged(8).kind == "managed"
    with cuda.defer_cleanup(), c.defer_cleanup():
        del own


# ---- streams and events ----


def test_streams(dev):
    s = cuda.stream()
    assert s and s.device == dev and not s.external and int(s) == s.ptr == (s.handle.value or 0)
    assert s.__cuda_stream__() == (0, s.ptr)
    assert cuda.default_stream().external and cuda.default_stream().ptr == 0 and cuda.legacy_default_stream().ptr == 0
    assert cuda.external_stream(s.ptr).ptr == s.ptr and cuda.per_thread_default_stream().ptr == (0 if dev == "cpu" else 2)
    with s.auto_synchronize() as same:
        assert same is s
    x = np.arange(5.0)

    class Theirs:
        def __cuda_stream__(self):
            return 0, s.ptr

    d = cuda.to_device(x, stream=Theirs())
    s.synchronize()
    assert np.array_equal(d.copy_to_host(stream=s.ptr), x)


def test_streams_belong_to_a_device(dev):
    other = "cpu" if dev == "null" else "null"
    with td.device(other):
        s = cuda.stream()
    with pytest.raises(ValueError, match="belongs to"):
        cuda.to_device(np.zeros(3), stream=s)


def test_events(dev):
    start, end, s = cuda.event(), cuda.event(timing=True), cuda.stream()
    start.record(s)
    d = cuda.to_device(np.zeros(1000), stream=s)
    end.record(stream=s)
    end.wait()
    end.wait(stream=cuda.stream())
    end.synchronize()
    assert end.query() and end.done and start.query()
    took = cuda.event_elapsed_time(start, end)
    assert took >= 0 and took == start.elapsed_time(end) == start.elapsed(end)
    assert d.shape == (1000,)
    with pytest.raises(ValueError):
        cuda.event_elapsed_time(cuda.event(timing=False), end)


def test_callbacks_come_in_order(dev):
    s, seen, last = cuda.stream(), [], threading.Event()
    main = threading.get_ident()

    def note(stream, status, arg):
        seen.append((stream is s, status, arg, threading.get_ident() == main))
        if arg == 9:
            last.set()

    for i in range(10):
        cuda.to_device(np.zeros(10), stream=s)
        s.add_callback(note, i)
    assert last.wait(60) and seen == [(True, 0, i, False) for i in range(10)]


def test_a_callback_that_fails_is_told(dev, monkeypatch):
    s, told, done = cuda.stream(), [], threading.Event()
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    def fails(stream, status, arg):
        raise LookupError("mine")

    s.add_callback(fails)
    s.add_callback(lambda *a: done.set())
    assert done.wait(60) and [u.exc_type for u in told] == [LookupError]


def test_async_done(dev):
    async def work(i):
        s = cuda.stream()
        d = cuda.to_device(np.full(100, i), stream=s)
        await s.async_done()
        return d.copy_to_host(stream=s).sum()

    async def all_of_it():
        cancelled = cuda.stream().async_done()
        cancelled.cancel()
        return await asyncio.gather(*map(work, range(8)))

    assert asyncio.run(all_of_it()) == [100 * i for i in range(8)]
    with pytest.raises(RuntimeError):
        cuda.stream().async_done()  # no loop runs


# ---- devices ----


def test_devices(dev):
    d = cuda.get_current_device()
    assert d._device == dev and d.kind == dev.partition(":")[0] == cuda.current_device_kind()
    assert d.name and d.id == 0 and len(d.compute_capability) == 2 and d.compute_capability >= (5, 3)
    assert d.WARP_SIZE == 32 and d.MAX_THREADS_PER_BLOCK == 1024 and d.MULTIPROCESSOR_COUNT >= 1
    assert d.attributes["WARP_SIZE"] == 32 and None not in d.attributes.values()
    assert (d.uuid is None) == (dev == "cpu") and (d.uuid is None or re.fullmatch(r"GPU(-[0-9a-f]+){5}", d.uuid))
    with pytest.raises(AttributeError):
        d.NO_SUCH_THING  # noqa: B018
    assert cuda.is_float16_supported() and isinstance(cuda.is_bfloat16_supported(), bool) and d == cuda.get_current_device()
    c = cuda.current_context()
    assert c.device == d and c == d.get_primary_context() and c.device.compute_capability == d.compute_capability
    free, total = c.get_memory_info()
    assert 0 < free <= total == cuda.MemoryInfo(free, total).total
    assert isinstance(c.create_stream(), td.Stream) and isinstance(c.create_event(), td.Event) and c.get_default_stream().ptr == 0
    c.synchronize(), c.reset(), d.reset()
    assert cuda.cudadrv.devices.get_context() == c and cuda.require_context(test_devices) is test_devices


def test_gpus(dev):
    kinds = {d.kind for d in cuda.gpus}
    assert cuda.is_available() == bool(len(cuda.gpus)) == (cuda.cuda_error() is None) and "cpu" not in kinds
    assert cuda.list_devices() is cuda.gpus and len(cuda.gpus.lst) == len(cuda.gpus) and cuda.gpus.current == cuda.get_current_device()
    assert repr(cuda.gpus) and repr(cuda.get_current_device()) and repr(cuda.current_context())
    with pytest.raises(IndexError, match="GPUs"):
        cuda.gpus[99]
    if dev == "null":
        assert kinds == {"null"}
    for d in cuda.gpus:
        with d:
            assert cuda.get_current_device() == d and cuda.to_device([1]).device == d._device
    assert cuda.get_current_device()._device == dev
    cuda.detect()


def test_choosing_a_device(dev):
    assert cuda.select_device(0).device.id == 0
    here = cuda.current_context()
    other = cuda.Context(cuda.Device("cpu"))
    other.push()
    assert cuda.current_context() == other and td.zeros(1).device == "cpu"
    other.pop()
    assert cuda.current_context() == here
    with pytest.raises(RuntimeError, match="no push"):
        other.pop()
    with td.device(dev):
        cuda.close()
        assert td.zeros(1).device == td.device()


def test_profilers_are_told(dev):
    with cuda.profiling():
        cuda.to_device([1, 2])
    cuda.profile_start()
    cuda.profile_stop()


# ---- other processes ----


def _child(handle, results):
    with handle as d:
        results.put(d.copy_to_host().tolist())
        d[0] = 50.0
        td.synchronize(d.device)


def _child_array(handle, results):
    with cuda.open_ipc_array(handle, shape=3, dtype=np.float64, offset=8) as d:
        results.put(d.copy_to_host().tolist())


@pytest.mark.parametrize("run", [_child, _child_array])
def test_arrays_for_other_processes(dev, run):
    d = cuda.to_device(np.arange(4.0))
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    p = context.Process(target=run, args=(d.get_ipc_handle(), results))
    p.start()
    got = results.get()
    p.join(60)
    assert p.exitcode == 0
    assert got == ([0, 1, 2, 3] if run is _child else [1, 2, 3])
    assert d.copy_to_host()[0] == (50 if run is _child else 0)


# ---- kernels take them ----


def _add_one(s, out):
    i = cuda.grid(1)
    if i < s.shape[0]:
        out[i] = s[i]["n"] + 1
        s[i]["n"] = 100


def _double(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] * 2


def _draw(states, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i, 0] = cuda.random.xoroshiro128p_uniform_float64(states, i)
        out[i, 1] = cuda.random.xoroshiro128p_uniform_float32(states, i)


@pytest.mark.parametrize("kind", ["mapped", "managed"])
def test_kernels_write_host_memory(dev, kind):
    a = MADE[kind][0](16, np.float32)
    a[...] = np.arange(16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is copied
        td._core.Dispatcher(_double)[2, 8](a)
    cuda.synchronize()
    assert np.array_equal(a, 2 * np.arange(16))
    td._core.Dispatcher(_double)[2, 8](a[4:8])
    cuda.synchronize()
    assert np.array_equal(a[4:8], 4 * np.arange(4, 8)) and a[3] == 6 and a[8] == 16
    x = np.arange(8.0)
    with cuda.mapped(x) as d:
        td._core.Dispatcher(_double)[1, 8](d)
    assert np.array_equal(x, 2 * np.arange(8))


def test_kernels_take_records(dev):
    x = np.zeros(8, RECORD)
    x["n"], x["x"] = np.arange(8), 0.5
    d, out = cuda.to_device(x), cuda.device_array(8, np.int64)
    td._core.Dispatcher(_add_one)[2, 4](d, out)
    assert out.copy_to_host().tolist() == list(range(1, 9))
    assert (d.copy_to_host()["n"] == 100).all() and (d.copy_to_host()["x"] == 0.5).all()
    tail = cuda.device_array(4, np.int64)
    td._core.Dispatcher(_add_one)[1, 4](d[4:], tail)
    assert (tail.copy_to_host() == 101).all()


def test_kernels_draw_numbas_numbers(dev):
    n, r = 50, cuda.random
    states, out = r.create_xoroshiro128p_states(n, 9), cuda.device_array((n, 2))
    host = states.copy_to_host()
    td._core.Dispatcher(_draw)[4, 16](states, out)
    with np.errstate(over="ignore"):
        want = [[float(f(host, i)) for f in (r.xoroshiro128p_uniform_float64, r.xoroshiro128p_uniform_float32)] for i in range(n)]
    assert np.array_equal(out.copy_to_host(), want) and np.array_equal(states.copy_to_host(), host)


def test_kernels_run_on_streams(dev):
    s, seen = cuda.stream(), threading.Event()
    d = cuda.to_device(np.ones(1000), stream=s)
    for stream in (s, s.ptr, cuda.per_thread_default_stream(), cuda.default_stream(), 0, None):
        td._core.Dispatcher(_double)[4, 256, stream](d)
    s.add_callback(lambda *a: seen.set())
    assert seen.wait(60)
    assert (d.copy_to_host() == 64).all()


# ---- elements ----

DTYPES = ["bool", "int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_device_arrays_are_numpys_scalars(dtype, dev):
    host = np.arange(24).astype(dtype).reshape(2, 3, 4)
    d = cuda.to_device(host)
    for key in [(1, 2, 3), (0, -1, 0), (np.int64(1), 0, 2)]:
        assert type(d[key]) is type(host[key]) and d[key] == host[key]
        np.testing.assert_equal(d[key], host[key])
    assert type(d[1, 0]) is td.ndarray
    views = [lambda a: a[1], lambda a: a.T, lambda a: a.reshape(6, 4), lambda a: a.ravel(), lambda a: a[:, ::-1],
             lambda a: a.transpose(2, 0, 1), lambda a: a[0][1:], lambda a: a.squeeze(), lambda a: a.view(dtype)]  # fmt: skip
    for view in views:
        mine, theirs = view(d), view(host)
        at = (-1,) * theirs.ndim
        assert type(mine[at]) is type(theirs[at]) and mine[at] == theirs[at]
    assert [type(x) for x in d[0, 0]] == [type(x) for x in host[0, 0]]
    assert d.getitem((1, 1, 1)) == host[1, 1, 1]


def test_all_device_arrays_have_such_elements(dev):
    host = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    made = [cuda.to_device(host), cuda.device_array_like(host), cuda.device_array((2, 3)), cuda.as_cuda_array(td.zeros(3)),
            cuda.to_device(host, stream=cuda.stream()), cuda.device_array((2, 3), order="F"), cuda.to_device(np.ones(3))]  # fmt: skip
    assert [type(d[(0,) * d.ndim]) for d in made] == [np.float64] * 7
    before = made[0][0, 0]
    made[0][0, 0] = 7
    assert before == 0 and made[0][0, 0] == 7 and cuda.to_device(np.array(5))[()] == 5
    with pytest.raises(IndexError):
        made[0][2, 0]


def test_elements_go_into_kernels_and_functions(dev):
    d = cuda.to_device(np.array([1.5, 2.5], np.float32))

    @cuda.jit
    def fill(a, x):
        a[cuda.grid(1)] = x * 2

    fill[1, 2](d, d[1])
    assert d.copy_to_host().tolist() == [5, 5]
    assert jit(lambda x: 4 * x)(d[0]) == 20 and math.sqrt(d[0] - 1) == 2


@pytest.mark.parametrize("make", [np.array, td.asarray])
def test_arrays_of_no_axes_are_numbers_in_functions(make):
    x = make(np.float32(3))
    for f in (lambda x: 4 * x, lambda x: -x, lambda x: x + x, lambda x: x > 2, lambda x: math.sqrt(x), lambda x: 2 / x,
              lambda x: not x, lambda x: 1 if x else 0, lambda x: abs(x), lambda x: x[()], lambda x: np.sin(x) + x):  # fmt: skip
        assert jit(f)(x) == pytest.approx(float(f(np.float32(3))))


def test_an_array_of_no_axes_is_changed_in_its_place():
    @jit
    def f(x):
        x += 4
        x[()] *= 2
        return x + 1

    x = np.array(3.0)
    assert f(x) == 15 and x == 14


STRIDED = {"every second row of F": lambda: np.zeros((4, 6), order="F")[::2], "turned": lambda: np.zeros((2, 3, 4)).transpose(2, 0, 1),
           "backwards": lambda: np.zeros((3, 4))[::-1], "swapped": lambda: np.zeros((2, 3, 4), "f4").swapaxes(1, 2),
           "part": lambda: np.zeros((3, 4, 5), order="F")[:, 1:3], "empty": lambda: np.zeros((0, 4, 5)).transpose(2, 0, 1)}  # fmt: skip


@pytest.mark.parametrize("which", STRIDED)
def test_arrays_like_others_have_their_axes_in_their_order(which, dev):
    host = STRIDED[which]()
    d = cuda.device_array_like(host)
    assert d.shape == host.shape and d.dtype == host.dtype
    if host.size:
        assert d.strides == np.empty_like(host).strides == cuda.device_array_like(d).strides
        assert type(d[(0,) * d.ndim]) is type(host[(0,) * d.ndim])


def test_streams_handles_are_numbers_for_c(dev):
    s = cuda.stream()
    assert isinstance(s.handle, ctypes.c_void_p) and int(s.handle) == (s.handle.value or 0) == s.ptr
    assert hex(s.handle) == hex(s.ptr)


def test_compilations_tell_how_many_blocks_fit(dev):
    @cuda.jit("void(float32[:])")
    def k(a):
        a[cuda.grid(1)] = 1
        cuda.cg.this_grid().sync()

    (signature,) = k.signatures
    most = k.overloads[signature].max_cooperative_grid_blocks(32)
    assert most == k.max_cooperative_grid_blocks((8, 4), 0, signature) > 0
