"""What names of torch.nn, torch.optim, torch.signal and torch compute, against PyTorch's values."""

import json
import pathlib

import pytest
import torch_name_cases as cases

import treadle.torch as torch

VALUES = json.loads((pathlib.Path(__file__).parent / "torch_name_values.json").read_text())


@pytest.fixture(scope="module")
def ours():
    return cases.told(torch)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", VALUES)
def test_pytorchs_values(ours, name):
    # Muon's steps are computed in bfloat16, which has 8 bits: three roundings of 1 / 256 on steps of 0.02 a time.
    near = 0.01 if name.startswith("Muon") else 3e-5
    expected = [float("nan") if v is None else v for v in VALUES[name]]
    found = [float("nan") if v is None else v for v in ours[name]]
    assert found == pytest.approx(expected, rel=near, abs=near, nan_ok=True)
