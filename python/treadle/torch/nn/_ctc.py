"""Connectionist temporal classification: a loss over all alignments of a short sequence with a long one."""

import numpy

from ... import torch
from ._losses import reduced

NEVER = -1e30  # log of an impossible event: finite, so that derivatives are 0 and not NaN


def _whole(lengths):
    """Lengths, given as a tensor or a sequence, as a NumPy array."""
    return numpy.asarray(lengths.cpu().numpy() if isinstance(lengths, torch.Tensor) else lengths, "int64").reshape(-1)


def _padded(targets, lengths):
    """Targets that stand one after another, padded to (batch, longest)."""
    if targets.dim() == 2:
        return targets
    places = (numpy.cumsum(lengths) - lengths)[:, None] + numpy.arange(max(1, lengths.max()))
    places = numpy.minimum(places, max(0, len(targets) - 1))
    return targets[torch.from_numpy(places).to(targets.device)] if len(targets) else targets.new_zeros(places.shape)


def _check(log_probs, targets, steps, lengths, blank):
    length, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, found in (("input_lengths", steps), ("target_lengths", lengths)):
        if len(found) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
    if (steps < 0).any() or steps.max() > length:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {length}, but got value {steps.max()} (while checking "
            "arguments for ctc_loss_allocate_outputs)"
        )
    if targets.dim() == 2 and lengths.max() > targets.size(1):
        raise RuntimeError(
            f"Expected tensor to have size at least {lengths.max()} at dimension 1, but got size {targets.size(1)} for "
            "argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)"
        )
    if targets.dim() == 1 and lengths.sum() != len(targets):
        raise RuntimeError(f"ctc_loss: {len(targets)} targets one behind the other, of lengths {lengths.tolist()}")


def _extended(targets, blank):
    """(the targets with a blank before, between and after them, (batch, 2 S + 1); where a step may skip the blank
    before it)."""
    batch, most = targets.shape
    states = torch.full((batch, 2 * most + 1), blank, dtype=torch.int64, device=targets.device)
    states[:, 1::2] = targets
    skip = torch.zeros(states.shape, dtype=torch.bool, device=states.device)
    skip[:, 3::2] = targets[:, 1:] != targets[:, :-1]
    return states, skip


def _forward(emitted, skip, steps, top):
    """The log probabilities of being in each state at the end: (batch, 2 S + 1)."""
    places = torch.arange(skip.size(1), device=skip.device)
    first = torch.where((places < 2) & (places < top.unsqueeze(1)), emitted[0], NEVER)
    now, outside = torch.where((steps > 0).unsqueeze(1), first, torch.where(places == 0, 0.0, NEVER)), None
    for t in range(1, emitted.size(0)):
        if outside is None:
            outside = torch.full((skip.size(0), 2), NEVER, dtype=now.dtype, device=now.device)
        before = torch.cat([outside, now], 1)
        ways = torch.logaddexp(now, before[:, 1:-1])
        ways = torch.logaddexp(ways, torch.where(skip, before[:, :-2], NEVER))
        now = torch.where((t < steps).unsqueeze(1), (ways + emitted[t]).clamp(min=NEVER), now)
    return now


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the probability that log_probs (T, N, C), or (T, C), emits the targets, which are (N, S) or stand one
    after another.

    "mean" divides each loss by its target's length before taking the mean over the batch. zero_infinity: a target that
    is too long for its input has loss 0 and gradient 0. Gradients are those with respect to log_probs as given.
    PyTorch's contain a term that a log_softmax before the loss would remove.
    """
    one = log_probs.dim() == 2
    log_probs = log_probs.unsqueeze(1) if one else log_probs
    targets = targets.unsqueeze(0) if one and targets.dim() == 1 else targets
    steps, lengths = _whole(input_lengths), _whole(target_lengths)
    _check(log_probs, targets, steps, lengths, blank)
    here = log_probs.device
    half = log_probs.dtype in (torch.float16, torch.bfloat16)
    values = (log_probs.float() if half else log_probs).clamp(min=NEVER)
    states, skip = _extended(_padded(targets.to(torch.int64), lengths), blank)
    at_end = torch.from_numpy(lengths).to(here)
    count = torch.from_numpy(steps).to(here)
    index = states.unsqueeze(0).expand(values.size(0), *states.shape)
    last = _forward(values.gather(2, index), skip, count, 2 * at_end + 1)
    blank_last = last.gather(1, (2 * at_end).unsqueeze(1))
    label_last = last.gather(1, (2 * at_end - 1).clamp(min=0).unsqueeze(1))
    total = torch.logaddexp(blank_last, torch.where(at_end.unsqueeze(1) > 0, label_last, NEVER)).squeeze(1)
    never = total < NEVER / 2
    loss = torch.where(never, 0.0 if zero_infinity else torch.inf, -total)
    loss = loss.to(log_probs.dtype) if half else loss
    if reduction == "mean":
        loss = loss / at_end.clamp(min=1).to(loss.dtype)
    return reduced(loss.squeeze(0) if one and reduction == "none" else loss, reduction)
