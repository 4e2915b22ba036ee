"""Losses: functions of predictions and targets, of which the mean, the sum or all values are returned."""

import math
import warnings

from ... import _core, torch
from .._prim import derived, td
from . import _reduction
from ._activations import logsigmoid


def reduced(loss, reduction):
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"{reduction} is not a valid value for reduction")


def _old(size_average, reduce, reduction):
    """The reduction that PyTorch's deprecated parameters mean."""
    given = size_average is not None or reduce is not None
    return _reduction.legacy_get_string(size_average, reduce) if given else reduction


def _within(loss, other):
    """Raise RuntimeError if an operand that is multiplied into the loss in place would make it larger."""
    if isinstance(other, torch.Tensor):
        both = torch.broadcast_shapes(loss.shape, other.shape)
        if both != loss.shape:
            raise RuntimeError(f"output with shape {list(loss.shape)} doesn't match the broadcast shape {list(both)}")


def _pair(name, input, target):
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This "
            "will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def _difference(name, input, target, kinds="f"):
    """input - target in the dtype that they have in common, which has to be of these kinds."""
    _pair(name, input, target)
    dtype = torch.result_type(input, target)
    if dtype._kind not in kinds:
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtype._word}'")
    return input.to(dtype) - target.to(dtype)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(input - target)²."""
    d = _difference("mse_loss", input, target, "uif")
    return _weighted(d * d, input, weight, _old(size_average, reduce, reduction))


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """|input - target|."""
    _pair("l1_loss", input, target)
    return _weighted((input - target).abs(), input, weight, _old(size_average, reduce, reduction))


def _weighted(loss, input, weight, reduction):
    """The losses of input's elements, each times its weight, reduced; the mean is that by the sum of weights."""
    if weight is None:
        return reduced(loss, reduction)
    _want_weights(input, weight)
    return (loss * weight).sum() / weight.sum() if reduction == "mean" else reduced(loss * weight, reduction)


def _want_weights(input, weight):
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """d² / (2 beta) where |d| < beta, else |d| - beta / 2."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, size_average, reduce, reduction)
    d = _difference("smooth_l1_loss", input, target)
    far = d.abs() >= beta
    square = torch.where(far, 0.0, d) ** 2  # of near ones alone: a far one's infinity has no part in the gradient
    loss = torch.where(far, d.abs() - 0.5 * beta, square * (0.5 / beta))
    return reduced(loss, _old(size_average, reduce, reduction))


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """d² / 2 where |d| <= delta, else delta * (|d| - delta / 2)."""
    if isinstance(delta, complex):
        raise TypeError(f"delta must be a float or int, got: {type(delta)}")
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    d = _difference("huber_loss", input, target)
    if not input.is_floating_point():
        raise RuntimeError(f"result type {d.dtype._word} can't be cast to the desired output type {input.dtype._word}")
    far = d.abs() >= delta
    square = torch.where(far, 0.0, d) ** 2
    loss = torch.where(far, delta * (d.abs() - 0.5 * delta), 0.5 * square).to(input.dtype)
    if weight is not None:
        _want_weights(input, weight)
    return reduced(loss if weight is None else loss * weight, reduction)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target * log(input) + (1 - target) * log(1 - input)). Logarithms are held above -100."""
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
            "deprecated. Please ensure they have the same size."
        )
    if input.dtype is not target.dtype:
        raise RuntimeError(f"Found dtype {target.dtype._word} but expected {input.dtype._word}")
    if input.device.type == "cpu" and not _core._capturing():
        if anywhere(~((input.detach() >= 0) & (input.detach() <= 1))):
            raise RuntimeError("all elements of input should be between 0 and 1")
    loss = _crossed(input, target)
    _within(loss, weight)
    return reduced(loss if weight is None else loss * weight, _old(size_average, reduce, reduction))


@derived("BinaryCrossEntropy")
def _crossed(x, t):
    return (t - 1) * td.maximum(td.log1p(-x), -100) - t * td.maximum(td.log(x), -100)


@_crossed.backward
def _(inputs, r, g):
    x, t = inputs
    return g * (x - t) / ((1 - x) * x).clamp(min=1e-12), -g * torch.logit(x)


def _not_whole(name, target):
    if target.dtype._kind in "bui":
        raise RuntimeError(f"{name}: a target of {target.dtype} is not supported: give floating-point numbers")


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """binary_cross_entropy of sigmoid(input), in one stable formula. pos_weight multiplies the term of target 1."""
    if input.shape != target.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    _not_whole("binary_cross_entropy_with_logits", target)
    for factor in (weight, pos_weight):
        _within(input, factor)
    if pos_weight is None:
        loss = (1 - target) * input - logsigmoid(input)
    else:
        loss = (1 - target) * input - (1 + (pos_weight - 1) * target) * logsigmoid(input)
    loss = loss.to(target.dtype)
    return reduced(loss if weight is None else loss * weight, _old(size_average, reduce, reduction))


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input). input holds logarithms, and so does target with log_target."""
    reduction = _old(size_average, reduce, reduction)
    _not_whole("kl_div", target)
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if log_target:
        loss = torch.exp(target) * (target - input)
    else:
        loss = torch.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / (input.size(0) if input.dim() else 1)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' "
            "divides only by the batch size, and aligns with the KL div math definition.",
            stacklevel=2,
        )
    return reduced(loss, reduction)


# ---- classes ----


def anywhere(t):
    """Is any element true? Inside of torch.vmap this asks for all items at once."""
    while hasattr(t, "_value"):
        t = t._value
    return t.any().item()


def _bounds(target, classes, ignore_index):
    """On the CPU: raise IndexError for a target that is no class. On other devices, and while recording, nothing waits
    for the targets, and the loss of such a target is NaN."""
    if target.device.type == "cpu" and not _core._capturing():
        wrong = ((target < 0) | (target >= classes)) & (target != ignore_index)
        if anywhere(wrong):
            raise IndexError(f"Target {target[wrong][0].item()} is out of bounds.")


def _chosen(logp, target, ignore_index):
    """-logp of each element's target class, 0 for ignored targets. Dim 1 holds the classes.

    It compares the target with all class numbers instead of gathering: that fuses with the computation of logp, and so
    does its gradient.
    """
    classes = logp.size(1)
    numbers = torch.arange(classes, device=logp.device).reshape((1, -1, *[1] * (logp.dim() - 2)))
    picked = torch.where(numbers == target.unsqueeze(1), -logp, 0.0).sum(1)
    if target.device.type == "cpu":
        return picked
    wrong = ((target < 0) | (target >= classes)) & (target != ignore_index)
    return torch.where(wrong, math.nan, picked)


def _weights(weight, target, ignore_index, dtype):
    """The weight of each target, 0 for ignored targets."""
    valid = target != ignore_index
    if weight is None:
        return valid.to(dtype)
    return torch.where(valid, weight.to(dtype)[torch.where(valid, target, 0)], 0.0)


def _names_classes(target):
    if target.dtype._name not in ("int64", "uint8"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype._word}")


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """-input[i, target[i]]. input: log probabilities (N, C, …); target: class numbers (N, …). Or (C,) and ()."""
    reduction = _old(size_average, reduce, reduction)
    _names_classes(target)
    if input.dim() == 0:
        raise ValueError(f"Expected 1 or more dimensions (got {input.dim()})")
    if input.dim() == 1:
        loss = nll_loss(input.unsqueeze(0), target.reshape(1), weight, None, ignore_index, None, reduction)
        return loss.reshape(()) if reduction == "none" else loss
    count = target.size(0) if target.dim() else 0
    if input.size(0) != count:
        raise ValueError(f"Expected input batch_size ({input.size(0)}) to match target batch_size ({count}).")
    if (input.size(0), *input.shape[2:]) != tuple(target.shape):
        raise RuntimeError(f"Expected target size {[input.size(0), *input.shape[2:]]}, got {list(target.shape)}")
    _suits(weight, input, input.size(1))
    _bounds(target, input.size(1), ignore_index)
    loss = _chosen(input, target, ignore_index)
    plain = weight is None and not 0 <= ignore_index < input.size(1)
    if plain and (reduction != "mean" or target.numel() == 0):
        return reduced(loss, reduction)
    w = _weights(weight, target, ignore_index, input.dtype)
    if not plain:
        loss = loss * w
    return _mean_by(loss.sum(), w.sum()) if reduction == "mean" else reduced(loss, reduction)


def _mean_by(total, n):
    """total / n. If nothing counts it is NaN, with the gradient 0."""
    none = n == 0
    return torch.where(none, total.detach() / n.detach(), total / torch.where(none, 1.0, n))


def _suits(weight, input, classes):
    """Raise RuntimeError unless there is one weight for each class."""
    if weight is None:
        return
    if weight.numel() != classes:
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )
    if weight.dtype is not input.dtype:
        raise RuntimeError(f"expected weights of {input.dtype} as the input is, but found {weight.dtype}")


def _known(reduction):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


# ---- cross entropy of class numbers: one function of rows for the loss, one for its gradient ----


def _numbers(classes, like, make):
    """The class numbers along dim 1, in a tensor of like's rank."""
    numbers = make(classes, device=like.device)
    return numbers if like.ndim == 2 else numbers.reshape((-1, *[1] * (like.ndim - 2)))


def _one_more(t):
    return t.reshape((t.shape[0], 1, *t.shape[1:]))


@derived("NllLoss")
def _entropy(a, target, *, ignore_index, reduction):
    """(The reduced loss of logits a, the number of targets that count). An ignored target has loss 0, an invalid class
    NaN."""
    shifted = a - td.max(a, axis=1, keepdims=True)
    own = _numbers(a.shape[1], a, td.arange) == _one_more(target)
    lost = td.log(td.sum(td.exp(shifted), axis=1)) - td.sum(td.where(own, shifted, 0.0), axis=1)
    counts = target != ignore_index
    lost = td.where((target >= 0) & (target < a.shape[1]), lost, math.nan)
    lost = td.where(counts, lost, 0.0)
    td.evaluate(lost)  # evaluated alone it is one kernel that keeps rows
    if reduction == "none":
        return lost, counts
    total, n = td.sum(lost), td.sum(counts, dtype=a.dtype)
    return (total / n if reduction == "mean" else total), n


@_entropy.backward
def _(inputs, results, grads, *, ignore_index, reduction):
    (x, target), (g, _) = inputs, grads
    if g is None:
        return None, None
    e = (x - x.detach().amax(1, keepdim=True)).exp()
    own = _numbers(x.size(1), x, torch.arange) == target.unsqueeze(1)
    g = torch.where(target != ignore_index, g / results[1].detach() if reduction == "mean" else g, 0.0)
    return (e / e.sum(1, keepdim=True) - own.to(x.dtype)) * g.unsqueeze(1), None


def _plainly(input, target):
    """Are these a batch of logits with one class number for each?"""
    shape = input.shape
    return len(shape) > 1 and (shape[0], *shape[2:]) == tuple(target.shape) and input.numel() > 0


def _entropy_checked(input, target, ignore_index, reduction):
    loss, _ = _entropy(input, target, ignore_index=ignore_index, reduction=reduction)
    if target.device.type == "cpu" and not _core._capturing():
        value = loss.detach()
        if anywhere(value != value) if reduction == "none" or hasattr(value, "_value") else math.isnan(value.item()):
            _bounds(target, input.size(1), ignore_index)
    return loss


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    """nll_loss of log_softmax over dim 1 (dim 0 of a vector). target holds class numbers, or probabilities in input's
    shape."""
    reduction = _old(size_average, reduce, reduction)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    dim = 0 if input.dim() == 1 else 1
    classes = not target.is_floating_point()
    if classes and input.shape != target.shape:
        _names_classes(target)
    if classes and weight is None and not label_smoothing and reduction in ("mean", "sum", "none"):
        if _plainly(input, target):
            return _entropy_checked(input, target, ignore_index, reduction)
    _suits(weight, input, input.size(dim))
    if dim and target.dim() and input.size(0) != target.size(0):
        raise ValueError(f"Expected input batch_size ({input.size(0)}) to match target batch_size ({target.size(0)}).")
    if not classes and input.shape != target.shape:
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {target.dtype._word} (probabilities have the input's "
            "shape)"
        )
    if not classes and ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    logp = torch.log_softmax(input, dim)
    if input.shape == target.shape and target.is_floating_point():
        return _soft(logp, target, weight, reduction, label_smoothing, dim)
    if label_smoothing == 0:
        return nll_loss(logp, target, weight, None, ignore_index, None, reduction)
    batch, classes = (logp.unsqueeze(0), target.reshape(1)) if dim == 0 else (logp, target)
    hard = nll_loss(batch, classes, weight, None, ignore_index, None, "none" if reduction == "none" else "sum")
    w = _weights(weight, classes, ignore_index, logp.dtype)
    own = -batch if weight is None else -batch * weight.reshape((1, -1, *[1] * (batch.dim() - 2)))
    even = own.sum(1) * (classes != ignore_index).to(logp.dtype)
    eps = label_smoothing / batch.size(1)
    if reduction == "none":
        loss = (1 - label_smoothing) * hard + eps * even
        return loss.reshape(()) if dim == 0 else loss
    total = (1 - label_smoothing) * hard + eps * even.sum()
    return _mean_by(total, w.sum()) if reduction == "mean" else total


def _soft(logp, target, weight, reduction, smoothing, dim):
    if smoothing:
        target = target * (1 - smoothing) + smoothing / logp.size(dim)
    if weight is not None:
        target = target * weight.reshape((1,) * dim + (-1,) + (1,) * (logp.dim() - dim - 1))
    loss = -(logp * target).sum(dim)
    return loss.sum() / loss.numel() if reduction == "mean" else reduced(loss, reduction)


# ---- pairs and margins ----


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """input where target is 1, max(0, margin - input) where it is -1."""
    # A target other than 1 and -1 gets both terms.
    loss = torch.where(target != -1, input, 0.0) + torch.where(target != 1, (margin - input).clamp(min=0), 0.0)
    return reduced(loss, _old(size_average, reduce, reduction))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input)), for targets 1 and -1."""
    _within(input, target)
    return reduced(-logsigmoid(target * input).to(input.dtype), _old(size_average, reduce, reduction))


def margin_ranking_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    """max(0, margin - target * (input1 - input2)), for targets 1 and -1."""
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    loss = (-target * (input1 - input2) + margin).clamp(min=0)
    return reduced(loss, _old(size_average, reduce, reduction))


def cosine_embedding_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1."""
    dims = target.dim()
    if dims > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.dim() == input2.dim() == dims + 1:
        raise RuntimeError(
            f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    sizes = ((input1 * input1).sum(-1) + 1e-12) * ((input2 * input2).sum(-1) + 1e-12)
    cos = (input1 * input2).sum(-1) / sizes.sqrt()
    loss = torch.where(target == 1, 1 - cos, 0.0) + torch.where(target == -1, (cos - margin).clamp(min=0), 0.0)
    return reduced(loss, _old(size_average, reduce, reduction))


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    """max(0, margin + |anchor - positive| - |anchor - negative|). Distances are p-norms."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced((near - far + margin).clamp(min=0), _old(size_average, reduce, reduction))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean of max(0, margin - input[target] + input[class])^p over the other classes."""
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    _known(reduction)
    if target.dtype is not torch.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype._word}")
    if input.dim() > 2 or not input.numel():
        raise RuntimeError(f"Expected non-empty vector or matrix, but got: {list(input.shape)}")
    if input.dim() == 2 and tuple(target.shape) != (input.size(0),):
        raise RuntimeError(f"multi_margin_loss: expected target size [{input.size(0)}], got {list(target.shape)}")
    if weight is not None and weight.dim() != 1:
        raise ValueError(f"weight must be one-dimensional, not of {weight.dim()} dims")
    if weight is not None and weight.numel() != input.size(-1):
        raise RuntimeError(f"inconsistent weight size, expected {input.size(-1)} but got {list(weight.shape)}")
    rows, classes = (input.reshape(1, -1), target.reshape(1)) if input.dim() < 2 else (input, target)
    _bounds(classes, rows.size(1), None)
    own = torch.arange(rows.size(1), device=rows.device) == classes.unsqueeze(1)
    right = torch.where(own, rows, 0.0).sum(1, keepdim=True)
    loss = (margin - right + rows).clamp(min=0) ** p
    if weight is not None:
        loss = loss * weight[classes].unsqueeze(1)
    loss = torch.where(own, 0.0, loss).sum(1) / rows.size(1)
    loss = reduced(loss, _old(size_average, reduce, reduction))
    return loss.reshape(()) if input.dim() == 1 else loss


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes of the binary cross entropy of input, which holds logits, and target."""
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    dim = input.dim() - 1
    loss = (loss if weight is None else loss * weight).sum(dim) / input.size(dim)
    return reduced(loss, _old(size_average, reduce, reduction))


def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    """The negative log likelihood of a Poisson distribution. input: its rate, or the rate's logarithm."""
    loss = torch.exp(input) - target * input if log_input else input - target * torch.log(input + eps)
    if full:
        stirling = target * torch.log(target) - target + 0.5 * torch.log(2 * math.pi * target)
        loss = loss + torch.where(target > 1, stirling, 0.0)
    return reduced(loss, _old(size_average, reduce, reduction))


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (input - target)² / var) / 2. var is held above eps. The gradient ignores that bound."""
    var = torch.full_like(input, var) if isinstance(var, float) else var
    if anywhere(var < 0):
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        others = [m for n, m in zip(input.shape, var.shape) if n != m]
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif var.dim() != input.dim() or sum(others) != 1:
            raise ValueError("var is of incorrect size")
    var = var + (var.clamp(min=eps) - var).detach()
    d = input - target
    loss = 0.5 * (torch.log(var) + d * d / var)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


cosine_similarity, pairwise_distance = torch.cosine_similarity, torch.pairwise_distance


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Σ max(0, 1 - (input[target] - input[other])) / C. A row of target names classes, up to its first -1."""
    if target.shape != input.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    _known(reduction)
    if input.dim() > 2 or not input.numel():
        raise RuntimeError(f"Expected non-empty vector or matrix, but got: {list(input.shape)}")
    x, y = (t.reshape(1, -1) if t.dim() < 2 else t for t in (input, target))
    named = (y >= 0).to(torch.int64).cumprod(1).bool()
    y = torch.where(named, y, 0)
    own = torch.zeros(x.shape, dtype=torch.int64, device=x.device).scatter_add(1, y, named.to(torch.int64)) > 0
    short = (1 - x.gather(1, y).unsqueeze(2) + x.unsqueeze(1)).clamp(min=0)  # (N, target, class)
    loss = torch.where(named.unsqueeze(2) & ~own.unsqueeze(1), short, 0.0).sum((1, 2)) / x.size(1)
    return reduced(loss if input.dim() > 1 else loss.squeeze(0), _old(size_average, reduce, reduction))


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) for a distance d. None means pairwise_distance."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    far = distance_function or pairwise_distance
    apart = far(anchor, negative)
    if swap:
        apart = torch.minimum(apart, far(positive, negative))
    return reduced((far(anchor, positive) - apart + margin).clamp(min=0), reduction)
