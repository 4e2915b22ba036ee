"""The expressions of torch_cases.py in a function that torch.vmap runs once for all items: against a loop over the items,
values and gradients, with the first operand mapped and with all. Which run item by item stands in LOOPED."""

import warnings
from functools import partial

import numpy as np
import pytest
import torch_cases
import torch_side

import treadle.torch as torch
from treadle._vmap import _vmap
from treadle.torch import _vmap as tensors

N = 2


def operands():
    """(what all items share, two items of each) as tensors."""
    shared, stacks = {}, {}
    for name, value in torch_cases.operands().items():
        other = value[::-1].copy() if value.ndim and value.dtype.kind != "f" else value * value.dtype.type(1)
        if value.dtype.kind in "fc":
            other = value * value.dtype.type(0.75)
        shared[name], stacks[name] = torch.from_numpy(np.array(value)), torch.from_numpy(np.stack([value, other]))
        if name[0].islower() and value.dtype.kind == "f":
            shared[name].requires_grad_()
            stacks[name].requires_grad_()
    return shared, stacks


def run(text, names, how):
    """(values, gradients) of all items, or the exception."""
    shared, stacks = operands()
    code = compile(text, text, "eval")
    space = {"torch": torch, "numpy": np, "put_in": torch_side.put_in, "under": torch_side.under,
             "through": torch_side.through, "second": partial(torch_side.second, torch), **shared}  # fmt: skip

    def f(*items):
        r = eval(code, {**space, **dict(zip(names, items, strict=True))})
        return tuple(t.clone() if isinstance(t, torch.Tensor) else t for t in torch_side.parts(r))

    given = [stacks[k] for k in names]
    try:
        if how == "loop":
            r = _vmap._looped(f, ([_vmap._Mapped(a) for a in given], {}), N, 0, tensors.Tensors)
        else:
            tensors.install()
            r = _vmap.batched(f, loop=how, face=tensors.Tensors)(*given)
        values = [torch_side.written(t) for t in r]
        grads = torch_side.gradients(torch, r, {**shared, **{k + "*": v for k, v in zip(names, given, strict=True)}})
    except Exception as error:
        return error
    return [values, grads]


def compare(text, names):
    """(what differs or None, did it run once for all items?)"""
    theirs = run(text, names, "loop")
    ours = run(text, names, False)
    once = not isinstance(ours, _vmap.Unbatched)
    why = None if once else str(ours)
    if not once:
        ours = run(text, names, True)
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        alike = isinstance(ours, Exception) and isinstance(theirs, Exception)
        wrong = None if alike else f"{text} of {names}: {ours!r} where a loop has {theirs!r}"
        return wrong, None if isinstance(theirs, Exception) else why
    found = torch_side.differs(ours, theirs)
    return found and f"{text} of {names}: {found}", why


# Names of which the expression that is tried runs item by item: results of other lengths, values that Python looks at,
# gradients that add up over the items, counting, modules that are made within, and the core's methods of a shared tensor
# with an item as argument.
LOOPED = set(
    ".apply_ .backward .resize_ .scatter_reduce_ .swapaxes_ .t_ argwhere bincount cummax cummin func.functional_call "
    "get_num_threads hash.whole histc histogram histogram.one index_reduce index_reduce.zeros linalg.lu linalg.lu_factor "
    "lu.shapes polynomials.degrees scatter_reduce.whole linalg.lu_solve lu_solve lu_unpack masked_select "
    "matrix_exp nonzero scatter_reduce searchsorted special.airy_ai tensor unique unique_consecutive".split()
)


def first_cases():
    """One expression for each name that works on operands."""
    found = {}
    for name, text in torch_cases.cases():
        used = [k for k in torch_cases.operands() if k in compile(text, text, "eval").co_names]
        if used and name not in found:
            found[name] = (text, tuple(used))
    return found


CASES = first_cases()
PARTS = 12


@pytest.mark.parametrize("part", range(PARTS))
def test_as_a_loop(part):
    failed = []
    for name in list(CASES)[part::PARTS]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong, why = compare(*CASES[name])
        failed += [f"{name}: {wrong}"] if wrong else []
        if (why is None) == (name in LOOPED):
            failed.append(f"{name}: {CASES[name][0]} " + (f"runs item by item: {why}" if why else "runs for all items: LOOPED"))
    assert not failed, "\n".join(failed)
