"""kernel.lint(): each thing that it looks for, in a kernel that has it and in one that has not."""

import numpy as np
import pytest
from kernel_names import function

import treadle as td
from treadle import cuda

F, D, I = "float32", "float64", "int32"  # noqa: E741


def lint(body, *arrays, **names):
    """The lines for a kernel of arrays a, b, … (dtype, number of axes) and n = 3, with their line numbers in the body."""
    params = "abcd"[: len(arrays)]
    text = f"def kernel({', '.join(params)}, n):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    fn = function(text, cuda=cuda, np=np, **names)
    k = cuda.jit(fn)
    with td.device("null"):
        k[1, 8](*(td.zeros((64,) * d if d < 3 else (16,) * d, dtype=t) for t, d in arrays), 3)
    lines = k.lint()
    assert all(line.startswith(fn.__code__.co_filename + ":") for line in lines)
    return [(int(line.split(":")[1]) - 1, line.split(": ", 1)[1]) for line in lines]


CLEAN = [
    ("i = cuda.grid(1)\nif i < a.size:\n    a[i] = b[i] * 0.5 + 2", (F, 1), (F, 1)),
    ("x, y = cuda.grid(2)\na[y, x] = b[y, x] + b[y, x + 1]", (F, 2), (F, 2)),
    ("i = cuda.grid(1)\nwhile i < a.size:\n    a[i] = a[i] + i\n    i += cuda.gridsize(1)", (F, 1)),
    ("i = cuda.grid(1)\ns = cuda.local.array(4, cuda.float32)\nfor k in range(4):\n    s[k] = a[i]\na[i] = s[2]", (F, 1)),
    ("i = cuda.threadIdx.x\ns = cuda.shared.array((8, 9), cuda.float32)\ns[i, 0] = a[i]\na[i] = s[0, i]", (F, 1)),
    ("i = cuda.grid(1)\na[i] = a[i] * n + i // 2 + i % 8", (D, 1)),
    ("i = cuda.grid(1)\na[i] = b[i % n]", (I, 1), (I, 1)),
    ("cuda.atomic.add(a, cuda.grid(1) % 4, 1)\ncuda.atomic.max(b, 0, 3)", (F, 1), (I, 1)),
]
FOUND = [
    (1, "float64", "i = cuda.grid(1)\na[i] = a[i] * b[i]", (F, 1), (I, 1)),
    (0, "float64", "a[cuda.grid(1)] = np.float64(2) * a[0]", (F, 1)),
    (1, "strides: .* apart, of 4|run along the last axis", "x, y = cuda.grid(2)\na[x, y] = 1", (F, 2)),
    (0, "16 bytes apart, of 4 bytes", "a[0] = b[4 * cuda.grid(1)]", (F, 1), (F, 1)),
    (0, "8 bytes apart, of 4 bytes", "a[0] = b[::-2][cuda.grid(1)]", (F, 1), (F, 1)),
    (2, "8 threads of a warp.*32 bytes apart",
     "i = cuda.threadIdx.x\ns = cuda.shared.array((8, 8), cuda.float32)\ns[i, 0] = a[i]\na[i] = s[0, i]", (F, 1)),
    (1, "local array", "s = cuda.local.array(8, cuda.float32)\ns[int(a[0])] = 1\na[1] = s[2]", (F, 1)),
    (1, "64-bit integer division", "i = cuda.grid(1)\na[i // n] = 1", (F, 1)),
    (0, "atomic operation on float64", "cuda.atomic.add(a, 0, 3.5)", (D, 1)),
]


@pytest.mark.parametrize("case", CLEAN)
def test_nothing_is_found(case):
    body, *arrays = case
    assert [f for f in lint(body, *arrays) if "64-bit" not in f[1] or "% n" not in body] == []


@pytest.mark.parametrize("case", FOUND)
def test_found(case):
    import re

    line, text, body, *arrays = case
    found = lint(body, *arrays)
    assert any(at == line + 1 and re.search(text, what) for at, what in found), found


def test_line_of_a_device_function():
    @cuda.jit(device=True)
    def divide(i, n):
        return i // n

    found = []
    text = "def kernel(a, n):\n    a[cuda.grid(1)] = divide(cuda.grid(1), n)\n"
    k = cuda.jit(function(text, cuda=cuda, divide=divide))
    with td.device("null"):
        k[1, 8](td.zeros(8, dtype="int64"), 3)
    found = k.lint()
    assert len(found) == 1 and found[0].startswith("line ") and "that kernel calls: a 64-bit" in found[0]
