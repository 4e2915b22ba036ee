"""treadle.torch against PyTorch: values, dtypes, shapes and gradients of the expressions in torch_cases.py.

torch_values.txt holds what PyTorch gave (written by torch_side.py); where TREADLE_TEST_TORCH names a Python that has
PyTorch, it is asked again, so that the file stays what it says.
"""

import json
import os
import pathlib
import subprocess

import pytest
import torch_cases
import torch_side

import treadle.torch as torch

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
OTHER = os.environ.get("TREADLE_TEST_TORCH")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """{expression: PyTorch's outcome}."""
    path = HERE / "torch_values.txt"
    if OTHER:
        path = tmp_path_factory.mktemp("torch") / "values.txt"
        subprocess.run([OTHER, HERE / "torch_side.py", path], check=True)
    return dict(map(json.loads, path.read_text().splitlines()))


def by_name():
    names = {}
    for name, expression in torch_cases.cases():
        names.setdefault(name, []).append(expression)
    return names


CASES = by_name()


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_pytorch(name, theirs):
    wrong = []
    for expression in CASES[name]:
        difference = torch_side.differs(torch_side.outcome(torch, expression), theirs[expression])
        if difference:
            wrong.append(f"{expression}: {difference}")
    assert not wrong, "\n".join(wrong)


# What says where a tensor lies, or needs it on the CPU.
LOCAL = {".to", ".cpu", ".numpy", ".resize_", ".type", ".__contains__", "device", "set_printoptions", "typename"}
OTHERS = ["null"] + ["cuda"] * torch.cuda.is_available()


@pytest.mark.parametrize("device", OTHERS)
@pytest.mark.parametrize("name", [name for name in CASES if name not in LOCAL])
def test_agrees_on_other_devices(name, device, theirs):
    """All expressions on a GPU; the first of each name on the null device, which interprets a GPU's kernels."""
    wrong = []
    for expression in CASES[name] if device == "cuda" else CASES[name][:1]:
        difference = torch_side.differs(torch_side.outcome(torch, expression, device), theirs[expression])
        if difference:
            wrong.append(f"{expression}: {difference}")
    assert not wrong, "\n".join(wrong)


def test_values_are_those_of_the_cases(theirs):
    assert sorted(theirs) == sorted(e for _, e in torch_cases.cases()), (
        "run torch_side.py torch_values.txt with PyTorch"
    )


def test_keywords_of_fill_and_copy():
    assert torch.zeros(2).fill_(value=3).tolist() == [3.0, 3.0]
    assert torch.zeros(2).copy_(other=torch.ones(2), non_blocking=True).tolist() == [1.0, 1.0]
    with pytest.raises(TypeError):
        torch.zeros(2).fill_(src=3)


@pytest.mark.parametrize("descending", [False, True])
def test_nan_is_the_largest_when_sorted(descending, dev):
    """In PyTorch it comes first in descending order, where NumPy 2.5 has it last; equal elements keep their order."""
    x = torch.tensor([[1.0, float("nan"), 3.0, 3.0, float("-inf"), float("nan")]])
    values, places = torch.sort(x, dim=1, descending=descending, stable=True)
    assert places.tolist() == [[1, 5, 2, 3, 0, 4] if descending else [4, 0, 2, 3, 1, 5]]
    assert repr(values.tolist()) == repr(x.gather(1, places).tolist())
