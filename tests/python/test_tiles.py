"""Maps whose inputs lie across their results: tiles, their edges, every element size."""

import numpy as np
import pytest
from numpy_side import REAL, check, values

import treadle as td

SHAPES = [(16, 16), (64, 64), (17, 130), (130, 17), (1000, 33), (65, 63)]


@pytest.mark.parametrize("dtype", REAL)
def test_transposed_copies(dtype, dev, rng):
    for shape in SHAPES:
        x = values(shape, dtype, rng)
        check(td.ascontiguousarray(td.asarray(x).T), np.ascontiguousarray(x.T), 0, f"{dtype} {shape}")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64"])
def test_mixed_layouts(dtype, dev, rng):
    for shape in SHAPES:
        x, y, row = values(shape, dtype, rng), values(shape[::-1], dtype, rng), values(shape[1:], dtype, rng)
        a, b, r = td.asarray(x), td.asarray(y), td.asarray(row)
        check(a + b.T, x + y.T, 0, f"{dtype} {shape}")
        check(a * r - b.T[::-1], x * row - y.T[::-1], 0, f"{dtype} {shape} reversed")
        check(td.where(a > b.T, b.T, r), np.where(x > y.T, y.T, row), 0, f"{dtype} {shape} where")


@pytest.mark.parametrize("axes", [(0, 2, 1), (2, 1, 0), (1, 0, 2), (2, 0, 1), (1, 2, 0)])
def test_three_axes(axes, dev, rng):
    x = rng.integers(-9, 9, (20, 18, 70)).astype("f4")
    shape = np.transpose(x, axes).shape
    y = rng.integers(-9, 9, shape).astype("f4")
    check(td.asarray(y) - td.transpose(td.asarray(x), axes), y - np.transpose(x, axes), 0, str(axes))


def test_two_tiled_inputs_and_two_widths(dev, rng):
    x, y = rng.integers(-9, 9, (70, 40)).astype("f8"), rng.integers(-9, 9, (70, 40)).astype("i1")
    z = rng.integers(-9, 9, (40, 70)).astype("f4")
    ours = td.asarray(x).T * td.asarray(z) + td.asarray(y).T
    check(ours, x.T * z + y.T)


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float64"])
def test_no_more_tiles_than_shared_memory_holds(dtype, dev, rng):
    """Four tiles of 16-byte elements would take 66 KB of the 48 that a block has."""
    x = [rng.integers(-9, 9, (40, 33)).astype(dtype) for _ in range(5)]
    a = [td.asarray(v) for v in x]
    ours = td.empty((33, 40), dtype=dtype)
    ours[...] = a[0].T + a[1].T * a[2].T - a[3].T + a[4].T
    check(ours, x[0].T + x[1].T * x[2].T - x[3].T + x[4].T, 0, dtype)
