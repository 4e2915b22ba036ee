"""Arrays in other processes: handles of the same memory, who holds it, and who ends when."""

import copy
import gc
import io
import multiprocessing
import os
import pickle
import subprocess
import sys
import time
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import treadle as td

WAIT = 60  # seconds for a process to start on a busy machine
MB = 1 << 20
METHODS = ["spawn", "forkserver"]


def looked_at(a):
    return a.shape, a.strides, a.get(), str(a.device), a.flags.writeable


def serve(pipe):
    """Does what it is told to the arrays that come; runs in another process."""
    held = {}
    while True:
        what, *args = pipe.recv()
        if what == "end":
            break
        if what == "hold":
            held[args[0]] = args[1]
            pipe.send(None)
        elif what == "drop":
            del held[args[0]]
            td.synchronize()
            td._core._sent()
            pipe.send(None)
        elif what == "look":
            pipe.send(looked_at(held[args[0]]))
        elif what == "fill":
            held[args[0]].fill(args[1])
            td.synchronize(held[args[0]].device)
            pipe.send(None)
        elif what == "return":
            pipe.send(held[args[0]])
        elif what == "make":
            pipe.send(td.arange(args[0], device=args[1]) + 1)


class Worker:
    def __init__(self, method):
        context = multiprocessing.get_context(method)
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=serve, args=(there,), daemon=True)
        self.process.start()
        there.close()

    def __call__(self, *what):
        self.pipe.send(what)
        assert self.pipe.poll(WAIT), f"no answer to {what[0]}"
        return self.pipe.recv()

    def kill(self):
        self.process.kill()
        self.process.join()

    def end(self):
        if self.process.is_alive():
            self.pipe.send(("end",))
        self.process.join(WAIT)


@pytest.fixture(scope="module", params=METHODS)
def worker(request):
    w = Worker(request.param)
    yield w
    w.end()


@pytest.fixture
def own():
    w = Worker("spawn")
    yield w
    w.kill()


def shared_files():
    """The files without a name that hold arrays here."""
    found = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            found += "treadle-array" in os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            pass
    return found


def settled(dev):
    """What is held for others, once those that let go have been noticed."""
    gc.collect()
    td.synchronize(dev)
    td.memory.trim(dev)
    return shared_files() if dev == "cpu" else td.memory.stats(dev)["used"]


def test_same_memory(worker, dev):
    a = td.arange(1000.0)
    worker("hold", "a", a)
    _, _, there, device, _ = worker("look", "a")
    np.testing.assert_array_equal(there, np.arange(1000.0))
    assert device == dev
    worker("fill", "a", 7.0)
    assert (a.get() == 7).all()
    a[3:5] = 1.0
    td.synchronize()
    assert worker("look", "a")[2].sum() == 7 * 998 + 2
    worker("drop", "a")


@pytest.mark.parametrize("size", [300, 3 * MB, 24 * MB])
def test_moves_once(dev, size):
    """An array is moved into memory that can be shared at most once, and its views with it."""
    if dev == "null" and size > 3 * MB:
        pytest.skip("the null device interprets, which takes too long for so many elements")
    a = td.zeros(size, "uint8")
    part = a[10:20]
    first = pickle.loads(ForkingPickler.dumps(a))
    second = pickle.loads(ForkingPickler.dumps(part))
    part.fill(3)
    assert int(first[15]) == 3 and int(second[5]) == 3 and int(first.sum()) == 30
    second[0] = 9
    assert int(a[10]) == 9


CASES = {
    "0-d": lambda: td.asarray(2.5),
    "empty": lambda: td.zeros((0, 3)),
    "transposed": lambda: td.arange(12).reshape(3, 4).T,
    "strided": lambda: td.arange(20.0)[3:17:3],
    "backwards": lambda: td.arange(9)[::-1],
    "read-only": lambda: td.broadcast_to(td.arange(3), (2, 3)),
    "bool": lambda: td.arange(9) > 4,
    "float16": lambda: td.arange(9).astype("float16"),
    "pending": lambda: td.exp(td.arange(9.0)) + 1,
}


@pytest.mark.parametrize("case", CASES)
def test_kinds(worker, dev, case):
    a = CASES[case]()
    worker("hold", "k", a)
    shape, strides, values, device, writable = worker("look", "k")
    assert shape == a.shape and device == dev
    if a.size:
        assert strides == a.strides and writable == a.flags.writeable
    np.testing.assert_array_equal(values, a.get())
    worker("drop", "k")


def test_bfloat16(worker):
    a = (td.arange(9.0) / 3).astype("bfloat16")
    worker("hold", "b", a)
    back = worker("return", "b")
    np.testing.assert_array_equal(back.astype("float32").get(), a.astype("float32").get())
    again = pickle.loads(pickle.dumps(a))
    np.testing.assert_array_equal(again.astype("float32").get(), a.astype("float32").get())
    worker("drop", "b")


def test_back_and_forth(worker, dev):
    made = worker("make", 5, dev)
    assert made.tolist() == [1, 2, 3, 4, 5] and str(made.device) == dev
    worker("hold", "m", made)  # what was received is sent on as a copy
    assert worker("look", "m")[2].tolist() == [1, 2, 3, 4, 5]
    worker("drop", "m")


def test_memory_stays_and_goes(worker, dev):
    """The receiver holds what its sender has dropped, and the sender gets it back."""
    worker("make", 3, dev)
    before = settled(dev)
    a = td.full(MB, 5.0)
    worker("hold", "s", a)
    del a
    assert settled(dev) > before
    assert (worker("look", "s")[2] == 5).all()
    worker("drop", "s")
    until = time.monotonic() + 60
    while settled(dev) > before and time.monotonic() < until:
        worker("make", 3, dev)  # a call there, by which it lets go
    assert settled(dev) == before


def test_receiver_dies(own, dev):
    before = settled(dev)
    a = td.full(MB, 5.0)
    own("hold", "s", a)
    del a
    assert settled(dev) > before
    own.kill()
    assert settled(dev) == before


def test_received_twice(dev):
    a = td.arange(4.0)
    data = bytes(ForkingPickler.dumps(a))
    first, second = pickle.loads(data), pickle.loads(data)
    first[0] = 8
    assert second.tolist() == [8, 1, 2, 3]
    del first, second, a
    settled(dev)
    with pytest.raises(ValueError, match="has let go of the memory"):
        pickle.loads(data)


SENDER = """
import os, sys
from multiprocessing.reduction import ForkingPickler
import treadle as td
a = td.arange(1000.0, device="cpu")
sys.stdout.buffer.write(bytes(ForkingPickler.dumps(a)))
sys.stdout.buffer.flush()
os.close(1)
if sys.argv[1] == "killed":
    sys.stdin.read()
"""


def sender(how):
    p = subprocess.Popen([sys.executable, "-c", SENDER, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return p, p.stdout.read()


def test_sender_ends_when_received():
    p, data = sender("ends")
    a = pickle.loads(data)
    assert p.wait(WAIT) == 0
    p.stdin.close()
    np.testing.assert_array_equal(a.get(), np.arange(1000.0))


def test_sender_dies():
    p, data = sender("killed")
    a = pickle.loads(data)
    names = set(os.listdir("/dev/shm"))
    p.kill()
    p.wait()
    p.stdin.close()
    np.testing.assert_array_equal(a.get(), np.arange(1000.0))
    assert set(os.listdir("/dev/shm")) <= names
    with pytest.raises(ValueError, match=f"process {p.pid}, which sent it, has ended"):
        pickle.loads(data)


def scale(a):
    return a * 3


@pytest.mark.parametrize("method", METHODS)
def test_pool(method):
    with multiprocessing.get_context(method).Pool(1) as pool, td.device("cpu"):
        results = pool.map(scale, [td.arange(n) for n in (3, 0, 1000)])
        assert [r.tolist() for r in results] == [[0, 3, 6], [], list(range(0, 3000, 3))]


def test_bad_handles():
    receive = td._core._receive
    a = td.arange(4.0, device="cpu")
    handle, dtype, shape, strides, offset, readonly = td._core._send(a)
    for bad in (
        (handle[:-1], dtype, shape, strides, offset, readonly),
        (handle, dtype, (5,), strides, offset, readonly),
        (handle, dtype, shape, (2,), offset, readonly),
        (handle, dtype, shape, strides, -1, readonly),
        (handle, dtype, shape, (1, 1), offset, readonly),
    ):
        with pytest.raises(ValueError):
            receive(*bad)
    assert receive(handle, dtype, shape, strides, offset, readonly).tolist() == [0, 1, 2, 3]


# ---- ordinary pickling copies ----


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("case", CASES)
def test_pickle(dev, case, protocol):
    a = CASES[case]()
    b = pickle.loads(pickle.dumps(a, protocol))
    assert b.shape == a.shape and b.dtype == a.dtype and str(b.device) == dev
    np.testing.assert_array_equal(b.get(), a.get())
    for c in (copy.copy(a), copy.deepcopy(a)):
        assert str(c.device) == dev
        np.testing.assert_array_equal(c.get(), a.get())


def test_pickle_out_of_band():
    with td.device("cpu"):
        a = td.arange(100_000.0)
        buffers = []
        data = pickle.dumps(a, 5, buffer_callback=buffers.append)
        assert len(data) < 1000 and sum(b.raw().nbytes for b in buffers) == a.nbytes
        b = pickle.loads(data, buffers=buffers)
        b[0] = 5
        assert float(a[0]) == 0 and float(b.sum()) == float(a.sum()) + 5


def test_pickle_of_a_device_that_is_not_there():
    a = td.arange(3, device="cpu")
    data = pickle.dumps(a).replace(b"\x8c\x03cpu", b"\x8c\x03xpu")
    with pytest.raises(ValueError, match="unknown device"):
        pickle.loads(data)
    if len(td.devices()) == 1:
        data = pickle.dumps(a, 0).replace(b"Vcpu", b"Vcuda:0")
        with pytest.warns(UserWarning, match="pickled on cuda:0 is restored on"):
            assert pickle.loads(data).tolist() == [0, 1, 2]


def test_import_order():
    """Arrays are sent as handles whichever of the two is imported first, and treadle imports neither."""
    for first, second in (("treadle", "multiprocessing.reduction"), ("multiprocessing.reduction", "treadle")):
        code = (
            f"import {first}\nimport sys\n"
            f"assert '{first}' == 'multiprocessing.reduction' or 'multiprocessing' not in sys.modules\n"
            f"import {second}\nfrom multiprocessing.reduction import ForkingPickler\n"
            "import treadle\na = treadle.zeros(100_000, device='cpu')\n"
            "assert len(bytes(ForkingPickler.dumps(a))) < 1000\n"
            "import io, pickle\nassert len(pickle.dumps(a)) > 100_000\n"
            "import os; os._exit(0)\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


def test_fork_has_its_own():
    """A forked child neither holds nor gives back what its parent sent."""
    a = td.arange(4.0, device="cpu")
    data = bytes(ForkingPickler.dumps(a))
    child = os.fork()
    if child == 0:
        ok = False
        try:
            mine = td.ones(3, device="cpu")
            other = pickle.loads(bytes(ForkingPickler.dumps(mine)))
            seen = pickle.loads(data)
            seen[0] = 6
            ok = other.tolist() == [1, 1, 1] and seen.tolist() == [6, 1, 2, 3]
            del seen, other, mine
            gc.collect()
        finally:
            os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert a.tolist() == [6, 1, 2, 3]


def test_stream_of_bytes():
    """What pickles into a file takes the ordinary way."""
    a, out = td.arange(3, device="cpu"), io.BytesIO()
    pickle.dump(a, out)
    out.seek(0)
    assert pickle.load(out).tolist() == [0, 1, 2]
