"""td.config.deterministic: the same bits each time. tools/deterministic.py has all operations; here are some of each kind."""

import importlib.util
import pathlib
import warnings

import numpy as np
import pytest

import treadle as td
from treadle import cuda, torch

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "deterministic.py"


@pytest.fixture(autouse=True)
def after():
    yield
    td.config.deterministic = False


def tool():
    spec = importlib.util.spec_from_file_location("deterministic", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_same_bits_with_other_numbers_of_threads():
    names = "sum x|sum c|mean axis 1|m @ m|dot|add.at few x|bincount one f|histogram weights|cumsum f|ReductionKernel"
    differ, count = tool().compare(
        "cpu", 1, False, names + "|prange sum|conv2d grad|coo @ vector|random.normal", (1, 2)
    )
    assert not differ and count == 14


@cuda.jit
def add_floats(out, x):
    cuda.atomic.add(out, 0, x[cuda.grid(1)])


def test_atomic_additions_of_floats_are_refused(dev):
    x, whole = td.ones(64), td.ones(64, np.int64)
    out, count = td.zeros(1), td.zeros(1, np.int64)
    add_floats[2, 32](out, x)
    td.config.deterministic = True
    with pytest.raises(
        RuntimeError, match=r"kernel add_floats adds floats by atomic operations \(line \d+\), in another order"
    ):
        add_floats[2, 32](out, x)
    add_floats[2, 32](count, whole)
    assert count.get().tolist() == [64]
    torch.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(UserWarning, match="kernel add_floats adds floats by atomic operations"):
        add_floats[2, 32](out, x)
    td.config.deterministic = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_floats[2, 32](out, x)
    assert out.get().tolist() == [192]


def test_one_state_with_torch():
    assert td.config.deterministic is False
    td.config.deterministic = True
    assert torch.are_deterministic_algorithms_enabled() and torch.get_deterministic_debug_mode() == 2
    torch.use_deterministic_algorithms(False)
    assert td.config.deterministic is False
    torch.set_deterministic_debug_mode("warn")
    assert td.config.deterministic is True and torch.is_deterministic_algorithms_warn_only_enabled()
