"""Classes have PyTorch's bases, for which programs ask with isinstance."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import treadle

HERE = pathlib.Path(__file__).parent
THEIRS = json.loads((HERE / "torch_bases.json").read_text())
# {class: what is a base here alone, or in PyTorch alone}
OTHERS = {
    **{f"torch.nn.LazyBatchNorm{n}d": f"torch.nn.BatchNorm{n}d" for n in (1, 2, 3)},
    **{f"torch.nn.LazyInstanceNorm{n}d": f"torch.nn.InstanceNorm{n}d" for n in (1, 2, 3)},
    "torch.optim.lr_scheduler.ChainedScheduler": "torch.optim.lr_scheduler.SequentialLR",
    "torch.optim.lr_scheduler.MultiplicativeLR": "torch.optim.lr_scheduler.LambdaLR",
    "torch.distributions.HalfCauchy": "torch.distributions.TransformedDistribution",
    "torch.distributions.HalfNormal": "torch.distributions.TransformedDistribution",
    "torch.distributions.PositiveDefiniteTransform": "torch.distributions.LowerCholeskyTransform",
}


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    out = tmp_path_factory.mktemp("bases") / "ours.json"
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(treadle.__file__).parents[1])}
    command = [sys.executable, "-m", "treadle", HERE / "torch_bases.py", out]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(out.read_text())


def test_bases(ours):
    known = THEIRS.keys() & ours.keys()
    found = {n: (known & set(THEIRS[n])) ^ (known & set(ours[n])) for n in known}
    assert len(known) > 250 and {n: d for n, d in found.items() if d} == {n: {d} for n, d in OTHERS.items()}
