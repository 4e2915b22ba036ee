"""run.py NAME [SIZE] [--times N] [--module M] - initializes and runs one program; prints a line of JSON.

"first" is the first call, "best" the fastest of the later ones, in seconds, each until all results are numbers: their
sums, which "sums" gives.  Under ``python run.py`` the program is NumPy's, under ``python -m treadle run.py`` treadle's
without a change; with --module cupy its import names CuPy, the one edit that such a program takes.
"""

import argparse
import json
import sys
import time
import types
from pathlib import Path


def load(name, array_module):
    text = (Path(__file__).parent / f"{name}.py").read_text()
    if array_module == "numpy":
        return __import__(name)
    module = types.ModuleType(name)
    text = text.replace("import numpy as np", f"import {array_module} as np")
    exec(compile(text, f"{name}.py", "exec"), vars(module))
    return module


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("size", nargs="?", default="large")
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--module", default="numpy")
    given = parser.parse_args()
    program = load(given.name, given.module)
    seconds, sums = [], []
    for _ in range(given.times):
        arguments = program.initialize(*program.SIZES[given.size])
        for x in arguments:  # what is lazy or under way belongs to the initialization
            if hasattr(x, "sum"):
                float(abs(x).sum())
        begin = time.perf_counter()
        result = program.kernel(*arguments)
        sums = [complex(x.sum()) for x in (result if isinstance(result, tuple) else (result,))]
        seconds.append(time.perf_counter() - begin)
    sums = [f"{s.real:.9g}" + (f"{s.imag:+.9g}j" if s.imag else "") for s in sums]
    print(json.dumps({"name": given.name, "first": seconds[0], "best": min(seconds[1:] or seconds), "sums": sums}))


if __name__ == "__main__":
    sys.exit(main())
