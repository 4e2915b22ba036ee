"""The table of NumPy's names (treadle._numpy._names): every name has a status that holds, and docs/numpy.md says the same."""

import importlib
import pathlib
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import treadle as td
from treadle._numpy import _names

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ("", "ndarray", "linalg", "fft", "random", "random.Generator", "polynomial", "lib.stride_tricks")

pytestmark = pytest.mark.skipif(np.__version__ < "2.4", reason="the table lists the names of NumPy 2.4")


@pytest.mark.parametrize("module", MODULES)
def test_status_of_every_name(module):
    for name in _names.numpys(module):
        status, _, why = _names.status(name, module)
        assert status in ("native", "composed", "host", "numpy", "left out"), f"{name} is neither there nor left out"
        assert bool(why) == (status in ("host", "left out"))


@pytest.mark.parametrize("name", sorted(_names.NUMPY - set(td._FROM)))
def test_numpys_own(name):
    assert getattr(td, name) is getattr(np, name)


def test_every_name_is_listed():
    listed = set(dir(td))
    assert {*_names.HOST, *_names.NUMPY} <= listed
    assert not [n for n in listed if not hasattr(td, n)]


@pytest.mark.parametrize("name", sorted(_names.reasons(_names.LEFT_OUT)))
def test_left_out_names_tell_why(name):
    with pytest.raises(AttributeError, match=name):
        getattr(td, name)
    assert name in dir(np) and name not in dir(td)


@pytest.mark.skipif(not np.__version__.startswith("2.4."), reason="the page lists the names of NumPy 2.4")
def test_page_is_what_the_tool_writes():
    done = subprocess.run([sys.executable, ROOT / "tools" / "numpy_page.py", "--check"])
    assert done.returncode == 0, "docs/numpy.md is out of date: PYTHONPATH=build/tree python tools/numpy_page.py"


def test_numpys_public_modules_are_imported_by_their_names():
    def public(package):
        for m in pkgutil.iter_modules(package.__path__):
            if not m.name.startswith("_") and m.name not in ("tests", "conftest", "distutils", "setup", "f2py"):
                yield m.name

    for package in (np, np.lib, np.ma, np.polynomial, np.random):
        for name in public(package):
            full = f"{package.__name__}.{name}".replace("numpy", "treadle", 1)
            assert importlib.import_module(full) is sys.modules[full], full
    import treadle.ma
    from treadle.lib.recfunctions import append_fields

    assert treadle.ma is np.ma and append_fields is np.lib.recfunctions.append_fields
    from treadle.random.mtrand import RandomState

    assert RandomState is td.random.RandomState
    with pytest.raises(ModuleNotFoundError, match="treadle.nowhere"):
        importlib.import_module("treadle.nowhere")


def test_star_import_gives_numpys_names():
    scope = {}
    exec("from treadle import *", scope)
    missing = {n for n in np.__all__ if n not in scope} - set(_names.reasons(_names.LEFT_OUT))
    assert not missing and all(scope[n] is getattr(td, n) for n in np.__all__ if n in scope)
