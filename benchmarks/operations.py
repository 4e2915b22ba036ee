"""Every operation of the core's table beside its meaning in NumPy: prints nanoseconds an element.

    PYTHONPATH=build/tree python benchmarks/operations.py [--elements N] [NAME ...]

The rows are those of ops.def, so an operation that has been added is measured without a line here. Operands lie in the
row's domain, as float32 where it takes floats, else as int32, uint32 or bool. Meanings that NumPy has no function for
(math.erf) are computed by Python element by element, and are left out.
"""

import argparse
import time

import numpy as np

import treadle as td
from treadle import _core

DTYPES = {"f": "float32", "i": "int32", "u": "uint32", "b": "bool"}


def dtype_of(kinds):
    return next(DTYPES[k] for k in DTYPES if k in kinds)


def operands(name, arity, kinds, n):
    low, high = map(float, (_core.op_columns()[name][1].partition("|")[0] or "-4 5").split())
    rng = np.random.default_rng(1)
    dtype = dtype_of(kinds)
    if dtype in ("bool", "uint32"):
        low = max(low, 0)
    args = [rng.uniform(low, high, n).astype(dtype) for _ in range(arity)]
    return [rng.random(n) < 0.5, *args[1:]] if name == "select" else args


def best(call, seconds=0.1):
    """The shortest of its runs, in seconds."""
    call()
    shortest, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.perf_counter()
        call()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def row(name, arity, kinds, meaning, n):
    """(treadle's, NumPy's or None) nanoseconds an element."""
    args = operands(name, arity, kinds, n)
    ours, f = [td.asarray(a) for a in args], _core.ufuncs()[name]

    def here():
        td.evaluate(f(*ours))
        td.synchronize()

    names = dict(zip("xyz", args, strict=False))
    code = compile(meaning, name, "eval")
    plain = "math." not in meaning and "object" not in meaning
    theirs = best(lambda: eval(code, {"np": np, "abs": np.abs}, names)) if plain else None
    return best(here) / n * 1e9, theirs and theirs / n * 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--elements", type=int, default=1 << 20)
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    table = {r[0]: r for r in _core.ops()}
    unknown = set(given.names) - set(table)
    if unknown:
        parser.error(f"no operation is called {', '.join(sorted(unknown))}; there are {', '.join(table)}")
    print(f"{'operation':<16} {'dtype':<8} {'treadle':>8} {'NumPy':>8}  ns an element, {given.elements} elements")
    with np.errstate(all="ignore"):
        for name, arity, kinds, meaning in (table[n] for n in given.names or table):
            ours, theirs = row(name, arity, kinds, meaning, given.elements)
            print(f"{name:<16} {dtype_of(kinds):<8} {ours:8.3f} {f'{theirs:8.3f}' if theirs else '-':>8}")


if __name__ == "__main__":
    main()
