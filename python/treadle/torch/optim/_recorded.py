"""Optimizer steps that a graph records: what a replay has to change is written in place, and the step's number is a
tensor, so that it is another one at each replay."""

from ... import _core, torch


def check(optimizer, group):
    """RuntimeError: a step of the group cannot be recorded."""
    name = type(optimizer).__name__
    if not optimizer._recordable:
        raise RuntimeError(f"{name}: its steps cannot be recorded as a graph; those of Adam, AdamW and SGD can")
    if not group.get("capturable", True):
        raise RuntimeError(
            f"Attempting CUDA graph capture of step() for an instance of {name} but param_groups' capturable is False. "
            "If its steps are to be recorded, pass capturable=True"
        )


def _begins(optimizer):
    return RuntimeError(
        f"{type(optimizer).__name__}: the state of a parameter begins while a step is recorded, and would begin anew at "
        "each replay: take a step before"
    )


def number_steps(optimizer, group):
    """Makes the numbers of the steps that come now, one tensor for all parameters that have taken as many, which is each
    one's state["step"]. Returns them."""
    state, raised, fresh = optimizer.state, {}, {}
    for p in group["params"]:
        if p.grad is None:
            continue
        at = state[p].get("step", 0)
        if not isinstance(at, torch.Tensor) or at.device != p.device:
            if _core._capturing():
                raise _begins(optimizer)
            key = float(at), p.device
            at = fresh[key] = fresh[key] if key in fresh else torch.full((), key[0], device=p.device)
        state[p]["step"] = raised[id(at)] = at
    for p in group["params"]:  # those that take no step now part from the others
        if p.grad is None and id(state.get(p, {}).get("step")) in raised:
            state[p]["step"] = state[p]["step"].clone()
    for at in raised.values():
        at.add_(1)
    return list(raised.values())


def written(optimizer, state, before):
    """The state of a parameter, which was `before`: its new tensors are written into those."""
    for key, value in state.items():
        if isinstance(value, torch.Tensor) and value is not before.get(key):
            if key not in before:
                raise _begins(optimizer)
            before[key].copy_(value)
            state[key] = before[key]
