"""Functions take the parameters that NumPy's take: each of them, given NumPy's default beside the arguments of a case that
NumPy accepts, changes nothing. What is refused stands in treadle._numpy._names.PARAMETERS with the reason."""

import ast
import inspect
import warnings

import numpy as np
import pytest
from test_numpy_cases import CASES, DRAWS, difference, operands, outcome

import treadle as td
from treadle._numpy import _names

# What stands for a default that cannot be written.
WRITTEN = {"where": True, "keepdims": False, "initial": 1, "correction": 0}

pytestmark = [
    pytest.mark.skipif(np.__version__ < "2.4", reason="parameters of NumPy 2.4"),
    pytest.mark.filterwarnings("ignore"),
]


def calls(text, name):
    """The calls of name in an expression."""
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node


def run(call, lib, dtype, path, **given):
    code = compile(ast.unparse(call), ast.unparse(call), "eval")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(code, operands(lib, dtype, "contiguous", path) | given)


def plain_call(texts, name, path):
    """A call, and the dtype of its arrays, that NumPy accepts; None: the name is not called by itself."""
    for text in texts:
        for call in calls(text, name):
            for dtype in ("float64", "int64", "uint8"):
                if run(call, np, dtype, path)[1] is None:
                    return call, dtype
    return None


def parameters(call, dtype, path):
    """(name, value) of NumPy's parameters that the call leaves to their defaults."""
    f = eval(compile(ast.unparse(call.func), "", "eval"), operands(np, dtype, "contiguous", path))
    try:
        found = inspect.signature(f).parameters.values()
    except (ValueError, TypeError):
        return
    for k, p in enumerate(found):
        named = p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is not p.empty
        if not named or k < len(call.args) or p.name in [w.arg for w in call.keywords]:
            continue
        if p.default is not np._NoValue:
            yield p.name, p.default
        elif p.name in WRITTEN:
            yield p.name, WRITTEN[p.name]


NAMES = [(module, name) for table in (CASES, DRAWS) for module, cases in table.items() for name in cases]


@pytest.mark.parametrize("module, name", NAMES, ids=lambda v: v or "np")
def test_parameters(module, name, tmp_path, monkeypatch):
    monkeypatch.setattr(td.config, "fallback", "allow")
    path, short = str(tmp_path / "f"), name.split(".")[-1]
    table = CASES if module in CASES else DRAWS
    found = plain_call(table[module][name] or [], short, path)
    if not found:
        return
    call, dtype = found
    refused = _names.PARAMETERS.get(short, {})
    wrong = []
    for parameter, value in parameters(call, dtype, path):
        more = ast.Call(call.func, call.args, [*call.keywords, ast.keyword(parameter, ast.Name("VALUE"))])
        theirs, error = run(more, np, dtype, path, VALUE=value)
        if error is not None and parameter not in refused:
            continue
        ours, error = run(more, td, dtype, path, VALUE=value)
        if parameter in refused:
            wrong += [] if isinstance(error, TypeError) else [f"{parameter} is taken, and listed as refused"]
        elif error is not None:
            wrong.append(f"{parameter}: {error!r}")
        elif table is CASES and (d := difference(ours, theirs)):
            wrong.append(f"{parameter}: {d}")
    assert not wrong, "\n".join([ast.unparse(call), *wrong])
