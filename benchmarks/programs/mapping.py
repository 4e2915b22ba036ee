"""mapping.py WHAT BY [DEVICE] - a function of each item of a list, results in a list; prints a line of JSON.

WHAT is square, ratio or escape; BY is python (the builtin map), futures (concurrent.futures' processes, as many as
there are processors) or the module with an `executor` of ours. "first" is the first call, "best" the fastest later
one, in seconds; the processes have been started before, and each gets eight pieces of the items.
"""

import importlib
import json
import os
import sys
import time


def square(x):
    return x * x


def ratio(a, b):
    return -b / a


def escape(k):
    """Iterations until a point of the Mandelbrot set's neighbourhood has escaped; the points lie on a grid."""
    cr, ci = -2.2 + 3.0 * (k % 400) / 400, -1.25 + 2.5 * (k // 400) / 250
    x = y = 0.0
    for n in range(200):
        xx, yy = x * x, y * y
        if xx + yy > 4.0:
            return n
        y = 2.0 * x * y + ci
        x = xx - yy + cr
    return 200


ITEMS = {"square": (square, [list(range(1_000_000))]),
         "ratio": (ratio, [[k + 1.0 for k in range(1_000_000)], [float(k % 1000) for k in range(1_000_000)]]),
         "escape": (escape, [list(range(100_000))])}


def mapper(by, device, count):
    """(a map that returns an iterator, what ends it)."""
    if by == "python":
        return map, lambda: None
    if by == "futures":
        from concurrent.futures import ProcessPoolExecutor

        pool = ProcessPoolExecutor()
        pieces = -(-count // (8 * (os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count())))
        list(pool.map(abs, range(1000)))
        return (lambda f, *xs: pool.map(f, *xs, chunksize=pieces)), pool.shutdown
    pool = importlib.import_module(f"{by}.executor").DeviceExecutor(device)
    return pool.map, pool.shutdown


def main(what, by, device=None):
    f, items = ITEMS[what]
    mapped, end = mapper(by, device, len(items[0]))
    seconds, result = [], []
    for _ in range(3 if by in ("python", "futures") else 7):
        begin = time.perf_counter()
        result = list(mapped(f, *items))
        seconds.append(time.perf_counter() - begin)
    end()
    print(json.dumps({"first": seconds[0], "best": min(seconds[1:]), "sums": [float(sum(result))]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
