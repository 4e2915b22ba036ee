"""Clocks that a program reads under `python -m treadle` wait for the work before them."""

import json
import os
import subprocess
import sys

import pytest

WORK = "np.sin(x) * 2 + np.exp(-x)"
HEAD = "import time, timeit, json\nimport numpy as np\nx = np.random.rand(1_500_000)\n"
MANY = "for i in range(6):\n    "


def run(folder, text, *options, **env):
    """What the program's last line printed, as JSON."""
    path = folder / "prog.py"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "treadle", "--device", "cpu", *options, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def launches(between, read):
    """A program that prints how many kernels ran by the time that the clock was read for the second time."""
    count = "__import__('treadle')._core.jit_stats()['launches']"
    return f"{HEAD}{read}\nbefore = {count}\n{between}\n{read}\nprint(json.dumps({count} - before))\n"


CLOCKS = [f"time.{n}()" for n in ("time", "perf_counter", "monotonic", "process_time", "thread_time")]
CLOCKS += [f"time.{n}_ns()" for n in ("time", "perf_counter", "monotonic", "process_time", "thread_time")]


def test_clocks_are_no_methods(tmp_path):
    """A clock that is an attribute of a class gets no self, as Python's own."""
    text = "import json, time\nclass Watch:\n    read = time.process_time\nprint(json.dumps(Watch().read() >= 0))\n"
    assert run(tmp_path, text)


@pytest.mark.parametrize("read", [*CLOCKS, "timeit.default_timer()"])
def test_reading_waits(tmp_path, read):
    assert run(tmp_path, launches(f"y = {WORK}", read)) == 1


@pytest.mark.parametrize(
    "imports",
    [
        "from time import perf_counter as clock",
        "import time as t\nclock = t.perf_counter",
        "import importlib\nclock = importlib.import_module('time').time",
    ],
)
def test_however_the_clock_is_imported(tmp_path, imports):
    assert run(tmp_path, f"{imports}\n" + launches(f"y = {WORK}", "clock()")) == 1


def test_dropped_results_are_timed(tmp_path):
    """NumPy would have computed them; what another operation took is computed once, with it."""
    assert run(tmp_path, launches(f"{MANY}{WORK}", "time.time()")) == 6
    assert run(tmp_path, launches(f"{MANY}y = {WORK}", "time.time()")) == 6
    assert run(tmp_path, launches("a = np.sin(x)\nb = a + 1\ndel a", "time.time()")) == 1


@pytest.mark.parametrize(
    "timed",
    [
        f"timeit.timeit(lambda: {WORK}, number=5)", f"timeit.timeit('{WORK}', globals=globals(), number=5)",
        f"timeit.Timer('{WORK}', 'import numpy as np; x = np.ones(10**6)').timeit(5)",
        f"timeit.repeat('{WORK}', 'import numpy as np\\nx = np.ones(10**6)', number=5, repeat=1)",
        f"timeit.Timer(lambda: {WORK}).repeat(1, 5)",
    ],
)  # fmt: skip
def test_timeit(tmp_path, timed):
    assert run(tmp_path, launches(f"r = {timed}", "pass")) >= 5


def test_a_time_is_at_least_that_of_the_work(tmp_path):
    """The clock's difference beside that of the same work whose value is looked at; both of a warm kernel."""
    text = f"""{HEAD}
def least(f):
    took = []
    for i in range(7):
        begin = time.perf_counter()
        y = f()
        took.append(time.perf_counter() - begin)
    return min(took)

def looked():
    y = {WORK}
    y[0] + y[-1]
    return y

def recorded():
    return {WORK}

looked(), recorded()
print(json.dumps([least(recorded), least(looked)]))
"""
    recorded, looked = run(tmp_path, text)
    assert recorded > 0.3 * looked
    lazy, _ = run(tmp_path, text, "--lazy-clocks")
    assert lazy < 0.3 * looked


def test_lazy_clocks(tmp_path):
    assert run(tmp_path, launches(f"y = {WORK}", "time.time()"), "--lazy-clocks") == 0
    assert run(tmp_path, launches(f"{MANY}{WORK}", "time.time()"), "--lazy-clocks") == 0


def test_a_reading_is_cheap(tmp_path):
    """Below a microsecond where nothing is recorded: the least of several runs, on a machine that may be busy."""
    text = """
import time, json
def least():
    n = 20000
    begin = time.perf_counter()
    for i in range(n):
        time.perf_counter()
    return (time.perf_counter() - begin) / n
print(json.dumps(min(least() for i in range(7))))
"""
    assert run(tmp_path, text) < 1e-6


def test_libraries_clocks_are_pythons(tmp_path):
    """And the modules are what they are in every other way."""
    text = """
import json, sys, time, timeit, logging, datetime
import time as again
real = sys.modules["time"]
print(json.dumps([time is again, time is real, type(real.perf_counter).__name__, logging.time is real,
                  time.sleep is real.sleep, time.perf_counter.__name__, time.perf_counter.__doc__ == real.perf_counter.__doc__,
                  repr(time) == repr(real), dir(time) == dir(real), issubclass(timeit.Timer, sys.modules["timeit"].Timer)]))
"""
    assert run(tmp_path, text) == [
        True,
        False,
        "builtin_function_or_method",
        True,
        True,
        "perf_counter",
        True,
        True,
        True,
        True,
    ]
    assert run(tmp_path, text, "--lazy-clocks")[1] is True


def test_clocks_can_be_replaced(tmp_path):
    """By a test's mocks, in the program's files and in libraries, and put back."""
    text = """
import importlib, json, sys, time
from unittest import mock
real = sys.modules["time"]
plain, said = real.time, []
with mock.patch("time.time", return_value=5.0):
    said += [time.time(), real.time()]
with mock.patch.object(time, "time", return_value=6.0):
    said += [time.time(), real.time()]
with mock.patch.object(time, "sleep") as sleep:
    time.sleep(100), real.sleep(100)
said += [real.time is plain, time.time() > 1e9, sleep.call_count, time.sleep is real.sleep, importlib.reload(time) is time]
print(json.dumps(said))
"""
    assert run(tmp_path, text) == [5.0, 5.0, 6.0, 6.0, True, True, 2, True, True]


def test_choices_can_be_dropped(tmp_path):
    """Elements chosen by a mask, of which nobody has asked how many there are, go unseen behind a clock."""
    text = f"{HEAD}time.perf_counter()\nfor i in range(20):\n    y = x[x > 2.5]\n    x[x > 0.5] * 2\n    y = x[x < 0.5] + 1\n"
    assert run(tmp_path, text + "print(json.dumps(bool(len(y) > 0)))\n") is True
