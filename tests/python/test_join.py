"""Many arrays joined to one: the values are NumPy's, and on a GPU one kernel copies them."""

import numpy as np
import pytest

import treadle as td
from treadle import _core

MANY = {
    "one axis": ((5,), 0),
    "vectors of 16 bytes": ((3, 8), 0),
    "behind rows": ((4, 6), 1),
    "in the middle": ((2, 3, 4), 1),
    "odd": ((3, 7), 1),
    "empty": ((0, 4), 0),
    "single elements": ((1,), 0),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8", "c16", "?"])
@pytest.mark.parametrize("name", MANY)
def test_many_arrays(dev, rng, name, dtype):
    """On a GPU one kernel copies them, by a table of addresses; not where one is an expression, a view or of another dtype."""
    shape, axis = MANY[name]
    host = [rng.integers(0, 100, shape).astype(dtype) for _ in range(23)]
    ours = [td.asarray(a) for a in host]
    td.evaluate(*ours)
    before = _core.jit_stats()["launches"]
    joined, stacked = td.concatenate(ours, axis), td.stack(ours, axis)
    td.evaluate(joined, stacked)
    if not td.device().host:
        assert _core.jit_stats()["launches"] - before <= 2
    for got, wanted in ((joined, np.concatenate(host, axis)), (stacked, np.stack(host, axis))):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got.get(), wanted)
    others = [ours[0] + ours[1], ours[2][..., ::-1], *ours[3:]]
    wanted = [host[0] + host[1], host[2][..., ::-1], *host[3:]]
    np.testing.assert_array_equal(td.concatenate(others, axis).get(), np.concatenate(wanted, axis))
    np.testing.assert_array_equal(td.stack(others, -1).get(), np.stack(wanted, -1))
    mixed = [*ours[:9], td.asarray(host[9].astype("f4")), *ours[10:]]
    wanted = [*host[:9], host[9].astype("f4"), *host[10:]]
    assert td.concatenate(mixed).dtype == np.concatenate(wanted).dtype
    np.testing.assert_array_equal(td.concatenate(mixed, axis).get(), np.concatenate(wanted, axis))


def test_many_arrays_of_other_widths(dev, rng):
    host = [rng.random((3, n % 5)) for n in range(20)]
    np.testing.assert_array_equal(td.concatenate([td.asarray(a) for a in host], 1).get(), np.concatenate(host, 1))
    out = td.empty((3, 40))
    assert td.concatenate([td.asarray(a) for a in host], 1, out=out) is out
    np.testing.assert_array_equal(out.get(), np.concatenate(host, 1))
