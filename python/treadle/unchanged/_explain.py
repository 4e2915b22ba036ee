"""``--explain``: after the program, a table of what ran where, what fell back and why, and what would help most."""

import os
import sys
import time

from treadle import _core
from treadle._callers import site
from treadle._exchange import _host
from treadle._observe import _profile

LINES = 12  # of each table


class Explanation:
    """Watches a program; tell() says what was seen. NumPy's work on the host is timed call by call, the device's by the
    profile."""

    def __init__(self):
        self._host = {}  # (name, file, line): [calls, elements, ns]
        self._why = {}  # the same: what treadle said
        self._profile = _profile.profile()
        self._begin = time.perf_counter()

    def start(self):
        self._profile.__enter__()
        return self

    def watch(self, name, elements, ns):
        """Called for NumPy's work on arrays that stay on the host."""
        entry = self._host.setdefault((name.removeprefix("numpy."), *site()), [0, 0, 0])
        entry[0] += 1
        entry[1] += elements
        entry[2] += ns

    def declined(self, name, why):
        """Called where treadle's function of the name refused a call."""
        self._why.setdefault((name.removeprefix("numpy."), *site()), why)

    def tell(self, out):
        """Writes all tables."""
        seconds = time.perf_counter() - self._begin
        self._profile._collect()
        rows = self._profile.rows()
        fell = _host.fallbacks()
        out.write(f"\ntreadle: what ran where, in {seconds:.2f} s on {_core.device().name}\n")
        _table(out, ("where", "operation", "calls", "elements", "ms", "line"), self._ran(rows))
        if fell:
            out.write("\ncomputed by NumPy though an array was treadle's\n")
            _table(out, ("function", "calls", "MB", "why", "line"), self._fell(fell))
        moved = [r for r in rows if r["kind"] in ("copy_in", "copy_out")]
        for kind, text in (("copy_in", "to the device"), ("copy_out", "to the host")):
            some = [r for r in moved if r["kind"] == kind]
            if some:
                mb, ms = sum(r["nbytes"] for r in some) / 1e6, 1e3 * sum(r["seconds"] for r in some)
                out.write(f"\n{text}: {sum(r['calls'] for r in some)} copies, {mb:.1f} MB, {ms:.1f} ms")
        compiled = [r for r in rows if r["kind"] == "compile"]
        if compiled:
            n, ms = sum(r["calls"] for r in compiled), 1e3 * sum(r["seconds"] for r in compiled)
            out.write(f"\ncompiled: {n} kernels, {ms:.1f} ms; they are kept, the next run has them")
        out.write("\n")
        advice = sorted(self._advice(rows, fell), reverse=True)[:3]
        if advice:
            out.write("\nwhat would help most\n")
            for saved, text in advice:
                out.write(f"  {1e3 * saved:8.1f} ms  {text}\n")

    def _ran(self, rows):
        device = _core.device().name
        table = [
            (1e9 * r["seconds"], device, f"{r['kind']} {r['name']}" if r["name"] != r["kind"] else r["kind"],
             r["calls"], "", _short(r["line"]))
            for r in rows
            if r["kind"] in ("kernel", "gemm", "graph", "fill", "copy")
        ]  # fmt: skip
        table += [
            (ns, "NumPy", name, calls, elements, _short(f"{file}:{line}"))
            for (name, file, line), (calls, elements, ns) in self._host.items()
        ]
        return [(where, what, n, size, f"{ns / 1e6:.3f}", line) for ns, where, what, n, size, line in _most(table)]

    def _fell(self, fell):
        whys = {f"{name} {file}:{line}": why for (name, file, line), why in self._why.items()}
        return [
            (name.removeprefix("numpy."), calls, f"{nbytes / 1e6:.3f}",
             whys.get(f"{name.removeprefix('numpy.')} {line}", "treadle has none"), _short(line))
            for name, line, calls, nbytes in fell
        ]  # fmt: skip

    def _advice(self, rows, fell):
        for (name, file, line), (calls, elements, ns) in self._host.items():
            at = _short(f"{file}:{line}")
            if name == "element" and calls > 1000:
                yield ns / 1e9, f"{at} reads {calls} elements one by one: an operation on the whole array, or @njit"
            elif calls > 1000 and elements / calls < 1000:
                yield (
                    ns / 1e9,
                    f"{at} calls {name} {calls} times on {elements // calls} elements: one call on all, or @njit",
                )
            elif name.split(".")[0] not in ("random", "element"):
                yield ns / 2e9, f"{at} has NumPy compute {name} of {elements // calls} elements"
        for name, line, calls, nbytes in fell:
            yield nbytes / 8e9, f"{_short(line)} falls back for {name}, {calls} times: {nbytes / 1e6:.1f} MB"
        for r in rows:
            at = _short(r["line"])
            if r["kind"] in ("copy_in", "copy_out") and r["calls"] > 1:
                way, mb = "to the device" if r["kind"] == "copy_in" else "to the host", f"{r['nbytes'] / 1e6:.1f} MB"
                yield r["seconds"], f"{at} copies {r['calls']} times {way}, {mb}: keep the array on one side"


def _most(table):
    table = sorted(table, key=lambda row: -row[0])
    rest = table[LINES:]
    if rest:
        ns, calls = sum(r[0] for r in rest), sum(r[3] for r in rest)
        table = [*table[:LINES], (ns, "", f"… and {len(rest)} more", calls, "", "")]
    return table


def _short(line):
    here = os.getcwd() + os.sep
    return line.removeprefix(here)


def _table(out, head, rows):
    cells = [head, *([str(c) for c in row] for row in rows)]
    width = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for row in cells:
        text = [c.ljust(w) if not c.replace(".", "").isdigit() else c.rjust(w) for c, w in zip(row, width, strict=True)]
        out.write("  " + "  ".join(text).rstrip() + "\n")


def start():
    """Begins to watch; the tables go to standard error when the program has ended."""
    import atexit

    from . import _far, _start

    seen = Explanation()
    _far.explanation = seen
    _start.set_watch(seen.watch)
    seen.start()
    atexit.register(lambda: (_start.set_watch(None), sys.stdout.flush(), seen.tell(sys.stderr)))
