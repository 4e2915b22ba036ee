"""The attributes that PyTorch's modules have, by class: `python torch_attributes.py torch_attributes.json` writes them."""

import json
import sys
import warnings

from torch import nn

ARGUMENTS = {
    "AdaptiveLogSoftmaxWithLoss": (4, 8, [2, 4]), "Bilinear": (2, 2, 2), "ConstantPad1d": (1, 0.0), "ConstantPad2d": (1, 0.0),
    "ConstantPad3d": (1, 0.0), "Embedding": (3, 2), "EmbeddingBag": (3, 2), "Fold": (2, 2), "FractionalMaxPool2d": (2, 0.5),
    "FractionalMaxPool3d": (2, 0.5), "GroupNorm": (2, 2), "Linear": (2, 3), "MultiheadAttention": (4, 2),
    "Threshold": (1, 1), "Transformer": (4, 2, 1, 1), "TransformerDecoderLayer": (4, 2), "TransformerEncoderLayer": (4, 2),
    "Unflatten": (1, (1, 2)),
}  # fmt: skip
GROUPS = {(2, 2, 1): "Conv", (2, 2): "GRU LSTM RNN LPPool", (2,): "LayerNorm RMSNorm LocalResponseNorm BatchNorm InstanceNorm "
          "MaxPool AvgPool Upsample Pixel Unfold Max ChannelShuffle Adaptive", (1,): "Zero Reflection Replication Circular "
          "Softmax LogSoftmax"}  # fmt: skip


def modules():
    """{name: a module} of all classes of torch.nn that are made of a few numbers."""
    found = {}
    for name in sorted(dir(nn)):
        kind = getattr(nn, name)
        if not (isinstance(kind, type) and issubclass(kind, nn.Module)) or name in ("Module", "DataParallel"):
            continue
        tried = [ARGUMENTS.get(name), *(a for a, group in GROUPS.items() if name.startswith(tuple(group.split()))), ()]
        for arguments in tried:
            try:
                found[name] = kind(*arguments)
                break
            except Exception:  # None, or numbers that are not meant for it
                continue
    found["Sequential"] = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    found["TransformerEncoder"] = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1)
    return found


def main(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: sorted(vars(m)) for name, m in modules().items()}
    with open(path, "w") as f:
        json.dump(found, f, indent=0)
        f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
