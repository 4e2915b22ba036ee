"""A GPU whose warps have 64 threads, played by the null device: what the package computes does not depend on 32."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import DEVICES

HERE = pathlib.Path(__file__).parent
FILES = ["test_scan.py", "test_reductions.py", "test_rows.py"]
PROGRAM = """
import numpy as np
import treadle as td
from treadle import cuda
with td.device("null"):
    print(float(td.ones(5000).sum()))

@cuda.jit
def k(a):
    a[cuda.grid(1)] = cuda.laneid + 100 * cuda.shfl_xor_sync(0xffffffff, cuda.laneid, 31)

with td.device("null"):
    a = td.zeros(64, dtype="int32")
    k[1, 64](a)
    lanes = np.tile(np.arange(32), 2)
    print((a.get() == lanes + 100 * (lanes ^ 31)).all())
"""

pytestmark = pytest.mark.skipif("null" not in DEVICES, reason="the null device is not there")


def run(*command, **more):
    env = {**os.environ, "TREADLE_NULL_WARP": "64", **more}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, env=env, check=False, cwd=HERE)


def test_kernels_of_arrays_have_the_devices_warps_and_those_of_programs_cudas(tmp_path):
    done = run("-c", PROGRAM, TREADLE_DUMP="ir", TREADLE_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0 and done.stdout.split() == ["5000.0", "True"], done.stdout + done.stderr
    heads = [line for line in done.stderr.splitlines() if line.startswith("kernel ")]
    assert sum(" warp 64" in line for line in heads) >= 1
    assert any("shuffle_xor %" in line and ", 32 :" in line for line in done.stderr.splitlines())


@pytest.mark.parametrize("file", FILES)
def test_results_with_warps_of_64(file, tmp_path):
    done = run("-m", "pytest", "-q", "-k", "null", "-p", "no:cacheprovider", file, TREADLE_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-5000:]
