"""The adviser's questions: one row each, with the function that looks for it in what was seen.

A finder gives Findings; it claims what the records and the program's text show, and nothing else."""

import ast
import gc
import re
from dataclasses import asdict, dataclass

from .. import _core
from . import _seen, _source, _trials
from ._profile import aside


@dataclass
class Finding:
    """One thing that costs: its question's id, line "file.py:12" and text; calls; seconds that it took; what was seen,
    the change to make, code that says the change ("": none); seconds that the change saves (None: not known), whether
    that was measured, and how it is known."""

    id: str
    line: str
    code: str
    calls: int
    seconds: float
    what: str
    change: str
    suggestion: str = ""
    saved: float | None = None
    measured: bool = False
    how: str = ""

    def facts(self):
        return asdict(self)


def _times(n):
    return f"{n} time" + "s" * (n != 1)


def _bytes(n):
    return f"{n / 1e6:.1f} MB" if n >= 1e5 else f"{n / 1e3:.1f} kB"


def _finding(row, line, place, **facts):
    return Finding(row, _seen.short(line), place.text, **facts)


# ---- elements ----


def _whole(place):
    """Code for a loop's line that adds elements up, or "": the loop is another."""
    node = place.statement
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(place.loop, ast.For):
        element = next((n for n in ast.walk(node.value) if isinstance(n, ast.Subscript)), None)
        head = place.loop.iter
        one = isinstance(place.loop.target, ast.Name) and isinstance(head, ast.Call) and len(head.args) == 1
        if one and element and ast.unparse(element.slice) == place.loop.target.id and _called_range(head):
            if not any(isinstance(p, ast.For) and p is not place.loop and p.lineno < node.lineno <= p.end_lineno
                       for p in ast.walk(place.loop)):  # fmt: skip
                part = f"{ast.unparse(element.value)}[:{ast.unparse(head.args[0])}]"
                return f"{ast.unparse(node.target)} += {ast.unparse(node.value).replace(ast.unparse(element), part)}.sum()"
    if place.function:
        return f"@numba.njit\ndef {place.function.name}({ast.unparse(place.function.args)}):"
    names = sorted({n.value.id for n in place.nodes if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)})
    return f"@numba.njit\ndef loop({', '.join(names) or 'x'}):\n    ...  # the loop of line {place.loop.lineno}" if place.loop else ""


def _called_range(node):
    return isinstance(node.func, ast.Name) and node.func.id == "range"


def _element(seen, write):
    """Elements of NumPy's arrays by the watch; of treadle's by records of single elements."""
    row = "element-write" if write else "element-read"
    does = "writes" if write else "reads"
    for (name, file, number), work in seen.host.items():
        line = f"{file}:{number}"
        place = _source.at(line)
        if name != ("element written" if write else "element") or work.calls < 300:
            continue
        if not place or not (place.stores if write else place.indexes):
            continue  # compiled code of a library, called here
        step, whole = _trials.elements(work.shape, str(work.dtype), write, None)
        yield _finding(
            row, line, place, calls=work.calls, seconds=step * work.calls,
            what=f"{does} {work.calls} elements one by one",
            change="one operation on the whole array, or the loop in a function with @njit",
            suggestion=_whole(place), saved=max(step * work.calls - whole, 0.0), measured=True,
            how=f"a loop over elements beside one operation on {work.dtype} of shape {work.shape}",
        )  # fmt: skip
    for line, group in _by_line(seen, _is_written if write else _is_read, "asked").items():
        place = _source.at(line)
        if len(group) < 20 or not place or not (place.stores if write else place.indexes):
            continue
        step, whole = _trials.elements((4096,), "float64", write, seen.device)
        yield _finding(
            row, line, place, calls=len(group), seconds=step * len(group),
            what=f"{does} {len(group)} elements of an array of treadle's one by one",
            change="one operation on the whole array, or the loop in a function with @treadle.jit",
            suggestion=_whole(place), saved=max(step * len(group) - whole, 0.0), measured=True,
            how="a loop over elements beside one operation on an array of 4096",
        )  # fmt: skip


def _is_read(r):
    return r.kind == "read" or (r.kind == "copy_out" and r.nbytes <= 16)


def _is_written(r):
    return r.kind in ("kernel", "copy", "fill", "copy_in") and r.nbytes <= 32


def find_element_read(seen):
    yield from _element(seen, False)


def find_element_write(seen):
    yield from _element(seen, True)


# ---- values looked at, waits ----


def _by_line(seen, wanted, which="line"):
    groups = {}
    for r in seen.profile.records:
        if wanted(r):
            groups.setdefault(getattr(r, which), []).append(r)
    return groups


def _evaluations(group):
    """How often a line asked: kernels of one evaluation begin within a short time of each other, in one thread."""
    return len({(r.thread, round(r.begin, 4)) for r in group})


def _is_expression(r):
    """Is this a kernel of recorded operations, whose name lists them? The program's own run where they are launched."""
    words = {row[0] for row in _core.ops()} | {row[0] for row in _core.reductions()} | _STEPS
    return r.kind == "kernel" and r.name.partition(" ")[0] in words


_STEPS = set("cast arange random take search copy values scan".split())


def _demanded(seen):
    """{line: (Place, how often it asked, seconds of compiling for it)} of lines that need values again and again."""
    asked = _by_line(seen, lambda r: r.kind == "copy_out" or _is_expression(r), "asked")
    compiled = _by_line(seen, lambda r: r.kind == "compile", "asked")
    down = {line for _, line in _trips(seen)}  # a round trip is a finding of its own
    found = {}
    for line, group in asked.items():
        place = _source.at(line)
        if not place or not place.demands or place.stores or line in down:
            continue
        out = [r for r in group if r.kind == "copy_out"]
        if place.indexes and len([r for r in out if r.nbytes <= 16]) >= 20:
            continue  # elements one by one
        kernels = [r for r in group if r.kind != "copy_out"]
        times = len(out) or _evaluations(kernels)
        if times >= 10 and kernels:
            found[line] = place, times, [r.end - r.begin for r in compiled.get(line, ())]
    return found


def find_demand(seen):
    for line, (place, times, built) in _demanded(seen).items():
        each = _trials.demands(seen.device)
        again = len(built) > 3
        more = f"; {len(built)} kernels were compiled for it, as more and more waits each time" if again else ""
        evaluate = ", or treadle.evaluate(…) in each round what the next one uses" if again else ""
        wasted = sum(built) - max(built) if again else 0.0
        yield _finding(
            "demand", line, place, calls=times, seconds=each * times + wasted,
            what=f"needs a value in the middle of a computation, {_times(times)}: what was recorded runs there{more}",
            change=f"look at it every tenth round or after the loop, and keep the arrays of the rounds till then{evaluate}",
            suggestion=_every_tenth(place), saved=0.9 * each * times + wasted, measured=False,
            how="an estimate: nine of ten looks, at what one costs in a trial" + ", and compiling as it was timed" * again,
        )  # fmt: skip


def _every_tenth(place):
    target = getattr(place.loop, "target", None)
    if not isinstance(target, ast.Name) or hasattr(place.statement, "body"):
        return ""
    return f"if {target.id} % 10 == 0:\n    {place.text.split('  #')[0]}"


def find_wait(seen):
    for line, group in _by_line(seen, lambda r: r.kind == "wait").items():
        place = _source.at(line)
        if len(group) < 10 or not place or not place.waits:
            continue
        seconds = sum(r.end - r.begin for r in group)
        yield _finding(
            "wait", line, place, calls=len(group), seconds=seconds,
            what=f"waits for the device {_times(len(group))}",
            change="wait once, after the loop: reading a value waits by itself",
            saved=seconds * (len(group) - 1) / len(group), measured=True, how="the waits but for one, as they were timed",
        )  # fmt: skip


# ---- copies ----


def _ways(seen):
    """Copies to and from the host, in time; those of elements apart."""
    copies = [r for r in seen.profile.records if r.kind in ("copy_in", "copy_out") and r.nbytes > 64]
    return sorted(copies, key=lambda r: r.begin)


def _trips(seen):
    """{(line up, line down): [(down, up)]}: an array comes down, and the next copy takes as many bytes up."""
    found = {}
    copies = _ways(seen)
    for a, b in zip(copies, copies[1:], strict=False):
        if (a.kind, b.kind) == ("copy_out", "copy_in") and a.nbytes == b.nbytes:
            found.setdefault((b.line, a.line), []).append((a, b))
    return {lines: pairs for lines, pairs in found.items() if len(pairs) >= 3}


def _spent(group):
    return sum(r.end - r.begin for r in group)


def find_round_trip(seen):
    for (up, down), pairs in _trips(seen).items():
        place = _source.at(up)
        if not place:
            continue
        seconds = _spent([r for pair in pairs for r in pair])
        yield _finding(
            "round-trip", up, place, calls=len(pairs), seconds=seconds,
            what=f"an array of {_bytes(pairs[0][0].nbytes)} comes down at {_seen.short(down)} and goes up here again, {_times(len(pairs))}",
            change="do the work between the two lines on the device: treadle has NumPy's functions",
            saved=seconds, measured=True, how="the copies as they were timed; the device's part of the work is not in it",
        )  # fmt: skip


def find_transfer(seen):
    trips = {line for lines in _trips(seen) for line in lines}
    groups = {}
    for r in _ways(seen):
        groups.setdefault((r.line, r.kind, r.nbytes), []).append(r)
    for (line, kind, nbytes), group in groups.items():
        place = _source.at(line)
        if len(group) < 4 or not place or line in trips or not place.is_fixed():
            continue
        seconds = _spent(group)
        way = "to the device" if kind == "copy_in" else "to the host"
        yield _finding(
            "transfer", line, place, calls=len(group), seconds=seconds,
            what=f"copies the same array of {_bytes(nbytes)} {way} {_times(len(group))}: {_bytes(nbytes * len(group))}",
            change="copy it once, before the loop, and use the copy in it",
            saved=seconds * (len(group) - 1) / len(group), measured=True, how="the copies but for one, as they were timed",
        )  # fmt: skip


# ---- kernels ----


def _functions():
    """{name: [compiled functions of that name]} of the process."""
    found = {}
    for o in gc.get_objects():
        if issubclass(type(o), _core.Dispatcher):  # isinstance() would ask foreign proxies for their class
            name = getattr(o, "__name__", "")
            found.setdefault(re.sub(r"\W", "_", name, flags=re.ASCII), []).append(o)
    return found


def _varies(functions):
    """What a function of the program's own was compiled for: the arguments whose types vary, in words; "" where not known."""
    types = max((list(f.signatures) for f in functions), key=len, default=[])
    columns = [list(dict.fromkeys(map(str, c))) for c in zip(*types, strict=False)]
    return "; ".join(
        f"argument {i} came as {', '.join(c[:4])}{', …' * (len(c) > 4)}" for i, c in enumerate(columns, 1) if len(c) > 1
    )


def find_compile(seen):
    functions, demanded = _functions(), _demanded(seen)
    for line, made in _by_line(seen, lambda r: r.kind == "compile" and not r.failed).items():
        place = _source.at(line)
        names = list(dict.fromkeys(r.name for r in made))
        own = [r.name for r in made if r.name.endswith(".cu") or r.name in functions]
        most = max(own, key=own.count, default=None)
        if not place or (own.count(most) < 3 if own else len(made) < 6 or not place.in_loop or line in demanded):
            continue
        if own and most.endswith(".cu"):
            what, why = most, "its text is another each time"
            change = "write the text once: numbers that vary are parameters of the kernel"
        elif own:
            what, why = f"kernel {most}", _varies(functions[most]) or "the types of its arguments are others each time"
            change = "give it the same types: x.astype(…), numpy.float32(…) for numbers"
        else:
            what, why = f"an expression (“{names[0]}”)", "its operations, or how many of them wait, are others each time"
            change = "let each round build the same expression: treadle.evaluate(x) at a fixed place in the loop"
        made = [r for r in made if r.name == most] if own else made
        times = [r.end - r.begin for r in made]
        yield _finding(
            "compile", line, place, calls=len(made), seconds=sum(times),
            what=f"{what} is compiled {_times(len(made))}: {why}", change=change, saved=sum(times) - max(times), measured=True,
            how="all compilations but the longest, as they were timed; a next run finds them on disk",
        )  # fmt: skip


def find_launches(seen):
    kernels = _by_line(seen, lambda r: r.kind == "kernel")
    for line, group in kernels.items():
        place = _source.at(line)
        nbytes = sum(r.nbytes for r in group) // len(group)
        small = len(group) >= 200 and nbytes <= 65536 and sum(map(_device_seconds, group)) / len(group) < 50e-6
        if not place or not small or (nbytes <= 32 and (place.stores or place.indexes)):
            continue
        one, all_of = _trials.launches(max(nbytes // 2, 8), seen.device)
        yield _finding(
            "launches", line, place, calls=len(group), seconds=one / 50 * len(group),
            what=f"launches {len(group)} kernels on {_bytes(nbytes)} each",
            change="put the arrays of the rounds into one (treadle.stack) and compute once, or record the round with @treadle.graph",
            saved=(one - all_of) / 50 * len(group), measured=True, how="50 such launches beside one on as many bytes",
        )  # fmt: skip


def _device_seconds(r):
    return r.off - r.on if r.on is not None else 0.0


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
        yield _finding(
            "small-calls", line, place, calls=n, seconds=sum(c for c, *_ in costs),
            what=f"calls {', '.join(calls)} {_times(n)} on {each} elements",
            change="one call on an array of all rounds (axis=…), or the loop in a function with @njit",
            saved=sum(s for _, s, _ in costs), measured=measured,
            how="a small call beside one on as much as a thousand take" if measured else "an estimate: nine tenths of it",
        )  # fmt: skip


def _small_cost(name, work):
    """(seconds of all calls, seconds that one call on all saves, was that measured?)"""
    trial = _trials.calls(name, work.elements // work.calls, str(work.dtype or "float64"))
    if trial is None:
        seconds = work.ns / 1e9
        return seconds, 0.9 * seconds, False
    one, many = trial
    return one * work.calls, max(one - many / 1000, 0.0) * work.calls, True


# ---- data ----


def find_float64(seen):
    for line, group in _by_line(seen, lambda r: r.kind == "widen").items():
        place = _source.at(line)
        nbytes = sum(r.nbytes for r in group)
        if not place or nbytes < 1 << 20:
            continue
        double, single = _trials.precisions(nbytes // len(group), seen.device)
        yield _finding(
            "float64", line, place, calls=len(group), seconds=double * len(group),
            what=f"{group[0].name} of a float32 array and float64 gives float64, {_times(len(group))}: {_bytes(nbytes)} in the place of {_bytes(nbytes // 2)}",
            change="make the float64 operand float32 (dtype=float32 where it is made, numpy.float32(…) or a Python number "
            "for a constant), if its digits are not needed",
            saved=max(double - single, 0.0) * len(group), measured=True, how="the same operation in float64 and in float32",
        )  # fmt: skip


def find_stride(seen):
    for line, group in _by_line(seen, lambda r: r.kind == "stride").items():
        place = _source.at(line)
        nbytes = sum(r.nbytes for r in group)
        column = group[0].name == "column"
        if not place or nbytes * (8 if column else 1) < 4 << 20 or len(group) < 2:
            continue
        far, near = _trials.orders(nbytes // len(group), seen.device)
        yield _finding(
            "stride", line, place, calls=len(group), seconds=far * len(group),
            what=f"reads an array across memory, {_times(len(group))}: {_bytes(nbytes)}",
            change="one copy before the loop in the order in which it is read (numpy.ascontiguousarray), or the other axis"
            if column else "keep one copy of the transposed array: bT = treadle.ascontiguousarray(b.T)",
            saved=max(far - near, 0.0) * len(group), measured=True, how="a transposed operand beside one in the array's order",
        )  # fmt: skip
    for (name, file, number), work in seen.host.items():
        line = f"{file}:{number}"
        place = _source.at(line)
        if not place or work.across < 64 or work.calls < 50 or name.startswith("element") or work.elements < 256 * work.calls:
            continue
        trial = _trials.columns(work.shape, work.strides, str(work.dtype))
        far, near = trial or (0.0, 0.0)
        yield _finding(
            "stride", line, place, calls=work.calls, seconds=work.ns / 1e9,
            what=f"{name} reads elements {work.across} bytes apart, {_times(work.calls)}",
            change="one operation along the axis (axis=0), or the loop over a copy in the other order",
            suggestion="aT = np.ascontiguousarray(a.T)  # before the loop; then row after row of aT",
            saved=work.ns / 1e9 * max(1 - near / far, 0.0) if trial else None, measured=trial is not None,
            how="a sum over such elements beside one over neighbours" if trial else "the array is too large for a trial",
        )  # fmt: skip


def find_memory(seen):
    """An array that is much larger than all that its kernel reads."""
    records, live, peak, told = seen.profile.records, 0, 0, {}
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
            yield _finding(
                "memory", line, place, calls=1, seconds=_device_seconds(kernel),
                what=f"makes an array of {_bytes(made)} out of {_bytes(read)}; the peak is {_bytes(peak)}",
                change="reduce it in the same expression (a fused reduction stores no such array), or go through it in blocks of rows",
                how="memory, not time",
            )  # fmt: skip


def find_fallback(seen):
    for name, file, number, calls, nbytes, ns in seen.fallbacks:
        line = f"{file}:{number}"
        place = _source.at(line)
        if not place or (nbytes < 1 << 16 and calls < 10 and ns < 1e6):
            continue
        short = name.removeprefix("numpy.")
        why = seen.why.get((short, file, number))
        yield _finding(
            "fallback", line, place, calls=calls, seconds=ns / 1e9,
            what=f"NumPy computes {short} on the host, {_times(calls)}, with {_bytes(nbytes)} of treadle's arrays" + (f": {why}" if why else ""),
            change="docs/numpy.md names what runs on the device; else bring the array down once and stay on the host",
            saved=ns / 1e9, measured=False, how="an estimate, at most: the whole of NumPy's work as it was timed",
        )  # fmt: skip


# id, the question, how it is found, the finder. The page of docs is checked against this table.
ROWS = [
    ("element-read", "Are elements read one by one?", "NumPy's subscripts and treadle's reads of one element, by line", find_element_read),
    ("element-write", "Are elements written one by one?", "the same for assignments", find_element_write),
    ("demand", "Is a value needed in the middle of a computation?", "kernels asked for by a line that takes a number or prints", find_demand),
    ("wait", "Does the program wait for the device again and again?", "waits at lines that synchronize", find_wait),
    ("round-trip", "Do arrays come down and go up again?", "a copy to the host, then one of as many bytes to the device", find_round_trip),
    ("transfer", "Is the same array copied again and again?", "copies in a loop that changes none of their names", find_transfer),
    ("compile", "Are kernels compiled again and again?", "compilations by line, and what differs between them", find_compile),
    ("launches", "Are there many small launches?", "200 kernels and more of one line, on 64 kB and less", find_launches),
    ("small-calls", "Does NumPy do small work in a loop?", "1000 calls and more of one line, on fewer than 1000 elements", find_small_calls),
    ("float64", "Is float32 widened by a float64 operand?", "dtypes of operands, as operations are recorded", find_float64),
    ("stride", "Is memory read out of order?", "strides of operands", find_stride),
    ("memory", "Does an intermediate array make the peak?", "an allocation of 32 MB and more, of eight times what its kernel reads", find_memory),
    ("fallback", "What does NumPy compute for treadle?", "treadle.fallbacks()", find_fallback),
]


NOISE = 1e-3  # of the program's time: what saves less is not worth a word


def find(seen):
    """All Findings, those first that save most. Waits for a device that is not the CPU are told whatever they took: what the
    host could have done meanwhile is not in it."""
    with aside():
        found = [f for *_, finder in ROWS for f in finder(seen)]
    always = {"memory"} if seen.device == "cpu" else {"memory", "wait"}
    found = [f for f in found if f.id in always or f.saved is None or f.saved >= NOISE * seen.seconds]
    return sorted(found, key=lambda f: -(f.saved or 0.0))
