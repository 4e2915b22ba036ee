"""When memory is out: what goes first, and what the error says then. Libraries that pip brought."""

import gc
import inspect
import shutil
import subprocess
import sys

import pytest

import treadle as td

MB = 1 << 20


@pytest.fixture
def room(dev):
    """100 MB of the device beyond what is in use, and nothing goes to the host."""
    spills = td.memory.spill(device=dev)
    td.memory.spill(False, dev)
    gc.collect()
    td.synchronize(dev)
    td.memory.trim(dev)
    before = td.memory.stats(dev)  # cached: pieces of blocks that other arrays use stay after trim and count
    td.memory.limit(before["used"] + before["cached"] + 100 * MB, dev)
    gc.disable()
    yield dev
    gc.enable()
    td.memory.spill(spills, dev)
    td.memory.limit(None, dev)
    td.memory.trim(dev)


class Knot:
    def __init__(self, array):
        self.array, self.me = array, self


def test_cycles_go(room):
    knot = Knot(td.empty(60 * MB, "uint8"))
    with pytest.raises(MemoryError):
        td.empty(60 * MB, "uint8")
    del knot
    a = td.empty(60 * MB, "uint8")
    assert a.nbytes == 60 * MB


def test_recorded_work_runs(room):
    """Memory that only a recorded sum still needs."""
    a = td.ones(10 * MB, "uint8")
    td.evaluate(a)
    total = a.sum()
    del a
    held = td.empty(46 * MB, "uint8"), td.empty(40 * MB, "uint8")
    b = td.ones(8 * MB, "uint8")
    td.evaluate(b)
    assert b.nbytes + sum(h.nbytes for h in held) == 94 * MB
    assert int(total) == 10 * MB


def test_error_says_who(room):
    here = inspect.currentframe()
    first = td.empty(30 * MB, "uint8")
    first_line = here.f_lineno - 1
    second = td.empty(20 * MB, "uint8")
    second_line = here.f_lineno - 1
    dropped = td.empty(24 * MB, "uint8")
    del dropped
    with pytest.raises(td.OutOfMemoryError) as e:
        td.empty(70 * MB, "uint8")
    text = str(e.value)
    assert "asked for 70.00 MiB (73400320 bytes)" in text
    assert "buffers hold " in text and "the pool keeps " in text and "(largest block " in text
    assert " are free, the limit is " in text
    lines = [f"30.00 MiB at {__file__}:{first_line}", f"20.00 MiB at {__file__}:{second_line}"]
    assert f"largest buffers: {', '.join(lines)}" in text
    assert first.nbytes + second.nbytes == 50 * MB


def test_trim_keeps_nothing(dev):
    a = [td.ones(n, "uint8", device=dev) for n in (10, 70_000, 3 * MB, 40 * MB)]
    td.evaluate(*a)
    used = td.memory.stats(dev)["used"]
    del a
    td.memory.trim(dev)
    stats = td.memory.stats(dev)
    assert stats["used"] < used and stats["cached"] <= stats["used"] + 8 * MB


LIBRARY = """
import sys
sys.path.insert(0, sys.argv[1])
import treadle
assert "treadle._exchange._libraries" not in sys.modules
print(treadle._core._open_library("libtreadletiny.so.7", "nvidia-tiny"))
assert "treadle._exchange._libraries" in sys.modules
try:
    treadle._core._open_library("libtreadlenothing.so.7", "nvidia-tiny")
except treadle.MissingLibraryError as e:
    print(e)
"""


@pytest.mark.parametrize("folder", ["nvidia/cu13/lib", "nvidia/cublas/lib"])
def test_libraries_of_wheels(tmp_path, folder):
    cc = shutil.which("cc") or shutil.which("gcc")
    if not cc:
        pytest.skip("a C compiler makes the library")
    place = tmp_path / "site packages" / folder
    place.mkdir(parents=True)
    source = tmp_path / "tiny.c"
    source.write_text("int tiny(void) { return 7; }\n")
    subprocess.run([cc, "-shared", "-fPIC", "-o", place / "libtreadletiny.so.7", source], check=True)
    run = subprocess.run(
        [sys.executable, "-c", LIBRARY, tmp_path / "site packages"], capture_output=True, text=True, check=True
    )
    path, error = run.stdout.splitlines()
    assert path == str(place / "libtreadletiny.so.7")
    assert "libtreadlenothing.so.7 was not found: pip install nvidia-tiny" in error
