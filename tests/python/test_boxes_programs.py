"""Whole programs as Numba's users write them, run unedited by ``python -m treadle``."""

import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).with_name("numba_programs")
OUTPUTS = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", (HERE / "outputs.txt").read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", sorted(p.name for p in HERE.glob("*.py")))
def test_program(name):
    done = subprocess.run([sys.executable, "-m", "treadle", HERE / name], capture_output=True, text=True, timeout=120)
    assert done.stdout == OUTPUTS[name], done.stderr
