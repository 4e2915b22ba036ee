"""Decorators that run a test for each of several dtypes, orders or axes, which they pass by keyword."""

import functools
import inspect
import itertools

import numpy

FLOATS = (numpy.float64, numpy.float32, numpy.float16)
SIGNED = tuple(numpy.dtype(c).type for c in "bhilq")
UNSIGNED = tuple(numpy.dtype(c).type for c in "BHILQ")
COMPLEX = (numpy.complex64, numpy.complex128)


def hides(test, *names):
    """Decorate a function as a wrapper of `test` whose callers do not pass the parameters `names`."""

    def decorate(f):
        f = functools.wraps(test)(f)
        found = inspect.signature(test)
        f.__signature__ = found.replace(parameters=[p for n, p in found.parameters.items() if n not in names])
        return f

    return decorate


def _for_each(choices):
    """Make a decorator that runs the test with each dict of choices. A failure names the dict."""
    choices = list(choices)

    def decorate(test):
        @hides(test, *(choices[0] if choices else ()))
        def run(*args, **kwargs):
            for chosen in choices:
                try:
                    test(*args, **kwargs, **chosen)
                except Exception as error:
                    told = ", ".join(f"{name} is {_name(value)}" for name, value in chosen.items())
                    error.add_note(told) if hasattr(error, "add_note") else print(told)
                    raise

        return run

    return decorate


def _name(value):
    return value.__name__ if isinstance(value, type) else repr(value)


def for_dtypes(dtypes, name="dtype"):
    """Run the test with each of dtypes, passed as a scalar type in the parameter name."""
    kinds = [d if d is None or isinstance(d, type) and not hasattr(d, "mro") else numpy.dtype(d).type for d in dtypes]
    return _for_each({name: kind} for kind in kinds)


def _all(no_float16, no_bool, no_complex):
    floats = FLOATS[:2] if no_float16 else FLOATS
    return (*floats, *SIGNED, *UNSIGNED, *(() if no_bool else (numpy.bool_,)), *(() if no_complex else COMPLEX))


def _integers(no_bool):
    return (*SIGNED, *UNSIGNED, *(() if no_bool else (numpy.bool_,)))


def for_all_dtypes(name="dtype", no_float16=False, no_bool=False, no_complex=False):
    """Run the test with floats, integers, bool and complex numbers, except those turned off."""
    return for_dtypes(_all(no_float16, no_bool, no_complex), name)


def for_float_dtypes(name="dtype", no_float16=False):
    """Run the test with float64, float32 and float16."""
    return for_dtypes(FLOATS[:2] if no_float16 else FLOATS, name)


def for_signed_dtypes(name="dtype"):
    """Run the test with the signed integers."""
    return for_dtypes(SIGNED, name)


def for_unsigned_dtypes(name="dtype"):
    """Run the test with the unsigned integers."""
    return for_dtypes(UNSIGNED, name)


def for_int_dtypes(name="dtype", no_bool=False):
    """Run the test with signed and unsigned integers, and with bool."""
    return for_dtypes(_integers(no_bool), name)


def for_complex_dtypes(name="dtype"):
    """Run the test with complex64 and complex128."""
    return for_dtypes(COMPLEX, name)


def for_dtypes_combination(types, names=("dtype",), full=None):
    """Run the test with combinations of types, one for each parameter in names. full runs every combination. Otherwise
    there are as many as types, in which each parameter takes each type."""
    types, names = list(types), list(names)
    if len(types) <= 1 or full:
        rows = itertools.product(types, repeat=len(names))
    else:  # each further parameter runs through the types from another start
        rows = ([types[(i + k) % len(types)] for k in range(len(names))] for i in range(len(types)))
    return _for_each(dict(zip(names, row, strict=True)) for row in dict.fromkeys(map(tuple, rows)))


def for_all_dtypes_combination(
    names=("dtyes",), no_float16=False, no_bool=False, full=None, no_complex=False
):  # CuPy's default name, as it is spelt there
    """for_dtypes_combination of the types of for_all_dtypes."""
    return for_dtypes_combination(_all(no_float16, no_bool, no_complex), names, full)


def for_signed_dtypes_combination(names=("dtype",), full=None):
    """for_dtypes_combination of the signed integers."""
    return for_dtypes_combination(SIGNED, names, full)


def for_unsigned_dtypes_combination(names=("dtype",), full=None):
    """for_dtypes_combination of the unsigned integers."""
    return for_dtypes_combination(UNSIGNED, names, full)


def for_int_dtypes_combination(names=("dtype",), no_bool=False, full=None):
    """for_dtypes_combination of integers and bool."""
    return for_dtypes_combination(_integers(no_bool), names, full)


def for_orders(orders, name="order"):
    """Run the test with each of orders, passed as the parameter name."""
    return _for_each({name: order} for order in orders)


def for_CF_orders(name="order"):
    """Run the test with the orders None, 'C', 'F', 'c' and 'f'."""
    return for_orders([None, "C", "F", "c", "f"], name)


def for_contiguous_axes(name="axis"):
    """Run the test of a class with self.shape and self.order_op with each tuple of axes that are contiguous in memory:
    the last axes for 'C', the first ones for 'F', both for None."""

    def decorate(test):
        @hides(test, name)
        def run(self, *args, **kwargs):
            count, order = len(self.shape), getattr(self, "order_op", getattr(self, "order", None))
            last = [tuple(range(k, count)) for k in range(count)] if order in ("c", "C", None) else []
            first = [tuple(range(k + 1)) for k in range(count)] if order in ("f", "F", None) else []
            if not last and not first:
                raise ValueError(f"for_contiguous_axes: the order {order!r} is neither 'C' nor 'F'")
            for axes in dict.fromkeys(last + first):
                test(self, *args, **kwargs, **{name: axes})

        return run

    return decorate
