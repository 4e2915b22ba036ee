"""Whole modules and optimizers are saved by PyTorch's names and with all attributes that PyTorch's have, so that PyTorch
loads them."""

import collections
import io
import json
import os
import pathlib
import pickletools
import subprocess
import sys
import warnings
import zipfile

import pytest

import treadle
import treadle.torch as torch
from treadle.torch import nn

HERE = pathlib.Path(__file__).parent
THEIRS = json.loads((HERE / "torch_attributes.json").read_text())
# PyTorch's modules make these when they are loaded.
MADE = {"_flat_weights", "_flat_weight_refs"}
# Hooks of lazy modules are handles of ours; a file says so with a warning.
OWN = {name for name in THEIRS if name.startswith("Lazy")}

SAVE = """
import io, json, sys, warnings
import torch
from torch.serialization import _whole
import torch_attributes
warnings.simplefilter("ignore")
found = {}
for name, module in torch_attributes.modules().items():
    file = io.BytesIO()
    torch.save(module, file)
    again = torch.load(io.BytesIO(file.getvalue()), weights_only=False)
    assert repr(again) == repr(module) and again.state_dict().keys() == module.state_dict().keys(), name
    found[name] = sorted(_whole.module_state(module, vars(module))), "treadle" in file.getvalue().decode("latin-1")
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    script = tmp_path_factory.mktemp("attributes") / "save.py"
    script.write_text(SAVE)
    paths = os.pathsep.join(map(str, (pathlib.Path(treadle.__file__).parents[1], HERE)))
    command = [sys.executable, "-m", "treadle", script]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", THEIRS)
def test_a_saved_module_has_pytorchs_attributes(saved, name):
    if name in ("Container", "CrossMapLRN2d", "LinearCrossEntropyLoss", "NLLLoss2d") and name not in saved:
        return  # classes that are not here
    attributes, own = saved[name]
    assert set(THEIRS[name]) - MADE <= set(attributes)
    assert not own or name in OWN


def names(file):
    """The names in the pickle of a file."""
    text = zipfile.ZipFile(file).read("archive/data.pkl")
    return {value.replace(" ", ".") for op, value, _ in pickletools.genops(text) if op.name == "GLOBAL"}


def double(module, args, kwargs):
    return tuple(2 * a for a in args), kwargs


def negative(module, args, result):
    return -result


def test_hooks_of_a_saved_module_stand_in_pytorchs_tables():
    module = nn.Linear(2, 2)
    module.register_forward_pre_hook(double, with_kwargs=True)
    module.register_forward_hook(negative)
    module.register_forward_hook(negative, always_call=True)
    state = torch.serialization._whole.module_state(module, vars(module))
    (first,), (second, third) = state["_forward_pre_hooks"], state["_forward_hooks"]
    assert state["_forward_pre_hooks"][first] is double and state["_forward_hooks"][second] is negative
    assert list(state["_forward_pre_hooks_with_kwargs"]) == [first]
    assert list(state["_forward_hooks_always_called"]) == [third] and not state["_forward_hooks_with_kwargs"]
    assert isinstance(state["_forward_hooks"], collections.OrderedDict) and "_hooked" not in state
    file = io.BytesIO()
    torch.save(module, file)
    again, x = torch.load(file, weights_only=False), torch.ones(1, 2)
    assert torch.equal(again(x), module(x)) and not torch.equal(again(x), again.forward(x))


@pytest.mark.parametrize("kind", ["Adam", "SGD", "ASGD", "NAdam"])
def test_a_saved_optimizer_has_pytorchs_names_and_goes_on(kind):
    def made(p):
        return getattr(torch.optim, kind)([p], lr=0.1)

    def stepped(optimizer):
        (p,) = optimizer.param_groups[0]["params"]
        p.grad = 2 * p.detach()
        optimizer.step()
        return p

    first = made(nn.Parameter(torch.tensor([1.0, -2.0])))
    stepped(first)
    file = io.BytesIO()
    torch.save(first, file)
    assert not any("treadle" in name for name in names(file))
    again = torch.load(file, weights_only=False)
    for _ in range(3):
        assert torch.equal(stepped(again), stepped(first))
    assert type(again.state) is type(first.state) and again.state.default_factory is first.state.default_factory


def test_what_only_treadle_loads_is_said():
    lazy = nn.LazyBatchNorm1d()
    with pytest.warns(UserWarning, match="PyTorch cannot load this file"):
        torch.save(lazy, io.BytesIO())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.save(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.LSTM(2, 2)), io.BytesIO())
    with pytest.raises(RuntimeError, match="Serialization of parametrized modules is only supported"):
        torch.save(nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)), io.BytesIO())
