"""Results have PyTorch's dtypes, and what PyTorch has no loop for is refused; torch_dtypes.json holds what PyTorch gave
(written by torch_dtypes.py)."""

import json

import pytest
import torch_dtypes

import treadle.torch as torch

OURS = torch_dtypes.told(torch)
THEIRS = json.loads(torch_dtypes.VALUES.read_text())


def test_every_expression_has_pytorchs_words():
    assert list(OURS) == list(THEIRS)


@pytest.mark.parametrize("expression", THEIRS)
def test_dtypes(expression):
    assert OURS[expression] == THEIRS[expression]
