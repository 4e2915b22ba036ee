"""Finders of work that is more expensive than it need be: kernels, small calls, dtypes, strides, memory, fallbacks."""

import gc
import re

from .. import _core
from . import _source, _trials
from ._find_looks import demanded
from ._finding import by_line, bytes_text, device_seconds, finding, is_kernel, times_text

# ---- kernels ----


def _functions():
    """{name: [compiled functions of that name]} of the process."""
    found = {}
    for o in gc.get_objects():
        if issubclass(type(o), _core.Dispatcher):  # not isinstance(), which asks foreign proxies for their class
            name = getattr(o, "__name__", "")
            found.setdefault(re.sub(r"\W", "_", name, flags=re.ASCII), []).append(o)
    return found


def _varies(functions):
    """A text that says which arguments of the program's function came with different types. "" where that is not
    known."""
    types = max((list(f.signatures) for f in functions), key=len, default=[])
    columns = [list(dict.fromkeys(map(str, c))) for c in zip(*types, strict=False)]
    return "; ".join(
        f"argument {i} came as {', '.join(c[:4])}{', …' * (len(c) > 4)}" for i, c in enumerate(columns, 1) if len(c) > 1
    )


def find_compile(seen):
    functions, looked = _functions(), demanded(seen)
    launched = {line: [r.name for r in group] for line, group in by_line(seen, is_kernel, "asked").items()}
    for line, made in by_line(seen, lambda r: r.kind == "compile" and not r.failed).items():
        place = _source.at(line)
        names = list(dict.fromkeys(r.name for r in made))
        own = [r.name for r in made if r.name.endswith(".cu") or r.name in functions]
        most = max(own, key=own.count, default=None)
        used = launched.get(line, ())
        few = own.count(most) < max(3, 0.1 * used.count(most)) if own else len(made) < max(6, 0.3 * len(used))
        if not place or few or (not own and (not place.in_loop or line in looked)):
            continue
        if own and most.endswith(".cu"):
            what, why = most, "its text is another each time"
            change = "write the text once: numbers that vary are parameters of the kernel"
        elif own:
            what, why = f"kernel {most}", _varies(functions[most]) or "the types of its arguments are others each time"
            change = "give it the same types: x.astype(…), numpy.float32(…) for numbers"
        else:
            what, why = (
                f"an expression (“{names[0]}”)",
                "its operations, or how many of them wait, are others each time",
            )
            change = "let each round build the same expression: treadle.evaluate(x) at a fixed place in the loop"
        made = [r for r in made if r.name == most] if own else made
        times = [r.end - r.begin for r in made]
        yield finding(
            "compile",
            line,
            place,
            calls=len(made),
            seconds=sum(times),
            what=f"{what} is compiled {times_text(len(made))}: {why}",
            change=change,
            saved=sum(times) - max(times),
            measured=True,
            how="all compilations but the longest, as they were timed; a next run finds them on disk",
        )


def find_launches(seen):
    kernels = by_line(seen, lambda r: r.kind == "kernel")
    for line, group in kernels.items():
        place = _source.at(line)
        nbytes = sum(r.nbytes for r in group) // len(group)
        small = len(group) >= 200 and nbytes <= 65536 and sum(map(device_seconds, group)) / len(group) < 50e-6
        if not place or not small or (nbytes <= 32 and (place.stores or place.indexes)):
            continue
        one, all_of = _trials.launches(max(nbytes // 2, 8), seen.device)
        yield finding(
            "launches",
            line,
            place,
            calls=len(group),
            seconds=one / 50 * len(group),
            what=f"launches {len(group)} kernels on {bytes_text(nbytes)} each",
            change="put the arrays of the rounds into one (treadle.stack) and compute once, or record the round "
            "with @treadle.graph",
            saved=(one - all_of) / 50 * len(group),
            measured=True,
            how="50 such launches beside one on as many bytes",
        )


def find_small_calls(seen):
    lines = {}
    for (name, file, number), work in seen.host.items():
        small = work.calls >= 1000 and work.elements < 1000 * work.calls and not work.across
        if small and not name.startswith("element"):
            lines.setdefault(f"{file}:{number}", {})[name] = work
    for line, calls in lines.items():
        place = _source.at(line)
        if not place:
            continue
        costs = [_small_cost(name, work) for name, work in calls.items()]
        n, measured = max(w.calls for w in calls.values()), all(m for *_, m in costs)
        each = max(w.elements // w.calls for w in calls.values())
        yield finding(
            "small-calls",
            line,
            place,
            calls=n,
            seconds=sum(c for c, *_ in costs),
            what=f"calls {', '.join(calls)} {times_text(n)} on {each} elements",
            change="one call on an array of all rounds (axis=…), or the loop in a function with @njit",
            saved=sum(s for _, s, _ in costs),
            measured=measured,
            how="a small call beside one on as much as a thousand take"
            if measured
            else "an estimate: nine tenths of it",
        )


def _small_cost(name, work):
    """(seconds of all calls, seconds that one call on all elements would save, whether that was measured)."""
    trial = _trials.calls(name, work.elements // work.calls, str(work.dtype or "float64"))
    if trial is None:
        seconds = work.ns / 1e9
        return seconds, 0.9 * seconds, False
    one, many = trial
    return one * work.calls, max(one - many / 1000, 0.0) * work.calls, True


# ---- data ----


def find_float64(seen):
    for line, group in by_line(seen, lambda r: r.kind == "widen").items():
        place = _source.at(line)
        nbytes = sum(r.nbytes for r in group)
        if not place or nbytes < 1 << 20:
            continue
        double, single = _trials.precisions(nbytes // len(group), seen.device)
        yield finding(
            "float64",
            line,
            place,
            calls=len(group),
            seconds=double * len(group),
            what=f"{group[0].name} of a float32 array and float64 gives float64, {times_text(len(group))}: "
            f"{bytes_text(nbytes)} in the place of {bytes_text(nbytes // 2)}",
            change="make the float64 operand float32, if its digits are not needed: dtype=float32 where it is made, "
            "numpy.float32(…) or a Python number for a constant",
            saved=max(double - single, 0.0) * len(group),
            measured=True,
            how="the same operation in float64 and in float32",
        )


def find_stride(seen):
    for line, group in by_line(seen, lambda r: r.kind == "stride").items():
        place = _source.at(line)
        nbytes = sum(r.nbytes for r in group)
        column = group[0].name == "column"
        if not place or nbytes * (8 if column else 1) < 4 << 20 or len(group) < 2:
            continue
        far, near = _trials.orders(nbytes // len(group), seen.device)
        yield finding(
            "stride",
            line,
            place,
            calls=len(group),
            seconds=far * len(group),
            what=f"reads an array across memory, {times_text(len(group))}: {bytes_text(nbytes)}",
            change="one copy before the loop in the order in which it is read (ascontiguousarray), or the other axis"
            if column
            else "keep one copy of the transposed array: bT = treadle.ascontiguousarray(b.T)",
            saved=max(far - near, 0.0) * len(group),
            measured=True,
            how="a transposed operand beside one in the array's order",
        )
    for (name, file, number), work in seen.host.items():
        line = f"{file}:{number}"
        place = _source.at(line)
        if (
            not place
            or work.across < 64
            or work.calls < 50
            or name.startswith("element")
            or work.elements < 256 * work.calls
        ):
            continue
        trial = _trials.columns(work.shape, work.strides, str(work.dtype))
        far, near = trial or (0.0, 0.0)
        yield finding(
            "stride",
            line,
            place,
            calls=work.calls,
            seconds=work.ns / 1e9,
            what=f"{name} reads elements {work.across} bytes apart, {times_text(work.calls)}",
            change="one operation along the axis (axis=0), or the loop over a copy in the other order",
            suggestion="aT = np.ascontiguousarray(a.T)  # before the loop; then row after row of aT",
            saved=work.ns / 1e9 * max(1 - near / far, 0.0) if trial else None,
            measured=trial is not None,
            how="a sum over such elements beside one over neighbours"
            if trial
            else "the array is too large for a trial",
        )


def find_memory(seen):
    """Find an array that is much larger than everything that its kernel reads."""
    records, live, peak, told = seen.records, 0, 0, {}
    for i, r in enumerate(records):
        live += r.nbytes if r.kind == "alloc" else -r.nbytes if r.kind == "free" else 0
        peak = max(peak, live)
        if r.kind == "alloc" and r.nbytes >= 32 << 20:
            kernel = next((k for k in records[i : i + 16] if k.kind == "kernel" and k.asked == r.asked), None)
            read = kernel.nbytes - r.nbytes if kernel else 0
            if 0 < 8 * read <= r.nbytes:
                told.setdefault(kernel.line, (kernel, r.nbytes, read))
    for line, (kernel, made, read) in told.items():
        place = _source.at(line)
        if place:
            yield finding(
                "memory",
                line,
                place,
                calls=1,
                seconds=device_seconds(kernel),
                what=f"makes an array of {bytes_text(made)} out of {bytes_text(read)}; the peak is {bytes_text(peak)}",
                change="reduce it in the same expression (a fused reduction stores no such array), or go through it "
                "in blocks of rows",
                how="memory, not time",
            )


def find_fallback(seen):
    for name, file, number, calls, nbytes, ns in seen.fallbacks:
        line = f"{file}:{number}"
        place = _source.at(line)
        if not place or (nbytes < 1 << 16 and calls < 10 and ns < 1e6):
            continue
        short = name.removeprefix("numpy.")
        why = seen.why.get((short, file, number))
        yield finding(
            "fallback",
            line,
            place,
            calls=calls,
            seconds=ns / 1e9,
            what=f"NumPy computes {short} on the host, {times_text(calls)}, "
            f"with {bytes_text(nbytes)} of treadle's arrays"
            + (f": {why}" if why else ""),
            change="docs/numpy.md names what runs on the device; else bring the array down once and stay on the host",
            saved=ns / 1e9,
            measured=False,
            how="an estimate, at most: the whole of NumPy's work as it was timed",
        )
