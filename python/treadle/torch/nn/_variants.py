"""Functions that are others with a fixed parameter: in place, with indices, or under an older name."""

from ... import torch
from . import _activations, _fractional, _pools


def _named(name, doc, f):
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return f


def _of(name):
    """The in-place form of an activation."""
    f = getattr(_activations, name)

    def written(input, *args, **kwargs):
        return f(input, *args, inplace=True, **kwargs)

    return _named(name + "_", f"{name}, written into its input.", written)


celu_, elu_, hardtanh_, leaky_relu_, rrelu_, selu_, threshold_ = map(
    _of, "celu elu hardtanh leaky_relu rrelu selu threshold".split()
)


def _indexed(f):
    def both(*args, **kwargs):
        return f(*args, **{**kwargs, "return_indices": True})

    both.__wrapped__ = f
    return _named(f.__name__ + "_with_indices", f"{f.__name__} with return_indices=True.", both)


max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    _indexed, (_pools.max_pool1d, _pools.max_pool2d, _pools.max_pool3d)
)
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = map(
    _indexed, (_fractional.fractional_max_pool2d, _fractional.fractional_max_pool3d)
)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate(mode="nearest")."""
    return _pools.interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate(mode="bilinear", align_corners=True)."""
    return _pools.interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels (N, C, ...). It keeps mean and variance."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    low = -1.7580993408473766  # selu's limit for large negative numbers
    if p == 1:
        out = input * 0
    else:
        a = ((1 - p) * (1 + p * low * low)) ** -0.5
        keep = torch.rand(*input.shape[:2], *[1] * (input.dim() - 2), device=input.device) >= p
        out = torch.where(keep, input, low) * a - a * p * low
    return input.copy_(out) if inplace else out


def linear_cross_entropy(
    input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None,
    label_smoothing=0.0, options=None,
):  # fmt: skip
    """cross_entropy(linear(input, linear_weight, linear_bias), target). linear_weight is (classes, *out, features)."""
    F = torch.nn.functional
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    if ignore_index is not None and target.is_floating_point():
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    classes, *out, features = linear_weight.shape
    if out and input.dim() != 2:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {features}), got unbatched input with shape {tuple(input.shape)}"
        )
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = F.linear(input, linear_weight.reshape(-1, features), bias).reshape(*input.shape[:-1], classes, *out)
    ignored = {} if ignore_index is None else {"ignore_index": ignore_index}
    return F.cross_entropy(
        logits, target, weight=weight, reduction=reduction, label_smoothing=label_smoothing, **ignored
    )
