"""Test classes for lists of parameters, and decorators for what tests need: versions, devices, fixed random numbers."""

import contextlib
import functools
import importlib.metadata
import inspect
import itertools
import random
import unittest
import unittest.mock
import warnings

import numpy

import treadle

# ---- parameters ----


def product(parameter):
    """A list of dicts with every combination. parameter: {name: values}, or a list of [(name, value), …] lists."""
    if isinstance(parameter, dict):
        names = sorted(parameter)
        return [dict(zip(names, row, strict=True)) for row in itertools.product(*(parameter[n] for n in names))]
    return [{k: v for part in row for k, v in part.items()} for row in itertools.product(*parameter)]


def product_dict(*parameters):
    """A list of dicts, each of which joins one dict of every list."""
    return [{k: v for part in row for k, v in part.items()} for row in itertools.product(*parameters)]


def parameterize(*params, **kwargs):
    """Decorate a test class to run once for each dict of params. The values become attributes of its instances. The
    classes that run are added to its module."""
    cases = [dict(p) for p in params]

    def decorate(cls):
        module = inspect.getmodule(inspect.currentframe().f_back) or inspect.getmodule(cls)
        for k, case in enumerate(cases):
            told = ", ".join(f"{name}={value!r}" for name, value in case.items())
            name = f"{cls.__name__}_param_{k}"
            made = type(name, (cls,), {**case, "__doc__": f"{cls.__doc__ or cls.__name__} with {told}"})
            made.__module__, made.__qualname__, made.__test__ = cls.__module__, name, True
            if module is not None:
                setattr(module, name, made)
        cls.__test__ = False
        return cls

    return decorate


# ---- what a test needs ----


def _version(text):
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in text.split(".")[:3])


_RULES = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}


def _fits(found, rule):
    sign = next((s for s in _RULES if rule.startswith(s)), None)
    if sign is None:
        raise ValueError(f"a version's rule begins with one of {', '.join(_RULES)}, not {rule!r}")
    wanted = _version(rule[len(sign) :].strip())
    width = max(len(found), len(wanted))
    return _RULES[sign](*(v + (0,) * (width - len(v)) for v in (found, wanted)))


def installed(*specifiers):
    """Whether packages are installed in versions like "numpy>=2.0,<3". Raises ValueError for a specifier it cannot
    read."""
    for text in specifiers:
        first = min((k for k in (text.find(c) for c in "<>=!") if k >= 0), default=len(text))
        try:
            found = _version(importlib.metadata.version(text[:first].strip()))
        except importlib.metadata.PackageNotFoundError:
            return False
        if not all(_fits(found, rule.strip()) for rule in text[first:].split(",") if rule.strip()):
            return False
    return True


def numpy_satisfies(version_range):
    """Whether NumPy's version satisfies a range like ">=2.0"."""
    return installed(f"numpy{version_range}")


def with_requires(*requirements):
    """Skip the test unless the packages are installed in these versions."""
    return unittest.skipUnless(installed(*requirements), f"requires: {','.join(requirements)}")


def multi_gpu(gpu_num):
    """Skip the test where there are fewer than gpu_num GPUs."""
    count = sum(str(d).startswith("cuda") for d in treadle.devices())
    return unittest.skipUnless(count >= gpu_num, f"{gpu_num} GPUs are needed, {count} are there")


def slow(test):
    """Mark a test as slow, for pytest's -m. Without pytest the test is returned unchanged."""
    try:
        import pytest
    except ImportError:
        return test
    return pytest.mark.slow(test)


# ---- random numbers ----


def generate_seed():
    """A seed of 31 bits from NumPy's global generator."""
    return int(numpy.random.randint(0x7FFFFFFF))


@contextlib.contextmanager
def _fixed():
    states = random.getstate(), numpy.random.get_state(), treadle.random.get_random_state()
    random.seed(0)
    numpy.random.seed(0)
    treadle.random.set_random_state(treadle.random.RandomState(0))
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
        treadle.random.set_random_state(states[2])


def fix_random():
    """Decorate a test, or every test of a class, to draw the same numbers in each run, from Python's, NumPy's and
    treadle's generators. Their states are restored afterwards."""

    def fixed(test):
        @functools.wraps(test)
        def run(*args, **kwargs):
            with _fixed():
                return test(*args, **kwargs)

        return run

    def decorate(it):
        if not isinstance(it, type):
            return fixed(it)
        for name in [n for n in dir(it) if n.startswith("test")]:
            setattr(it, name, fixed(getattr(it, name)))
        return it

    return decorate


# ---- calls and aliases ----


@contextlib.contextmanager
def assert_warns(expected):
    """A context manager that asserts a warning of the class."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        yield
    if not any(isinstance(w.message, expected) for w in given):
        raise AssertionError(f"no {getattr(expected, '__name__', expected)} was given")


@contextlib.contextmanager
def assert_function_is_called(*args, times_called=1, **kwargs):
    """A context manager that replaces a function by unittest.mock.patch(*args, **kwargs), and asserts that it is called
    times_called times."""
    with unittest.mock.patch(*args, **kwargs) as handle:
        yield
        if handle.call_count != times_called:
            raise AssertionError(f"{handle} is called {handle.call_count} times, not {times_called}")


AssertFunctionIsCalled = assert_function_is_called


class NumpyAliasTestBase(unittest.TestCase):
    """A test of the function that a subclass names as func. cupy_func is treadle's, numpy_func is NumPy's."""

    func = None
    cupy_func = property(lambda self: getattr(treadle, self.func))
    numpy_func = property(lambda self: getattr(numpy, self.func))


class NumpyAliasBasicTestBase(NumpyAliasTestBase):
    """Asserts that the function has NumPy's signature and a docstring of its own."""

    def test_argspec(self):
        self.assertEqual(inspect.signature(self.cupy_func), inspect.signature(self.numpy_func))

    def test_docstring(self):
        self.assertTrue(self.cupy_func.__doc__)
        self.assertIsNot(self.cupy_func.__doc__, self.numpy_func.__doc__)


class NumpyAliasValuesTestBase(NumpyAliasTestBase):
    """Asserts that the function gives NumPy's value for the arguments that a subclass has as args."""

    def test_values(self):
        self.assertEqual(self.cupy_func(*self.args), self.numpy_func(*self.args))
