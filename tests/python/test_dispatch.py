"""SciPy's and scikit-learn's array API dispatch: what they list as supported runs on treadle's arrays."""

import os
import pathlib
import subprocess
import sys

import pytest

import treadle as td

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize("library", ["scipy", "sklearn"])
def test_what_is_listed_as_supported_runs(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    path = os.pathsep.join([str(pathlib.Path(td.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, HERE / f"dispatch_{library}.py"],
        env={**os.environ, "PYTHONPATH": path, "TREADLE_DEVICE": "cpu"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
