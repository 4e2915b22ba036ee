"""lineinfo and opt: a GPU's code tells its lines, and loops stay as they are written."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from kernel_names import assemble, function

import treadle as td
from treadle import cuda

HELPER = "def helper(x):\n    return x + 1\n"
KERNEL = """def kernel(a, b):
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for j in range(b.size):
            s += b[j] * a[i]

        a[i] = helper(s)
"""


def made():
    return function(KERNEL, cuda=cuda, helper=function(HELPER))


def ptx_of(fn, **options):
    return cuda.compile_ptx(fn, "void(float32[::1], float32[::1])", cc=(9, 0), **options)[0].rstrip("\0")


def test_lines_of_all_files_stand_in_ptx(tmp_path):
    fn = made()
    ptx = ptx_of(fn, lineinfo=True)
    files = dict(re.findall(r'\.file\s+(\d+) "(.*)"', ptx))
    places = {(files[f].rsplit("/", 1)[-1], int(line)) for f, line in re.findall(r"\.loc\s+(\d+) (\d+)", ptx)}
    kernel, helper = fn.__code__.co_filename, fn.__globals__["helper"].__code__.co_filename
    assert {(kernel, 3), (kernel, 5), (kernel, 6), (kernel, 8), (helper, 2)} <= places
    assert not {(kernel, 7)} & places
    assert ", debug" not in ptx and ".section" not in ptx and ".debug" not in ptx
    assemble(ptx, "sm_90")
    if tool := shutil.which("ptxas"):
        (tmp_path / "k.ptx").write_text(ptx)
        run = [tool, "-lineinfo", "-arch=sm_90", "k.ptx", "-o", "k.cubin"]
        subprocess.run(run, cwd=tmp_path, check=True)
        assert b".debug_line" in (tmp_path / "k.cubin").read_bytes()


def test_without_it_there_are_none():
    assert ".loc" not in ptx_of(made())


def test_the_code_is_the_same():
    """But for lines and labels."""

    def bare(ptx):
        return [t for line in ptx.splitlines() if (t := line.split("//")[0].strip()) and not re.match(r"\.(loc|file)|\$L", t)]

    fn = made()
    assert bare(ptx_of(fn, lineinfo=True)) == bare(ptx_of(fn))


def test_functions_that_call_themselves():
    text = "def down(n):\n    return 0.0 if n < 1 else n + down(n - 1)\n"
    f = function(text)
    f.__globals__["down"] = cuda.jit(device=True)(f)
    kernel = function("def kernel(a, b):\n    a[0] = down(int(b[0]))\n", down=f.__globals__["down"])
    assemble(ptx_of(kernel, lineinfo=True), "sm_90")


@pytest.mark.parametrize("options", [{"lineinfo": True}, {"opt": False}, {"opt": True}, {"lineinfo": True, "opt": 0}])
def test_launches(dev, options):
    a, b = td.asarray(np.arange(8, dtype=np.float32)), td.ones(5, dtype="float32")
    cuda.jit(**options)(made())[1, 32](a, b)
    assert a.tolist() == [5 * i + 1 for i in range(8)]


def test_moved_lines_are_compiled_again():
    first, second = made(), function("\n\n" + KERNEL, cuda=cuda, helper=function(HELPER))
    assert ".loc" not in ptx_of(first) and re.search(r"\.loc\s+1 10 ", ptx_of(second, lineinfo=True))


def test_opt_false_leaves_loops_alone():
    assert ptx_of(made(), opt=False).count("fma.rn.f32") == 1 < ptx_of(made()).count("fma.rn.f32")
