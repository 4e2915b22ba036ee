"""treadle.build: shared objects called from C, PTX and cubins, and their headers."""

import ctypes
import os
import shutil
import subprocess

import numpy as np
import pytest

import treadle as td
from treadle import cuda, jit


@jit
def scale(a, factor, out):
    total = 0.0
    for i in range(a.shape[0]):
        out[i] = a[i] * factor / 2
    for i in range(a.shape[0]):
        total += out[i]
    return total


@jit
def checked(a, b):
    assert b > 0, "b is positive"
    return a // b, complex(a, b)


@jit
def squares(n):
    a = np.zeros(n)
    for i in range(n):
        a[i] = i * i
    return a.sum()


@jit
def table(m, out):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            out[j, i] = np.exp(m[i, j])


MAIN = r"""
#include <stdio.h>
#include <string.h>
#include "scale.h"

int
main(void)
{
    static double a[20000], out[20000];
    double total;

    for (int i = 0; i < 20000; i++)
        a[i] = i;
    if (scale(a, 20000, 4.0, out, 20000, &total))
        return 1;
    printf("%.1f %.1f", total, out[19999]);
    return 0;
}
"""

needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")


@needs_cc
def test_a_c_program_calls_it(tmp_path):
    header = td.build(scale, "(float64[::1], float64, float64[::1])", tmp_path / "scale.so")
    assert header == str(tmp_path / "scale.h")
    (tmp_path / "main.c").write_text(MAIN)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(["cc", *flags, "main.c", "scale.so", "-o", "main"], cwd=tmp_path, check=True)
    needed = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True, env={"PATH": ""})
    assert needed.stdout == "399980000.0 39998.0"
    with open(header) as f:
        text = f.read()
    assert "int scale(double *a, int64_t a_n0, double factor, double *out, int64_t out_n0, double *result);" in text
    assert "a: address of elements of float64" in text


@needs_cc
def test_results_failures_and_memory(tmp_path):
    td.build(checked, ["(int64, int64)", "(int32, int32)"], tmp_path / "checked.so")
    lib = ctypes.CDLL(tmp_path / "checked.so")
    whole, re, im = ctypes.c_int64(), ctypes.c_double(), ctypes.c_double()
    for f, kind in ((lib.checked_1, ctypes.c_int64), (lib.checked_2, ctypes.c_int32)):
        got = kind()
        assert f(kind(7), kind(2), ctypes.byref(got), ctypes.byref(re), ctypes.byref(im)) == 0
        assert (got.value, re.value, im.value) == (3, 7, 2)
    code = lib.checked_1(ctypes.c_int64(7), ctypes.c_int64(0), ctypes.byref(whole), ctypes.byref(re), ctypes.byref(im))
    text = (tmp_path / "checked.h").read_text()
    assert code and f"returns {code}: assert at line {checked.py_func.__code__.co_firstlineno + 2} b is positive" in text
    td.build(squares, "(int64,)", tmp_path / "squares.so", name="sum_of_squares")
    lib, got = ctypes.CDLL(tmp_path / "squares.so"), ctypes.c_double()
    assert lib.sum_of_squares(ctypes.c_int64(1000), ctypes.byref(got)) == 0 and got.value == sum(i * i for i in range(1000))


@needs_cc
def test_failures_have_their_names(tmp_path):
    def failing(n, a):
        if n > 1:
            x = a[0]
        b = np.zeros(n)
        assert n < 100, "few"
        return x + b[0]

    td.build(td.jit(failing), "(int64, float64[::1])", tmp_path / "failing.so")
    text, line = (tmp_path / "failing.h").read_text(), failing.__code__.co_firstlineno
    for what in (f"variable without a value at line {line + 5} x", f"assert at line {line + 4} few", f"no memory at line {line + 3}"):
        assert what in text

    def drawing(n):
        return np.random.random() * n

    with pytest.raises(TypeError, match="random numbers"):
        td.build(td.jit(drawing), "(int64,)", tmp_path / "drawing.so")


@needs_cc
@pytest.mark.parametrize("parallel", [True, False])
def test_layouts_and_threads(tmp_path, parallel):
    td.build(table, "(float32[:, :], float32[::1, :])", tmp_path / "table.so", parallel=parallel)
    m = np.random.default_rng(5).random((300, 80), np.float32)[::2]
    out = np.zeros((80, 150), np.float32, order="F")
    address = [x.ctypes.data_as(ctypes.c_void_p) for x in (m, out)]
    n = ctypes.c_int64
    lib = ctypes.CDLL(tmp_path / "table.so")
    assert lib.table(address[0], n(150), n(80), n(160), n(1), address[1], n(80), n(150)) == 0
    np.testing.assert_allclose(out, np.exp(m).T, rtol=1e-6)


@jit
def sums_of_parts(x, a, b, out):
    for i in range(x.size):
        part = np.full(3, x[i]) + 1.0
        out[i] = part.sum()
    last = np.zeros(3)
    for i in range(4):
        last = last + i
    return last[0] + (a @ b)[1, 1]


@needs_cc
@pytest.mark.parametrize("parallel", [True, False])
def test_arrays_of_iterations_and_products(tmp_path, parallel):
    """A file has no BLAS, and keeps what iterations take until the call is over."""
    td.build(sums_of_parts, "(float64[::1], float64[:, ::1], float64[:, ::1], float64[::1])", tmp_path / "sums.so", parallel=parallel)
    rng = np.random.default_rng(3)
    x, a, b = rng.random(5000), rng.random((30, 40)), rng.random((40, 20))
    out, result = np.zeros(5000), ctypes.c_double()
    arguments = []
    for v in (x, a, b, out):
        arguments += [v.ctypes.data_as(ctypes.c_void_p), *map(ctypes.c_int64, v.shape)]
    assert ctypes.CDLL(tmp_path / "sums.so").sums_of_parts(*arguments, ctypes.byref(result)) == 0
    np.testing.assert_allclose(out, 3 * (x + 1))
    np.testing.assert_allclose(result.value, 6 + (a @ b)[1, 1])


@cuda.jit
def doubled(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] *= 2


def test_code_for_gpus(tmp_path):
    header = td.build(doubled, "(float32[::1], int32)", tmp_path / "doubled.ptx", arch="sm_90")
    ptx = (tmp_path / "doubled.ptx").read_text()
    assert ".entry doubled(" in ptx and "sm_90" in ptx and ptx.count(".param") >= 3
    with open(header) as f:
        text = f.read()
    assert '#define DOUBLED_NAME "doubled"' in text and "float *a, int64_t a_n0, int32_t n" in text
    td.build(scale, "(float64[::1], float64, float64[::1])", tmp_path / "scale.ptx", parallel=False)
    if shutil.which("ptxas"):
        with td.device("cpu"):
            td.build(doubled, "(float32[::1], int32)", tmp_path / "doubled.cubin", arch="sm_90")
        assert (tmp_path / "doubled.cubin").read_bytes()[:4] == b"\x7fELF"
    with td.device("null"):
        td.build(doubled, "(float32[::1], int32)", tmp_path / "by_driver.cubin")
    assert os.path.getsize(tmp_path / "by_driver.cubin")


def test_refusals(tmp_path, monkeypatch):
    with pytest.raises(TypeError, match="kernel of threads"):
        td.build(doubled, "(float32[::1], int32)", tmp_path / "x.so")
    with pytest.raises(ValueError, match="ending"):
        td.build(scale, "(float64[::1], float64, float64[::1])", tmp_path / "x.dll")
    with pytest.raises(TypeError, match="a function that jit or cuda.jit made"):
        td.build(len, "(int64,)", tmp_path / "x.so")
    with pytest.raises(TypeError, match="returns"):
        td.build(jit(lambda n: np.zeros(n)), "(int64,)", tmp_path / "x.so", name="f")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(td.MissingLibraryError, match="set CC"):
        td.build(scale, "(float64[::1], float64, float64[::1])", tmp_path / "x.so")
    assert not list(tmp_path.iterdir())
