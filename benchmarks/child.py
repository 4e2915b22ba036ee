"""One library's rows, in a process of their own.

    python child.py DEVICE LIBRARY OURS SCALE ROW…

Prints one JSON object a line: first {"version": …}, then for each row {"row": name, "seconds": …,
"value": …} or {"row": name, "missing": reason}. `value` is the mean of the result: the parent
compares it among the libraries, so that nobody is timed for a wrong answer. OURS is the module
that stands for treadle. SCALE divides the repetitions (1 for a measurement).
"""

import functools
import json
import random
import statistics
import sys
import time

import kernels
import libraries
import numpy
import rows as table

BUDGET = 0.5  # seconds of repetition for a row
BATCH = 0.02  # seconds of work that are put in flight between two waits on a GPU
SMALL_CALLS = 5000  # calls of a latency row in one measurement
UNARY = ("m.sqrt(m.abs({0}))", "m.exp(-m.abs({0}))", "m.sin({0})", "m.tanh({0})", "m.cos({0})")
BINARY = ("({0} + {1})", "({0} - {1})", "({0} * {1})")


def library_of(device, name, ours):
    if device == table.GPU:
        import gpu_libraries

        known = gpu_libraries.GPU
    else:
        known = libraries.CPU
    return known[name](ours) if name == "treadle" else known[name]()


class Timer:
    """Times calls of one library on one device."""

    def __init__(self, library, device, scale):
        self.library, self.gpu, self.scale = library, device == table.GPU, scale

    def batch(self, call, count):
        """Seconds a call of `count` calls put in flight together, then waited for."""
        start = time.perf_counter()
        for _ in range(count):
            call()
        self.library.sync()
        return (time.perf_counter() - start) / count

    def throughput(self, call):
        """Median seconds of a call, after two that compile and warm up.

        A GPU gets several calls in a row, since one alone would be timed with the wait; the CPU
        gets one, or as many as a millisecond holds.
        """
        self.batch(call, 1)
        once = self.batch(call, 1)
        count = max(1, int((BATCH if self.gpu else 1e-3) / max(once, 1e-7)))
        budget, times = BUDGET / self.scale, []
        while len(times) < (5 if once < budget else 3) or (sum(times) * count < budget and len(times) < 200):
            times.append(self.batch(call, count))
            if self.scale > 1 and len(times) >= 2:
                break
        return statistics.median(times)

    def latency(self, call, calls=SMALL_CALLS):
        """Median seconds a call of thousands in a row, the wait at their end included."""
        self.batch(call, 100)
        return statistics.median(self.batch(call, calls // self.scale) for _ in range(7))

    def sequence(self, call):
        """As latency, of calls that are a hundred operations each."""
        return self.latency(call, SMALL_CALLS // 20)

    def transfer(self, call):
        """Median seconds of a call that is waited for; its result is dropped before the next."""
        call()
        return statistics.median(self.batch(call, 1) for _ in range(max(3, 9 // self.scale)))

    def compiling(self, row, arrays):
        """Median seconds by which the first call of a new expression exceeds the third."""
        repeats = max(2, self.library.compile_repeats // self.scale)
        texts = [new_expression(seed, list(arrays)) for seed in range(repeats + 1)]
        costs = []
        for text in texts:
            call = self.library.call(text, arrays)
            first = self.batch(call, 1)
            self.batch(call, 1)
            costs.append(first - self.batch(call, 1))
        # The first of them also opened the compiler.
        return statistics.median(costs[1:])

    def compiling_function(self, name):
        """The same of programs/NAME.py, of which a constant differs each time."""
        x = numpy.linspace(-3, 4, 100)
        costs = []
        for seed in range(max(2, self.library.compile_repeats // self.scale) + 1):
            function = getattr(kernels.load(name, self.library.compiler, SEED=seed), name)
            call = functools.partial(function, x, x.copy(), numpy.empty_like(x))
            first = self.batch(call, 1)
            costs.append(first - self.batch(call, 1))
        return statistics.median(costs[1:])


TIMINGS = {"throughput": Timer.throughput, "latency": Timer.latency, "graph": Timer.sequence,
           "transfer": Timer.transfer, "kernel": Timer.throughput, "launch": Timer.latency}


def new_expression(seed, names):
    """An expression of nine operations whose structure no other seed gives."""
    rng = random.Random(seed)
    text = rng.choice(names)
    for i in range(9):
        text = rng.choice(UNARY if i % 2 else BINARY).format(text, rng.choice(names))
    return text


def measure(library, timer, row, cache):
    """(seconds, value) of a row. Arrays are kept in `cache` for other rows that want the same."""
    text = row.expression(library.name)[0]
    if row.kind == "function":
        return timer.compiling_function(text), None
    if row.kind == "kernel":
        compare(library, row, text)
    arrays = {}
    for item in row.inputs:
        if item not in cache:
            cache[item] = operand(library, item)
        arrays[item.name] = cache[item]
    library.sync()
    if row.kind == "compile":
        return timer.compiling(row, arrays), None
    if row.kind == "record":
        return timer.latency(library.record(text, arrays)), None
    call = MAKERS.get(row.kind, MAKERS[""])(library, text, arrays)
    value = digest(library.host(call())) if row.alike else None
    return TIMINGS[row.kind](timer, call), value


def maker(name):
    return lambda library, text, arrays: getattr(library, name)(text, arrays)


MAKERS = {"": maker("call"), "graph": maker("graph"), "kernel": maker("program"), "launch": maker("program")}


def compare(library, row, text):
    """Raise ArithmeticError if the program's results on few elements are not NumPy's."""
    reference = kernels.load("reference", library.compiler)
    small = [item.shrunk() for item in row.inputs]
    host = {item.name: item.base() for item in small}
    wanted = libraries.function(text, list(host), numpy, grid=reference, loops=reference,
                                raw=reference)(**host)
    arrays = {item.name: operand(library, item) for item in small}
    found = library.host(library.program(text, arrays)())
    problem = reference.problem(found, wanted)
    if problem:
        raise ArithmeticError(problem)


def operand(library, item):
    """The library's array for an input."""
    base = item.base()
    if item.place == "host":
        return base
    array = library.array(base)
    return item.view(library.bfloat16(array) if item.dtype == "bf16" else array)


def digest(result):
    """A number that another order of the same elements would change too."""
    flat = numpy.ravel(numpy.asarray(result))
    weight = numpy.linspace(1, 2, flat.size)
    return float(numpy.dot(flat.astype(numpy.float64), weight)) / max(flat.size, 1)


def main(device, name, ours, scale, *wanted):
    library = library_of(device, name, ours)
    print(json.dumps({"version": library.version()}), flush=True)
    timer, cache = Timer(library, device, int(scale)), {}
    by_name = {row.name: row for row in table.rows(device)}
    for row_name in wanted:
        row = by_name[row_name]
        entry = {"row": row_name}
        reason = row.expression(name)[1]
        if reason:
            entry["missing"] = reason
        else:
            try:
                entry["seconds"], entry["value"] = measure(library, timer, row, cache)
            except Exception as problem:  # a peer's failure is an empty cell, not the end
                lines = str(problem).strip().splitlines() or [""]
                entry["missing"] = f"{type(problem).__name__}: {lines[0][:160]}"
        print(json.dumps(entry), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
