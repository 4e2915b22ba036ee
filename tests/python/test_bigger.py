"""Arrays whose elements stay on the host: windows, chunks, results on the host; differential against NumPy."""

import numpy as np
import pytest

import treadle as td
from treadle import _core

N, M = 37, 6

EXPRESSIONS = {
    "sum": lambda np, x, y: x.sum(),
    "sum0": lambda np, x, y: x.sum(0),
    "sum1": lambda np, x, y: x.sum(1),
    "keep": lambda np, x, y: x.sum(0, keepdims=True),
    "mean": lambda np, x, y: x.mean(),
    "mean0": lambda np, x, y: x.mean(0),
    "std": lambda np, x, y: x.std(0),
    "var": lambda np, x, y: x.var(ddof=1),
    "prod": lambda np, x, y: x.prod(0),
    "min": lambda np, x, y: x.min(0),
    "max": lambda np, x, y: x.max(),
    "any": lambda np, x, y: (x > 0.9).any(0),
    "all": lambda np, x, y: (x > 0.1).all(),
    "count": lambda np, x, y: np.count_nonzero(x > 0.5, axis=0),
    "argmin": lambda np, x, y: x.argmin(),
    "argmax0": lambda np, x, y: x.argmax(0),
    "argmax1": lambda np, x, y: x.argmax(1),
    "map": lambda np, x, y: x * 2 + y,
    "standard": lambda np, x, y: (x - x.mean(0)) / x.std(0),
    "standard_sum": lambda np, x, y: ((x - x.mean(0)) / x.std(0)).max(),
    "rows": lambda np, x, y: x - x.mean(1, keepdims=True),
    "rows_sum": lambda np, x, y: (x / x.sum(1, keepdims=True)).sum(0),
    "outer": lambda np, x, y: (x[:, :, None] * y[:, None, :]).sum(0),
    "transposed": lambda np, x, y: (x.T + 1).sum(1),
    "transposed_map": lambda np, x, y: x.T * 3,
    "iota": lambda np, x, y: x + np.arange(N)[:, None] * 0.1,
    "iota_float": lambda np, x, y: (x.T * np.arange(0.1, 0.1 + 0.3 * N - 0.1, 0.3)).T,
    "sliced": lambda np, x, y: x[3:30:2, 1:] * y[4:31:2, :-1],
    "reversed": lambda np, x, y: x[::-1] - y,
    "ravel": lambda np, x, y: x.ravel().sum(),
    "where": lambda np, x, y: np.where(x > y, x, -y),
    "shape3": lambda np, x, y: x.reshape(N, 2, 3).max((0, 2)),
    "integers": lambda np, x, y: (x * 10).astype(np.int32).sum(0),
    "complex": lambda np, x, y: (x + 1j * y).mean(0),
    "complex_std": lambda np, x, y: (x + 1j * y).std(),
    "whole": lambda np, x, y: x - x[0] + y[-1],
    "nothing": lambda np, x, y: x[:0].sum(0),
}


class Reader:
    """What Zarr's and HDF5's arrays are: a shape, a dtype, slices with positive steps."""

    def __init__(self, a):
        self.a, self.shape, self.dtype, self.read = a, a.shape, a.dtype, 0

    def __getitem__(self, box):
        assert all(s.step > 0 for s in box)
        self.read += self.a[box].nbytes
        return self.a[box]


def sources(kind, dtype):
    rng = np.random.default_rng(3)
    a, b = rng.random((N, M)).astype(dtype), rng.random((N, M)).astype(dtype)
    if kind == "fortran":
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    elif kind == "strided":
        a, b = (np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3] for x in (a, b))
    return (a, b), tuple(map(Reader, (a, b))) if kind == "reader" else (a, b)


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("kind", ["memory", "fortran", "strided", "reader"])
def test_chunks_give_numpys_values(dev, name, kind):
    if dev == "null" and kind in ("fortran", "strided"):
        pytest.skip("the null device interprets: memory and readers are enough of it")
    (a, b), given = sources(kind, np.float32 if kind == "memory" else np.float64)
    want = EXPRESSIONS[name](np, a, b)
    got = td.stream(lambda x, y: EXPRESSIONS[name](td, x, y), given, chunk=8)
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got.get(), want, rtol=2e-5, atol=1e-6)
