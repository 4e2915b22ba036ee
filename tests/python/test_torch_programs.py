"""Programs that were written for PyTorch run from top to bottom, unedited: python -m treadle program.py."""

import os
import pathlib
import subprocess
import sys

import pytest

import treadle

PROGRAMS = sorted((pathlib.Path(__file__).parent / "torch_programs").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_runs_unedited(program, tmp_path):
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(treadle.__file__).parents[1])}
    command = [sys.executable, "-m", "treadle", program]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.rstrip().endswith("done")
