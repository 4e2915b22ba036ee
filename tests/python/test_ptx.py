"""The PTX of all kernels that the tests of this run have made for the null device is what ptxas takes.

Compiled code is kept in the cache's folder, the null device's as PTX. conftest.py puts this file's tests behind all others;
a few and a sixteenth of the kernels, chosen by their hash, are assembled, all of them with TREADLE_TEST_PTX=all.
"""

import os
import pathlib
import shutil
import subprocess
import time

import pytest

import treadle as td
from treadle import cuda

PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
FEW = 40

pytestmark = [pytest.mark.last, pytest.mark.skipif(not PTXAS, reason="ptxas of the CUDA toolkit is not here")]


def kept(since):
    """Name → PTX of what has been compiled since that time; the name is the kernel's hash."""
    folder = pathlib.Path(os.environ.get("TREADLE_CACHE_DIR") or pathlib.Path.home() / ".cache" / "treadle")
    found = {}
    for f in folder.glob("*.null"):
        if f.stat().st_mtime >= since - 1:
            data = f.read_bytes()
            found[f.stem] = data[data.index(b"//\n// Generated") :].rstrip(b"\0")  # behind the entry's head, any bytes
    return found


def refused(name, text, folder):
    """What ptxas says of the text; nothing where it takes it."""
    (folder / f"{name}.ptx").write_bytes(text)
    run = [PTXAS, "-O1", "-arch=sm_80", "-o", os.devnull, f"{name}.ptx"]  # one file a run: it crashes over many
    r = subprocess.run(run, cwd=folder, capture_output=True, text=True)
    return r.stderr if r.returncode else ""


def test_all_kernels_of_this_run(request, tmp_path):
    salt = time.time_ns()  # in no cache

    @cuda.jit
    def at_least_this(a):
        a[cuda.grid(1)] += salt

    with td.device("null"):
        at_least_this[1, 8](td.zeros(8, dtype=int))
    texts = kept(request.config.treadle_begun)
    if os.environ.get("TREADLE_TEST_PTX") != "all":
        texts = {n: texts[n] for i, n in enumerate(sorted(texts)) if i < FEW or n.endswith("0")}
    assert texts
    said = {name: error for name, text in texts.items() if (error := refused(name, text, tmp_path))}
    assert not said, "\n".join(f"{n}: {e}" for n, e in said.items())[:5000]


@pytest.mark.recorded
def test_loops_without_effect(tmp_path):
    """ptxas, and the driver with it, dies of a loop that only counts."""
    begun, salt = time.time(), time.time_ns()

    @cuda.jit
    def counts(a, n):
        for _ in range(n):
            pass
        a[cuda.grid(1)] = salt

    with td.device("null"):
        counts[1, 8](td.zeros(8, dtype=int), 100)
        for dtype in ("int64", "float16", "uint8"):
            x = td.ones(100, dtype)
            for _ in range(100):
                x = abs(x) if dtype == "float16" else x - x
            td.evaluate(x)
    texts = kept(begun)
    assert len(texts) >= 4
    assert {name: refused(name, text, tmp_path) for name, text in texts.items()} == dict.fromkeys(texts, "")


def test_what_is_no_ptx_is_refused(tmp_path):
    text = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { add.s32; }\n"
    assert "broken.ptx" in refused("broken", text, tmp_path)
