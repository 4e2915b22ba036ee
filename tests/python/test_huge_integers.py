"""Integers of Python's that no 64 bits hold, beside arrays, in operations that compute in floats."""

import warnings

import numpy as np
import pytest

import treadle as td

FUNCTIONS = ["true_divide", "hypot", "arctan2", "logaddexp", "logaddexp2", "copysign", "nextafter", "heaviside"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_numpy(name):
    narrow = "i1 u1 i2 u2 " if name == "true_divide" else ""  # of others' loops we refuse the narrow ones
    for dtype in (narrow + "? i4 u4 i8 u8 f4 f8").split():
        host = np.array([1, 2]).astype(dtype)
        for big in (10**30, -(10**25), 2**64, 2**63, 10**18):
            for theirs, ours in ((host, td.asarray(host)), (host[1], td.asarray(host)[1]), (host.max(), td.asarray(host).max())):
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    for f in (lambda m, x, n=big: getattr(m, name)(x, n), lambda m, x, n=big: getattr(m, name)(n, x)):
                        want, got = f(np, theirs), f(td, ours)
                        assert got.dtype == want.dtype, (name, dtype, big)
                        np.testing.assert_allclose(got.get(), want, rtol=1e-6)
    assert (td.asarray([3]) / 10**30).item() == 3 / 10**30 and (10**30 / td.asarray([4])).item() == 10**30 / 4
