"""Optimizer steps inside of a recorded graph. What changes from replay to replay is written in place; the number of the
step is a tensor for that reason."""

from ... import _core, torch
from .._tensor._settle import settle


def check(optimizer, group):
    """Raise RuntimeError if a step of the group cannot be recorded."""
    name = type(optimizer).__name__
    if not optimizer._recordable:
        raise RuntimeError(f"{name}: its steps cannot be recorded as a graph; those of Adam, AdamW and SGD can")
    if not group.get("capturable", True):
        raise RuntimeError(
            f"Attempting CUDA graph capture of step() for an instance of {name} but param_groups' capturable is "
            "False. If its steps are to be recorded, pass capturable=True"
        )


def begins(optimizer):
    """The error that is raised if a parameter's state would be created while a step is recorded."""
    return RuntimeError(
        f"{type(optimizer).__name__}: the state of a parameter begins while a step is recorded, and would begin anew "
        "at each replay: take a step before"
    )


def number_steps(optimizer, group):
    """Create the numbers of the next steps. All parameters that have taken the same number of steps share one tensor,
    their state["step"]."""
    state, raised, fresh = optimizer.state, {}, {}
    for p in group["params"]:
        if p.grad is None:
            continue
        at = dict.get(state[p], "step", 0)
        if not isinstance(at, torch.Tensor) or at.device != p.device:
            if _core._capturing():
                raise begins(optimizer)
            key = float(at), p.device
            if key not in fresh:
                fresh[key] = torch.full((), key[0], device=p.device)
            at = fresh[key]
        state[p]["step"] = raised[id(at)] = at
    for p in group["params"]:  # parameters that skip this step get a tensor of their own
        if p.grad is None and id(dict.get(state.get(p, {}), "step")) in raised:
            state[p]["step"] = state[p]["step"].clone()
    for at in raised.values():
        at.add_(1)
    settle(list(raised.values()))
