"""treadle in a process of its own: threads, leaving at any point, fork, multiprocessing."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import treadle as td


def run(code, dev, expect=0, timeout=120):
    """Runs a program on device dev: its standard output; its exit code and silence are checked."""
    env = {**os.environ, "TREADLE_DEVICE": dev, "PYTHONFAULTHANDLER": "0"}
    code = "import treadle as td, numpy as np, os, sys, threading, time\n" + textwrap.dedent(code)
    # newer Pythons warn of every fork beside threads
    r = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", code], env=env, capture_output=True, text=True, timeout=timeout)
    assert r.returncode == expect, (r.returncode, r.stdout, r.stderr)
    return r


# ---- several threads ----


def mixed_work(k, shared, rounds):
    """What thread k computes: from its own arrays, from shared ones, through memory and views."""
    rng = np.random.default_rng(k)
    x = rng.integers(0, 50, (7, 11)).astype("float32")
    t, out = td.asarray(x), []
    for i in range(rounds):
        y = t * 2 + shared[i % len(shared)]
        t = td.where(y > 40, y - 40, y)
        out.append(float(y.sum()))
        if i % 3 == 0:
            t[1:3] = t[0] + k
        if i % 4 == 1:
            out.append(td.from_dlpack(y.T).get().tolist())
        if i % 5 == 2:
            out.append(np.sort(y, axis=None)[:3].get().tolist())
        if i % 7 == 3:
            out.append((y @ y.T).get().tolist())
    return out + t.get().tolist()


def test_eight_threads_give_what_one_gives(dev):
    rounds = 40 if dev != "null" else 6
    shared = [td.arange(77, dtype="float32").reshape(7, 11) + k for k in range(3)]  # pending, met by all at once
    together, device = {}, td.device()

    def work(k):
        with td.device(device.name):
            together[k] = mixed_work(k, shared, rounds)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    again = [td.arange(77, dtype="float32").reshape(7, 11) + k for k in range(3)]
    for k in range(8):
        assert together.get(k) == mixed_work(k, again, rounds)


def test_what_a_kernel_writes_beside_its_result_is_left_alone(dev):
    """t is written over the old t; y, computed by the same kernel, still reads the old t until it is there."""
    n = np.arange(77, dtype="float32").reshape(7, 11)
    shared, wrong, device = [td.asarray(n + k) for k in range(3)], [], td.device()

    def work(k):
        mine = np.random.default_rng(k).integers(0, 50, n.shape).astype("float32")
        with td.device(device.name):
            t = td.asarray(mine)
            for i in range(30 if dev != "null" else 4):
                y = t * 2 + shared[i % 3]
                t = td.where(y > 40, y - 40, y)
                expect = mine * 2 + (n + i % 3)
                mine = np.where(expect > 40, expect - 40, expect)
                float(y.sum())  # from now on y is worth its memory
                t[1:3] = t[0] + k  # looks at what other threads left pending
                mine[1:3] = mine[0] + k
                if not np.array_equal(y.get(), expect) or not np.array_equal(t.get(), mine):
                    wrong.append((k, i))

    for _ in range(12 if dev != "null" else 1):
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not wrong


def test_first_functions_of_many_threads(tmp_path):
    """What is made at the first compilation is made once, whoever comes first, and so is each function's program."""
    source = tmp_path / "functions.py"
    source.write_text("def square(x):\n    return x * x + 1\n")
    code = f"""
    sys.setswitchinterval(1e-6)
    sys.path.insert(0, {str(tmp_path)!r})
    from functions import square
    from treadle.executor import DeviceExecutor
    got = []

    def work():
        with DeviceExecutor() as ex:
            for _ in range(3):
                got.append(list(ex.map(square, range(20))))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [[x * x + 1 for x in range(20)]] * 24
    """
    for _ in range(2):
        run(code, "cpu")


def test_one_array_read_by_all(dev):
    """A chain that nobody has evaluated, evaluated by eight threads at the same moment."""
    x = td.arange(1000, dtype="float64")
    for k in range(20):
        x = x * 1.5 + k
    got, start = [], threading.Barrier(8)

    def read():
        start.wait()
        got.append((x.sum(), x.get(), (x + 1)[5]))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    n = np.arange(1000.0)
    for k in range(20):
        n = n * 1.5 + k
    assert len(got) == 8
    for s, values, one in got:
        np.testing.assert_array_equal(values, n)
        np.testing.assert_allclose(float(s), n.sum(), rtol=1e-14)
        assert float(one) == n[5] + 1


# ---- leaving ----

WORK = "a = td.arange(100000, dtype='float32')\nb = (a * 2 + 1).sum()\nc = td.exp(a / 1e5)\n"
THREAD = WORK + """
def forever():
    k = 0
    while True:
        k += 1
        x = td.arange(100000 + k % 7, dtype='float64') * k
        x[3:] = x[:-3] + 1
        np.asarray(x), x.get(), float(x.sum())
t = threading.Thread(target=forever, daemon=True)
t.start()
time.sleep(0.3)
"""
ENDS = {
    "return": ("", 0, ""),
    "exit": ("sys.exit(3)", 3, ""),
    "os._exit": ("os._exit(4)", 4, ""),
    "exception": ("raise LookupError('mine')", 1, "LookupError: mine"),
    "evaluated": ("print(float(b)); sys.exit(5)", 5, ""),
    "exported": ("n = np.from_dlpack(c) if c.device == 'cpu' else c.__dlpack__(); del c; sys.exit(6)", 6, ""),
    "imported": ("s = td.from_dlpack(np.ones(9)); sys.kept = s; sys.exit(7)", 7, ""),
    "atexit": ("import atexit; atexit.register(lambda: print(float(td.ones(5).sum())))", 0, ""),
    "at module's end": ("class D:\n    def __del__(self): float(td.ones(5).sum())\nsys.last = D()", 0, ""),
    "later": ("f = (a + 1).get(blocking=False); sys.exit(8)", 8, ""),
    "signal": ("os.kill(os.getpid(), 15); time.sleep(5)", -signal.SIGTERM, ""),
}


@pytest.mark.parametrize("where", ["alone", "beside a daemon thread"])
@pytest.mark.parametrize("end", list(ENDS))
def test_leaving_is_silent(end, where, dev):
    code, expect, words = ENDS[end]
    r = run((WORK if where == "alone" else THREAD) + code, dev, expect)
    assert words in r.stderr
    if not words:
        assert r.stderr == ""


# ---- fork ----


def test_cpu_works_in_forked_children():
    """With the pool of threads remade, whatever other threads were doing."""
    code = """
    latest = []
    def forever():
        k = 0
        while True:
            k += 1
            latest[:] = [td.exp(td.arange(2_000_000) / 1e7) * k]
            latest[0].get()
    threading.Thread(target=forever, daemon=True).start()
    x = td.arange(3_000_000, dtype='float32')
    want = float((x * 2).sum())
    codes = []
    for i in range(10):
        time.sleep(0.03)
        pid = os.fork()
        if pid == 0: # perhaps in the middle of an evaluation of latest[0], which the child has to do itself
            ok = float((x * 2).sum()) == want and float((td.ones(2_000_000) + i).sum()) == 2_000_000 * (i + 1)
            ok &= not latest or float(latest[0].sum()) == float((latest[0] + 0).sum())
            os._exit(0 if ok else 9)
        codes.append(os.waitpid(pid, 0)[1])
    assert codes == [0] * 10, codes
    """
    assert run(code, "cpu").stderr == ""


def test_multiprocessing_by_fork():
    code = """
    import multiprocessing as mp
    def f(k):
        return float((td.arange(100000) * k).sum())
    print(f(1))
    with mp.get_context("fork").Pool(3) as pool:
        assert pool.map(f, range(6)) == [f(k) for k in range(6)]
    """
    assert run(code, "cpu").stderr == ""


def test_gpu_says_that_it_was_forked(dev):
    if dev == "cpu":
        pytest.skip("the CPU survives a fork")
    code = """
    x = td.ones(5) + 1
    y = td.ones(5, device="cpu")
    td.evaluate(x)
    if os.fork() == 0:
        for use in (lambda: td.ones(3).get(), lambda: (x + 1).get(), x.get, td.synchronize, td.Stream,
                    lambda: x.__dlpack__(stream=2)):
            try:
                use()
            except RuntimeError as e:
                assert "spawn" in str(e), e
            else:
                os._exit(1)
        os._exit(0 if (y + 1).tolist() == [2] * 5 else 2)
    assert os.wait()[1] == 0
    assert x.tolist() == [2] * 5
    """
    assert run(code, dev).stderr == ""


def test_null_device_does_not_take_cuda_away():
    """A child of a process that used the host-played driver alone may still use the real one."""
    code = """
    assert td.ones(3, device="null").sum() == 3
    if os.fork() == 0:
        try:
            td.ones(3, device="cuda")
        except RuntimeError as e:
            assert "forked" not in str(e), e
        os._exit(0)
    assert os.wait()[1] == 0
    """
    assert run(code, "null").stderr == ""
