"""Which shapes functions of several tensors take, and what they give: `python torch_shapes.py torch_shapes.json` with
PyTorch writes it, and test_torch_shapes.py compares."""

import itertools
import json
import math
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F

SHAPES = [(), (1,), (3,), (2,), (2, 3), (2, 1), (1, 3), (3, 2), (2, 3, 4), (2, 3, 1), (2, 1, 4), (0, 3)]
MORE = [(), (4,), (2, 4), (2, 4, 6), (2, 4, 6, 6), (1, 4, 4, 4, 4), (2, 3, 6), (2, 3, 6, 6), (0, 4, 6, 6), (1, 4, 1, 1)]
FEW = [(), (1,), (2,), (2, 3), (2, 1), (1, 3), (2, 3, 4)]  # for three tensors

OF_TWO = {
    **{n: getattr(F, n) for n in """mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy kl_div
       binary_cross_entropy_with_logits soft_margin_loss poisson_nll_loss hinge_embedding_loss cosine_similarity
       multilabel_soft_margin_loss pairwise_distance cross_entropy prelu linear conv1d""".split()},
    **{n: getattr(torch, n) for n in """dot mv outer cdist kron vdot inner matmul mm bmm dist isclose cat hstack
       logaddexp atan2 true_divide maximum""".split()},
    "lerp": lambda x, y: torch.lerp(x, y, 0.5),
    "cross": lambda x, y: torch.linalg.cross(x, y),
    "tensordot": lambda x, y: torch.tensordot(x, y, 1),
    "multi_dot": lambda x, y: torch.linalg.multi_dot([x, y]),
    "bilinear": lambda x, y: F.bilinear(x, y, torch.ones(2, 3, 3)),
    "weight of binary_cross_entropy": lambda x, y: F.binary_cross_entropy(x, x, weight=y),
    "pos_weight": lambda x, y: F.binary_cross_entropy_with_logits(x, x, pos_weight=y),
    "layer_norm": lambda x, y: F.layer_norm(x, tuple(x.shape[-1:]), y),
    "rms_norm": lambda x, y: F.rms_norm(x, tuple(x.shape[-1:]), y),
    "batch_norm": lambda x, y: F.batch_norm(x, y, y + 1),
    "instance_norm": lambda x, y: F.instance_norm(x, weight=y),
    "group_norm": lambda x, y: F.group_norm(x, 1, y),
    "attention": lambda x, y: F.scaled_dot_product_attention(x, y, y),
    "embedding": lambda x, y: F.embedding(whole(y), x),
    "nll_loss": lambda x, y: F.nll_loss(x, whole(y)),
    "cross_entropy of classes": lambda x, y: F.cross_entropy(x, whole(y)),
    "multi_margin_loss": lambda x, y: F.multi_margin_loss(x, whole(y)),
    "multilabel_margin_loss": lambda x, y: F.multilabel_margin_loss(x, whole(y)),
    "gather": lambda x, y: torch.gather(x, 0, whole(y) * 0),
    "take_along_dim": lambda x, y: torch.take_along_dim(x, whole(y) * 0, 0),
    "index_add": lambda x, y: x.index_add(0, torch.tensor([0]), y),
    "index_copy": lambda x, y: x.index_copy(0, torch.tensor([0]), y),
    "scatter": lambda x, y: x.scatter(0, whole(y) * 0, y),
    "scatter_add": lambda x, y: x.scatter_add(0, whole(y) * 0, y),
    "masked_fill": lambda x, y: x.masked_fill(y > 0.5, 2.0),
    "masked_select": lambda x, y: torch.masked_select(x, y > 0.5),
    "copy_": lambda x, y: x.clone().copy_(y),
    "add_": lambda x, y: x.clone().add_(y),
    "where": lambda x, y: torch.where(x > 0.5, x, y),
    "addmm": lambda x, y: torch.addmm(x, y, y.mT),
    "addr": lambda x, y: torch.addr(x, y, y),
    "addmv": lambda x, y: torch.addmv(x, y.reshape(-1, 3), torch.ones(3)),
    "expand": lambda x, y: x.expand(y.shape),
    "view_as": lambda x, y: x.view_as(y),
    "trapezoid": lambda x, y: torch.trapezoid(x, y),
    "stack": lambda x, y: torch.stack([x, y]),
}  # fmt: skip
OF_THREE = {n: getattr(F, n) for n in """cosine_embedding_loss margin_ranking_loss triplet_margin_loss
            gaussian_nll_loss""".split()}  # fmt: skip


OF_ONE = {
    **{n: getattr(nn, kind)(*arguments) for n, kind, *arguments in (
        ("Conv1d", "Conv1d", 4, 3, 3), ("Conv2d", "Conv2d", 4, 3, 3), ("ConvTranspose2d", "ConvTranspose2d", 4, 3, 3, 2, 1, 1),
        ("BatchNorm1d", "BatchNorm1d", 4), ("BatchNorm2d", "BatchNorm2d", 4), ("BatchNorm3d", "BatchNorm3d", 4),
        ("InstanceNorm1d", "InstanceNorm1d", 4), ("InstanceNorm2d", "InstanceNorm2d", 4), ("GroupNorm", "GroupNorm", 2, 4),
        ("LayerNorm", "LayerNorm", 6), ("LocalResponseNorm", "LocalResponseNorm", 2), ("Softmax2d", "Softmax2d"),
        ("MaxPool1d", "MaxPool1d", 2), ("MaxPool2d", "MaxPool2d", 2), ("MaxPool3d", "MaxPool3d", 2),
        ("AvgPool1d", "AvgPool1d", 2), ("AvgPool2d", "AvgPool2d", 2), ("AvgPool3d", "AvgPool3d", 2),
        ("LPPool1d", "LPPool1d", 2, 2), ("LPPool2d", "LPPool2d", 2, 2), ("AdaptiveAvgPool1d", "AdaptiveAvgPool1d", 2),
        ("AdaptiveAvgPool2d", "AdaptiveAvgPool2d", 2), ("AdaptiveMaxPool1d", "AdaptiveMaxPool1d", 2),
        ("AdaptiveMaxPool2d", "AdaptiveMaxPool2d", 2), ("ReflectionPad1d", "ReflectionPad1d", 1),
        ("ReflectionPad2d", "ReflectionPad2d", 1), ("ReplicationPad1d", "ReplicationPad1d", 1),
        ("ReplicationPad3d", "ReplicationPad3d", 1), ("CircularPad1d", "CircularPad1d", 1),
        ("CircularPad2d", "CircularPad2d", 1), ("ZeroPad2d", "ZeroPad2d", 1), ("PixelShuffle", "PixelShuffle", 2),
        ("ChannelShuffle", "ChannelShuffle", 2), ("Unfold", "Unfold", 2), ("Fold", "Fold", (3, 3), (2, 1)),
        ("Upsample", "Upsample", None, 2), ("Flatten", "Flatten"), ("Dropout1d", "Dropout1d"), ("GLU", "GLU"),
    )},
    **{n: getattr(torch, n) for n in """combinations vander pdist tril diag trace t rot90 cov corrcoef diff argmax
       median unique nonzero block_diag diag_embed logdet gradient""".split() if n not in ("gradient", "logdet")},
    "stft": lambda x: torch.stft(x, 4, window=torch.ones(4), return_complex=True).real,
    **{f"{n}(1)": lambda x, n=n: getattr(x, n)(1) for n in "argmax argmin sum mean cumsum prod amax logsumexp".split()},
    **{f"{n}(1)[0]": lambda x, n=n: getattr(x, n)(1)[0] for n in "max min sort median kthvalue mode".split()},
    "H": lambda x: x.H,
    "mT": lambda x: x.mT,
    "log_softmax": lambda x: F.log_softmax(x, 2),
    "normalize": lambda x: F.normalize(x),
    "reflect": lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
    "circular": lambda x: F.pad(x, (1, 1, 1, 1, 1, 1), mode="circular"),
    "narrow": lambda x: x.narrow(0, 0, 2),
    "select": lambda x: x.select(1, 0),
    "movedim": lambda x: x.movedim(0, 2),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "expand": lambda x: x.expand(2, 4),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
    "cartesian_prod": lambda x: torch.cartesian_prod(x, x),
}  # fmt: skip


def one_of(f):
    """f, with parameters that do not come from random numbers, as it is in use."""
    if isinstance(f, nn.Module):
        with torch.no_grad():
            for p in f.parameters():
                p.copy_(numbers(tuple(p.shape)))
        f.train(not isinstance(f, nn.Dropout1d))
    return f


def numbers(shape):
    count = math.prod(shape)
    return ((torch.arange(count) * 0.37 + 0.1).sin() * 0.5 + 0.5).reshape(shape)


def whole(t):
    return (torch.arange(t.numel()) % 2).reshape(t.shape)


def outcome(f, shapes):
    """The result's shape and the sum of its elements, or the first letter of the exception's name."""
    try:
        r = f(*map(numbers, shapes)).double()
        return [list(r.shape), round(r.sum().item(), 3)]
    except Exception as e:
        return type(e).__name__[0]


def outcomes():
    """{function: outcomes for all shapes}"""
    return {
        f"{name}, {count}": [outcome(one_of(f), given) for given in itertools.product(shapes, repeat=count)]
        for table, shapes, count in ((OF_ONE, MORE, 1), (OF_TWO, SHAPES, 2), (OF_THREE, FEW, 3))
        for name, f in table.items()
    }


def main(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcomes()
    with open(path, "w") as f:
        rows = (f'"{k}": {json.dumps(v, separators=(",", ":"))}' for k, v in found.items())
        f.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
