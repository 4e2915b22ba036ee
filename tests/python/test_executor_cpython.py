"""CPython's own tests of executors, with DeviceExecutor in ThreadPoolExecutor's place.

They come with Python's `test` package, which some systems install apart. Left out are tests that look at private
attributes, and those that start a program which imports the class from concurrent.futures (test_executor.py has those).
"""

import importlib
import types

import pytest

from treadle.executor import DeviceExecutor

pytestmark = pytest.mark.filterwarnings("ignore::treadle.PerformanceWarning")
HOME = "test.test_concurrent_futures"
MIXINS = {  # class: the module of the package; before Python 3.12 all is one module
    "AsCompletedTests": "test_as_completed",
    "WaitTests": "test_wait",
    "ThreadPoolShutdownTest": "test_shutdown",  # has ExecutorShutdownTest's
    "ThreadPoolExecutorTest": "test_thread_pool",  # has ExecutorTest's
    "InitializerMixin": "test_init",
    "FailingInitializerMixin": "test_init",
}


def module(name):
    home = pytest.importorskip(HOME, reason="Python's own tests are not installed (the test package)", exc_type=ImportError)
    return importlib.import_module(f"{HOME}.{name}") if hasattr(home, "__path__") else home


def codes(code):
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from codes(c)


def is_public(method):
    """Does a test keep to what executors are documented to have?"""
    return not any(
        any(n.startswith("_") and not n.startswith("__") for n in c.co_names)
        or any("from concurrent.futures import" in str(k) for k in c.co_consts if not isinstance(k, types.CodeType))
        for c in codes(method.__code__)
    )


def collected():
    home = module("util")

    class DeviceMixin(home.ThreadPoolMixin):
        executor_type = DeviceExecutor

    made = {}
    for name, where in MIXINS.items():
        mixin = getattr(module(where), name)
        keep = {
            k: v if is_public(v) else None
            for c in reversed(mixin.__mro__)
            for k, v in vars(c).items()
            if k.startswith("test") and callable(v)
        }
        bases = (mixin,) if issubclass(mixin, home.BaseTestCase) else (mixin, DeviceMixin, home.BaseTestCase)
        space = {**{k: None for k, v in keep.items() if v is None}, "executor_type": DeviceExecutor, "__module__": __name__}
        made[f"Device{name}"] = type(f"Device{name}", bases, space)
    return made


globals().update(collected())
