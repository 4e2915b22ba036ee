"""CPython's own tests of executors, with DeviceExecutor in ThreadPoolExecutor's place.

They come with Python's `test` package, which some systems install apart: tools/setup.sh fetches Debian's. Left out are tests that look at private
attributes, LEFT, and those that start a program which imports the class from concurrent.futures (test_executor.py has those).
Most of them sleep, so a few processes run them at once: this file is their program.
"""

import importlib
import json
import os
import subprocess
import sys
import types
import unittest
import warnings

import pytest

from treadle.executor import DeviceExecutor

AT_ONCE = 3
LEFT = {"test_map_timeout"}  # gives worker processes 5 seconds to start and to run: they may take longer on a busy machine
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
    fetched = os.path.join(sys.prefix, "python-tests")
    if os.path.isdir(fetched) and fetched not in sys.path:
        sys.path.insert(0, fetched)  # which worker processes are told, too
    reason = "Python's own tests are not installed (the test package)"
    home = pytest.importorskip(HOME, reason=reason, exc_type=ImportError)
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
            k: v if is_public(v) and k not in LEFT else None
            for c in reversed(mixin.__mro__)
            for k, v in vars(c).items()
            if k.startswith("test") and callable(v)
        }
        bases = (mixin,) if issubclass(mixin, home.BaseTestCase) else (mixin, DeviceMixin, home.BaseTestCase)
        space = {**{k: None for k, v in keep.items() if v is None}, "executor_type": DeviceExecutor, "__module__": __name__}
        made[f"Device{name}"] = type(f"Device{name}", bases, space)
    return made


CLASSES = collected()
TESTS = [f"{name}.{t}" for name, c in CLASSES.items() for t in unittest.defaultTestLoader.getTestCaseNames(c)]


def share(k):
    """Runs every AT_ONCE-th test from the k-th on, and prints what became of each; "" is well."""
    outcome = {}
    for test in TESTS[k::AT_ONCE]:
        name, method = test.split(".")
        result = unittest.TestResult()
        CLASSES[name](method).run(result)
        outcome[test] = "\n".join(text for _, text in result.errors + result.failures)
    print("\n" + json.dumps(outcome))  # behind what the tests print


@pytest.fixture(scope="module")
def outcomes():
    runs = [
        subprocess.Popen([sys.executable, __file__, str(k)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for k in range(AT_ONCE)
    ]
    found = {}
    try:
        for run in runs:
            out, err = run.communicate(timeout=300)
            assert run.returncode == 0, err
            found |= json.loads(out.splitlines()[-1])
    finally:
        for run in runs:
            run.kill()
            run.wait()
    return found


@pytest.mark.parametrize("test", TESTS)
def test_cpython(test, outcomes):
    assert outcomes[test] == "", outcomes[test]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    share(int(sys.argv[1]))
