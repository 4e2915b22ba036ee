"""More modules: bases of losses, a dropout of channels that keeps the variance, and a linear layer with its loss."""

import dataclasses
import math

from .... import torch
from ...._public import dir_of as _dir_of
from .. import _variants
from .activation import _DropoutNd, _Loss, _WeightedLoss  # noqa: F401 - programs look for _Loss here
from .linear import Linear

__all__ = ["FeatureAlphaDropout", "LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels. ValueError: p is not in [0, 1]."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return _variants.feature_alpha_dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


@dataclasses.dataclass
class LinearCrossEntropyOptions:
    """How PyTorch splits the work. Here the linear layer and the loss fuse, and nothing is split."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: torch.dtype | None = None


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of the classes that a linear layer gives: forward(input, target)."""

    def __init__(
        self, in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None, reduction="mean",
        weight=None, ignore_index=None, label_smoothing=0.0, options=None,
    ):  # fmt: skip
        super().__init__()
        made = {"device": device, "dtype": dtype}
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        self.num_classes, self.out_features = num_classes, tuple(out_features)
        self.reduction, self.ignore_index, self.label_smoothing = reduction, ignore_index, label_smoothing
        self.options = options
        self.linear = Linear(in_features, math.prod(self.out_features, start=num_classes), bias, **made)
        self.register_buffer("weight", weight)

    def forward(self, input, target):
        rows, bias = (self.num_classes, *self.out_features), self.linear.bias
        return _variants.linear_cross_entropy(
            input, self.linear.weight.reshape(*rows, self.linear.in_features), target,
            linear_bias=None if bias is None else bias.reshape(rows), weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing,
        )  # fmt: skip


__dir__ = _dir_of(__name__)
