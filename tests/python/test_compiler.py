"""What the compiler makes of a fused expression: vectors, one kernel, and stages that print."""

import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.recorded

PROGRAM = """
import numpy as np
import treadle as td
a, b = (td.asarray(np.ones(1000, "f4")) for _ in range(2))
td.evaluate(td.sqrt(a * a + b * b) * 2.0)
"""


def stages(names, device, program=PROGRAM):
    """What TREADLE_DUMP prints of the program's kernels."""
    env = dict(os.environ, TREADLE_DUMP=names, TREADLE_DEVICE=device, TREADLE_CACHE_DIR="")
    run = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    return run.stderr


def test_a_fused_cpu_kernel_is_vectorised():
    llvm = stages("llvm", "cpu")
    lanes = [n for n in (4, 8, 16) if f"fadd <{n} x float>" in llvm and f"@llvm.sqrt.v{n}f32" in llvm]
    assert lanes, llvm
    assert llvm.count("define ") == 1  # one kernel for the whole expression


def test_a_fused_cpu_kernel_uses_vector_registers():
    asm = stages("asm", "cpu")
    assert any(f"vsqrtps\t%{r}mm" in asm or f"vsqrtps %{r}mm" in asm for r in "yz") or "sqrtps\t%xmm" in asm


def test_a_gpu_kernel_reads_16_bytes_a_thread():
    ptx = stages("ptx", "null")
    assert ptx.count("ld.global.v4") == 2 and ptx.count("st.global.v4") == 1
    assert ".f64" not in ptx  # a float32 expression and a Python float stay float32


COMPLEX = """
import numpy as np
import treadle as td
a, b = (td.asarray(np.ones((64, 64), "{}")) for _ in range(2))
td.evaluate(a * b{} + 1)
"""


def test_a_gpu_kernel_reads_whole_complex_numbers():
    single, double = (stages("ptx", "null", COMPLEX.format(d, "")) for d in ("c8", "c16"))
    assert single.count("ld.global.v4") == 2 and single.count("st.global.v4") == 1
    assert double.count("ld.global.v2") == 2 and double.count("st.global.v2") == 1
    tiled = stages("ptx", "null", COMPLEX.format("c8", ".T"))
    assert "ld.global.f32" not in tiled and "ld.shared.v2" in tiled and "st.shared.v2" in tiled


PAST = """
import numpy as np
import treadle as td
td._core.tune("past_share", {share})
for dtype in {dtypes!r}:
    x, y = ((np.arange({n}) % k).astype(dtype) for k in (7, 11))
    a, b = td.asarray(x), td.asarray(y)
    {text}
"""
SUM = "np.testing.assert_array_equal((a * b + b).get(), x * y + y)"
ROWS = "r = td.empty((9, b.size), a.dtype); r[:] = b; np.testing.assert_array_equal(r.get()[8], y)"


@pytest.mark.parametrize(
    "past,share,n,text",
    [
        (True, 1, 1 << 18, SUM),
        (True, 1, (1 << 18) + 5, SUM),
        (False, 512, 1 << 18, SUM),
        (True, 1, 1 << 18, ROWS),
        (False, 1, (1 << 18) + 5, ROWS),
        (False, 1, 1 << 18, "a += b; np.testing.assert_array_equal(a.get(), x + y)"),
        (False, 1, 1 << 18, "r = td.empty(a.size + 1, a.dtype); r[1:] = a - b; np.testing.assert_array_equal(r.get()[1:], x - y)"),
        (False, 1, 1 << 18, "r = td.empty(2 * a.size, a.dtype); r[::2] = a * b; np.testing.assert_array_equal(r.get()[::2], x * y)"),
    ],
)
def test_results_that_leave_the_caches_anyway_are_written_past_them(past, share, n, text):
    """On the CPU, in memory of their own whose rows are aligned."""
    known = any(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"))
    dtypes = ["float32", "float64", "int16", "bool", "complex64", "complex128"] if past else ["float32"]
    said = stages("ir,asm", "cpu", PAST.format(share=share, n=n, text=text, dtypes=dtypes))
    assert ("cache cs" in said, "movnt" in said) == (past and known, past and known)


def test_expressions_do_not_contract():
    ptx = stages("ptx", "null")
    assert "mul.rn.f32" in ptx and "add.rn.f32" in ptx and "fma" not in ptx


@pytest.mark.parametrize("device", ["cpu", "null"])
def test_ir_prints(device):
    text = stages("ir", device)
    assert "kernel" in text and "sqrt" in text and "load" in text


def test_scalars_share_a_kernel():
    program = PROGRAM + "td.evaluate(td.sqrt(a * a + b * b) * 3.0)\n"
    assert stages("llvm", "cpu", program).count("define ") == 1
