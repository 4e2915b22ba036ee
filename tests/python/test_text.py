"""Printing is NumPy's, to the letter."""

import numpy as np
import pytest
from numpy_side import REAL, values

import treadle as td


@pytest.mark.parametrize("dtype", [*REAL, "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 2), (2000,), (60, 60)])
def test_repr_and_str(dtype, shape, rng):
    x = values(shape, "float64" if dtype.startswith("c") else dtype, rng).astype(dtype)
    x = np.asarray(x)
    t = td.asarray(x)
    assert repr(t) == repr(x) and str(t) == str(x)


def test_format():
    t = td.asarray(3.14159)
    assert f"{t:.2f}" == "3.14" and f"{td.arange(3)}" == "[0 1 2]" and f"{td.asarray(5):d}" == "5"
    with pytest.raises(TypeError):
        f"{td.arange(3):.2f}"


def test_print_options():
    x = np.array([1 / 3, 2 / 3])
    with np.printoptions(precision=3):
        assert repr(td.asarray(x)) == repr(x)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "F", "D"])
def test_numbers_are_shown_as_numpys_scalars(dtype):
    for value in (0, 1, 3):
        theirs, ours = (lib.asarray([value], dtype).max() for lib in (np, td))
        for text in ("{0}", "{0!r}", "{1}", "{2}"):
            assert text.format(ours, [ours], {ours: ours}) == text.format(theirs, [theirs], {theirs: theirs})
        assert repr(td.asarray(value, dtype)) == repr(np.asarray(value, dtype))  # an array, for NumPy too


def test_other_reprs(dev):
    assert repr(td.exp) == "<ufunc 'exp'>" and str(td.device(dev)) == dev and dev in repr(td.device(dev))
    assert "C_CONTIGUOUS : True" in repr(td.zeros(3).flags)
