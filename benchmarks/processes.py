"""Rows that time whole processes: from their start to a first result, and imports.

Each repetition has an empty folder for every cache that a library or the driver keeps, so that a
first result is a first one.
"""

import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import rows as table

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("startup", "import", "first", "unchanged", "script")  # of the rows that measure() takes
CACHES = ("TREADLE_CACHE_DIR", "CUPY_CACHE_DIR", "NUMBA_CACHE_DIR", "CUDA_CACHE_PATH",
          "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "XDG_CACHE_HOME")

NUMBA_CPU = """
import numba, numpy
@numba.njit
def f(a):
    return (a + 1).sum()
print(f(numpy.arange(10)))
"""
NUMBA_GPU = """
import numpy
if not hasattr(numpy, "row_stack"): numpy.row_stack = numpy.vstack
from numba import cuda
@cuda.jit
def f(a, out):
    i = cuda.grid(1)
    if i < a.size: cuda.atomic.add(out, 0, a[i] + 1)
out = cuda.to_device(numpy.zeros(1, "i8"))
f[1, 32](cuda.to_device(numpy.arange(10)), out)
print(out.copy_to_host()[0])
"""
FIRST_RESULT = {
    table.CPU: {
        "treadle": "import {ours} as td\nprint((td.arange(10) + 1).sum())",
        "numpy": "import numpy as np\nprint((np.arange(10) + 1).sum())",
        "numexpr": "import numexpr, numpy\na = numpy.arange(10)\n"
                   "print(numexpr.evaluate('sum(a + 1)'))",
        "numba": NUMBA_CPU,
        "torch": "import torch\nprint((torch.arange(10) + 1).sum())",
    },
    table.GPU: {
        "treadle": "import {ours} as td\nprint((td.arange(10) + 1).sum())",
        "cupy": "import cupy as cp\nprint((cp.arange(10) + 1).sum())",
        "torch": "import torch\nprint((torch.arange(10, device='cuda') + 1).sum())",
        "numba.cuda": NUMBA_GPU,
        "jax": "import jax.numpy as jnp\nprint((jnp.arange(10) + 1).sum())",
    },
}
IMPORTS = {"treadle": "import {ours}", "numpy": "import numpy", "numexpr": "import numexpr",
           "numba": "import numba", "torch": "import torch"}


def first_line(code, env):
    """Seconds from the start of a Python process to its first line of output (or its end)."""
    with tempfile.TemporaryDirectory(prefix="treadle-bench-") as empty:
        env = {**env, **dict.fromkeys(CACHES, empty)}
        start = time.perf_counter()
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=env, text=True) as process:
            process.stdout.readline()
            seconds = time.perf_counter() - start
            errors = process.communicate()[1]
    if process.returncode:
        last = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        raise RuntimeError(last[0][:160])
    return seconds


def first_call(arguments, env, repeats):
    """Median seconds that first_call.py prints. With "cached" the runs share folders, of which
    the first one, not counted, fills what can be kept."""
    cached = "cached" in arguments
    times = []
    with tempfile.TemporaryDirectory(prefix="treadle-bench-") as folder:
        for i in range(repeats + cached):
            place = folder if cached else os.path.join(folder, str(i))
            os.makedirs(place, exist_ok=True)
            asked = subprocess.run([sys.executable, str(HERE / "first_call.py"), *arguments],
                                   capture_output=True, text=True, check=False,
                                   env={**env, **dict.fromkeys(CACHES, place)})
            if asked.returncode:
                last = asked.stderr.strip().splitlines()[-1:] or [f"exit code {asked.returncode}"]
                raise RuntimeError(last[0][:160])
            times.append(float(asked.stdout.split()[-1]))
    return statistics.median(times[cached:])


def startup(code, env, repeats):
    """Median, the first run left out: it reads the library's files from the disk."""
    first_line(code, env)
    return statistics.median(first_line(code, env) for _ in range(repeats))


def importing(code, env, repeats):
    """Median over that of `python -c pass`, the two taken in turn."""
    first_line(code, env)
    bare, full = [], []
    for _ in range(repeats):
        bare.append(first_line("pass", env))
        full.append(first_line(code, env))
    return statistics.median(full) - statistics.median(bare)


def told_by(command):
    """What a program's last line of JSON says; its caches are empty."""
    with tempfile.TemporaryDirectory(prefix="treadle-bench-") as empty:
        asked = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, timeout=600,
                               env={**os.environ, **dict.fromkeys(CACHES, empty)})
    if asked.returncode:
        last = asked.stderr.strip().splitlines()[-1:] or [f"exit code {asked.returncode}"]
        raise RuntimeError(last[0][:160])
    return json.loads(asked.stdout.splitlines()[-1])


def unchanged(row, library, ours, text):
    """The fastest call of a program by its runner: a NumPy program as it stands, under treadle or NumPy, or with CuPy
    in its import. "first" is its first call, with empty caches."""
    under = ["-m", ours, "--device", row.device] if library == "treadle" else []
    module = ["--module", library] if library in ("cupy", "numba") else []
    script, *arguments = text.split()
    told = told_by([*under, str(HERE / "programs" / script), *arguments, *module])
    value = None if library == "cupy" else abs(complex(told["sums"][0]))  # its random numbers are others
    return {"seconds": told["best"], "first": told["first"], "value": value}


def script(row, library, ours, text):
    """The fastest round of a program, which is told what to measure; {ours} and {device} stand in its arguments. It
    may tell its own floor, in seconds."""
    words = text.format(ours=ours, device=row.device).split()
    told = told_by([str(HERE / word) if word.endswith(".py") else word for word in words])
    value = float(told["sums"][0]) if row.alike else None
    floor = {"floor": told["floor"]} if "floor" in told else {}
    return {"seconds": told["best"], "first": told["first"], "value": value, **floor}


def mean(cells, library):
    """The geometric mean of a library's seconds in all of the cells."""
    times = [row.get(library, {}).get("seconds") for row in cells]
    missing = sum(t is None for t in times)
    if missing or not times:
        return {"missing": f"{missing} of its {len(times)} programs have no time"}
    return {"seconds": math.exp(statistics.fmean(map(math.log, times)))}


def measure(row, library, ours, scale):
    """{"seconds": …} or {"missing": reason} of a row of one of KINDS."""
    env = dict(os.environ)
    try:
        if row.kind in ("unchanged", "script", "first"):
            text, reason = row.expression(library)
            if reason:
                return {"missing": reason}
        if row.kind in ("unchanged", "script"):
            return (unchanged if row.kind == "unchanged" else script)(row, library, ours, text)
        if row.kind == "first":
            module = ours if library == "treadle" else library.split(".")[0]
            arguments = [row.device, library, module, *text.split()]
            return {"seconds": first_call(arguments, env, max(2, 7 // scale))}
        programs = IMPORTS if row.kind == "import" else FIRST_RESULT[row.device]
        if library not in programs:
            return {"missing": table.KERNELS_ONLY.get(library, f"as {library.split('.')[0]}")}
        code = programs[library].format(ours=ours) if library == "treadle" else programs[library]
        take = importing if row.kind == "import" else startup
        repeats = max(2, (15 if row.kind == "import" else 5) // scale)
        return {"seconds": take(code, env, repeats)}
    except (RuntimeError, subprocess.TimeoutExpired) as problem:
        return {"missing": str(problem)}
