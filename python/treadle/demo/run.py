"""Running the programs one after the other, with progress on the terminal and a table at the end.

Each program has a process of its own (`child.py`), so that none leaves threads, memory or a
damaged state to the next, and an empty kernel cache, so that treadle's first call really compiles.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from . import machine, programs, torch_programs

TIME_LIMIT = 300  # seconds for one program, far above what any takes


class Row:
    """The outcome of one program, collected from the child's events."""

    def __init__(self, name):
        self.name = name
        self.title = programs.title_of(name) if name in programs.ALL else name
        self.story, self.size = [], {}
        self.kernels = False  # whether NumPy's side is another text
        self.peer = "NumPy"  # what runs the same program
        self.tolerance, self.why = 0.0, ""
        self.numpy = self.first = self.treadle = None  # seconds
        self.error, self.pictures = None, []
        self.state = "failed"  # or "ok", "wrong", "missing"
        self.note = self.traceback = ""

    @property
    def ratio(self):
        """How many times faster than NumPy treadle is. None where a time is unknown."""
        return self.numpy / self.treadle if self.numpy and self.treadle else None

    def take(self, event):
        """Record one event of the child. Returns its kind."""
        event = dict(event)
        kind = event.pop("event")
        if kind in ("numpy", "first", "treadle"):
            setattr(self, kind, event["seconds"])
        elif kind == "missing":
            self.state = "missing"
            package = event.get("package")
            self.note = f"not run: pip install {package}" if package else f"not run: {event['why']}"
        else:
            ok = event.pop("ok", None)
            vars(self).update(event)
            if ok is not None:
                self.state = "ok" if ok else "wrong"
                self.note = "" if ok else "the results differ"
        return kind


def duration(seconds):
    """A duration with three digits and a suitable unit."""
    if seconds is None:
        return "–"
    unit, factor = ("s", 1) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    value = seconds * factor
    return f"{value:.{max(0, 3 - len(str(int(value))))}f} {unit}"


def measured(row):
    """The other side's time, with its name if it is not NumPy."""
    text = duration(row.numpy)
    return text if row.peer == "NumPy" or row.numpy is None else f"{text} ({row.peer})"


def times_faster(ratio):
    """The ratio with two significant digits, or a dash."""
    if ratio is None:
        return "–"
    return f"{ratio:.2f}×" if ratio < 1 else f"{ratio:.1f}×" if ratio < 10 else f"{ratio:.0f}×"


def scientific(value):
    """An error in short form: 0, 1.2e-07, 0.83; a dash for None."""
    return "–" if value is None else "0" if value == 0 else f"{value:.2g}"


def child_environment(device, cache):
    """The child's environment. Its kernels are kept in `cache`, and it computes on `device`, if one is given."""
    env = dict(os.environ, TREADLE_CACHE_DIR=cache)
    if device:
        env["TREADLE_DEVICE"] = device
    return env


def run_program(name, module, size, pictures, env, show):
    """Run one program. Returns its row. `show(row, stage)` is called at the end of each stage."""
    row = Row(name)
    if name in programs.TORCH:
        return run_torch(row, size, pictures, env, show)
    command = [sys.executable, "-m", "treadle.demo.child", name, module, size, str(pictures)]
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8", env=env
        ) as process:
            # A child that hangs is silent: a timer ends it, and with it the loop below.
            timer = threading.Timer(TIME_LIMIT, process.kill)
            timer.start()
            try:
                for line in process.stdout:
                    show(row, row.take(json.loads(line)))
            except BaseException:
                process.kill()
                raise
            finally:
                late = not timer.is_alive()
                timer.cancel()
        errors.seek(0)
        row.traceback = errors.read().strip()
    if process.returncode:
        row.state = "failed"
        last = row.traceback.splitlines()[-1:] or [f"ended with code {process.returncode}"]
        row.note = f"gave up after {TIME_LIMIT} s" if late else last[0]
    return row


def run_torch(row, size, pictures, env, show):
    """Run a PyTorch program. Returns its row."""
    try:
        torch_programs.run_program(row, size, pictures, env, env.get("TREADLE_DEVICE"), show)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        row.state, row.traceback = "failed", str(error)
        row.note = row.traceback.splitlines()[-1]
    return row


class Progress:
    """Shows one line for each program and completes it as its stages end."""

    def __init__(self, total, out=None):
        self.total, self.out = total, out or sys.stdout
        self.count = 0

    def begin(self, title):
        self.count += 1
        print(f"[{self.count}/{self.total}] {title}\n      ", end="", flush=True, file=self.out)

    def show(self, row, stage):
        texts = {
            "numpy": f"{row.peer} {duration(row.numpy)}",
            "first": f"   treadle first {duration(row.first)}",
            "treadle": f", then {duration(row.treadle)}   {times_faster(row.ratio)}",
            "done": f"   error {scientific(row.error)} of {scientific(row.tolerance)} allowed",
        }
        print(texts.get(stage, ""), end="", flush=True, file=self.out)

    def end(self, row):
        mark = {"ok": "ok", "missing": "skipped", "wrong": "WRONG", "failed": "FAILED"}[row.state]
        print(f"   {mark}" + (f": {row.note}" if row.note else ""), file=self.out, flush=True)


HEADINGS = ("program", "NumPy", "first call", "treadle", "faster", "max error", "allowed", "")


def table(rows):
    """The table as text, in columns."""
    lines = [HEADINGS]
    for row in rows:
        cells = (
            row.title,
            measured(row),
            duration(row.first),
            duration(row.treadle),
            times_faster(row.ratio),
            scientific(row.error),
            scientific(row.tolerance),
            row.state if not row.note else f"{row.state}: {row.note}",
        )
        lines.append(cells)
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    out = []
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(line[1:-1], widths[1:-1], strict=True)]
        out.append("  ".join([*cells, line[-1]]).rstrip())
    out.insert(1, "─" * len(out[0]))
    return "\n".join(out)


def run(names, module="treadle", device=None, size=None, folder="demo", after=None):
    """Run the named programs. Returns the rows and the machine's description.

    `size` is a key of the programs' SIZES; the default depends on the device. Pictures go to `folder`. after(rows,
    facts, total) is called after each program. Ctrl-C ends the run with the rows so far.
    """
    if device:
        os.environ["TREADLE_DEVICE"] = device
    facts = machine.describe(module)
    on_gpu = facts["Computed on"].startswith("cuda")
    size = size or ("cuda" if on_gpu else "cpu")
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    progress = Progress(len(names))
    rows = []
    try:
        for name in names:
            progress.begin(programs.title_of(name))
            with tempfile.TemporaryDirectory(prefix="treadle-demo-") as cache:
                env = child_environment(device, cache)
                row = run_program(name, module, size, folder, env, progress.show)
            said = programs.remark(name, row.ratio, on_gpu)
            row.note = "; ".join(filter(None, (row.note, said)))
            rows.append(row)
            if after:
                after(rows, facts, len(names))
            progress.end(row)
    except KeyboardInterrupt:
        print(f"\nstopped: {len(rows)} of {len(names)} programs have run", flush=True)
    return rows, facts


def failed(rows):
    """Whether a program crashed or gave a wrong result; a missing package is not a failure."""
    return any(row.state in ("wrong", "failed") for row in rows)
