"""torch.profiler: treadle.profile under PyTorch's names. It tells what ran and for which line, and writes traces for
Perfetto and Chrome.

An event is a kernel, a copy, a compilation or other work (treadle.profile.Record), or a range of record_function.
Operations are fused, so the name of an event is that of a kernel, not of an operation.
"""

import contextlib
import enum
import gzip
import json
import os
import socket
import time

from ... import _core
from ..._observe import _profile
from .. import _modules

__all__ = [
    "DeviceType", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule",
    "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(enum.Enum):
    """What to record. Here everything is always recorded."""

    CPU, XPU, MTIA, CUDA, HPU, PrivateUse1 = 0, 1, 2, 3, 4, 5


class ProfilerAction(enum.Enum):
    """What the profiler does at a step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = 0, 1, 2, 3


class DeviceType(enum.Enum):
    """Where an event happened."""

    CPU, CUDA = 0, 1


def kineto_available():
    """True: there is a profiler."""
    return True


def supported_activities():
    """CPU, and CUDA where there is a GPU."""
    found = {ProfilerActivity.CPU}
    return found | {ProfilerActivity.CUDA} if _core._gpu_count() else found


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A function from a step's number to a ProfilerAction. After skip_first steps come cycles of wait, warmup and
    active steps, `repeat` of them (0: without end). skip_first_wait: the first cycle has no wait steps."""
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise ValueError("Invalid profiler schedule arguments")
    cycle = wait + warmup + active

    def action(step):
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == cycle - 1 else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """A function for on_trace_ready that writes each trace to dir_name as worker.time.pt.trace.json."""
    name = worker_name or f"{socket.gethostname()}_{os.getpid()}"

    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        end = ".gz" if use_gzip else ""
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json{end}"))

    return handler


_open = []  # for each profile that is recording: its list of ranges


class record_function(contextlib.ContextDecorator):
    """with record_function("name"): a range in the profile. It lasts as long as Python is inside."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args

    def __enter__(self):
        self._begin = time.monotonic_ns()
        return self

    def __exit__(self, *exception):
        for ranges in _open:
            ranges.append((self.name, self._begin, time.monotonic_ns()))

    def _recreate_cm(self):
        return type(self)(self.name, self.args)


class _Event:
    """All that happened under one name: count calls, and their microseconds on the CPU and on the device."""

    device_type = DeviceType.CPU

    def __init__(self, key):
        self.key = self.name = key
        self.count = 0
        self.self_cpu_time_total = self.self_device_time_total = 0.0
        self.nbytes = 0

    cpu_time_total = property(lambda self: self.self_cpu_time_total, doc="Microseconds on the CPU.")
    device_time_total = property(lambda self: self.self_device_time_total, doc="Microseconds on the device.")
    cpu_time = property(lambda self: self.cpu_time_total / max(self.count, 1), doc="Of one call, on the CPU.")
    device_time = property(lambda self: self.device_time_total / max(self.count, 1), doc="Of one call, on the device.")
    cuda_time_total = self_cuda_time_total = device_time_total
    cuda_time = device_time

    def __repr__(self):
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total:.3f}us "
            f"device_time={self.device_time_total:.3f}us count={self.count}>"
        )


class _Events(list):
    """Events, and a table of them."""

    def table(self, sort_by=None, row_limit=100, max_name_column_width=55, **unused):
        """Lines of names, times and calls, sorted by an attribute such as "cpu_time_total"."""
        rows = list(self)
        if sort_by is not None:
            attribute = sort_by.replace("cuda", "device")
            if not all(hasattr(e, attribute) for e in rows):
                raise AttributeError(f"sort_by={sort_by!r}: events have no {attribute}")
            rows.sort(key=lambda e: -getattr(e, attribute))
        head = ["Name", "Self CPU", "Self CUDA", "# of Calls", "Bytes"]
        cells = [head]
        for e in rows[: row_limit if row_limit > 0 else None]:
            name = e.key if len(e.key) <= max_name_column_width else e.key[: max_name_column_width - 3] + "..."
            cells.append(
                [name, _time(e.self_cpu_time_total), _time(e.self_device_time_total), str(e.count), str(e.nbytes)]
            )
        widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
        rule = "  ".join("-" * w for w in widths)
        lines = [
            "  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths))) for line in cells
        ]
        totals = [f"Self CPU time total: {_time(sum(e.self_cpu_time_total for e in self))}"]
        device = sum(e.self_device_time_total for e in self)
        totals += [f"Self CUDA time total: {_time(device)}"] if device else []
        return "\n".join([rule, lines[0], rule, *lines[1:], rule, *totals]) + "\n"

    @property
    def self_cpu_time_total(self):
        """Microseconds on the CPU, of all events."""
        return sum(e.self_cpu_time_total for e in self)

    def __str__(self):
        return self.table()


def _time(us):
    return f"{us / 1e6:.3f}s" if us >= 1e6 else f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


class profile:
    """with profile(schedule=..., on_trace_ready=...) as p: records what runs. Call p.step() after each step of a
    schedule.

    activities, record_shapes, profile_memory, with_stack and similar options are accepted; what is recorded is always
    the same. Results: p.key_averages().table(), p.events(), p.export_chrome_trace(path).
    """

    def __init__(
        self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
        with_stack=False, with_flops=False, with_modules=False, experimental_config=None, execution_trace_observer=None,
        acc_events=False, use_cuda=None, custom_trace_id_callback=None, post_processing_timeout_s=None,
    ):  # fmt: skip
        self._schedule, self._ready = schedule, on_trace_ready
        self.step_num, self._recorder, self._last, self._meta = 0, None, None, {}
        self._ranges = []

    def _action(self):
        return self._schedule(self.step_num) if self._schedule else ProfilerAction.RECORD

    def _begin(self):
        self._recorder, self._ranges = _profile.profile(), []
        self._recorder.__enter__()
        _open.append(self._ranges)

    def _end(self):
        if self._recorder is None:
            return
        _core.synchronize()
        _open.remove(self._ranges)
        done, self._recorder = self._recorder, None
        done.__exit__(None, None, None)
        self._last = done
        if self._ready is not None:
            self._ready(self)

    def _follow(self, action):
        """Record or stop recording, as the action of the next step requires."""
        wanted = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if wanted and self._recorder is None:
            self._begin()

    def start(self):
        """Begin, as the with statement does."""
        self._follow(self._action())

    def step(self):
        """End a step, and begin the next one."""
        if self._schedule and self._action() is ProfilerAction.RECORD_AND_SAVE:
            self._end()
        self.step_num += 1
        if self._schedule:
            self._follow(self._action())

    def stop(self):
        """Stop. A trace in progress becomes ready."""
        self._end()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    def _done(self):
        if self._last is None:
            raise RuntimeError("profile: nothing is recorded yet: ask after the with statement, or in on_trace_ready")
        return self._last

    def events(self):
        """All events."""
        done = [_filled(_Event(r.name), [r]) for r in self._done().records]
        return _Events([*done, *(_ranged(name, [end - begin]) for name, begin, end in self._ranges)])

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """One event for each name. With group_by_stack_n one for each name and line."""
        groups, ranges = {}, {}
        for r in self._done().records:
            groups.setdefault(f"{r.name} ({r.line})" if group_by_stack_n else r.name, []).append(r)
        for name, begin, end in self._ranges:
            ranges.setdefault(name, []).append(end - begin)
        found = [_filled(_Event(k), g) for k, g in groups.items()]
        return _Events([*found, *(_ranged(k, times) for k, times in ranges.items())])

    def add_metadata(self, key, value):
        """Add a text to the trace."""
        self._meta[key] = value

    def add_metadata_json(self, key, value):
        """Add a JSON text to the trace."""
        self._meta[key] = json.loads(value)

    def export_chrome_trace(self, path):
        """Write a trace for Chrome and Perfetto. It is compressed if the path ends in .gz."""
        done = self._done()
        zero = done.zero if done.zero else min((b for _, b, _ in self._ranges), default=0)
        spans = [{"ph": "X", "name": n, "cat": "user_annotation", "pid": 1, "tid": 0, "ts": (b - zero) / 1e3,
                  "dur": (e - b) / 1e3, "args": {}} for n, b, e in self._ranges]  # fmt: skip
        text = {"traceEvents": [*done._events(), *spans], "displayTimeUnit": "ms", **self._meta}
        with (gzip.open if os.fspath(path).endswith(".gz") else open)(path, "wt", encoding="utf-8") as file:
            json.dump(text, file)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Write a line for each line of the program: where it is, and its microseconds."""
        lines = {}
        for r in self._done().records:
            us = (r.off - r.on if r.on is not None and "cuda" in metric else r.end - r.begin) * 1e6
            lines[r.line] = lines.get(r.line, 0) + us
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line} {round(us)}\n" for line, us in lines.items())

    def toggle_collection_dynamic(self, enable, activities):
        """Does nothing: all is recorded."""


def _filled(event, records):
    event.count = len(records)
    for r in records:
        event.self_cpu_time_total += (r.end - r.begin) * 1e6
        if r.on is not None and r.device.startswith("cuda"):
            event.self_device_time_total += (r.off - r.on) * 1e6
            event.device_type = DeviceType.CUDA
        event.nbytes += r.nbytes
    return event


def _ranged(name, times):
    event = _Event(name)
    event.count, event.self_cpu_time_total = len(times), sum(times) / 1e3
    return event


__getattr__, __dir__ = _modules.refusing("torch.profiler")
