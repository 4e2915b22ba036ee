"""The class Finding, and helpers that the finders share."""

from dataclasses import asdict, dataclass

from . import _source


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


def times_text(n):
    return f"{n} time" + "s" * (n != 1)


def bytes_text(n):
    return f"{n / 1e6:.1f} MB" if n >= 1e5 else f"{n / 1e3:.1f} kB"


def finding(row, line, place, **facts):
    return Finding(row, _source.short(line), place.text, **facts)


def is_kernel(r):
    return r.kind == "kernel"


def by_line(seen, wanted, which="line"):
    groups = {}
    for r in seen.records:
        if wanted(r):
            groups.setdefault(getattr(r, which), []).append(r)
    return groups


def device_seconds(r):
    return r.off - r.on if r.on is not None else 0.0
