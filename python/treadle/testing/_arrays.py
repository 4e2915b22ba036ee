"""numpy.testing's assertions for arrays on any device. They compare on the host."""

import functools

import numpy

from .. import _core


def hosted(x):
    """x with treadle's arrays, sparse arrays and polynomials converted to NumPy's, also in lists and dicts."""
    if isinstance(x, _core.ndarray):
        return x.get()[()] if x._is_number() else x.get()
    if type(x) is dict:
        return {key: hosted(value) for key, value in x.items()}
    if isinstance(x, (tuple, list)):
        return type(x)(hosted(part) for part in x) if type(x) in (tuple, list) else x
    if type(x).__module__.partition(".")[0] == "treadle":
        if hasattr(x, "toarray"):
            return hosted(x.toarray())
        if hasattr(x, "coeffs"):
            return hosted(x.coeffs)
    return x


def _on_host(name):
    """numpy.testing's function of that name, for arrays on any device."""
    theirs = getattr(numpy.testing, name)

    @functools.wraps(theirs)
    def check(*args, **kwargs):
        return theirs(*map(hosted, args), **hosted(kwargs))

    check.__module__, check.__qualname__ = "treadle.testing", name
    check.__doc__ = f"numpy.testing.{name} for arrays of any device; AssertionError as there."
    return check


assert_allclose = _on_host("assert_allclose")
assert_almost_equal = _on_host("assert_almost_equal")
assert_approx_equal = _on_host("assert_approx_equal")
assert_array_almost_equal = _on_host("assert_array_almost_equal")
assert_array_almost_equal_nulp = _on_host("assert_array_almost_equal_nulp")
assert_array_less = _on_host("assert_array_less")
assert_array_max_ulp = _on_host("assert_array_max_ulp")
assert_equal = _on_host("assert_equal")
_assert_array_equal = _on_host("assert_array_equal")


def assert_array_equal(x, y, err_msg="", verbose=True, strides_check=False, *, strict=False):
    """numpy.testing.assert_array_equal for arrays on any device. strides_check compares the strides too."""
    _assert_array_equal(x, y, err_msg=err_msg, verbose=verbose, strict=strict)
    if strides_check and x.strides != y.strides:
        raise AssertionError(f"Strides differ: {x.strides} and {y.strides}. {err_msg}".rstrip())


def assert_array_list_equal(xlist, ylist, err_msg="", verbose=True):
    """Assert that two lists or tuples hold equal arrays. Raises AssertionError also where their lengths differ, or one
    is neither list nor tuple."""
    for side in (xlist, ylist):
        if not isinstance(side, (list, tuple)):
            raise AssertionError(f"a list or a tuple of arrays is expected, not {type(side).__name__}")
    if len(xlist) != len(ylist):
        raise AssertionError(f"the lists hold {len(xlist)} and {len(ylist)} arrays. {err_msg}".rstrip())
    for x, y in zip(xlist, ylist, strict=True):
        assert_array_equal(x, y, err_msg=err_msg, verbose=verbose)
