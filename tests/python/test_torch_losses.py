"""Programs of torch_losses.py train as with PyTorch: their losses agree from the first step to the last."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import treadle

HERE = pathlib.Path(__file__).parent
THEIRS = json.loads((HERE / "torch_losses.json").read_text())
CLOSE = {"torch.float32": 1e-5, "torch.float64": 1e-9}


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    values = tmp_path_factory.mktemp("losses") / "ours.json"
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(treadle.__file__).parents[1])}
    command = [sys.executable, "-m", "treadle", HERE / "torch_losses.py", values]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(values.read_text())


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("program", THEIRS)
def test_losses(ours, program, dtype):
    want, got = THEIRS[program][dtype], ours[program][dtype]
    assert len(got) == len(want)
    np.testing.assert_array_less(abs(np.subtract(got, want)) / np.maximum(1, np.abs(want)), CLOSE[dtype])
