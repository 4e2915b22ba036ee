"""treadle.profile: what ran, when, and for which line of the program."""

import contextlib
import json
import time
from collections import namedtuple

from .. import _core
from . import _html

Record = namedtuple("Record", "kind name line asked device stream thread failed nbytes begin end on off")
Record.__doc__ = """One thing that was done. Times are seconds since the profile began.

kind: kernel, copy_in (from the host), copy_out (to it), copy (within the device), fill, gemm (a library's product),
graph (kernels launched as one), alloc, free, compile, load (of a kernel from disk), wait. line: "file.py:12", where the
program wrote what was computed. asked: where it was asked for, the line that needed its value; the same for what is
done at once. begin, end: the call. on, off: the device's work, None where there is none. nbytes: read and
written, or allocated; of a kernel of the program's own, of the arrays that it was given.

widen, stride and read are notes that take no time: an operation of float32 gives float64 because of another operand; an
operand's elements do not lie side by side; one element of an array is read in the host's memory."""

_NOTES = ("free", "widen", "stride", "read")  # records without a duration
_DEVICE = ("kernel", "copy_in", "copy_out", "copy", "fill", "gemm", "graph")


_measuring = []  # start times of treadle's own measurements that are running
_aside = []  # (begin, end) in nanoseconds of treadle's own measurements


@contextlib.contextmanager
def aside():
    """A block in which treadle measures something for itself. Profiles leave it out."""
    begin = time.monotonic_ns()
    _measuring.append(begin)
    try:
        yield
    finally:
        _measuring.pop()
        _aside.append((begin, time.monotonic_ns()))


def is_measuring():
    return bool(_measuring)


def _is_aside(ns):
    return any(begin <= ns <= end for begin, end in _aside)


class profile:
    """A context manager that records the process's device work, memory and compilation.

    ``print(p)`` shows a table of what took the time, by line. ``p.save("trace.json")`` writes a file for
    https://ui.perfetto.dev or chrome://tracing, and ``p.save("profile.html")`` a page with the timeline. ``p.records``
    holds all Records, ``p.zero`` the clock's nanoseconds when the first began. Nothing waits for the device while the
    program runs.

    Examples
    --------
    >>> with np.profile() as p:
    ...     x = (np.ones(3) + 1).get()
    >>> len(p.records) > 0
    True
    """

    def __init__(self):
        self.records = []
        self.dropped = self.zero = 0
        self._from = None

    def __enter__(self):
        if self._from is not None:
            raise RuntimeError("profile: it is open already")
        self._from = _core._trace_start()
        return self

    def __exit__(self, *exc):
        try:
            self._collect()
        except Exception:
            if exc[0] is None:  # the program's own exception matters more
                raise
        return False

    def _collect(self):
        first, self._from = self._from, None
        last = _core._trace_stop()
        rows = [r for r in _core._trace_records(first, last) if not _is_aside(r[9])]
        self.dropped = _core._trace_dropped()
        self.zero = min((r[9] for r in rows), default=0)
        self.records = [_record(r, self.zero) for r in rows]

    def named(self):
        """The records. Expressions compiled under a hash are named after the kernel that their thread launched next.

        Returns
        -------
        list of Records
            In the order in which they began.

        Examples
        --------
        >>> with np.profile() as p:
        ...     x = (np.ones(3) + 1).get()
        >>> len(p.named()) == len(p.records)
        True
        """
        after, named = {}, []
        for r in reversed(self.records):
            if r.kind == "kernel":
                after[r.thread] = r.name
            elif r.kind in ("compile", "load") and r.name.startswith("k_"):
                r = r._replace(name=after.get(r.thread, r.name))
            named.append(r)
        return named[::-1]

    def rows(self, named=False):
        """Groups of records by line and name, the longest first.

        Parameters
        ----------
        named : bool, default False
            What is compiled goes by its kernel's name, as in the table.

        Returns
        -------
        list of dicts
            kind, name, line, device, calls, seconds, nbytes, rate (bytes a second) and share (of the device's
            bandwidth); the last two are None where not known.

        Examples
        --------
        >>> with np.profile() as p:
        ...     x = (np.ones(3) + 1).get()
        >>> sorted(p.rows()[0])[:2]
        ['calls', 'device']
        """
        groups = {}
        for r in self.named() if named else self.records:
            if r.kind not in _NOTES:
                groups.setdefault((r.kind, r.name, r.line, r.device), []).append(r)
        with aside():
            peak = {d: _core._bandwidth(d) for d in {r.device for r in self.records if r.kind in _DEVICE}}
        rows = [_row(key, group, peak) for key, group in groups.items()]
        return sorted(rows, key=lambda r: -r["seconds"])

    HEAD = ("kind", "name", "calls", "total ms", "mean ms", "MB", "GB/s", "% peak", "line")

    def cells(self, limit=None):
        """The rows of the table, as texts under HEAD.

        Parameters
        ----------
        limit : int, optional
            At most so many groups; None means all.

        Returns
        -------
        list of lists of str
            The longest first.

        Examples
        --------
        >>> with np.profile() as p:
        ...     x = (np.ones(3) + 1).get()
        >>> len(p.cells()) > 0
        True
        """
        return [_cells(r) for r in self.rows(named=True)[:limit]]

    def table(self, limit=40):
        """The groups as text.

        Parameters
        ----------
        limit : int, default 40
            At most so many groups.

        Returns
        -------
        str
            What print shows.

        Examples
        --------
        >>> with np.profile() as p:
        ...     x = (np.ones(3) + 1).get()
        >>> "kernel" in p.table()
        True
        """
        cells = [self.HEAD] + self.cells(limit)
        width = [max(len(c[i]) for c in cells) for i in range(len(self.HEAD))]
        text = ["  ".join(map(_pad, range(len(self.HEAD)), line, width)).rstrip() for line in cells]
        return "\n".join(text + self._missing(limit))

    __str__ = table

    def _missing(self, shown):
        """Lines below a table of so many groups: what it does not show."""
        more = len(self.rows()) - shown
        notes = [f"… and {more} more"] if more > 0 else []
        if self.dropped:
            notes.append(f"{self.dropped} records found no room and are missing")
        return notes

    def _repr_html_(self):
        """The table and a timeline, for notebooks."""
        from . import _page

        limit = 40
        return _html.table(self.HEAD, self.cells(limit), notes=self._missing(limit)) + _page.timeline(self)

    def save(self, path):
        """Write what ran into a file.

        Parameters
        ----------
        path : str or path
            Ends in .html or .htm: a page with the timeline and the table, which needs no other file. Else a Chrome
            trace (JSON), which Perfetto opens: a lane for each host thread and device stream.

        Raises
        ------
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import os
        >>> with np.profile() as p:
        ...     x = (np.ones(3) + 1).get()
        >>> p.save(os.devnull)
        """
        if str(path).endswith((".html", ".htm")):
            from . import _page

            with open(path, "w", encoding="utf-8") as f:
                f.write(_page.profile_page(self))
            return
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"traceEvents": self._events(), "displayTimeUnit": "ms"}, f)

    def _events(self):
        devices = sorted({r.device for r in self.records if r.on is not None})
        pid = {d: i + 2 for i, d in enumerate(devices)}
        lanes = {(1, r.thread, "thread") for r in self.records}
        lanes |= {(pid[r.device], r.stream, "stream") for r in self.records if r.on is not None}
        events = [_meta("process_name", 1, 0, "host")]
        events += [_meta("process_name", pid[d], 0, d) for d in devices]
        events += [_meta("thread_name", p, t, f"{what} {t}") for p, t, what in sorted(lanes)]
        spans = [_event(r, 1, r.thread, r.begin, r.end) for r in self.records]
        for _, lane in sorted(self._by_stream().items()):
            end = 0.0
            for r in lane:  # spans must not overlap, but the events' times are inexact
                begin, end = max(r.on, end), max(r.on, r.off, end)
                spans.append(_event(r, pid[r.device], r.stream, begin, end))
        return events + sorted(spans, key=lambda e: (e["pid"], e["tid"], e["ts"], -e["dur"]))

    def _by_stream(self):
        lanes = {}
        for r in sorted((r for r in self.records if r.on is not None), key=lambda r: (r.on, r.off)):
            lanes.setdefault((r.device, r.stream), []).append(r)
        return lanes


def _record(r, zero):
    *head, lane, thread, failed, nbytes, begin, end, on, off = r

    def since(ns):
        return (ns - zero) / 1e9 if ns else None

    return Record(*head, lane, thread, bool(failed), nbytes, *map(since, (begin, end, on, off)))


def _seconds(r):
    return r.off - r.on if r.on is not None else 0.0 if r.kind in _DEVICE else r.end - r.begin


def _row(key, group, peak):
    kind, name, line, device = key
    seconds, nbytes = sum(map(_seconds, group)), sum(r.nbytes for r in group)
    rate = nbytes / seconds if kind in _DEVICE and nbytes and seconds else None
    within = kind not in ("copy_in", "copy_out")  # the bus limits copies, not the device's memory
    share = rate / peak[device] if rate and within and peak[device] else None
    return {"kind": kind, "name": name, "line": line, "device": device, "calls": len(group), "seconds": seconds,
            "nbytes": nbytes, "rate": rate, "share": share}  # fmt: skip


def _pad(i, cell, width):
    return cell.ljust(width) if i in (0, 1, 8) else cell.rjust(width)


def _cells(r):
    def text(x, form, scale=1.0):
        return "" if x is None else form.format(x * scale)

    return (r["kind"], "" if r["name"] == r["kind"] else r["name"], str(r["calls"]), text(r["seconds"], "{:.3f}", 1e3),
            text(r["seconds"] / r["calls"], "{:.4f}", 1e3), text(r["nbytes"] or None, "{:.3f}", 1e-6),
            text(r["rate"], "{:.1f}", 1e-9), text(r["share"], "{:.0f}", 100), r["line"])  # fmt: skip


def _meta(what, pid, tid, name):
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}}


def _event(r, pid, tid, begin, end):
    args = {"line": r.line, "asked": r.asked, "bytes": r.nbytes}
    if r.failed:
        args["failed"] = True
    if pid > 1 and r.nbytes and end > begin:
        args["GB/s"] = round(r.nbytes / (end - begin) / 1e9, 3)
    return {"ph": "X", "name": r.name, "cat": r.kind, "pid": pid, "tid": tid, "ts": round(begin * 1e6, 3),
            "dur": round(max(end - begin, 0.0) * 1e6, 3), "args": args}  # fmt: skip


def whole_program(path):
    """Profiles from now to the end of the process: the trace goes to path ("": nowhere), the table to stderr."""
    import atexit
    import os
    import sys

    p, pid = profile(), os.getpid()
    p.__enter__()

    def finish():
        if os.getpid() != pid:  # this is a forked child: only the parent reports
            return
        p._collect()
        sys.stderr.write(p.table() + "\n")
        try:
            if path:
                p.save(path)
        except OSError as e:
            sys.stderr.write(f"TREADLE_PROFILE: {e}\n")

    atexit.register(finish)
