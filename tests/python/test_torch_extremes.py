"""At the ends of dtypes results are PyTorch's; torch_extremes.json holds what PyTorch gave (written by
torch_extremes.py)."""

import json
import math

import numpy as np
import pytest
import torch_extremes

import treadle as td
import treadle.torch as torch

OURS = torch_extremes.told(torch)
THEIRS = json.loads(torch_extremes.VALUES.read_text())
CLOSE = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-6, "float64": 1e-14, "complex64": 1e-6}


def test_every_case_has_pytorchs_values():
    assert list(OURS) == list(THEIRS)


def same(a, b, near):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if a == 0 or b == 0 or math.isinf(a) or math.isinf(b):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return math.isclose(a, b, rel_tol=near)


@pytest.mark.parametrize("case", THEIRS)
def test_extremes(case):
    ours, theirs = OURS[case], THEIRS[case]
    if isinstance(theirs, str) or isinstance(ours, str) or ours[1] not in CLOSE:
        assert ours == theirs
        return
    assert ours[1] == theirs[1]
    pairs = list(zip(map(float, ours[0].split()), map(float, theirs[0].split()), strict=True))
    near = 0 if "nextafter" in case else CLOSE[ours[1]]
    assert all(same(a, b, near) for a, b in pairs), pairs


@pytest.mark.parametrize("y", [0.0, -0.0, 1.0, math.inf, -math.inf, math.nan])
def test_neighbours_of_all_halves_are_numpys(y):
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        want = np.nextafter(x, np.float16(y))
    got = np.asarray(td.nextafter(td.asarray(x), np.float16(y)))
    number = ~np.isnan(want)
    assert np.array_equal(np.isnan(got), ~number)
    assert np.array_equal(got.view(np.uint16)[number], want.view(np.uint16)[number])
