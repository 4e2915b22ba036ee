"""The cells of recurrent layers, and all steps of a layer in one call.

The core runs the steps of one direction of a layer, forward and backward, with one product and one kernel for each
step. If it cannot, and for derivatives of derivatives, the cells' formulas record the steps one by one.
"""

from .... import _core, torch
from .. import functional as F


def _simple(gates_x, gates_h, state, function):
    return (function(gates_x + gates_h),)


def _lstm(gates_x, gates_h, state, _):
    i, f, g, o = (gates_x + gates_h).chunk(4, -1)
    c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def _gru(gates_x, gates_h, state, _):
    rx, zx, nx = gates_x.chunk(3, -1)
    rh, zh, nh = gates_h.chunk(3, -1)
    z = torch.sigmoid(zx + zh)
    n = torch.tanh(nx + torch.sigmoid(rx + rh) * nh)
    return ((1 - z) * n + z * state[0],)


# mode: (gates, states, the function of one step)
MODES = {"RNN_TANH": (1, 1, _simple), "RNN_RELU": (1, 1, _simple), "LSTM": (4, 2, _lstm), "GRU": (3, 1, _gru)}
FUNCTIONS = {"RNN_TANH": torch.tanh, "RNN_RELU": torch.relu}


def recorded(mode, reverse, gates, weight, bias, states):
    """The outputs (length, batch, hidden) and the last states. Each step is recorded as operations."""
    step, function, outputs = MODES[mode][2], FUNCTIONS.get(mode), []
    for now in gates.unbind(0)[:: -1 if reverse else 1]:
        states = step(now, F.linear(states[0], weight, bias), states, function)
        outputs.append(states[0])
    return torch.stack(outputs[::-1] if reverse else outputs), states


def run(mode, reverse, gates, weight, bias, states):
    """The same in one call of the core. None if the core cannot: tensors of other kinds or without elements, and dtypes
    that the device does not multiply."""
    given = [gates, weight, *states] + [bias] * (bias is not None)
    plain = all(type(t) in (torch.Tensor, torch.nn.Parameter) for t in given)
    if not plain or not gates.numel() or any(t.dtype is not gates.dtype or t.device != gates.device for t in given):
        return None
    done = _Sequence.apply(mode, reverse, gates, weight, bias, *states)
    return None if done is None else (done[0], done[1:])


class _Sequence(torch.autograd.Function):
    """(outputs, last h[, last c]), or None if the core has no product for the dtype."""

    @staticmethod
    def forward(ctx, mode, reverse, gates, weight, bias, h, c=None):
        made = _core._grad_recur(mode, reverse, gates, weight, bias, h, c)
        if made is NotImplemented:
            return None
        ctx.mode, ctx.reverse = mode, reverse
        ctx.save_for_backward(gates, weight, bias, h, c, *made)
        ctx.set_materialize_grads(False)
        # Copies, because programs may write to the results, while backward reads what it saved.
        outputs = made[0][:-1] if reverse else made[0][1:]
        return tuple(t.clone() for t in (outputs, *((s[0] if reverse else s[-1]) for s in made[:2] if s is not None)))

    @staticmethod
    def backward(ctx, *grads):
        gates, weight, bias, h0, c0, h, c, kept = ctx.saved_tensors
        if torch.is_grad_enabled():
            return _differentiable(ctx, (gates, weight, bias, h0, c0), grads)
        grads = (*grads, None)[:3]
        dg, ds, dh, dc = _core._grad_recur_back(ctx.mode, ctx.reverse, weight, h, c, kept, *grads)
        ds = (dg if ds is None else ds).flatten(0, 1)
        before = (h[1:] if ctx.reverse else h[:-1]).flatten(0, 1)
        dw = ds.T @ before if ctx.needs_input_grad[3] else None
        db = ds.sum(0) if bias is not None else None
        return (None, None, dg, dw, db, dh) + (dc,) * (c0 is not None)


def _differentiable(ctx, given, grads):
    """The gradients as functions that can be differentiated again: those of the same steps, recorded."""
    # Views, since one operand may be computed from another.
    given = [None if t is None else t.view_as(t) for t in given]
    wanted = [t for t in given if t is not None and t.requires_grad]
    outputs, last = recorded(ctx.mode, ctx.reverse, *given[:3], tuple(t for t in given[3:] if t is not None))
    results, of = zip(*[(r, g) for r, g in zip((outputs, *last), grads) if g is not None])
    found = iter(torch.autograd.grad(results, wanted, of, create_graph=True, allow_unused=True))
    back = [next(found) if t is not None and t.requires_grad else None for t in given]
    return (None, None, *back[: 5 - (given[4] is None)])
