"""Every public name of PyTorch's is here, or docs/torch.md and the exception say why not (treadle.torch._names)."""

import importlib
import inspect
import pathlib
import subprocess
import sys
import types

import pytest

import treadle.torch as torch
from treadle.torch import _modules, _names

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import torch_page  # noqa: E402

NAMES = torch_page.names()

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_table_is_whole():
    assert len(NAMES) > 170 and sum(map(len, NAMES.values())) > 3300
    assert "current_accelerator" in NAMES["accelerator"] and "DataLoader" in NAMES["utils.data.dataloader"]
    assert "LazyLinear" in NAMES["nn"] and "add_safe_globals" in NAMES["serialization"] and "storage" in NAMES["Tensor"]


@pytest.mark.parametrize("module", NAMES)
def test_names(module):
    found = {n: torch_page.status(module, n) for n in NAMES[module]}
    missing = [n for n, (kind, _) in found.items() if kind == "missing"]
    assert not missing, f"{module}: neither here nor refused in treadle.torch._names"
    full = module if module == "torch" else f"torch.{module}"
    told = " ".join(p for p in _names.REFUSED.get(full, {}) if p != "*").split()
    excused = [n for n in told if "*" not in n and found.get(n, ("", ""))[0] in ("native", "composed")]
    assert not excused, f"{module}: refused in treadle.torch._names, and here"


def test_what_is_missing_is_seen():
    for module in ("torch", "nn", "nn.functional", "distributed", "Tensor", "utils", "no_such"):
        assert torch_page.status(module, "no_such_name")[0] == "missing"


WHOLE = [m for m, rows in _names.REFUSED.items() if "*" in rows]


@pytest.mark.parametrize("module", WHOLE)
def test_whole_modules_are_imported_and_refused_at_use(module):
    there = importlib.import_module("treadle." + module)
    if not isinstance(there, _modules._Refused):  # a module that is here in part
        with pytest.raises(AttributeError) as told:
            there.no_such_name  # noqa: B018
        assert _names.REFUSED[module]["*"] in str(told.value)
        return
    thing = there.Thing
    assert not isinstance(3, thing) and not isinstance(torch.ones(1), thing)
    for use in (lambda: thing(), lambda: thing.method(), lambda: types.new_class("Mine", (thing,))()):  # a class of it may be defined
        with pytest.raises(NotImplementedError) as told:
            use()
        assert f"{module}.Thing" in str(told.value) and _names.REFUSED[module]["*"] in str(told.value)
    below = importlib.import_module(f"treadle.{module}.deeper.still")
    with pytest.raises(NotImplementedError, match="deeper.still.f"):
        below.f()


def test_single_names_tell_the_reason():
    for there, name, word in (
        (torch, "SUM", "machinery"),
        (torch.cuda, "utilization", "nvidia-smi"),
        (torch.nn, "NLLLoss2d", "removed"),
        (torch.linalg, "polar", "svd"),
        (torch.optim, "functional", "methods"),
    ):
        assert not hasattr(there, name)
        with pytest.raises(AttributeError, match=word):
            getattr(there, name)
    with pytest.raises(NotImplementedError, match="to_mkldnn.*layout"):
        torch.ones(2).to_mkldnn()
    with pytest.raises(AttributeError, match=r"docs/torch\.md"):
        torch.no_such  # noqa: B018


def test_modules_whose_names_stand_elsewhere():
    from treadle.torch.nn.modules.batchnorm import BatchNorm2d, SyncBatchNorm, _BatchNorm
    from treadle.torch.nn.modules.pooling import FractionalMaxPool2d, MaxPool2d
    from treadle.torch.nn.utils.weight_norm import weight_norm
    from treadle.torch.optim.adam import Adam

    assert BatchNorm2d is torch.nn.BatchNorm2d and issubclass(SyncBatchNorm, _BatchNorm) and Adam is torch.optim.Adam
    assert MaxPool2d is torch.nn.MaxPool2d and FractionalMaxPool2d is torch.nn.FractionalMaxPool2d
    layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))  # the module of this name has not hidden the function
    assert hasattr(layer, "weight_g") and callable(weight_norm)
    from treadle.torch.nn.modules.loss import MSELoss, _Loss, _WeightedLoss

    assert MSELoss is torch.nn.MSELoss and _Loss(reduction="sum").reduction == _Loss(size_average=False).reduction == "sum"
    assert _Loss(reduce=False).reduction == "none" and _WeightedLoss(torch.ones(2)).weight.tolist() == [1, 1]
    import treadle.torch.functional
    from treadle.torch.autograd.variable import Variable
    from treadle.torch.cuda.amp.autocast_mode import autocast
    from treadle.torch.nn.parallel.scatter_gather import scatter

    from treadle.torch.nn.common_types import _size_2_t

    assert treadle.torch.functional.einsum is torch.einsum and autocast is torch.cuda.amp.autocast and _size_2_t
    assert Variable is torch.autograd.Variable and scatter is torch.nn.parallel.scatter
    assert torch.nn.functional._Reduction.legacy_get_string(None, False, emit_warning=False) == "none"
    torch._dynamo.config.suppress_errors = torch._inductor.config.triton.cudagraphs = True  # noted
    torch._dynamo.reset()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("treadle.torch.nn.modules.no_such")


@pytest.mark.parametrize("name", [f"{p}.{m}".lstrip(".") for p, of in _names.HOMES.items() for m in of])
def test_an_imported_module_is_a_function_only_where_it_hides_one(name):
    """Its package shows it from then on; editors ask what is callable for parameters."""
    there = importlib.import_module(f"treadle.torch.{name}")
    own = name.rpartition(".")[2]
    hides = own in ("gradcheck", "spectral_norm", "weight_norm", "data_parallel", "parallel_apply", "replicate", "spawn", "gather")
    assert callable(there) == hides
    if hides:
        assert inspect.signature(there) == inspect.signature(getattr(there, own)) and isinstance(getattr(there, own), types.FunctionType)


@pytest.mark.parametrize("given", [{}, {"stride": 2, "padding": 1}, {"groups": 2, "dilation": 2, "padding": 2}])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_convolutions_by_themselves(dims, given):
    from treadle.torch.nn import grad

    torch.manual_seed(dims)
    x = torch.randn(2, 4, *(7,) * dims, requires_grad=True)
    w = torch.randn(6, 4 // given.get("groups", 1), *(3,) * dims, requires_grad=True)
    y = getattr(torch.nn.functional, f"conv{dims}d")(x, w, **given)
    g = torch.randn(*y.shape)
    y.backward(g)
    assert torch.allclose(getattr(grad, f"conv{dims}d_input")(x.shape, w.detach(), g, **given), x.grad, atol=1e-4)
    assert torch.allclose(getattr(grad, f"conv{dims}d_weight")(x.detach(), w.shape, g, **given), w.grad, atol=1e-4)


def test_page_is_what_the_tool_writes():
    done = subprocess.run([sys.executable, ROOT / "tools" / "torch_page.py", "--check"])
    assert done.returncode == 0, "docs/torch.md is out of date: PYTHONPATH=build/tree python tools/torch_page.py"
