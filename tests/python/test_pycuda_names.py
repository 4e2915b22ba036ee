"""Every name of PyCUDA's that programs use is in treadle.pycuda, or stands in docs/pycuda.md with the reason why it is not."""

import fnmatch
import pathlib
import re

import pycuda_names
import pytest

NAMES = pycuda_names.names()
PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "pycuda.md").read_text(encoding="utf-8")
EXCUSED = re.findall(
    r"`([^`]+)`", "\n".join(re.findall(r"^\| (.*?) \|", PAGE.partition("## Names that are not here")[2], re.MULTILINE))
)


def excuse(name):
    """The pattern on the page that the name falls under; None: there is none."""
    return next((p for p in EXCUSED if fnmatch.fnmatchcase(name.partition("(")[0], p)), None)


def test_the_table_is_whole():
    assert len(NAMES) == 689 and sum(NAMES.values()) == 1862
    assert NAMES["GPUArray.get"] == 230 and NAMES["pycuda.driver.memory_type.ARRAY"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    missing = pycuda_names.missing(name)
    if missing:
        assert excuse(name), f"{missing}, used {NAMES[name]} times, and docs/pycuda.md does not say why"
    else:
        assert not excuse(name), f"docs/pycuda.md says that {name} is missing, and it is here"


def test_every_excuse_is_needed():
    used = {excuse(name) for name in NAMES if pycuda_names.missing(name)}
    assert set(EXCUSED) - used == set()


def test_what_is_missing_is_seen():
    for name in (
        "pycuda.driver.no_such",
        "pycuda.no_such",
        "GPUArray.no_such",
        "pycuda.driver.mem_alloc_like(no_such=)",
        "pycuda.tools.DeviceData.no_such",
    ):
        assert pycuda_names.missing(name)
