"""Finders of values that the program reads: single elements, numbers in the middle of a computation, waits, copies."""

import ast
import functools

from .. import _core
from . import _source, _trials
from ._finding import by_line, bytes_text, finding, is_kernel, times_text

# ---- elements ----


def _sum_of(place):
    """For a line that adds up x[i] over range(n): the code "s += x[:n].sum()". "" for other lines."""
    node, loop = place.statement, place.loop
    if not (isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(loop, ast.For)):
        return ""
    head, element = loop.iter, node.value
    over_range = isinstance(head, ast.Call) and isinstance(head.func, ast.Name) and head.func.id == "range"
    if not (over_range and len(head.args) == 1 and isinstance(element, ast.Subscript)):
        return ""
    if ast.unparse(element.slice) != ast.unparse(loop.target):
        return ""
    return f"{ast.unparse(node.target)} += {ast.unparse(element.value)}[:{ast.unparse(head.args[0])}].sum()"


def _whole(place, decorator):
    """Code that replaces the loop: a sum, else the loop in a compiled function. "" where none is known."""
    if text := _sum_of(place):
        return text
    if place.function:
        return f"{decorator}\ndef {place.function.name}({ast.unparse(place.function.args)}):"
    if place.loop is None:
        return ""
    names = sorted({n.value.id for n in place.nodes if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)})
    return f"{decorator}\ndef loop({', '.join(names) or 'x'}):\n    ...  # the loop of line {place.loop.lineno}"


def _element(seen, write):
    """Lines that read or write single elements: of NumPy's arrays as recorded on the host, of treadle's by the
    profile's records."""
    row = "element-write" if write else "element-read"
    does = "writes" if write else "reads"
    for (name, file, number), work in seen.host.items():
        line = f"{file}:{number}"
        place = _source.at(line)
        if name != ("element written" if write else "element") or work.calls < 300:
            continue
        if not place or not (place.stores if write else place.indexes):
            continue  # compiled code of a library asked for the value, not this line
        step, whole = _trials.elements(work.shape, str(work.dtype), write, None)
        yield finding(
            row,
            line,
            place,
            calls=work.calls,
            seconds=step * work.calls,
            what=f"{does} {work.calls} elements one by one",
            change="one operation on the whole array, or the loop in a function with @njit",
            suggestion=_whole(place, "@numba.njit"),
            saved=max(step * work.calls - whole, 0.0),
            measured=True,
            how=f"a loop over elements beside one operation on {work.dtype} of shape {work.shape}",
        )
    kernels = by_line(seen, is_kernel, "asked")
    for line, group in by_line(seen, _is_written if write else _is_read, "asked").items():
        place = _source.at(line)
        if len(group) < 20 or not place:
            continue
        if not (place.stores if write else _takes_elements(place, kernels.get(line, ()), len(group))):
            continue
        step, whole = _trials.elements((4096,), "float64", write, seen.device)
        yield finding(
            row,
            line,
            place,
            calls=len(group),
            seconds=step * len(group),
            what=f"{does} {len(group)} elements of an array of treadle's one by one",
            change="one operation on the whole array, or the loop in a function with @treadle.jit",
            suggestion=_whole(place, "@treadle.jit"),
            saved=max(step * len(group) - whole, 0.0),
            measured=True,
            how="a loop over elements beside one operation on an array of 4096",
        )


def _is_read(r):
    return r.kind == "read" or (r.kind == "copy_out" and r.nbytes <= 16)


def _takes_elements(place, kernels, reads):
    """Whether the line reads elements that exist already. Values computed for each reading are another finding
    (demand)."""
    return place.indexes and 2 * sum(k.nbytes > 32 for k in kernels) < reads


def _is_written(r):
    return r.kind in ("kernel", "copy", "fill", "copy_in") and r.nbytes <= 32


def find_element_read(seen):
    yield from _element(seen, False)


def find_element_write(seen):
    yield from _element(seen, True)


# ---- values looked at, waits ----


def _evaluations(group):
    """How often a line asked for values. Kernels of one evaluation begin within a tenth of a millisecond, in one
    thread."""
    return len({(r.thread, round(r.begin, 4)) for r in group})


@functools.cache
def _words():
    """Prefixes of the names of kernels that recorded operations make."""
    ops = {row[0] for row in _core.ops()} | {row[0] for row in _core.reductions()}
    return ops | set("cast arange random take search copy values scan".split())


def _is_expression(r):
    """Whether the record is a kernel of recorded operations, and not one that the program launched."""
    return r.kind == "kernel" and r.name.partition(" ")[0] in _words()


def demanded(seen):
    """{line: (Place, how often it asked, seconds of its compilations)} for lines that ask for values again and again.
    """
    asked = by_line(seen, lambda r: r.kind == "copy_out" or _is_expression(r), "asked")
    compiled = by_line(seen, lambda r: r.kind == "compile", "asked")
    down = {line for _, line in trips(seen)}  # another finder reports round trips
    found = {}
    for line, group in asked.items():
        place = _source.at(line)
        if not place or not place.demands or place.stores or place.guarded or line in down:
            continue
        out = [r for r in group if r.kind == "copy_out"]
        kernels = [r for r in group if r.kind != "copy_out"]
        if _takes_elements(place, kernels, len(out)):
            continue
        times = len(out) or _evaluations(kernels)
        if times >= 10 and kernels:
            # compiling in every iteration, and not just at first
            again = len(compiled.get(line, ())) > max(3, 0.3 * len(kernels))
            found[line] = place, times, [r.end - r.begin for r in compiled.get(line, ()) if again]
    return found


def find_demand(seen):
    for line, (place, times, built) in demanded(seen).items():
        each = _trials.demands(seen.device)
        again = bool(built)
        more = f"; {len(built)} kernels were compiled for it, as more and more waits each time" if again else ""
        evaluate = ", or treadle.evaluate(…) in each round what the next one uses" if again else ""
        wasted = sum(built) - max(built) if again else 0.0
        yield finding(
            "demand",
            line,
            place,
            calls=times,
            seconds=each * times + wasted,
            what=f"needs a value in the middle of a computation, {times_text(times)}: "
            f"what was recorded runs there{more}",
            change="look at it every tenth round or after the loop, and keep the arrays of the rounds till then"
            + evaluate,
            suggestion=_every_tenth(place),
            saved=0.9 * each * times + wasted,
            measured=False,
            how="an estimate: nine of ten looks, at what one costs in a trial"
            + ", and compiling as it was timed" * again,
        )


def _every_tenth(place):
    target = getattr(place.loop, "target", None)
    if not isinstance(target, ast.Name) or hasattr(place.statement, "body"):
        return ""
    return f"if {target.id} % 10 == 0:\n    {place.text.split('  #')[0]}"


def find_wait(seen):
    for line, group in by_line(seen, lambda r: r.kind == "wait").items():
        place = _source.at(line)
        if len(group) < 10 or not place or not place.waits:
            continue
        seconds = sum(r.end - r.begin for r in group)
        yield finding(
            "wait",
            line,
            place,
            calls=len(group),
            seconds=seconds,
            what=f"waits for the device {times_text(len(group))}",
            change="wait once, after the loop: reading a value waits by itself",
            saved=seconds * (len(group) - 1) / len(group),
            measured=True,
            how="the waits but for one, as they were timed",
        )


# ---- copies ----


def _ways(seen):
    """Copies between host and device in order of time, without those of single elements."""
    copies = [r for r in seen.records if r.kind in ("copy_in", "copy_out") and r.nbytes > 64]
    return sorted(copies, key=lambda r: r.begin)


def trips(seen):
    """{(line of the copy in, line of the copy out): [(copy out, copy in)]} for copies out that are followed by a copy
    in of as many bytes."""
    found = {}
    copies = _ways(seen)
    for a, b in zip(copies, copies[1:], strict=False):
        if (a.kind, b.kind) == ("copy_out", "copy_in") and a.nbytes == b.nbytes:
            found.setdefault((b.line, a.line), []).append((a, b))
    return {lines: pairs for lines, pairs in found.items() if len(pairs) >= 3}


def _spent(group):
    return sum(r.end - r.begin for r in group)


def find_round_trip(seen):
    for (up, down), pairs in trips(seen).items():
        place = _source.at(up)
        if not place:
            continue
        seconds = _spent([r for pair in pairs for r in pair])
        yield finding(
            "round-trip",
            up,
            place,
            calls=len(pairs),
            seconds=seconds,
            what=f"an array of {bytes_text(pairs[0][0].nbytes)} comes down at {_source.short(down)} "
            f"and goes up here again, {times_text(len(pairs))}",
            change="do the work between the two lines on the device: treadle has NumPy's functions",
            saved=seconds,
            measured=True,
            how="the copies as they were timed; the device's part of the work is not in it",
        )


def find_transfer(seen):
    on_trips = {line for lines in trips(seen) for line in lines}
    groups = {}
    for r in _ways(seen):
        groups.setdefault((r.line, r.kind, r.nbytes), []).append(r)
    for (line, kind, nbytes), group in groups.items():
        place = _source.at(line)
        if len(group) < 4 or not place or line in on_trips or not place.is_fixed():
            continue
        seconds = _spent(group)
        way = "to the device" if kind == "copy_in" else "to the host"
        yield finding(
            "transfer",
            line,
            place,
            calls=len(group),
            seconds=seconds,
            what=f"copies an array of {bytes_text(nbytes)} {way} {times_text(len(group))}, and the loop changes none "
            f"of its names: {bytes_text(nbytes * len(group))}",
            change="copy it once, before the loop, and use the copy in it",
            saved=seconds * (len(group) - 1) / len(group),
            measured=True,
            how="the copies but for one, as they were timed",
        )
