"""bigger.py - standardises and reduces a float32 file that the device does not hold, and measures what bounds that.

    python benchmarks/bigger.py --device cuda --gigabytes 32 --limit 8
    python benchmarks/bigger.py --device cuda --gigabytes 8 --limit 4 --what spill
    python benchmarks/bigger.py --device cuda --gigabytes 8 --limit 4 --what out

The file is written once and stays in the disk cache. The value is (z * z).sum() of z = (x - x.mean(0)) / x.std(0),
which is the number of elements; x has to be read twice, so the floor is twice the file over the slower of reading the
disk cache with as many threads as there are processors (by read(2), or by a mapping that has been read before,
whichever is quicker) and copying pinned memory to the device. The last line is JSON: "first" and "best" (seconds),
"floor" (seconds), "sums", and the speeds in GB/s that all of this comes from.

--what spill: arrays of --gigabytes in all are read in turn, round after round, while no more than --limit fits: each
that comes back from the host sends another there. The floor is copying as much to the device and from it at once, of
pinned memory. --what out: 2 * x of a source in memory goes to memory of the host; the floor is the same.
"""

import argparse
import concurrent.futures
import importlib
import json
import os
import pathlib
import tempfile
import time

import numpy as np

COLUMNS = 1024
PIECE = 8 << 20  # bytes that a thread reads at once


def processors():
    return len(os.sched_getaffinity(0))


def make(path, nbytes):
    """A file of normal numbers of different columns' means and deviations; a few megabytes of them are repeated."""
    rng = np.random.default_rng(0)
    block = rng.standard_normal((8192, COLUMNS), dtype=np.float32)
    block = block * np.linspace(0.5, 2, COLUMNS, dtype=np.float32) + np.linspace(-3, 3, COLUMNS, dtype=np.float32)
    rows = nbytes // (4 * COLUMNS)
    with open(path, "wb") as f:
        for at in range(0, rows, len(block)):
            f.write(block[: rows - at])
    return np.memmap(path, np.float32, "r", shape=(rows, COLUMNS))


def seconds_of(f):
    begin = time.perf_counter()
    f()
    return time.perf_counter() - begin


def in_threads(work, nbytes):
    """Bytes a second of work(first, last), whose pieces threads take in turn; the better of two rounds."""
    pieces = [(at, min(at + PIECE, nbytes)) for at in range(0, nbytes, PIECE)]
    with concurrent.futures.ThreadPoolExecutor(processors()) as pool:
        return nbytes / min(seconds_of(lambda: list(pool.map(lambda p: work(*p), pieces))) for _ in range(2))


def cache_reading(path, nbytes):
    """Of the disk cache, by read(2) into a buffer of each thread's own."""
    fd, buffers = os.open(path, os.O_RDONLY), {}

    def work(first, last):
        import threading

        own = buffers.setdefault(threading.get_ident(), bytearray(PIECE))
        os.preadv(fd, [memoryview(own)[: last - first]], first)

    speed = in_threads(work, nbytes)
    os.close(fd)
    return speed


def memory_reading(source):
    """The same by the mapping."""
    flat, buffers = source.reshape(-1).view(np.uint8), {}

    def work(first, last):
        import threading

        own = buffers.setdefault(threading.get_ident(), np.empty(PIECE, np.uint8))
        own[: last - first] = flat[first:last]

    return in_threads(work, source.nbytes)


def bus(ours, device, ways=("in",), nbytes=256 << 20):
    """Bytes a second of pinned memory to the device ("in"), from it ("out"), or each way at once."""
    if not device.startswith("cuda"):
        return float("inf")
    td, cuda = importlib.import_module(ours), importlib.import_module(f"{ours}.cuda")
    with td.device(device):
        host = [cuda.pinned_array(nbytes, np.uint8) for _ in ways]
        there = [cuda.device_array(nbytes, np.uint8) for _ in ways]
        streams = [cuda.stream() for _ in ways]
        for h in host:
            h[:] = 1

        def copy():
            for way, h, d, s in zip(ways, host, there, streams, strict=True):
                if way == "in":
                    d.copy_to_device(h, stream=s)
                else:
                    d.copy_to_host(h, stream=s)
            cuda.synchronize()

        copy()
        return nbytes / min(seconds_of(copy) for _ in range(10))


def spill(ours, device, limit, nbytes, rounds, pieces=32):
    """Seconds of a round, the values' sums, how many bytes of a round came back and went, the peak."""
    td = importlib.import_module(ours)
    device = td.device(device)
    td.memory.spill(True, device)
    td.memory.trim(device)
    td.memory.limit(td.memory.stats(device)["used"] + limit, device)
    n = nbytes // pieces // 4
    arrays = [td.full(n, float(k), dtype="float32", device=device) for k in range(pieces)]
    for a in arrays:
        td.evaluate(a)

    def once():
        most = [a.max() for a in arrays]
        for m in most:
            td.evaluate(m)
        td.synchronize(device)
        return float(sum(float(m) for m in most))

    once()
    before = td.memory.stats(device)
    seconds, sums = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        sums.append(once())
        seconds.append(time.perf_counter() - begin)
    after = td.memory.stats(device)
    assert set(sums) == {pieces * (pieces - 1) / 2}, sums
    moved = {k: (after[k] - before[k]) * 4 * n / rounds for k in ("returned", "spilled")}
    return seconds, sums, moved, after["peak"]


def out(ours, device, limit, nbytes, rounds):
    """Seconds of 2 * x into memory of the host's, and the first and last values."""
    td = importlib.import_module(ours)
    device = td.device(device)
    td.memory.limit(td.memory.stats(device)["used"] + limit, device)
    source = np.ones((nbytes // (4 * COLUMNS), COLUMNS), np.float32)
    to = np.zeros_like(source)
    seconds = [seconds_of(lambda: td.stream(lambda x: x * 2, td.from_host(source, device=device), out=to))
               for _ in range(rounds)]  # fmt: skip
    assert (to[:: max(len(to) // 97, 1)] == 2).all()
    return seconds, [float(to[0, 0]), float(to[-1, -1])], td.memory.stats(device)["peak"]


def told(given, seconds, sums, floor, peak, speeds):
    limit = int(given.limit * 1e9)
    return json.dumps({"first": seconds[0], "best": min(seconds), "floor": floor, "share": floor / min(seconds),
                       "sums": sums, "peak": peak, "limit": limit,
                       "GB/s": {k: round(v / 1e9, 2) for k, v in speeds.items() if v != float("inf")}})  # fmt: skip


def both_ways(given):
    """The rows whose bytes go both ways."""
    nbytes, limit = int(given.gigabytes * 1e9), int(given.limit * 1e9)
    speeds = {"bus in": bus(given.by, given.device), "bus out": bus(given.by, given.device, ("out",)),
              "bus both": bus(given.by, given.device, ("in", "out"))}  # fmt: skip
    if given.what == "spill":
        seconds, sums, moved, peak = spill(given.by, given.device, limit, nbytes, given.rounds)
        speeds.update({k: v / min(seconds) for k, v in moved.items()})
        floor = moved["returned"] / speeds["bus both"]
    else:
        seconds, sums, peak = out(given.by, given.device, limit, nbytes, given.rounds)
        speeds["ours"] = nbytes / min(seconds)
        floor = nbytes / speeds["bus both"]
    print(told(given, seconds, sums, floor, peak, speeds))


def by_treadle(ours, device, limit, source):
    td = importlib.import_module(ours)
    device = td.device(device)
    td.memory.limit(limit, device=device)

    def once():
        x = td.from_host(source, device=device)
        z = (x - x.mean(0)) / x.std(0)
        return float((z * z).sum())

    return once, lambda: td.memory.stats(device)["peak"]


def by_numpy(source, rows=4096):
    """As one writes it by hand: pieces of rows, sums and squares of them, then the pieces again."""

    def once():
        total, squares, n = np.zeros(COLUMNS), np.zeros(COLUMNS), len(source)
        for at in range(0, n, rows):
            part = source[at : at + rows]
            total += part.sum(0, dtype=np.float64)
            squares += np.einsum("ij,ij->j", part, part, dtype=np.float64)
        mean = total / n
        deviation = np.sqrt(squares / n - mean**2)
        mean, deviation = mean.astype(np.float32), deviation.astype(np.float32)
        return sum(float(np.square((source[at : at + rows] - mean) / deviation).sum(dtype=np.float64))
                   for at in range(0, n, rows))

    return once, lambda: 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--by", default="treadle", help="the module of ours, or numpy")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--limit", type=float, default=0.25, help="of the device's memory, in gigabytes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", default=None, help="of the file")
    parser.add_argument("--what", default="reduce", choices=("reduce", "spill", "out"))
    given = parser.parse_args()
    if given.what != "reduce":
        both_ways(given)
        return
    with tempfile.TemporaryDirectory(prefix="treadle-bigger-", dir=given.directory) as folder:
        path = pathlib.Path(folder) / "x.f32"
        source = make(path, int(given.gigabytes * 1e9))
        limit = int(given.limit * 1e9)
        speeds = {"disk cache": cache_reading(path, source.nbytes)}
        if given.by == "numpy":
            once, peak = by_numpy(source)
        else:
            once, peak = by_treadle(given.by, given.device, limit, source)
            speeds["bus"] = bus(given.by, given.device)
        seconds, value = [], 0.0
        for _ in range(given.rounds):
            begin = time.perf_counter()
            value = once()
            seconds.append(time.perf_counter() - begin)
        assert abs(value / source.size - 1) < 1e-3, (value, source.size)
        assert peak() <= limit, (peak(), limit)
        speeds["mapping"] = memory_reading(source)
        reading = max(speeds["disk cache"], speeds["mapping"])
        floor = 2 * source.nbytes / min(reading, speeds.get("bus", float("inf")))
        best = min(seconds)
        speeds["ours"] = 2 * source.nbytes / best
        print(told(given, seconds, [value], floor, peak(), speeds))


if __name__ == "__main__":
    main()
