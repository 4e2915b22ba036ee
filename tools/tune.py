"""Times variants of the numbers of src/array/plan/tune.def.

Usage: PYTHONPATH=build/tree python tools/tune.py [PART...]"""

import itertools
import sys
import time
from functools import partial

import treadle as td
from treadle import _core

ROUNDS, CALLS = 5, 20
SHAPES = [(n, "f4") for n in (128, 1000, 1024, 4096, 16384, 50257)] + [(16384, "f2")]


def milliseconds(make):
    """The shortest mean of a few calls in a row, after a first one that compiles."""
    td.evaluate(make())
    td.synchronize()
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for _ in range(CALLS):
            td.evaluate(make())
        td.synchronize()
        best = min(best, time.perf_counter() - begun)
    return 1e3 * best / CALLS


def softmax(x):
    e = td.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layernorm(x):
    return (x - x.mean(-1, keepdims=True)) / td.sqrt(x.var(-1, keepdims=True) + 1e-5)


def log_softmax(x):
    d = x - x.max(-1, keepdims=True)
    return d - td.log(td.exp(d).sum(-1, keepdims=True))


def table(title, cases, knobs):
    """One line for each combination of values, one column for each case: milliseconds and TB/s."""
    print(f"{title}: {', '.join(knobs)}")
    print(" " * 24 + "".join(f"{name:>26}" for name, _, _ in cases))
    for combination in itertools.product(*knobs.values()):
        for name, value in zip(knobs, combination, strict=True):
            _core.tune(name, value)
        line = f"{combination!s:24}"
        for _, make, nbytes in cases:
            try:
                ms = milliseconds(make)
                line += f"{ms:14.4f} ms {nbytes / ms / 1e9:5.2f} TB/s"
            except (td.CompileError, td.DeviceError) as e:
                line += f"{type(e).__name__:>26}"
        print(line, flush=True)


def rows():
    for function in (softmax, layernorm, log_softmax):
        cases = []
        for length, dtype in SHAPES:
            x = td.random.default_rng(0).standard_normal((2**27 // length, length)).astype(dtype)
            td.evaluate(x)
            cases.append((f"{length} {dtype}", partial(function, x), 2 * x.nbytes))
        table(function.__name__, cases, {"row_words": (16, 32), "row_regs": (48, 64, 128)})


def across():
    x = td.random.default_rng(0).standard_normal((8192, 16384), dtype="float32")
    y = td.random.default_rng(0).standard_normal((131072, 1024), dtype="float32")
    td.evaluate(x, y)
    cases = [
        ("8192 x 16384, axis 0", lambda: x.sum(0), x.nbytes),
        ("131072 x 1024, axis 0", lambda: y.sum(0), y.nbytes),
    ]
    knobs = {
        "across_threads": (1024, 2048),
        "across_deep": (2, 4, 8, 16),
        "across_block": (64, 128, 256),
    }
    table("sum", cases, knobs)


def gathers():
    n = 1 << 27
    x = td.random.default_rng(0).random(n, dtype="float32")
    i = td.random.default_rng(1).integers(0, n, n // 4)
    td.evaluate(x, i)
    table("gather", [("a quarter of 2^27", lambda: x[i], 3 * i.nbytes // 2)], {"gather_lanes": (1, 2, 4)})


def scans():
    x = td.random.default_rng(0).random(1 << 27, dtype="float32")
    td.evaluate(x)
    cases = [
        ("cumsum", lambda: td.cumsum(x, 0), 2 * x.nbytes),
        ("x[x > 0.5]", lambda: x[x > 0.5], 3 * x.nbytes // 2),
    ]
    table("scans", cases, {"scan_blocks": (1, 2, 3, 4, 5)})


def draws():
    g = td.random.default_rng(0)
    cases = [
        ("10^8 normal", lambda: g.standard_normal(10**8, dtype="float32"), 4 * 10**8),
        ("10^8 uniform", lambda: g.random(10**8, dtype="float32"), 4 * 10**8),
    ]
    table("draws", cases, {"random_lanes": (4, 8, 16)})


if __name__ == "__main__":
    with td.device(next((d.name for d in td.devices() if d.kind == "cuda"), "cpu")):
        for part in sys.argv[1:] or ["rows", "across", "gathers", "draws", "scans"]:
            {"rows": rows, "across": across, "gathers": gathers, "draws": draws, "scans": scans}[part]()
