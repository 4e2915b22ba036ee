"""``torch.nn.functional``: the operations that modules call, as functions of tensors."""

import math

from ... import torch
from .. import _modules, _override
from .._lacking import check_layer
from . import _reduction as _Reduction  # noqa: F401 - a name of PyTorch's that programs call
from ._activations import (
    alpha_dropout,
    celu,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    elu,
    gelu,
    glu,
    gumbel_softmax,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    relu_,
    rrelu,
    selu,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
)
from ._attend import masked_scores, multi_head_attention_forward
from ._bags import embedding, embedding_bag
from ._convolve import conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d
from ._ctc import ctc_loss
from ._fractional import fractional_max_pool2d, fractional_max_pool3d
from ._losses import (
    anywhere,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cosine_similarity,
    cross_entropy,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    pairwise_distance,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from ._normal import batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, normalize, rms_norm
from ._pools import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    interpolate,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    pixel_shuffle,
    pixel_unshuffle,
    upsample,
)
from ._sampling import affine_grid, grid_sample, max_unpool1d, max_unpool2d, max_unpool3d
from ._variants import (
    celu_,
    elu_,
    feature_alpha_dropout,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d_with_indices,
    hardtanh_,
    leaky_relu_,
    linear_cross_entropy,
    max_pool1d_with_indices,
    max_pool2d_with_indices,
    max_pool3d_with_indices,
    rrelu_,
    selu_,
    threshold_,
    upsample_bilinear,
    upsample_nearest,
)
from ._windows import fold_columns as fold
from ._windows import pad, unfold

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]


# Functions that are built-in ones in PyTorch.
_BUILT_IN = (
    "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear celu_ conv1d conv2d conv3d conv_transpose1d "
    "conv_transpose2d conv_transpose3d cosine_similarity elu_ gelu hardshrink hardtanh_ leaky_relu_ linear logsigmoid "
    "one_hot pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_ rrelu_ scaled_dot_product_attention "
    "selu_ softplus softshrink threshold_".split()
)
channel_shuffle = torch.channel_shuffle


def linear(input, weight, bias=None):
    """input @ weight.T + bias, for input (…, in) and weights (out, in)."""
    if bias is not None and input.dtype is not weight.dtype:
        words = input.dtype._word, weight.dtype._word
        raise RuntimeError("mat1 and mat2 must have the same dtype, but got {} and {}".format(*words))
    product = input @ weight.t()
    if bias is None:
        return product
    if bias.dtype is not product.dtype:
        words = bias.dtype._word, product.dtype._word
        raise RuntimeError("self and mat2 must have the same dtype, but got {} and {}".format(*words))
    return product + bias


def bilinear(input1, input2, weight, bias=None):
    """input1 @ weight[o] @ input2 for each o: sums over both last dims."""
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    for i, (m, n) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if m != n:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {m} and {n}")
    for i, t in ((1, input1), (2, input2)):
        if t.size(-1) != weight.size(i):
            raise RuntimeError(
                f"bilinear(): input{i} size does not match weight size: got {t.size(-1)} but expected {weight.size(i)}"
            )
    if bias is not None and bias.size(0) != weight.size(0):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.size(0)} but expected {weight.size(0)}"
        )
    product = ((input1.unsqueeze(-2).unsqueeze(-2) @ weight).squeeze(-2) * input2.unsqueeze(-2)).sum(-1)
    product = product.to(input1.dtype)
    return product if bias is None else product + bias


def one_hot(tensor, num_classes=-1):
    """int64, with one more dim: 1 at the class, 0 elsewhere. num_classes -1 means one more than the largest class."""
    if tensor.dtype != torch.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if tensor.numel():
        if anywhere(tensor < 0):
            raise RuntimeError("Class values must be non-negative.")
        if num_classes >= 0 and anywhere(tensor >= num_classes):
            raise RuntimeError("Class values must be smaller than num_classes.")
        num_classes = tensor.max().item() + 1 if num_classes < 0 else num_classes
    elif num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    return (tensor.unsqueeze(-1) == torch.arange(num_classes, device=tensor.device)).to(torch.int64).contiguous()


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """softmax(query @ key.T * scale + mask) @ value over the last two dims (length, features).

    A mask of bools is True where attention may go. A mask of floats is added. scale: 1 / sqrt(features) unless given.
    """
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if hasattr(attn_mask, "_materialize"):  # a mask of nn.attention.bias
        attn_mask = attn_mask._materialize(query.device)
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.size(-1)) if scale is None else scale)
    if is_causal:
        rows = torch.arange(query.size(-2), device=query.device).unsqueeze(1)
        scores = torch.where(rows >= torch.arange(key.size(-2), device=query.device), scores, -math.inf)
    seen = None
    if attn_mask is not None:
        scores, seen = masked_scores(scores, attn_mask)
    weights = torch.softmax(scores, -1)
    result = (dropout(weights, dropout_p) if dropout_p else weights) @ value
    return result if seen is None else torch.where(seen, result, 0)


def pdist(input, p=2):
    """The distances between the rows of (N, M), each pair once."""
    return torch.pdist(input, p)


_override.watch(__all__, globals(), torch.Tensor, check_layer)
_override.built_in(globals(), _BUILT_IN, __name__)
__getattr__, __dir__ = _modules.refusing("torch.nn.functional")
