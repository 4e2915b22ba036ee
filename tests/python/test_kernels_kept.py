"""Compiled kernels leave memory when there are more of them than TREADLE_KERNELS_KEPT, but not those that are in use."""

import os
import re
import subprocess
import sys

import pytest
from conftest import DEVICES

PROGRAM = """
import os, threading
import numpy as np
import treadle as td

dev = os.environ["TREADLE_DEVICE"]
STEPS = [lambda v, m: v + 1.5, lambda v, m: m.sin(v), lambda v, m: v * v / 1e3, lambda v, m: m.abs(v), lambda v, m: -v]

def program(k, v, m):  # another kernel for each k
    while k:
        v = STEPS[k % 5](v, m)
        k //= 5
    return v

host = np.linspace(0, 9, 5000)
data = td.asarray(host, device=dev)
wrong = []

def work(first, last, step):
    for k in range(first, last, step):
        found, want = td.asnumpy(program(k, data, td)), program(k, host, np)
        if not np.allclose(found, want, rtol=1e-12, atol=1e-12):
            wrong.append((k, abs(found - want).max()))

def mappings():
    return sum(1 for _ in open("/proc/self/maps"))

BODY
print("wrong", wrong, "unloaded", td._core.jit_stats()["unloaded"])
"""


def run(body, device, kept):
    env = os.environ | {"TREADLE_DEVICE": device, "TREADLE_KERNELS_KEPT": str(kept), "TREADLE_EAGER": "0"}
    text = PROGRAM.replace("BODY", body)
    command = [sys.executable, "-W", "ignore:This process", "-c", text]  # Python 3.12 warns of os.fork beside threads
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    wrong, unloaded = re.search(r"wrong (.*) unloaded (\d+)", done.stdout).groups()
    assert wrong == "[]"
    return int(unloaded), done.stdout


def leaves(device):
    """Do kernels leave this device's memory? Those that are interpreted stay."""
    return not device.startswith("null")


@pytest.mark.parametrize("device", DEVICES)
def test_many_kernels(device):
    """The same 120 kernels, asked for by four threads in four orders, with room for 16."""
    unloaded, _ = run(
        """
threads = [threading.Thread(target=work, args=a) for a in [(25, 145, 1), (144, 24, -1), (25, 145, 7), (144, 24, -5)]]
for t in threads: t.start()
for t in threads: t.join()
""",
        device,
        16,
    )
    assert (unloaded > 100) == leaves(device)


def test_mappings_are_bounded():
    _, said = run(
        """
work(25, 65, 1)
before = mappings()
work(65, 265, 1)
print("grown by", mappings() - before)
""",
        "cpu",
        16,
    )
    assert int(re.search(r"grown by (-?\d+)", said)[1]) < 60


@pytest.mark.parametrize("kept", [0, 1000])
def test_room_for_all(kept):
    assert run("work(25, 85, 1)", "cpu", kept)[0] == 0


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_held_stays(device):
    """A function's own kernel and a recorded graph are used before and after others have come and gone."""
    unloaded, _ = run(
        """
from treadle import cuda

@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

@td.graph
def recorded(v):
    return td.cos(v) * 3 + v

x = td.ones(64, device=dev)
steps = [lambda: twice[1, 64](x), lambda: wrong.extend([1] * (not np.allclose(td.asnumpy(recorded(data)), np.cos(host) * 3 + host)))]
for step in steps: step()
work(25, 85, 1)
for step in steps: step()
if float(x.sum()) != 256: wrong.append(float(x.sum()))
""",
        device,
        16,
    )
    assert (unloaded > 20) == leaves(device)


def test_a_child_unloads_too():
    """A forked process has the table, but none of the threads that were compiling."""
    run(
        """
t = threading.Thread(target=work, args=(25, 145, 1))
t.start()
for _ in range(5):
    pid = os.fork()
    if not pid:
        wrong.clear()
        work(40, 80, 1)
        os._exit(len(wrong))
    if os.waitpid(pid, 0)[1]: wrong.append("in the child")
t.join()
""",
        "cpu",
        16,
    )
