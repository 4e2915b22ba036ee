"""CUDA C++ on the CPU: kernels cut at their barriers compute what threads that take turns compute."""

import os
import pathlib
import random
import re
import subprocess
import sys

import cuda_generator
import numpy as np
import pytest

import treadle as td
from treadle import _core

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "ir" / "cxx"
BLOCKS = [(64, 1, 1), (16, 4, 1), (4, 4, 4)]
LENGTHS = [1, 6, 9, 20]
GRID = 3
INSTANCES = ("templated<64, double, true>", "templated<64, float, false>")
ODD = re.findall(r"__global__ void (\w+)", (FOLDER / "odd.cu").read_text())
ODD = [name for name in ODD if name != "templated"] + list(INSTANCES)


def needs_compiler():
    try:
        _core.program('extern "C" __global__ void f() {}', device="cpu")
    except td.MissingLibraryError as e:
        pytest.skip(str(e))


def odd_results():
    """y of each kernel of odd.cu, block shape and n."""
    p = _core.program((FOLDER / "odd.cu").read_text(), device="cpu", file="odd.cu", names=INSTANCES)
    rng = np.random.default_rng(7)
    out = {}
    for name in ODD:
        for block in BLOCKS:
            for n in LENGTHS:
                x = td.asarray(rng.random(GRID * 64, "f4"), device="cpu")
                y = td.zeros(GRID * 64, "f4", device="cpu")
                p.kernel(name)(GRID, block, (x, y, n), shared=4 * 64)
                out[f"{name} {block} {n}"] = np.array(y.get())
    return out


def cut_results():
    """Results of the kernels of cut.cu, with what NumPy says where it can: name -> (result, expected or None)."""
    p = _core.program((FOLDER / "cut.cu").read_text(), device="cpu", file="cut.cu")
    rng = np.random.default_rng(3)
    out = {}

    def run(name, grid, block, args, result, want, shared=0):
        arrays = [td.asarray(a, device="cpu") if isinstance(a, np.ndarray) else a for a in args]
        p.kernel(name)(grid, block, tuple(arrays), shared=shared)
        out[name] = (np.array(arrays[result].get()), want)

    def digits(*shape):
        return rng.integers(0, 8, shape).astype("f4")

    a, b = digits(50, 50), digits(50, 50)
    run("matmul", (4, 4), (16, 16), (a, b, np.zeros_like(a), 50), 2, a @ b)
    x = digits(1000)
    run("reduce", 2, 256, (x, np.zeros(2, "f4"), 1000), 1, np.array([x[:512].sum(), x[512:].sum()]), 1024)
    x = digits(128)
    run("scan", 1, 64, (x, np.zeros_like(x), 128), 1, np.concatenate([[0], np.cumsum(x)[:-1]]), 4 * 128)
    run("hillis", 1, 128, (x, np.zeros_like(x), 128), 1, np.concatenate([[0], np.cumsum(x)[:-1]]), 8 * 128)
    x = digits(700)
    want = np.convolve(x, np.ones(7), "same")
    x_args = (x, np.zeros_like(x), 700)
    run("stencil", 3, 256, x_args, 1, None)
    edges = (np.arange(700) < 697) & True
    assert np.array_equal(out["stencil"][0][edges], want[edges])  # beyond the end the last block's threads load nothing
    a = digits(70, 50)
    run("transpose", (2, 3), (32, 8), (np.zeros((50, 70), "f4"), a, 50, 70), 0, a.T)
    x = digits(5000)
    run(
        "warpsum",
        4,
        128,
        (x, np.zeros(4, "f4"), 5000),
        1,
        np.array([x[[i for i in range(5000) if i // 128 % 4 == k]].sum() for k in range(4)]),
    )
    g = rng.integers(0, 2, (40, 60)).astype("u1")
    n = sum(np.roll(g, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - g
    run("life", (4, 3), (16, 16), (g, np.zeros_like(g), 60, 40), 1, ((n == 3) | ((n == 2) & (g == 1))).astype("u1"))
    x = digits(100)
    for n in 1, 64, 100:
        run("guarded", 4, 32, (x, np.zeros_like(x), n), 1, np.where(np.arange(100) < n, 2 * x, 0))
    want = np.zeros((5, 64), "f4")
    for t in range(64):
        if t >= 5 and t - 5 < 50 and 99 - t >= 3 and 3 * (t + 1) <= 200:
            want[:4, t] = x[t - 5] + x[99 - t]
    run("guards", 5, 64, (x, np.zeros((5, 64), "f4"), 100), 1, want)
    want = np.zeros((4, 40), "f4")
    want[:3, 2:] = x[2:40] + np.arange(3)[:, None] + (np.arange(2, 40) % 2 == 0)
    run("guards_return", 3, (16, 4), (x, np.zeros((4, 40), "f4"), 40), 1, want)
    run("divergent", 1, 64, (digits(64), 256), 0, None)
    run("shift", 2, 64, (digits(128), np.zeros(128, "f4"), 5), 1, None)
    return out


def test_what_they_compute():
    needs_compiler()
    for name, (got, want) in cut_results().items():
        if want is not None:
            np.testing.assert_array_equal(got, want, err_msg=name)


def test_as_threads_that_take_turns(tmp_path):
    needs_compiler()
    env = dict(os.environ, TREADLE_KERNELS="switch", TREADLE_CACHE_DIR=str(tmp_path / "cache"))
    subprocess.run([sys.executable, __file__, str(tmp_path / "turns.npz")], env=env, check=True, timeout=600)
    turns = np.load(tmp_path / "turns.npz")
    here = odd_results() | {k: v[0] for k, v in cut_results().items()}
    assert set(turns.files) == set(here)
    for name, got in here.items():
        np.testing.assert_array_equal(got, turns[name], err_msg=name)


def test_random_kernels(tmp_path):
    needs_compiler()
    seed = random.randrange(1 << 32)
    assert not cuda_generator.differing(seed, 12, str(tmp_path)), f"seed {seed}"


def test_warps_in_step():
    """Sums through volatile memory: what the last five additions of many a reduction count on."""
    needs_compiler()
    p = _core.program((FOLDER / "odd.cu").read_text(), device="cpu", file="odd.cu")
    x = np.random.default_rng(1).integers(0, 9, 3 * 64).astype("f4")
    for block in BLOCKS:
        y = td.zeros(3 * 64, "f4", device="cpu")
        p.kernel("in_step")(3, block, (td.asarray(x, device="cpu"), y, 1), shared=256)
        warps, got = x.reshape(3, 64)[:, :32], np.array(y.get()).reshape(3, 64)
        np.testing.assert_array_equal(got[:, :32], np.cumsum(warps, axis=1))
        np.testing.assert_array_equal(got[:, 32:], np.repeat(warps.sum(1)[:, None], 32, 1))


# ---- debug mode ----

BEYOND = {  # text, what the error says; x has 64 elements, blocks 48 threads
    "write": (
        "x[i] = n;",
        "index 64 is out of bounds for axis 0 of 'x' with shape (64,) [kernel f, block (1, 0, 0), thread (16, 0, 0), kernel.cu:5]",
    ),
    "read": (
        "if (i == 70) x[0] = x[-n];",
        "index -3 is out of bounds for axis 0 of 'x' with shape (64,) [kernel f, block (1, 0, 0), thread (22, 0, 0), kernel.cu:5]",
    ),
    "pointer": (
        "float *p = x + 8; if (i == 9) p[56] = 1;",
        "index 56 is out of bounds of 'p', which has the elements -8 to 55",
    ),
    "dereference": ("if (i == 3) *(x + 64) = 1;", "index 64 is out of bounds for axis 0 of 'x' with shape (64,)"),
    "atomic": ("if (i == 64) atomicAdd(&x[i], 1.0f);", "index 64 is out of bounds for axis 0 of 'x' with shape (64,)"),
    "shared": (
        "s[i] = 1;",
        "index 32 is out of bounds for axis 0 of 's' with shape (32,) [kernel f, block (0, 0, 0), thread (32, 0, 0)",
    ),
    "dynamic": (
        "d[i / 4] = 1;",
        "index 16 is out of bounds for axis 0 of 'd' with shape (16,) [kernel f, block (1, 0, 0), thread (16, 0, 0)",
    ),
    "local": (
        "int a[3] = {0, 0, n}; if (a[i] > 5) x[0] = 1;",
        "index 3 is out of bounds for axis 0 of 'a' with shape (3,) [kernel f, block (0, 0, 0), thread (3, 0, 0)",
    ),
    "constant": ("x[0] += c[n + 1];", "index 4 is out of bounds for axis 0 of 'c' with shape (4,)"),
    "function": ("set(x + i, 48);", "index 48 is out of bounds of 'to'"),
}
FRAME = """__constant__ float c[4];
__device__ void set(float *to, int i) { to[i] = 1; }
extern "C" __global__ void f(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; __shared__ float s[32]; extern __shared__ float d[]; BARRIER
  BODY
}"""


@pytest.mark.parametrize("barrier", ["", "__syncthreads();", "if (threadIdx.x < 60) __syncthreads();"])
@pytest.mark.parametrize("case", BEYOND)
def test_beyond_the_end(case, barrier):
    needs_compiler()
    body, said = BEYOND[case]
    text = FRAME.replace("BODY", body).replace("BARRIER", barrier)
    p = _core.program(text, device="cpu", debug=True)
    x = td.zeros(64, "f4", device="cpu")
    with pytest.raises(IndexError, match=re.escape(said)):
        p.kernel("f")(2, 48, (x, 3), shared=64)
        td.synchronize()


def test_within_bounds():
    """What is right is not refused: one behind the last may be named, negative indices of pointers into an array."""
    needs_compiler()
    p = _core.program(
        FRAME.replace("BARRIER", "").replace(
            "BODY",
            """
        float *end = &x[64], *last = end - 1; const float *const p = x + 32; d[i % 16] = s[i % 32] = c[n];
        if (i < 64) { *(x + i) = i; atomicAdd(&x[i], 1.0f); }
        __syncthreads();
        if (i == 0) { last[-1] += p[-32] * 0; while (last != x) *last-- += 1; }""",
        ),
        device="cpu",
        debug=True,
    )
    x = td.zeros(64, "f4", device="cpu")
    p.kernel("f")(1, 96, (x, 3), shared=64)
    assert x.get()[0] == 1 and x.get()[63] == 65


if __name__ == "__main__":
    np.savez(sys.argv[1], **odd_results(), **{k: v[0] for k, v in cut_results().items()})
