"""Evaluates the table of torch_cases.py with the real PyTorch or with treadle.torch, and says where two outcomes
differ.

`python torch_side.py values.txt` writes PyTorch's outcomes, which tests compare with where there is no PyTorch.
"""

import functools
import json
import math
import sys
import warnings

import numpy
import torch_cases

DIGITS = {"float16": 4, "bfloat16": 3, "float32": 8, "complex64": 8, "float64": 15, "complex128": 15}
CLOSE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 3e-5, "complex64": 3e-5, "float64": 1e-9, "complex128": 1e-9}


KIN = {"NotImplementedError": "RuntimeError", "_LinAlgError": "LinAlgError"}  # a subclass, a private name


def scope(torch, device=None):
    """The names that an expression sees: fresh operands each time, on a device."""
    names = {"torch": torch, "numpy": numpy}
    for name, value in torch_cases.operands().items():
        names[name] = torch.from_numpy(numpy.array(value)).to(device or "cpu")
        if name[0].islower() and value.dtype.kind == "f":
            names[name].requires_grad_()
    return {
        **names,
        "put_in": put_in,
        "leaf_written": leaf_written,
        "twice": twice,
        "written_over": written_over,
        "under": under,
        "through": through,
        "second": functools.partial(second, torch),
    }


def put_in(t, change):
    t = t.clone()
    change(t)
    return t


def leaf_written(t):
    t += 1


def twice(t):
    y = (t * t).sum()
    y.backward()
    y.backward()


def written_over(t):
    y = t.clone()
    z = y.exp() * y
    y += 1
    z.sum().backward()


def under(manager, f):
    with manager:
        return f()


def through(f, t):
    t = t.detach().requires_grad_()
    f(t).backward()
    return t.grad


def second(torch, f, t):
    """The gradient of the squares of the gradient of f's squares."""
    t = t.detach().requires_grad_()
    (first,) = torch.autograd.grad((f(t).abs() ** 2).sum(), t, create_graph=True)
    return first.detach(), torch.autograd.grad((first.abs() ** 2).sum(), t)[0]


def parts(r):
    if isinstance(r, (tuple, list)) and not hasattr(r, "numel"):
        return [p for each in r for p in parts(each)]
    return [r]


def written(t):
    """A tensor as (dtype, shape, values); anything else as its text."""
    if not hasattr(t, "detach"):
        return repr(t)
    name = str(t.dtype).removeprefix("torch.")
    t = t.detach().cpu().resolve_conj()
    a = (t.float() if name in ("bfloat16", "float16") else t).numpy(force=True)
    if a.dtype.kind == "c":
        a = numpy.stack([a.real, a.imag], -1)
    values = [float(f"%.{DIGITS[name]}g" % v) for v in a.ravel().tolist()] if name in DIGITS else a.ravel().tolist()
    return [name, list(t.shape), values]


def outcome(torch, expression, device=None):
    """[results, gradients by operand]; or the name of the exception."""
    names = scope(torch, device)
    torch.set_default_device(device)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            r = parts(eval(expression, names))
            grads = gradients(torch, r, names)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    finally:
        torch.set_default_device(None)
    return [[written(t) for t in r], grads]


def gradients(torch, results, names):
    total = None
    for t in results:
        if hasattr(t, "requires_grad") and t.requires_grad and t.grad_fn is not None:
            t = torch.view_as_real(t.resolve_conj()) if t.dtype.is_complex else t
            weights = torch.from_numpy(numpy.cos(numpy.arange(t.numel())).reshape(tuple(t.shape))).to(t.device, t.dtype)
            part = (t * weights).sum().to(torch.float64)
            total = part if total is None else total + part
    if total is None:
        return {}
    total.backward()
    return {k: written(v.grad) for k, v in names.items() if getattr(v, "is_leaf", False) and v.grad is not None}


def near(ours, theirs, close):
    if isinstance(ours, bool) or not isinstance(ours, float):
        return ours == theirs
    if math.isnan(ours) or math.isnan(theirs) or math.isinf(ours) or math.isinf(theirs):
        return ours == theirs or (math.isnan(ours) and math.isnan(theirs))
    return abs(ours - theirs) <= close * max(1.0, abs(theirs))


def differs(ours, theirs):
    """What differs between two outcomes, as text; None: nothing."""
    if isinstance(theirs, str) or isinstance(ours, str):
        kinds = [KIN.get(k, k) for k in (t.split(":")[0] if isinstance(t, str) else None for t in (ours, theirs))]
        return None if kinds[0] == kinds[1] else f"{ours}\n  PyTorch: {theirs}"
    if len(ours[0]) != len(theirs[0]):
        return f"{len(ours[0])} results, PyTorch {len(theirs[0])}"
    mine, other = (
        {k: g for k, g in side[1].items() if any(g[2])} for side in (ours, theirs)
    )  # None may stand for zeros
    if sorted(mine) != sorted(other):
        return f"gradients of {sorted(mine)}, PyTorch of {sorted(other)}"
    pairs = [*zip(ours[0], theirs[0], strict=True), *((mine[k], other[k]) for k in other)]
    for one, other in pairs:
        if isinstance(one, str) or isinstance(other, str):
            if one != other:
                return f"{one}\n  PyTorch: {other}"
        elif one[:2] != other[:2]:
            return f"{one[:2]}, PyTorch {other[:2]}"
        elif not all(near(a, b, CLOSE.get(one[0], 0)) for a, b in zip(one[2], other[2], strict=True)):
            return f"{one}\n  PyTorch: {other}"
    return None


def main(path):
    import torch

    torch.set_num_threads(2)
    with open(path, "w") as out:
        for _, expression in torch_cases.cases():
            out.write(json.dumps([expression, outcome(torch, expression)], separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
