"""Strides that PyTorch and treadle.torch are to agree on: told(torch) gives {expression: strides}. A Python that has
PyTorch writes PyTorch's to torch_strides.json by running this file."""

import json
import pathlib

VALUES = pathlib.Path(__file__).with_name("torch_strides.json")

# a: in C order; t: its dims in another order; o: one element in some dims; x: expanded; p: a part; e: without elements
OPERANDS = "a t o x p".split()
VIEWS = """
x[None]
x[..., None]
x[:, None]
x[None, None]
x.unsqueeze(0)
x.unsqueeze(-1)
x.squeeze()
x.expand(2, *x.shape)
x.broadcast_to((5, *x.shape))
x.expand_as(torch.ones(5, *x.shape))
torch.broadcast_tensors(x, torch.ones(2, 1, 1, 1))[0]
x.mT
x.unflatten(0, (1, -1))
x.chunk(2)[0]
x.diagonal(0, -2, -1)
torch.atleast_3d(x)
""".split("\n")
# Results of which programs take views, because PyTorch puts them in C order whatever the order of the operand
RESULTS = """
x.softmax(-1)
x.log_softmax(0)
x.masked_fill(x > 1, 0)
x.tril()
x.triu()
x.cumprod(0)
x.quantile(0.5, 0)
F.layer_norm(x, x.shape[-1:])
F.rms_norm(x, x.shape[-1:])
F.logsigmoid(x)
F.pad(x, (1, 1))
F.pad(x, (1, -1, 1, 0))
""".split("\n")
ROOMY = """
x.chunk(2)[1]
x.repeat(2, *[1] * x.ndim)
torch.stack([x, x])
x @ x.mT
""".split("\n")
CHANNELS = """
F.max_pool1d(x, 2)
F.max_pool1d(x, 2, padding=1)
F.avg_pool1d(x, 2, padding=1)
F.avg_pool1d(x, 2)
F.adaptive_avg_pool1d(x, 2)
F.batch_norm(x, None, None, training=True)
F.instance_norm(x)
F.max_pool2d(x[None], 2, padding=1)
F.avg_pool2d(x[None], 3, 2, 1)
""".split("\n")


def cases():
    yield from ((name, text) for name in OPERANDS for text in (*VIEWS, *RESULTS, *ROOMY[2:]) if text)
    yield from (("e", text) for text in ROOMY if text)
    yield from ((name, text) for name in "atp" for text in CHANNELS if text)


def told(torch):
    a = torch.arange(24.0).reshape(2, 3, 4)
    operands = {
        "a": a,
        "t": torch.arange(24.0).reshape(4, 3, 2).permute(2, 1, 0),
        "e": torch.zeros(0, 2, 3),
        "o": torch.ones(1, 3, 1),
        "x": torch.ones(1, 1, 4).expand(2, 3, 4),
        "p": a[..., 1:3],
    }
    scope = {"torch": torch, "F": torch.nn.functional}
    found = {}
    for name, text in cases():
        try:
            found[f"{name}: {text}"] = list(eval(text, scope, {"x": operands[name]}).stride())
        except (RuntimeError, IndexError, ValueError) as problem:
            found[f"{name}: {text}"] = type(problem).__name__
    return found


if __name__ == "__main__":
    import torch

    rows = (f"{json.dumps(case)}: {json.dumps(steps)}" for case, steps in told(torch).items())
    VALUES.write_text("{\n" + ",\n".join(rows) + "\n}\n")
