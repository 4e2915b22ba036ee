"""The pool's limit and its errors; copies that run while the program goes on."""

import numpy as np
import pytest

import treadle as td

MB = 1 << 20


@pytest.fixture
def limited(dev):
    td.synchronize(dev)
    td.memory.trim(dev)
    yield td.memory.stats(dev)["used"]
    td.memory.limit(None, dev)
    td.memory.trim(dev)


def test_limit(dev, limited):
    assert td.memory.limit(device=dev) is None
    assert td.memory.limit(limited + 96 * MB, dev) == limited + 96 * MB == td.memory.stats(dev)["limit"]
    a = td.empty(40 * MB, dtype="uint8", device=dev)
    with pytest.raises(MemoryError, match="asked for 100.00 MiB .* the limit is") as e:
        td.evaluate(td.ones(100 * MB, dtype="uint8", device=dev) + 1)
    assert "largest buffers: 40.00 MiB at " in str(e.value) and "test_memory.py:" in str(e.value)
    del e
    b = td.empty(50 * MB, dtype="uint8", device=dev)
    assert b.nbytes + a.nbytes == 90 * MB
    with pytest.raises(OverflowError):
        td.memory.limit(-1, dev)


def test_stats(dev, limited):
    a = td.empty(20 * MB, dtype="uint8", device=dev)
    used = td.memory.stats(dev)["used"]
    assert used >= limited + 20 * MB
    del a
    s = td.memory.stats(dev)
    assert s["used"] <= used - 20 * MB and s["cached"] >= s["largest"] >= 20 * MB
    assert s["peak"] >= used and s["allocs"] > 0 and s["total"] >= s["free"] > 0
    td.memory.trim(dev)
    assert td.memory.stats(dev)["largest"] < 20 * MB


@pytest.mark.parametrize("n", [0, 7, 300_000])
def test_get_later(dev, n):
    a = td.arange(n, device=dev).astype("float32") * 2
    later = a.get(blocking=False)
    a += 1  # the value asked for stays what it was
    b = a * 3
    want = np.arange(n).astype("float32") * 2
    np.testing.assert_array_equal(later.result(), want)
    assert later.done()
    np.testing.assert_array_equal(a.get(), want + 1)
    np.testing.assert_array_equal(b.get(), (want + 1) * 3)
    np.testing.assert_array_equal(a.get(blocking=True), want + 1)


def test_get_later_of_shared_memory(dev):
    if td.device(dev).kind != "cpu":
        pytest.skip("it is about memory that the host shares")
    a = td.arange(1000, device=dev)
    seen = np.asarray(a)
    later = a[::2].get(blocking=False)
    seen[:] = -1
    np.testing.assert_array_equal(later.result(), np.arange(0, 1000, 2))


def test_get_later_many(dev):
    x = [td.full((1000, 100), k, device=dev) for k in range(8)]
    for k, later in enumerate([a.get(blocking=False) for a in x]):
        assert (later.result() == k).all()


def test_copyto_stream(dev):
    s = td.Stream(dev)
    n = 200_000
    host = np.random.default_rng(1).random(n)
    a = td.zeros(n, device=dev)
    kept = a + 0
    pending = a + 1
    td.copyto(a, host, stream=s)
    b = td.empty(n, device=dev)
    td.copyto(b, a, stream=s)
    c = b * 2
    out = np.empty(n)
    td.copyto(out, c, stream=s)
    np.testing.assert_array_equal(out, host * 2)
    np.testing.assert_array_equal(a.get(), host)
    assert float(kept.sum()) == 0 and float(pending.sum()) == n
    part = b[10:20]
    td.copyto(part, np.arange(10.0), stream=s)
    np.testing.assert_array_equal(b[9:21].get(), [host[9], *range(10), host[20]])


def test_copyto_stream_refuses(dev):
    s = td.Stream(dev)
    a = td.zeros((4, 4), device=dev)
    with pytest.raises(ValueError, match="one shape and dtype"):
        td.copyto(a, np.zeros((4, 4), "float32"), stream=s)
    with pytest.raises(ValueError, match="contiguous"):
        td.copyto(a.T[1:], np.zeros((3, 4)), stream=s)
    with pytest.raises(ValueError, match="share memory"):
        td.copyto(a[:2], a[2:], stream=s)
    with pytest.raises(ValueError, match="where"):
        td.copyto(a, a, where=a > 0, stream=s)
    with pytest.raises(TypeError, match="treadle array"):
        td.copyto(np.zeros(3), np.zeros(3), stream=s)


def test_freed_while_used(dev):
    """Random streams and frees give what one stream gives."""
    rng = np.random.default_rng(5)
    streams = [td.Stream(dev) for _ in range(4)]
    live, want = [], []
    for _ in range(300):
        n = int(rng.integers(1, 3000 if dev == "null" else 300_000))
        if live and rng.random() < 0.4:
            k = int(rng.integers(len(live)))
            dst = td.empty(live[k].shape, device=dev)
            td.copyto(dst, live[k], stream=streams[int(rng.integers(4))])
            value = want[k]
            if rng.random() < 0.7:
                del live[k], want[k]
            live.append(dst)
            want.append(value)
        else:
            live.append(td.full(n, float(n), device=dev) + 1)
            want.append(n + 1.0)
        if len(live) > 20:
            del live[:5], want[:5]
    for a, value in zip(live, want, strict=True):
        assert (a.get() == value).all()
