"""``torch.utils.benchmark``: times of statements, and tables of them.

A statement's work is recorded and may run later, so each measurement ends with a wait for all work.
"""

import contextlib
import dataclasses
import itertools
import statistics
import time
import timeit

from ... import _core
from .. import _modules, get_num_threads, set_num_threads
from ..cuda import is_available
from ..cuda import synchronize as _gpu_done

__all__ = ["Compare", "Measurement", "TaskSpec", "Timer", "select_unit", "timer", "unit_to_english"]

_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_WORDS = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


def timer():
    """The time in seconds, after a wait for all work of the devices."""
    _core.evaluate()
    if is_available():
        _gpu_done()
    return time.perf_counter()


def select_unit(t):
    """The unit in which t seconds are easy to read, as in ("us", 1e-6)."""
    unit = next((u for u in ("s", "ms", "us") if t >= _UNITS[u]), "ns")
    return unit, _UNITS[unit]


def unit_to_english(u):
    """The English word: "us" is "microsecond"."""
    return _WORDS[u]


@dataclasses.dataclass(frozen=True)
class TaskSpec:
    """What is measured: the statement, and its labels in tables."""

    stmt: str
    setup: str = "pass"
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self):
        """The label, or the statement."""
        return (self.label or self.stmt) + (f": {self.sub_label}" if self.sub_label else "")


@dataclasses.dataclass
class Measurement:
    """Times of a statement. raw_times holds the seconds of blocks of number_per_run calls."""

    number_per_run: int
    raw_times: list
    task_spec: TaskSpec
    metadata: dict | None = None

    @property
    def times(self):
        """The seconds of one call, for each block."""
        return [t / self.number_per_run for t in self.raw_times]

    def _of_task(name):  # noqa: N805 - makes properties of this class
        return property(lambda self: getattr(self.task_spec, name), doc=f"The task's {name}.")

    stmt, setup, label, sub_label = map(_of_task, ("stmt", "setup", "label", "sub_label"))
    description, env, num_threads, title = map(_of_task, ("description", "env", "num_threads", "title"))
    del _of_task

    mean = property(lambda self: statistics.fmean(self.times), doc="The mean of times.")
    median = property(lambda self: statistics.median(self.times), doc="The median of times.")

    @property
    def iqr(self):
        """The distance between the quartiles."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    significant_figures = property(lambda self: 4 if self.iqr < self.median / 100 else 2, doc="Digits worth showing.")
    has_warnings = property(lambda self: self.iqr > self.median / 10, doc="Do the times differ by more than a tenth?")
    as_row_name = property(lambda self: self.sub_label or self.stmt or "[Unknown]", doc="Its row in a table.")

    def meets_confidence(self, threshold=0.1):
        """Is the distance between the quartiles below that share of the median?"""
        return self.iqr < threshold * self.median

    @staticmethod
    def merge(measurements):
        """One Measurement for each task among the measurements."""
        groups = {}
        for m in measurements:
            groups.setdefault((m.task_spec, m.number_per_run), []).extend(m.raw_times)
        return [Measurement(n, times, spec) for (spec, n), times in groups.items()]

    def __repr__(self):
        unit, scale = select_unit(self.median)
        digits = f".{self.significant_figures}g"
        lines = [
            f"<{__name__}.Measurement object>",
            self.title + (f" [{self.description}]" if self.description else ""),
        ]
        lines += [f"setup: {self.setup}"] if self.setup != "pass" else []
        lines += [f"  Median: {self.median / scale:{digits}} {unit}", f"  IQR:    {self.iqr / scale:{digits}} {unit}"]
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        many = f"{len(self.times)} measurement{'s' if len(self.times) > 1 else ''}"
        return "\n".join([*lines, f"  {many}, {self.number_per_run} runs per measurement, {threads}"])


class Timer:
    """Measures stmt, a Python text, with globals and after setup. The first calls compile, so they are not measured."""

    def __init__(
        self, stmt="pass", setup="pass", global_setup="", timer=timer, globals=None, label=None, sub_label=None,
        description=None, env=None, num_threads=1, language="python",
    ):  # fmt: skip
        if str(language).lower() not in ("python", "language.python", "py"):
            raise ValueError(f"Timer: language {language!r}: statements are Python's here")
        self._spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))

    @contextlib.contextmanager
    def _threads(self):
        before = get_num_threads()
        set_num_threads(self._spec.num_threads)
        try:
            yield
        finally:
            set_num_threads(before)

    def timeit(self, number=1000000):
        """The Measurement of one block of number calls."""
        with self._threads():
            self._timer.timeit(max(number // 100, 2))
            return Measurement(number, [self._timer.timeit(number)], self._spec)

    def _blocks(self, least):
        """How many calls take at least that many seconds."""
        number = 1
        while (took := self._timer.timeit(number)) < least and number < 10**9:
            number *= 10 if took * 10 < least else 2
        return number

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """The Measurement of as many blocks as fit into min_run_time seconds. callback(number, seconds) is called after
        each."""
        with self._threads():
            self._timer.timeit(2)
            number, times = self._blocks(min(min_run_time / 1000, 0.1)), []
            while sum(times) < min_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
            return Measurement(number, times, self._spec)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """blocked_autorange, until the times differ by less than the threshold or max_run_time has passed."""
        with self._threads():
            self._timer.timeit(2)
            number, times = self._blocks(min(min_run_time / 1000, 0.1)), []
            found = Measurement(number, times, self._spec)
            while sum(times) < max_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
                if len(times) > 3 and sum(times) >= min_run_time and found.meets_confidence(threshold):
                    break
            return found

    def collect_callgrind(self, *args, **kwargs):
        """Raise RuntimeError: Valgrind is not supported."""
        raise RuntimeError("Timer.collect_callgrind: Valgrind is not driven; python -m treadle --profile counts work")


class Compare:
    """A table of measurements, with a row for each sub_label and a column for each description."""

    def __init__(self, results):
        self._results, self._trim, self._rows = [], False, False
        self.extend_results(results)

    def extend_results(self, results):
        """Add measurements. Raises ValueError for anything else."""
        results = list(results)
        wrong = next((r for r in results if not isinstance(r, Measurement)), None)
        if wrong is not None:
            raise ValueError(f"Expected an instance of `Measurement`, got {type(wrong)} instead.")
        self._results += results

    def trim_significant_figures(self):
        """Show fewer digits where the times differ."""
        self._trim = True

    def colorize(self, rowwise=False):
        """Does nothing: tables have no colours."""

    def highlight_warnings(self):
        """Does nothing: tables have no colours."""

    def _table(self, label, group):
        columns = list(dict.fromkeys(m.description or "" for m in group))
        rows = list(dict.fromkeys((m.num_threads, m.as_row_name) for m in group))
        unit, scale = select_unit(min(m.median for m in group))
        cells = {}
        for m in Measurement.merge(group):
            digits = m.significant_figures if self._trim else 4
            cells[(m.num_threads, m.as_row_name), m.description or ""] = f"{m.median / scale:.{digits}g}"
        lines = [["", *columns]]
        for threads, names in itertools.groupby(rows, key=lambda r: r[0]):
            lines.append([f"{threads} threads:", *[""] * len(columns)])
            lines += [[f"      {name}", *(cells.get(((threads, name), c), "") for c in columns)] for _, name in names]
        widths = [max(len(line[i]) for line in lines) for i in range(len(columns) + 1)]
        text = ["  |  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines]
        return "\n".join([f"[ {label} ]", *text, "", f"Times are in {unit_to_english(unit)}s ({unit})."])

    def __str__(self):
        groups = {}
        for m in self._results:
            groups.setdefault(m.label or "", []).append(m)
        return "\n\n".join(self._table(label, group) for label, group in groups.items())

    def print(self):
        """Prints it."""
        print(self)


__getattr__, __dir__ = _modules.refusing("torch.utils.benchmark")
