"""Every public name of CuPy's is here, or docs/cupy.md and the exception say why not (treadle._cupy._names)."""

import pathlib
import subprocess
import sys

import pytest

from treadle._cupy import _names

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import cupy_page  # noqa: E402

NAMES = cupy_page.names()

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_table_is_whole():
    assert len(NAMES) > 55 and sum(map(len, NAMES.values())) > 1600
    assert "get_array_module" in NAMES["cupy"] and "rawkernel" in NAMES["cupyx.jit"] and "set" in NAMES["cupy.ndarray"]


@pytest.mark.parametrize("module", NAMES)
def test_names(module):
    wrong = {n: cupy_page.status(module, n) for n in NAMES[module]}
    missing = [n for n, (there, why) in wrong.items() if not there and why is None]
    assert not missing, f"{module}: neither here nor refused in treadle._cupy._names"
    excused = [n for n, (there, why) in wrong.items() if there and why is not None]
    assert not excused, f"{module}: refused in treadle._cupy._names, and here"


def test_what_is_missing_is_seen():
    for module, name in (
        ("cupy", "no_such"),
        ("cupy.cuda", "no_such"),
        ("cupyx.signal", "no_such"),
        ("cupy.ndarray", "no_such"),
    ):
        assert cupy_page.status(module, name) == (False, None)


@pytest.mark.parametrize("module", [m for m in _names.REFUSED if m.count(".") < 3 and m not in cupy_page.CLASSES])
def test_exceptions_tell_the_reason(module):
    there = cupy_page.holder(module)
    if there is None:  # the module itself is refused
        module, _, name = module.rpartition(".")
        assert _names.reason(module, name)
        return
    for patterns, why in _names.REFUSED[module].items():
        for name in patterns.split():
            with pytest.raises((AttributeError, ImportError)) as told:
                getattr(there, name.replace("*", "Anything"))
            if not module.startswith("cupyx.") or module.startswith("cupyx.jit"):
                assert why in str(told.value)


def test_page_is_what_the_tool_writes():
    done = subprocess.run([sys.executable, ROOT / "tools" / "cupy_page.py", "--check"])
    assert done.returncode == 0, "docs/cupy.md is out of date: PYTHONPATH=build/tree python tools/cupy_page.py"
