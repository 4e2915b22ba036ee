"""model_steps.py SPECS OUT - losses of three steps of SGD for each line `name|imports|model|result` of a file."""

import json
import sys
import traceback

import numpy as np
import streams  # side.py makes it
import torch


def loss_of(out):
    """A number of a model's result: its mean square, or itself where it is one."""
    if isinstance(out, dict):
        out = tuple(out.values())
    if isinstance(out, (tuple, list)):
        return sum(t.pow(2).mean() for t in out if isinstance(t, torch.Tensor) and t.is_floating_point())
    return out if out.ndim == 0 else (out - 1).pow(2).mean()


def steps(imports, model, result):
    """The losses of three steps."""
    streams.begin_again()
    rng = np.random.default_rng(3)
    scope = {
        "torch": torch,
        "F": torch.nn.functional,
        "img": lambda *s: torch.from_numpy(rng.standard_normal(s)).to(torch.get_default_dtype()),
        "ints": lambda n, *s: torch.from_numpy(rng.integers(0, n, s)),
    }
    exec(imports, scope)
    scope["m"] = made = eval(model, scope)
    optimizer = torch.optim.SGD(made.parameters(), lr=0.01, momentum=0.9)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = loss_of(eval(result, scope))
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
    return losses


def main(specs, out):
    found = {}
    for line in open(specs).read().splitlines():
        name, *parts = (p.strip() for p in line.split("|"))
        try:
            found[name] = steps(*parts)
        except Exception:  # whatever a model raises is its result
            found[name] = traceback.format_exc().splitlines()[-1]
        with open(out, "w") as f:
            json.dump(found, f)


main(*sys.argv[1:])
