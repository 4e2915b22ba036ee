"""treadle.scipy: every name of CuPy's list is there, every name has a case, every case agrees with SciPy."""

import importlib
import pathlib
import subprocess
import sys

import pytest
import scipy_side
from conftest import DEVICES

import treadle as td
from treadle._exchange import _host
from treadle.scipy import _table

HERE = pathlib.Path(__file__).resolve().parent
CUPY = (HERE / "scipy_names.txt").read_text().split()
COVERED, CASES = scipy_side.load()


@pytest.fixture(autouse=True)
def allowed():
    before = _host.mode
    td.config.fallback = "allow"
    yield
    td.config.fallback = before


def home(full):
    module = full.rpartition(".")[0]
    return importlib.import_module("treadle.scipy" + ("." + module if module else ""))


@pytest.mark.parametrize("module", sorted({n.rpartition(".")[0] for n in CUPY}))
def test_names_of_cupy(module):
    names = [n for n in CUPY if n.rpartition(".")[0] == module]
    assert [n for n in names if not hasattr(home(n), n.rpartition(".")[2])] == []
    assert td.cupyx.scipy is td.scipy


@pytest.mark.parametrize("module", sorted({n.rpartition(".")[0] for n in CUPY} - {""}))
def test_each_name_has_a_case(module):
    importlib.import_module(f"treadle.scipy.{module}")
    ours = [n for n, status in _table.TABLES[module].status.items() if status != "host"]
    cupys = [n.rpartition(".")[2] for n in CUPY if n.rpartition(".")[0] == module]
    assert sorted({n for n in [*ours, *cupys] if f"{module}.{n}" not in CASES}) == []
    assert module in COVERED


@pytest.mark.parametrize("name", sorted(CASES))
def test_as_scipy(name):
    assert hasattr(home(name), name.rpartition(".")[2])
    for case in CASES[name]:
        case.check()


@pytest.mark.parametrize("name", sorted(n for n in CASES if any(c.null for c in CASES[n])))
def test_as_scipy_on_null(name):
    with td.device("null"):
        for case in CASES[name]:
            if case.null:
                case.check()


MODULES = ("ndimage", "signal", "special")


@pytest.mark.parametrize("name", sorted(n for n in CASES if n.startswith(MODULES) and any(c.null for c in CASES[n])))
def test_arrays_of_another_device_than_the_current_one(name):
    for case in CASES[name]:
        if case.null:
            case.check(scipy_side.On("null"))


@pytest.mark.parametrize("name", sorted(CASES) if len(DEVICES) > 2 else [])
def test_as_scipy_on_a_gpu(name):
    with td.device(DEVICES[-1]):
        for case in CASES[name]:
            case.check()


@pytest.mark.parametrize("module", sorted(COVERED))
def test_natives_stay_on_the_device(module):
    """Cases of names that are native or composed move nothing to the host."""
    status = _table.TABLES[module].status if home(f"{module}.x") else {}
    names = [n for n, s in status.items() if s != "host" and any(c.null for c in CASES.get(f"{module}.{n}", []))]
    td.fallbacks(clear=True)
    with td.device("null"):
        for name in names:
            for case in CASES[f"{module}.{name}"]:
                if case.null:
                    case.call(td.scipy, td)
    assert [row[0] for row in td.fallbacks() if row[2] and row[0].startswith("scipy.")] == []


def test_the_page_is_generated():
    tool = HERE.parents[1] / "tools" / "scipy_page.py"
    assert subprocess.run([sys.executable, tool, "--check"]).returncode == 0, "run tools/scipy_page.py"
