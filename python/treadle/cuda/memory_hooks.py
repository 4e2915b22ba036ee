"""What a program's lines take of the device's memory, by CuPy's names, from treadle.profile()'s records.

Hooks tell at the end of their block, not while it runs.
"""

import sys
import types

from .._observe._profile import profile
from .._public import dir_of as _dir_of


class MemoryHook:
    """``with hook:`` watches all memory of the process. records: the allocations and what was freed, treadle.profile's
    Records of the kinds "alloc" and "free", after the block."""

    name = "MemoryHook"

    def __init__(self):
        self.records = []

    def __enter__(self):
        self._profile = profile()
        self._profile.__enter__()
        return self

    def __exit__(self, *exc):
        self._profile.__exit__(*exc)
        self.records += [r for r in self._profile.records if r.kind in ("alloc", "free")]
        self._told()

    def _told(self):
        pass


class DebugPrintHook(MemoryHook):
    """DebugPrintHook(file=sys.stdout, flush=True): prints a line for each piece of memory that was taken or freed, at
    the end of the block."""

    name = "DebugPrintHook"

    def __init__(self, file=None, flush=True):
        super().__init__()
        self.file, self.flush = sys.stdout if file is None else file, flush

    def _told(self):
        for r in self.records:
            print({"hook": r.kind, "device": r.device, "mem_size": r.nbytes, "line": r.line}, file=self.file)
        self.records = []
        if self.flush:
            self.file.flush()


class LineProfileHook(MemoryHook):
    """LineProfileHook(max_depth=0): bytes that each line of the program took; print_report() prints them, the most
    first. A line stands by itself: callers are not told apart."""

    name = "LineProfileHook"

    def __init__(self, max_depth=0):
        super().__init__()

    def totals(self):
        """{line: (bytes, allocations)}."""
        sums = {}
        for r in self.records:
            if r.kind == "alloc":
                nbytes, times = sums.get(r.line, (0, 0))
                sums[r.line] = (nbytes + (r.nbytes or 0), times + 1)
        return sums

    def print_report(self, file=None):
        file = sys.stdout if file is None else file
        for line, (nbytes, times) in sorted(self.totals().items(), key=lambda x: -x[1][0]):
            print(f"{line or '?'}: {_text(nbytes)} in {times} allocations", file=file)


def _text(nbytes):
    for unit in ("B", "KB", "MB", "GB"):
        if nbytes < 1024 or unit == "GB":
            return f"{nbytes:.1f}{unit}" if unit != "B" else f"{nbytes}B"
        nbytes /= 1024


# CuPy has a module for each class.
debug_print = types.SimpleNamespace(DebugPrintHook=DebugPrintHook)
line_profile = types.SimpleNamespace(LineProfileHook=LineProfileHook)

__dir__ = _dir_of(__name__)
