"""What treadle says of itself and of mistakes: texts for help(), names that are nearly right, what to do instead."""

import importlib
import inspect

import numpy as np
import pytest

import treadle as td
from treadle import _core


@pytest.mark.parametrize("name, meant", [("anything", None), ("implicit_hosts", "implicit_host"), ("fallbak", "fallback")])
def test_misspelt_settings_raise(name, meant):
    with pytest.raises(AttributeError, match=f"no setting '{name}'") as error:
        setattr(td.config, name, "warn")
    assert not hasattr(td.config, name)
    assert (f"did you mean '{meant}'" in str(error.value)) == (meant is not None)


@pytest.mark.parametrize("name, meant", [("fallbak", "fallback"), ("check_bound", "check_bounds"), ("q", None)])
def test_misspelt_settings_that_are_read(name, meant):
    with pytest.raises(AttributeError, match=f"no setting '{name}'") as error:
        getattr(td.config, name)
    assert (f"did you mean '{meant}'" in str(error.value)) == (meant is not None)


@pytest.mark.parametrize(
    "module, name, meant",
    [
        ("cuda", "to_devic", "to_device"), ("cuda", "jitt", "jit"), ("torch", "tensr", "tensor"), ("torch.nn", "Linaer", "Linear"),
        ("torch.nn.functional", "rellu", "relu"), ("torch.optim", "Adm", "Adam"), ("fft", "rffft", "rfft"),
        ("cupyx", "scater_add", "scatter_add"), ("testing", "asert_allclose", "assert_allclose"), ("cuda", "zzz", None),
        ("torch", "zzz", None), ("executor", "DeviceExecuter", "DeviceExecutor"), ("linalg", "slove", "solve"),
        ("random", "nomal", "normal"), ("memory", "statss", "stats"), ("scipy.special", "erff", "erf"), ("pycuda.driver", "InOt", "InOut"),
        ("distributed", "alreduce", "all_reduce"), ("types", "flot32", "float32"), ("special", "erff", "erf"),
    ],
)  # fmt: skip
def test_misspelt_names_of_faces_are_told(module, name, meant):
    face = importlib.import_module(f"treadle.{module}")
    with pytest.raises(AttributeError, match=name) as error:
        getattr(face, name)
    assert (f"did you mean '{meant}'" in str(error.value)) == (meant is not None)
    assert not hasattr(face, name) and not hasattr(face, "__no_such__")


def test_settings_that_exist_are_taken():
    for name, value in {"check_bounds": True, "implicit_host": "allow", "fallback": "warn"}.items():
        setattr(td.config, name, value)
        assert getattr(td.config, name) == value


@pytest.mark.parametrize("name, meant", [("asaray", "asarray"), ("zero", "zeros"), ("linspce", "linspace"), ("q", None)])
def test_misspelt_names_are_told(name, meant):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'") as error:
        getattr(td, name)
    assert (f"did you mean '{meant}'" in str(error.value)) == (meant is not None)
    assert not hasattr(td, name)


def test_dir_shows_public_names():
    shown = dir(td)
    assert {"asarray", "sum", "linalg", "config", "bfloat16"} <= set(shown)
    assert not [n for n in shown if n.startswith("_") and not n.startswith("__")]


def test_what_cannot_be_held_is_said():
    """The dtype that NumPy gives it, and what to do; where a dtype makes numbers of it they are taken. Programs see the
    refusal where NumPy's function cannot stand in: in other faces and on other devices."""
    for bad, dtype in ((["a", "b"], "<U1"), ([None, 1], "'O'"), ([object()], "'O'"), (np.array(["x"]), "<U1")):
        with pytest.raises(TypeError, match="hold numbers: cannot convert") as error:
            _core.asarray(bad)
        assert dtype in str(error.value) and "give dtype=" in str(error.value)
    assert td.asarray(["1", "2.5"], dtype=float).tolist() == [1.0, 2.5]
    for text in (["a"], [b"a"], np.array(["a"]), np.array([b"a"]), [["a", "b"]]):
        with pytest.raises(TypeError, match=r"text; keep it in NumPy's array, .*numpy\.unique") as error:
            _core.asarray(text)


@pytest.mark.skipif(any(d.kind == "cuda" for d in td.devices()), reason="there is a GPU")
def test_a_missing_gpu_is_told_with_what_is_there():
    with pytest.raises(td.DeviceError, match='no CUDA device.*use the device "cpu"'):
        td.zeros(3, device="cuda:0")


def test_the_formula_of_a_reduction_is_told():
    for name in {row[0] for row in _core.reductions()}:
        assert inspect.getdoc(getattr(td, name)).startswith(f"np.{name}(x, axis)")
