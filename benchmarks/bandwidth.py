"""The bandwidth of copying, the physical limit that the table compares with.

    python bandwidth.py cpu|cuda

Prints bytes read and written a second, and by whom they were copied, as JSON.
"""

import concurrent.futures
import importlib.util
import json
import os
import statistics
import sys
import time

import numpy

NBYTES = {"cpu": 256 << 20, "cuda": 1 << 30}


def best_of(copy, nbytes, repeats=9):
    """Bytes moved a second in the median repetition; each copy reads and writes all bytes."""
    copy()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        copy()
        times.append(time.perf_counter() - start)
    return 2 * nbytes / statistics.median(times)


def cpu():
    """NumPy's copies, one part a thread (they release the lock)."""
    threads = len(os.sched_getaffinity(0))
    source = numpy.ones(NBYTES["cpu"] // 8)
    target = numpy.empty_like(source)
    target[:] = 0
    parts = list(zip(numpy.array_split(target, threads), numpy.array_split(source, threads),
                     strict=True))
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        rate = best_of(lambda: list(pool.map(lambda p: numpy.copyto(*p), parts)), source.nbytes)
    return rate, f"NumPy, {threads} threads"


def cuda():
    """Device to device, ten copies in flight; by whichever library is installed."""
    count, nbytes = 10, NBYTES["cuda"]
    if importlib.util.find_spec("cupy"):
        import cupy

        source = cupy.ones(nbytes // 4, dtype="f4")
        target = cupy.empty_like(source)
        name, sync = "CuPy", cupy.cuda.Device().synchronize

        def one():
            cupy.copyto(target, source)

    else:
        import torch

        source = torch.ones(nbytes // 4, device="cuda")
        target = torch.empty_like(source)
        name, sync = "PyTorch", torch.cuda.synchronize

        def one():
            target.copy_(source)

    def copy():
        for _ in range(count):
            one()
        sync()

    return best_of(copy, count * nbytes), f"{name}, device to device"


if __name__ == "__main__":
    rate, by = {"cpu": cpu, "cuda": cuda}[sys.argv[1]]()
    print(json.dumps({"bytes_per_second": rate, "by": by}))
