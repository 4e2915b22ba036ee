"""Optimizer steps that a graph records: what a replay has to change is written in place, and the step's number is a
tensor, so that it is another one at each replay."""

from ... import _core, torch
from .._tensor._settle import settle


def check(optimizer, group):
    """RuntimeError: a step of the group cannot be recorded."""
    name = type(optimizer).__name__
    if not optimizer._recordable:
        raise RuntimeError(f"{name}: its steps cannot be recorded as a graph; those of Adam, AdamW and SGD can")
    if not group.get("capturable", True):
        raise RuntimeError(
            f"Attempting CUDA graph capture of step() for an instance of {name} but param_groups' capturable is "
            "False. If its steps are to be recorded, pass capturable=True"
        )


def begins(optimizer):
    """What is raised where the state of a parameter is made while a step is recorded."""
    return RuntimeError(
        f"{type(optimizer).__name__}: the state of a parameter begins while a step is recorded, and would begin anew "
        "at each replay: take a step before"
    )


def number_steps(optimizer, group):
    """Makes the numbers of the steps that come now: one tensor for all parameters that have taken as many, which is
    each one's state["step"]."""
    state, raised, fresh = optimizer.state, {}, {}
    for p in group["params"]:
        if p.grad is None:
            continue
        at = state[p].get("step", 0)
        if not isinstance(at, torch.Tensor) or at.device != p.device:
            if _core._capturing():
                raise begins(optimizer)
            key = float(at), p.device
            if key not in fresh:
                fresh[key] = torch.full((), key[0], device=p.device)
            at = fresh[key]
        state[p]["step"] = raised[id(at)] = at
    for p in group["params"]:  # those that take no step now part from the others
        if p.grad is None and id(state.get(p, {}).get("step")) in raised:
            state[p]["step"] = state[p]["step"].clone()
    for at in raised.values():
        at.add_(1)
    settle(list(raised.values()))
