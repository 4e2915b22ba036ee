"""One program of the demonstration, in a process of its own: run, time, compare.

    python -m treadle.demo.child NAME MODULE SIZE PICTURES

Writes one JSON object a line to standard output, each with a key "event":
"start" (title, story, tolerance …), "numpy" (seconds), "first" (seconds), "treadle" (seconds),
"done" (error, ok, pictures), or "missing" (package, or why). Anything else that goes wrong is a traceback
and a nonzero exit code, which the parent reports.
"""

import importlib
import json
import math
import pathlib
import statistics
import sys
import time

import numpy

import treadle

from . import programs
from .png import write_png

BUDGET = 1.0  # seconds of repetition for each side, beyond the first call
REPEATS = 7  # at most; a median of more does not change


def finish(module, *values):
    """Wait until the values exist.

    treadle's arrays are lazy and a GPU runs beside Python, so that main() may return before
    anything was computed: evaluate() starts what is still recorded, synchronize() waits for the
    device. Both do nothing on NumPy's side.
    """
    arrays = [v for v in values if isinstance(v, module.ndarray)]
    if arrays:
        module.evaluate(*arrays)
    module.synchronize()


def once(module, compute, args):
    """(seconds, results) of one call, including the computation of all results."""
    start = time.perf_counter()
    results = compute(*args)
    finish(module, *results.values())
    return time.perf_counter() - start, results


def steady(module, compute, args):
    """The median time of several calls, at least one. The caller has made the first call."""
    times = []
    while not times or (len(times) < REPEATS and sum(times) < BUDGET):
        times.append(once(module, compute, args)[0])
    return statistics.median(times)


def host_of(module, value):
    """A NumPy array for an array of the module. Other values are returned unchanged."""
    return module.asnumpy(value) if isinstance(value, module.ndarray) else value


def on_host(module, results):
    """The results as NumPy arrays."""
    return {key: numpy.asarray(host_of(module, value)) for key, value in results.items()}


def say(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)


def measure(name, module_name, size):
    """Report the times of both sides. Returns both results, as NumPy arrays, and the program."""
    results = {}
    for side, source in (("numpy", "treadle.demo.numpy_side"), ("treadle", module_name)):
        module = importlib.import_module(source)
        program = programs.load(name, source)
        compute = getattr(program, "reference", program.main) if side == "numpy" else program.main
        args = program.setup(**program.SIZES[size])
        finish(module, *args)
        first, found = once(module, compute, args)
        results[side] = on_host(module, found)
        del found  # so that the repetitions do not hold two sets of results
        if side == "treadle":
            say("first", seconds=first)
        say(side, seconds=steady(module, compute, args))
    return results["treadle"], results["numpy"], program


def save_pictures(program, result, name, folder):
    """Write the program's pictures. Returns their captions and paths."""
    written = []
    if hasattr(program, "pictures"):
        for i, (caption, picture) in enumerate(program.pictures(result).items(), 1):
            path = pathlib.Path(folder) / f"{name.replace('/', '-')}-{i}.png"
            write_png(path, picture)
            written.append({"caption": caption, "path": str(path)})
    return written


def main(name, module_name, size, folder):
    try:
        run(name, module_name, size, folder)
    except treadle.MissingLibraryError as missing:  # there is no compiler of CUDA C++, or a library is missing
        say("missing", why=str(missing).split(": ")[0])


def run(name, module_name, size, folder):
    program = programs.load(name, "treadle.demo.numpy_side")
    say(
        "start",
        title=programs.title(program),
        story=programs.story(program),
        size=program.SIZES[size],
        kernels=hasattr(program, "reference"),
        tolerance=program.TOLERANCE,
        why=program.WHY,
    )
    try:
        ours, numpys, program = measure(name, module_name, size)
    except ModuleNotFoundError as missing:
        package = programs.PACKAGES.get((missing.name or "").split(".")[0])
        if not package:
            raise
        say("missing", package=package)
        return
    error = float(getattr(program, "error", programs.largest_error)(ours, numpys))
    ok = math.isfinite(error) and error <= program.TOLERANCE
    # Drawn from treadle's results: what the report shows is what treadle computed.
    say(
        "done",
        error=error if math.isfinite(error) else None,
        ok=ok,
        pictures=save_pictures(program, ours, name, folder),
    )


if __name__ == "__main__":
    main(*sys.argv[1:5])
