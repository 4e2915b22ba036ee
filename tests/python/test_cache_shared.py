"""Many processes on one cache: nothing is lost, made in vain, or half-written."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.recorded

PROCESSES, KERNELS = 64, 100

# Runs kernels in an order of its own and prints which of them it compiled itself. Each is new to
# the compiler: its operations follow the digits of its number.
PROGRAM = """
import random, sys
import numpy as np
import treadle as td
order = list(range(int(sys.argv[1])))
random.Random(int(sys.argv[2])).shuffle(order)
x = td.asarray(np.arange(5.0), device="cpu")
made = []
for k in order:
    y, want = x, np.arange(5.0)
    for bit in f"{k:08b}":
        y, want = (y + 1, want + 1) if bit == "1" else (y * 0.5, want * 0.5)
    before = td._core.jit_stats()["compiled"]
    assert np.array_equal(y.get(), want), k
    made += [k] * (td._core.jit_stats()["compiled"] - before)
print(made)
"""


def start(cache, kernels, seed):
    env = {**os.environ, "TREADLE_CACHE_DIR": str(cache), "TREADLE_DEVICE": "cpu"}
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(kernels), str(seed)], env=env,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    """The kernels that it compiled; it has nothing to complain of."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0 and not err, err
    return json.loads(out)


def kept(folder):
    """The entries that are whole."""
    return [f for f in os.listdir(folder) if not f.startswith(".")]


def test_processes_share_an_empty_cache(tmp_path):
    """Half of them in one order, so that all want the same kernel at once, half in their own."""
    seeds = [0] * (PROCESSES // 2) + list(range(PROCESSES // 2))
    made = [k for p in [start(tmp_path, KERNELS, seed) for seed in seeds] for k in finish(p)]
    assert sorted(set(made)) == list(range(KERNELS))
    assert len(made) < 2 * KERNELS  # not one each: who waits for seconds makes a kernel itself
    assert not [f for f in os.listdir(tmp_path) if f.startswith(".new")]


def test_processes_killed_at_random_leave_no_bad_entry(tmp_path):
    for round_ in range(6):
        group = [start(tmp_path, KERNELS, 10 * round_ + k) for k in range(4)]
        wanted, until = min(len(kept(tmp_path)) + 1, KERNELS), time.monotonic() + 120
        while len(kept(tmp_path)) < wanted and time.monotonic() < until:  # begun, however slow the machine is
            time.sleep(0.005)
        time.sleep(0.02 * round_)
        for process in group:
            process.send_signal(signal.SIGKILL)
            process.communicate()
    assert finish(start(tmp_path, KERNELS, 1)) != list(range(KERNELS)), "something had been kept"
    assert finish(start(tmp_path, KERNELS, 0)) == [], "all entries are there and good"


def test_a_home_that_cannot_be_written_is_said_once():
    """The kernels are compiled, kept in memory, and one warning tells why they are not on disk."""
    program = PROGRAM + "for _ in range(3):\n    assert (x + 1).get()[0] == 1\n"
    env = {k: v for k, v in os.environ.items() if k != "TREADLE_CACHE_DIR"}
    done = subprocess.run([sys.executable, "-c", program, "5", "0"], text=True, capture_output=True,
                          check=False, env={**env, "HOME": "/dev/null", "TREADLE_DEVICE": "cpu"})
    assert done.returncode == 0
    assert done.stderr.count("compiled kernels are not kept") == 1, done.stderr
    assert len(json.loads(done.stdout)) == 5
