"""Arrays of more elements than 31 and 32 bits can number: every kind of operation, against closed forms.

On a GPU of 40 GiB or more around 2^31 and 2^32 elements of uint8; on the CPU, where 12 GiB are free, some kinds just
above 2^31.
"""

import numpy as np
import pytest
from conftest import DEVICES

import treadle as td

GIB = 1 << 30
EDGES = [0, 1, 255, 256, 2**31 - 2, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32]
BLOCK = 1 << 23


def memory_of(name):
    if name != "cpu":
        return td.device(name).memory
    with open("/proc/meminfo") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("MemAvailable")) * 1024


@pytest.fixture(params=[name for name in DEVICES if name != "null"])
def dev(request):
    if memory_of(request.param) < (12 if request.param == "cpu" else 40) * GIB:
        pytest.skip("too little memory")
    with td.device(request.param):
        yield request.param
        td.memory.trim()


def sizes_of(name):
    return [2**31 + 1] if name == "cpu" else [2**31 - 1, 2**31, 2**32 + 1]


def room(name, nbytes):
    """Is there memory for that much at once?"""
    return memory_of(name) > nbytes * 1.2


def f(i):
    """Element i of the ramp, 0 to 255: numbers that are 2^31 or 2^32 apart differ."""
    return (i + (i >> 23)) % 256


def ramp(n):
    i = td.arange(n)
    return (i + (i >> 23)).astype("uint8")


def counts_of(n):
    """How often each number occurs in ramp(n): in whole blocks all equally often."""
    rest = f(np.arange(n - n % BLOCK, n))
    return np.bincount(rest, minlength=256) + n // BLOCK * (BLOCK // 256)


def total(n):
    return int(counts_of(n) @ np.arange(256))


def probe(a, expected):
    """a[i] == expected(i) at both ends and where a number of 31 or 32 bits would wrap."""
    for i in [*EDGES, len(a) - 2, len(a) - 1]:
        if i < len(a):
            assert int(a[i]) == expected(i), f"element {i} of {len(a)}"


def maps(n, name):
    x = ramp(n)
    y = (x * 3 + 7).astype("uint8")
    probe(y, lambda i: (f(i) * 3 + 7) % 256)
    if name != "cpu":
        probe(y[::-1].copy(), lambda i: (f(n - 1 - i) * 3 + 7) % 256)
        probe(x > 100, lambda i: f(i) > 100)


def broadcasts(n, name):
    m = n // 3 + 1
    y = (ramp(m).reshape(m, 1) + td.asarray(np.array([0, 1, 2], "uint8"))).reshape(-1)
    probe(y, lambda i: (f(i // 3) + i % 3) % 256)


def reduces(n, name):
    x = ramp(n)
    assert int(x.sum(dtype="int64")) == total(n) and int(x.max()) == 255 and int(x.min()) == 0
    if name == "cpu":
        return
    assert float(x.mean()) == pytest.approx(total(n) / n, rel=1e-12)
    m = n // 3
    rows, columns = x[: 3 * m].reshape(3, m), x[: 3 * m].reshape(m, 3)
    assert rows.sum(1, dtype="int64").tolist() == [total(m), total(2 * m) - total(m), total(3 * m) - total(2 * m)]
    assert int(columns.sum(0, dtype="int64").sum()) == total(3 * m)
    probe(rows.max(0), lambda i: max(f(i), f(i + m), f(i + 2 * m)))
    probe(columns.max(1), lambda i: max(f(3 * i + k) for k in range(3)))


def finds(n, name):
    x = td.zeros(n, "uint8")
    assert not bool(x.any()) and int(x.argmax()) == 0
    x[n - 1] = 1
    assert bool(x.any()) and not bool(x.all()) and int(x.argmax()) == n - 1 and int((1 - x).argmin()) == n - 1
    assert int(td.searchsorted(x, td.asarray(np.uint8(1)))) == n - 1 and int(td.count_nonzero(x)) == 1


def scans(n, name):
    probe(td.cumsum(td.full(n, 1, "uint8"), dtype="uint8"), lambda i: (i + 1) % 256)
    if name == "cpu":
        return
    m = n // 3 + 1
    probe(td.cumsum(td.full((m, 3), 1, "uint8"), 0, dtype="uint8").reshape(-1), lambda i: (i // 3 + 1) % 256)


def selects(n, name):
    x = ramp(n)
    marked = x == 250
    count = int(counts_of(n)[250])
    picked = x[marked]
    assert picked.shape == (count,) and int(picked.min()) == 250
    places = td.flatnonzero(marked)
    assert places.shape == (count,) and int((places[1:] - places[:-1]).min()) > 0
    assert int(((places + (places >> 23)) % 256 != 250).sum()) == 0
    x[marked] = 0
    assert int((x == 250).sum()) == 0 and int(x.max()) == 255


def gathers(n, name):
    x = ramp(n)
    at = np.array([i for i in EDGES if i < n] + [n - 1, -1, -n])
    assert x[td.asarray(at)].tolist() == [f(int(i) % n) for i in at]
    with pytest.raises(IndexError, match=f"index {n} is out of bounds"):
        x[td.asarray([0, n])]
    if name != "cpu":
        probe(x[n - 1 - td.arange(n)], lambda i: f(n - 1 - i))


def scatters(n, name):
    x = td.zeros(n, "uint8")
    at = np.array([i for i in EDGES if i < n] + [n - 1, n - 1, 0])
    x[td.asarray(at)] = td.asarray(np.arange(1, len(at) + 1).astype("uint8"))
    host = dict(zip(at.tolist(), range(1, len(at) + 1), strict=True))
    assert [int(x[i]) for i in host] == list(host.values()) and int(td.count_nonzero(x)) == len(host)
    td.add.at(x, td.asarray([n - 1, n - 1]), td.asarray(np.array([1, 1], "uint8")))
    assert int(x[n - 1]) == host[n - 1] + 2
    if name != "cpu" and room(name, 12 * n):
        x[n - 1 - td.arange(n)] = ramp(n)
        probe(x, lambda i: f(n - 1 - i))


def fills_and_copies(n, name):
    x = td.full(n, 3, "uint8")
    assert int(x.sum(dtype="int64")) == 3 * n
    x[...] = 5
    assert int(x.min()) == 5
    x[1::2] = ramp(n)[: n // 2]
    probe(x, lambda i: f(i // 2) if i % 2 else 5)
    del x
    for m in (3, 46341):
        k = n // m + 1
        y = ramp(m * k).reshape(m, k).T.copy().reshape(-1)
        probe(y, lambda i, m=m, k=k: f(i % m * k + i // m))


def joins(n, name):
    half = n // 2
    y = td.concatenate((ramp(half), ramp(n - half)))
    probe(y, lambda i: f(i) if i < half else f(i - half))
    assert int(td.where(y > 100, y, 0).max()) == 255


def counts(n, name):
    x, expected = ramp(n), counts_of(n).tolist()
    assert td.bincount(x).tolist() == expected
    if name != "cpu" and room(name, 6 * n):
        counted, _ = td.histogram(x.astype("float32"), 256, (-0.5, 255.5))
        assert counted.tolist() == expected


def draws(n, name):
    x = td.random.default_rng(1).integers(0, 256, n, dtype="uint8")
    assert float(x.mean()) == pytest.approx(127.5, abs=0.05)
    blocks = [x[i : i + 64].tolist() for i in (0, 2**30, n - 64)]
    assert blocks[0] != blocks[1] != blocks[2] != blocks[0]


def transfers(n, name):
    host = np.resize((np.arange(BLOCK) % 256).astype("uint8"), n)
    host[2**31 - 1 :] += 1
    x = td.asarray(host)
    probe(x, lambda i: (i + (i >= 2**31 - 1)) % 256)
    assert np.array_equal(x[n - 1000 :].get(), host[-1000:])
    assert np.array_equal(x.get(), host)


KINDS = [maps, broadcasts, reduces, finds, scans, selects, gathers, scatters, fills_and_copies, joins, counts, draws, transfers]
ON_CPU = {maps, reduces, finds, scans, gathers, scatters, counts}


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_size(kind, dev):
    if dev == "cpu" and kind not in ON_CPU:
        pytest.skip("takes too long, or too much memory")
    for n in sizes_of(dev):
        kind(n, dev)
