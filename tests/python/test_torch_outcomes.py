"""Short programs print what they print with PyTorch, and end with the same exceptions in the same words."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import treadle

HERE = pathlib.Path(__file__).parent
THEIRS = json.loads((HERE / "torch_outcomes.json").read_text())


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    out = tmp_path_factory.mktemp("outcomes") / "ours.json"
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(treadle.__file__).parents[1])}
    command = [sys.executable, "-m", "treadle", HERE / "torch_outcomes.py", out]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(out.read_text())


@pytest.mark.parametrize("program", THEIRS)
def test_outcome(ours, program):
    assert ours[program] == THEIRS[program]


def test_all_programs_are_recorded(ours):
    assert ours.keys() == THEIRS.keys() and len(THEIRS) > 110
