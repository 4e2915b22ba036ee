"""How losses are reduced, by numbers and by PyTorch's old flags."""

import warnings

_NAMES = ("none", "mean", "sum")


def get_enum(reduction):
    """The number of "none" (0), "mean" (1) or "sum" (2). Raises ValueError for another name."""
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2)
        reduction = "mean"
    if reduction not in _NAMES:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NAMES.index(reduction)


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The name for the flags of PyTorch 0.4; None stands for True."""
    name = "none" if reduce is False else "sum" if size_average is False else "mean"
    if emit_warning:
        text = f"size_average and reduce args will be deprecated, please use reduction='{name}' instead."
        warnings.warn(text, stacklevel=2)
    return name


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """The number for the flags of PyTorch 0.4."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
