"""Tables of expressions of CUDA C++, all kernels of one program, and what each gives beside its oracle."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import treadle as td
from treadle import _core

F4, F8, I4, U4, I8, U8, U2 = (
    "float",
    "double",
    "int",
    "unsigned int",
    "long long",
    "unsigned long long",
    "unsigned short",
)
DTYPE = {F4: np.float32, F8: np.float64, I4: np.int32, U4: np.uint32, I8: np.int64, U8: np.uint64, U2: np.uint16}


def text_of(rows, before=""):
    out = [before]
    for i, (expression, result, operands, _, _) in enumerate(rows):
        params = "".join(f"const {t} *pa{k}, " for k, (t, _) in enumerate(operands))
        loads = "".join(f"    {t} {'abc'[k]} = pa{k}[i];\n" for k, (t, _) in enumerate(operands))
        out.append(
            f'extern "C" __global__ void k{i}({params}{result} *r, int n)\n{{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n'
            f"    if (i >= n)\n        return;\n{loads}    r[i] = {expression};\n}}\n"
        )
    return "".join(out)


def compiled(text):
    try:
        return _core.program(text, device="cpu", file="functions.cu")
    except td.MissingLibraryError as error:
        pytest.skip(str(error))


def each(rows):
    """pytest's marker for a test of every row, by number."""
    return pytest.mark.parametrize(
        "k", range(len(rows)), ids=[f"{k}-{r[0][:40]}-{r[1].replace(' ', '')}" for k, r in enumerate(rows)]
    )


def values_of(program, rows, k):
    """What row k's kernel gives, and its operands."""
    _, result, operands, _, _ = rows[k]
    n = min(len(v) for _, v in operands)
    values = [v[:n].copy() for _, v in operands]
    out = td.zeros(n, DTYPE[result])
    program.kernel(f"k{k}")((n + 63) // 64, 64, (*(td.array(v) for v in values), out, n))
    return np.asarray(out), values


def distance(got, want):
    """Units in the last place of the result's type between numbers; 0 where both are no number."""
    bits = got.dtype.str.replace("f", "i")
    a, b = (
        np.where(v.view(bits) < 0, np.iinfo(bits).min - v.view(bits).astype(object), v.view(bits).astype(object))
        for v in (got, want)
    )
    return np.where(np.isnan(got) & np.isnan(want), 0, abs(a - b))


def expected(row, values):
    _, result, _, oracle, ulps = row
    if ulps in ("int", "exact"):
        return np.array(
            [oracle(*(int(v) if v.dtype.kind in "iu" else v for v in x)) for x in zip(*values)], DTYPE[result]
        )
    with np.errstate(all="ignore"):
        values = [v.astype("f8") if v.dtype == np.float32 and result == F4 and ulps else v for v in values]
        return np.asarray(oracle(*values)).astype(DTYPE[result])


def check(program, rows, k):
    expression, ulps = rows[k][0], rows[k][4]
    got, values = values_of(program, rows, k)
    want = expected(rows[k], values)
    off = distance(got, want) if got.dtype.kind == "f" else abs(got.astype(object) - want.astype(object))
    worst = int(np.argmax(off))
    assert off[worst] <= (0 if isinstance(ulps, str) else ulps), (
        f"{expression} of {[v[worst] for v in values]}: {got[worst]!r}, not {want[worst]!r}, {off[worst]} units off"
    )


def run_with_gxx(path):
    """The file's tests again, with g++; nothing in that run itself."""
    if "TREADLE_CXX" in os.environ:
        pytest.skip("this is the run with another compiler")
    if not (shutil.which("g++") and shutil.which("clang++")):
        pytest.skip("one C++ compiler alone")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", path],
        env={**os.environ, "TREADLE_CXX": "g++"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-2000:]
