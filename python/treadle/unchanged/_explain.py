"""``--explain``: after the program, a table of what ran where, what fell back and why, and what would help most."""

import atexit
import json
import os
import sys

from treadle._observe import _doctor, _findings, _page
from treadle._observe._seen import Seen
from treadle._observe._source import short

from . import _loops

LINES = 12  # rows of each table in the text
_RUN = ("kernel", "gemm", "sort", "solve", "fourier", "graph", "fill", "copy")


class Explanation:
    """A report on a finished program. All output formats are made of its tables and its findings."""

    def __init__(self, seen):
        self.seen = seen
        self.rows = seen.profile.rows(named=True)
        self.findings = _findings.find(seen)

    def tables(self):
        """Yield (title, head, rows) of each table, with all rows."""
        seen = self.seen
        title = f"what ran where, in {seen.seconds:.2f} s on {seen.device}"
        yield title, ("where", "operation", "calls", "elements", "ms", "line"), self._ran()
        if seen.fallbacks:
            yield ("computed by NumPy though an array was treadle's", ("function", "calls", "MB", "ms", "why", "line"),
                   self._fell())  # fmt: skip
        run, left = _loops.told()
        if run:
            yield "loops that ran compiled", ("line", "times", "ms"), [
                (short(line), n, f"{1e3 * s:.3f}") for line, (n, s) in sorted(run.items(), key=lambda r: -r[1][1])
            ]  # fmt: skip
        if left:
            yield "loops that were left to Python", ("line", "why"), [(short(k), why) for k, why in left.items()]
        if copied := list(self._copied()):
            yield "copies", ("way", "copies", "MB", "ms"), copied
        if seen.moves:
            yield "moved between the devices of sharded arrays", ("for", "copies", "MB", "line"), [
                (what, copies, f"{nbytes / 1e6:.3f}", short(line)) for what, line, copies, nbytes in seen.moves
            ]  # fmt: skip
        if compiled := [r for r in self.rows if r["kind"] == "compile"]:
            rows = [(r["name"], r["calls"], f"{1e3 * r['seconds']:.3f}", short(r["line"])) for r in compiled]
            yield "compiled; they are kept, the next run has them", ("kernel", "times", "ms", "line"), rows

    def _ran(self):
        table = [
            (1e9 * r["seconds"], r["device"], f"{r['kind']} {r['name']}" if r["name"] != r["kind"] else r["kind"],
             r["calls"], "", short(r["line"]))
            for r in self.rows
            if r["kind"] in _RUN
        ]  # fmt: skip
        table += [
            (work.ns, "NumPy", name, work.calls, work.elements, short(f"{file}:{line}"))
            for (name, file, line), work in self.seen.host.items()
        ]
        table.sort(key=lambda row: -row[0])
        return [(where, what, n, size, f"{ns / 1e6:.3f}", line) for ns, where, what, n, size, line in table]

    def _fell(self):
        return [
            (name.removeprefix("numpy."), calls, f"{nbytes / 1e6:.3f}", f"{ns / 1e6:.3f}",
             self.seen.why.get((name.removeprefix("numpy."), file, line), "treadle has none"), short(f"{file}:{line}"))
            for name, file, line, calls, nbytes, ns in self.seen.fallbacks
        ]  # fmt: skip

    def _copied(self):
        for kind, text in (("copy_in", "to the device"), ("copy_out", "to the host")):
            some = [r for r in self.rows if r["kind"] == kind]
            if some:
                mb, ms = sum(r["nbytes"] for r in some) / 1e6, 1e3 * sum(r["seconds"] for r in some)
                yield text, sum(r["calls"] for r in some), f"{mb:.3f}", f"{ms:.3f}"

    def text(self):
        """The report as text: LINES rows of each table, and the findings."""
        out = []
        for i, (title, head, rows) in enumerate(self.tables()):
            out += ["", f"treadle: {title}" if i == 0 else title, *_text(head, rows[:LINES])]
            if len(rows) > LINES:
                out.append(f"  … and {len(rows) - LINES} more")
        if self.findings:
            out += ["", "what would help most"]
            for f in self.findings[:3]:
                saved = f"{1e3 * f.saved:8.1f} ms" if f.saved is not None else f"{_doctor.millis(f.seconds):>11}"
                out.append(f"  {saved}  {f.line} {f.what}: {f.change}")
            out.append("  --doctor says all of it")
        return "\n".join(out) + "\n"

    def facts(self):
        """The tables and findings as plain data, for JSON."""
        tables = [{"title": t, "columns": head, "rows": rows} for t, head, rows in self.tables()]
        return {"seconds": self.seen.seconds, "device": self.seen.device, "tables": tables,
                "findings": [f.facts() for f in self.findings]}  # fmt: skip

    def page(self):
        """The tables, the findings and the timeline as an HTML page."""
        parts = [_page.section(title, _page.table(head, rows)) for title, head, rows in self.tables()]
        parts += [_page.finding(f, _doctor.saving(f), _doctor.millis(f.seconds)) for f in self.findings]
        return _page.page(
            "treadle: what ran where", [*parts, _page.section("Timeline", _page.timeline(self.seen.profile))]
        )


def _text(head, rows):
    cells = [head, *([str(c) for c in row] for row in rows)]
    width = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for row in cells:
        text = [c.ljust(w) if not c.replace(".", "").isdigit() else c.rjust(w) for c, w in zip(row, width, strict=True)]
        yield "  " + "  ".join(text).rstrip()


def start(value=""):
    """Start to record. When the program ends, print the report to standard error.

    The value "json" prints JSON. Any other value names a file: *.html gets a page, others get JSON."""
    seen, pid = Seen(), os.getpid()
    seen.__enter__()

    def finish():
        if os.getpid() != pid:  # this is a forked child: only the parent reports
            return
        seen.__exit__(None, None, None)
        told = Explanation(seen)
        sys.stdout.flush()
        if value in ("", "json"):
            sys.stderr.write(told.text() if not value else json.dumps(told.facts(), indent=1) + "\n")
            return
        try:
            with open(value, "w", encoding="utf-8") as f:
                f.write(told.page() if value.endswith((".html", ".htm")) else json.dumps(told.facts(), indent=1))
        except OSError as e:
            sys.stderr.write(f"--explain={value}: {e}\n")

    atexit.register(finish)
