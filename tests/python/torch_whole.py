"""Whole modules as PyTorch saves them: `python torch_whole.py torch_whole.json` with PyTorch writes the files and what
the modules give, and which functions are built-in ones. With two arguments, the file and another one, it loads these
files; test_torch_whole.py compares."""

import base64
import io
import json
import sys
import types

import torch
import torch.nn as nn
import torch.nn.functional as F

HOMES = {"torch": torch, "torch.nn.functional": F, "torch.linalg": torch.linalg, "torch.fft": torch.fft,
         "torch.special": torch.special}  # fmt: skip


class Held(nn.Module):
    """Functions as attributes of a module and of its class, and hooks."""

    kind = torch.tanh
    layer = F.gelu

    def __init__(self):
        super().__init__()
        self.parts = [torch.relu, F.softplus, torch.fft.fft, torch.special.expit, torch.linalg.norm, torch.Tensor.sin]
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        for f in self.parts:
            x = x + f(x).real
        return self.kind(self.layer(self.linear(x)))


def twice(module, args, kwargs, output):
    return 2 * output


def cases():
    """{name: (module, its inputs)}"""
    x = torch.linspace(-1, 1, 8).reshape(2, 4)
    hooked = nn.Linear(4, 3)
    hooked.register_forward_hook(twice, with_kwargs=True)
    found = {
        "Held": (Held(), (x,)),
        "hooked": (hooked, (x,)),
        "spectral_norm": (nn.utils.spectral_norm(nn.Linear(4, 3)), (x,)),
        "weight_norm": (nn.utils.weight_norm(nn.Linear(4, 3)), (x,)),
        "PairwiseDistance": (nn.PairwiseDistance(3.0), (x, x + 1)),
        "decoder": (nn.TransformerDecoderLayer(4, 2, 4, activation="gelu"), (x[:, None], x[:, None])),
        "loss": (nn.MSELoss(size_average=False), (x, x + 1)),
        "conv": (nn.Conv1d(2, 2, 3, padding=1, padding_mode="circular"), (x[None],)),
        "gru": (nn.GRU(4, 2, 2, bidirectional=True), (x[:, None],)),
    }
    return {name: (module.eval(), inputs) for name, (module, inputs) in found.items()}


def values(module, inputs):
    r = module(*inputs)
    return (r[0] if isinstance(r, tuple) else r).detach().double().flatten().tolist()


def binding():
    """{module: {function: does a class that has it bind it to its instances?}}"""
    found = {}
    for home, module in HOMES.items():
        held = {n: getattr(module, n, None) for n in dir(module) if n[0] != "_"}
        held = {n: f for n, f in held.items() if isinstance(f, (types.FunctionType, types.BuiltinFunctionType))}
        found[home] = {n: hasattr(type(f), "__get__") for n, f in held.items()}
    return found


def write(path):
    torch.manual_seed(0)
    whole = {}
    for name, (module, inputs) in cases().items():
        file = io.BytesIO()
        torch.save(module, file)
        whole[name] = base64.b64encode(file.getvalue()).decode(), values(module, inputs)
    with open(path, "w") as f:
        json.dump({"binding": binding(), "whole": whole}, f)


def read(theirs, path):
    with open(theirs) as f:
        files = json.load(f)["whole"]
    whole = {}
    for name, (_, inputs) in cases().items():
        module = torch.load(io.BytesIO(base64.b64decode(files[name][0])), weights_only=False)
        torch.save(module, again := io.BytesIO())
        again.seek(0)
        module = torch.load(again, weights_only=False)  # as it is saved here, too
        whole[name] = values(module, inputs)
    with open(path, "w") as f:
        json.dump({"binding": binding(), "whole": whole}, f)


if __name__ == "__main__":
    sys.modules["torch_whole"] = sys.modules["__main__"]
    Held.__module__ = twice.__module__ = "torch_whole"
    (read if len(sys.argv) > 2 else write)(*sys.argv[1:])
