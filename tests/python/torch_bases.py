"""Which of PyTorch's classes are subclasses of which: `python torch_bases.py torch_bases.json` writes it."""

import importlib
import json
import sys

MODULES = ["torch.nn", "torch.optim", "torch.optim.lr_scheduler", "torch.utils.data", "torch.distributions"]
BASES = {
    "batchnorm": "_BatchNorm _NormBase",
    "conv": "_ConvNd _ConvTransposeNd",
    "dropout": "_DropoutNd",
    "instancenorm": "_InstanceNorm",
    "lazy": "LazyModuleMixin",
    "loss": "_Loss _WeightedLoss",
    "padding": "_CircularPadNd _ConstantPadNd _ReflectionPadNd _ReplicationPadNd",
    "pooling": "_AdaptiveAvgPoolNd _AdaptiveMaxPoolNd _AvgPoolNd _LPPoolNd _MaxPoolNd _MaxUnpoolNd",
}  # names that begin with an underscore, for which programs look nevertheless


def classes():
    """{name: class}"""
    found = {}
    for name in MODULES:
        module = importlib.import_module(name)
        found |= {f"{name}.{n}": getattr(module, n) for n in dir(module) if n[0].isupper()}
    for name, bases in BASES.items():
        module = importlib.import_module(f"torch.nn.modules.{name}")
        found |= {f"torch.nn.modules.{name}.{n}": getattr(module, n) for n in bases.split()}
    return {n: c for n, c in found.items() if isinstance(c, type) and c.__module__.startswith(("torch", "treadle"))}


def bases():
    """{name: the names of its bases}"""
    found = classes()
    return {n: sorted(m for m, d in found.items() if d is not c and issubclass(c, d)) for n, c in found.items()}


if __name__ == "__main__":
    with open(sys.argv[1], "w") as f:
        json.dump(bases(), f, indent=0)
