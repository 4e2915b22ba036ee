"""Decorators that run a function with NumPy and with treadle and compare the results."""

import numpy

import treadle

from .. import _old_numpy
from . import _arrays
from ._loops import hides

_ERRORS = (
    AttributeError, IndexError, TypeError, ValueError, NotImplementedError, DeprecationWarning,
    _old_numpy.exceptions.AxisError, numpy.linalg.LinAlgError,
)  # fmt: skip


def _outcome(test, args, kwargs):
    """(result, None), or (None, exception) where the test raised."""
    try:
        return test(*args, **kwargs), None
    except Exception as error:
        return None, error


def _both(test, args, kwargs, name, sp_name, scipy_name):
    """The outcomes with treadle and with NumPy. Imports SciPy only if the function asks for it."""
    ours, theirs = {name: treadle}, {name: numpy}
    if sp_name:
        import scipy.sparse

        ours[sp_name], theirs[sp_name] = treadle.scipy.sparse, scipy.sparse
    if scipy_name:
        import scipy

        ours[scipy_name], theirs[scipy_name] = treadle.scipy, scipy
    return _outcome(test, args, {**kwargs, **ours}), _outcome(test, args, {**kwargs, **theirs})


def _check_errors(ours, theirs, accepted):
    """Assert that both raised, exceptions of the same classes, and that these are accepted."""
    if ours is None or theirs is None:
        who, error = ("numpy", theirs) if ours is None else ("treadle", ours)
        raise AssertionError(f"only {who} raises: {type(error).__name__}: {error}") from error
    if any(isinstance(ours, kind) != isinstance(theirs, kind) for kind in _ERRORS):
        raise AssertionError(
            f"treadle raises {type(ours).__name__}: {ours}; numpy {type(theirs).__name__}: {theirs}"
        ) from ours
    accepted = Exception if accepted is True else accepted or ()
    if not (isinstance(ours, accepted) and isinstance(theirs, accepted)):
        raise AssertionError(f"both raise: {type(ours).__name__}: {ours}") from ours


def _listed(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _check_layout(ours, theirs):
    for flag in ("c_contiguous", "f_contiguous"):
        if isinstance(theirs, numpy.ndarray) and getattr(theirs.flags, flag) and not getattr(ours.flags, flag):
            raise AssertionError(f"numpy's result is {flag}, treadle's is not: strides {ours.strides}")


def _compared(check, name, type_check, accept_error, sp_name, scipy_name, contiguous_check=False, whole=False):
    """Make a decorator. check(ours, theirs) gets each pair of results on the host, or with whole the results as they
    are."""

    def decorate(test):
        @hides(test, name, sp_name, scipy_name)
        def run(*args, **kwargs):
            (ours, wrong), (theirs, wrong_too) = _both(test, args, kwargs, name, sp_name, scipy_name)
            if wrong or wrong_too:
                return _check_errors(wrong, wrong_too, accept_error)
            if ours is None or theirs is None:
                raise AssertionError("the function returns None: there is nothing to compare")
            if whole:
                return check(ours, theirs)
            ours, theirs = _listed(ours), _listed(theirs)
            if len(ours) != len(theirs):
                raise AssertionError(f"treadle gives {len(ours)} results, numpy {len(theirs)}")
            for mine, other in zip(ours, theirs, strict=True):
                if contiguous_check:
                    _check_layout(mine, other)
                host, reference = _numpys(mine), _numpys(other)
                if type_check and host.dtype != reference.dtype:
                    raise AssertionError(f"treadle gives {host.dtype}, numpy {reference.dtype}")
                check(host, reference)

        return run

    return decorate


def _numpys(x):
    """A result as a NumPy array. Takes numbers, SciPy's sparse arrays and NumPy's polynomials too."""
    x = _arrays.hosted(x)
    x = x.toarray() if hasattr(x, "toarray") else x
    return numpy.asarray(x.coeffs if isinstance(x, numpy.poly1d) else x)


def _tolerance(given, dtype, usual):
    """The tolerance for results of dtype. given: a number, or a dict of numbers by scalar type, with 'default'."""
    if not isinstance(given, dict):
        return given
    for key in given:
        if key != "default" and not (isinstance(key, type) and issubclass(key, numpy.generic)):
            raise TypeError(f"a tolerance's keys are scalar types and 'default', not {key!r}")
    return given.get(dtype.type, given.get("default", usual))


def numpy_cupy_allclose(
    rtol=1e-7, atol=0, err_msg="", verbose=True, name="xp", type_check=True, accept_error=False, sp_name=None,
    scipy_name=None, contiguous_check=True,
):  # fmt: skip
    """Assert that the function returns close arrays for numpy and for treadle, which it gets as its parameter name.

    rtol, atol: numbers, or dicts of numbers by scalar type, with 'default'. type_check compares dtypes. accept_error
    lets both raise (True, or the accepted exceptions). sp_name, scipy_name: the parameters that get the sparse module
    and SciPy. contiguous_check asserts that treadle's result has the memory order of NumPy's."""
    for given in (rtol, atol):
        _tolerance(given, numpy.dtype(float), 0)

    def check(ours, theirs):
        kind = theirs.dtype
        limits = {"rtol": _tolerance(rtol, kind, 1e-7), "atol": _tolerance(atol, kind, 0)}
        _arrays.assert_allclose(ours, theirs, err_msg=err_msg, verbose=verbose, **limits)

    return _compared(check, name, type_check, accept_error, sp_name, scipy_name, contiguous_check)


def numpy_cupy_array_almost_equal(
    decimal=6, err_msg="", verbose=True, name="xp", type_check=True, accept_error=False, sp_name=None, scipy_name=None
):
    """As numpy_cupy_allclose, with numpy.testing.assert_array_almost_equal."""

    def check(ours, theirs):
        _arrays.assert_array_almost_equal(ours, theirs, decimal, err_msg, verbose)

    return _compared(check, name, type_check, accept_error, sp_name, scipy_name)


def numpy_cupy_array_almost_equal_nulp(
    nulp=1, name="xp", type_check=True, accept_error=False, sp_name=None, scipy_name=None
):
    """As numpy_cupy_allclose, for results that are at most nulp units in the last place apart."""

    def check(ours, theirs):
        _arrays.assert_array_almost_equal_nulp(ours, theirs, nulp)

    return _compared(check, name, type_check, accept_error, sp_name, scipy_name)


def numpy_cupy_array_max_ulp(
    maxulp=1, dtype=None, name="xp", type_check=True, accept_error=False, sp_name=None, scipy_name=None
):
    """As numpy_cupy_allclose, for results that are at most maxulp numbers of dtype apart."""

    def check(ours, theirs):
        _arrays.assert_array_max_ulp(ours, theirs, maxulp, dtype)

    return _compared(check, name, type_check, accept_error, sp_name, scipy_name)


def numpy_cupy_array_equal(
    err_msg="", verbose=True, name="xp", type_check=True, accept_error=False, sp_name=None, scipy_name=None,
    strides_check=False,
):  # fmt: skip
    """As numpy_cupy_allclose, for equal results. strides_check compares the strides too."""

    def check(ours, theirs):
        _arrays.assert_array_equal(ours, theirs, err_msg, verbose, strides_check)

    return _compared(check, name, type_check, accept_error, sp_name, scipy_name)


def numpy_cupy_array_list_equal(err_msg="", verbose=True, name="xp", sp_name=None, scipy_name=None):
    """As numpy_cupy_allclose, for lists of equal arrays."""

    def check(ours, theirs):
        _arrays.assert_array_list_equal(ours, theirs, err_msg, verbose)

    return _compared(check, name, False, False, sp_name, scipy_name, whole=True)


def numpy_cupy_array_less(
    err_msg="", verbose=True, name="xp", type_check=True, accept_error=False, sp_name=None, scipy_name=None
):
    """As numpy_cupy_allclose, where treadle's results are less than NumPy's."""

    def check(ours, theirs):
        _arrays.assert_array_less(ours, theirs, err_msg, verbose)

    return _compared(check, name, type_check, accept_error, sp_name, scipy_name)


def numpy_cupy_equal(name="xp", sp_name=None, scipy_name=None):
    """Assert that the function returns equal values for numpy and for treadle, which it gets as its parameter name."""

    def check(ours, theirs):
        if ours != theirs:
            raise AssertionError(f"treadle gives {ours!r}, numpy {theirs!r}")

    return _compared(check, name, False, False, sp_name, scipy_name, whole=True)


def numpy_cupy_raises(name="xp", sp_name=None, scipy_name=None, accept_error=Exception):
    """Assert that the function raises with numpy and with treadle, and that the exceptions are of the same classes,
    which accept_error names."""

    def decorate(test):
        @hides(test, name, sp_name, scipy_name)
        def run(*args, **kwargs):
            (_, ours), (_, theirs) = _both(test, args, kwargs, name, sp_name, scipy_name)
            if ours is None and theirs is None:
                raise AssertionError("neither numpy nor treadle raises")
            _check_errors(ours, theirs, accept_error)

        return run

    return decorate
