"""Strides that PyTorch and treadle.torch are to agree on: told(torch) gives {expression: strides}. A Python that has
PyTorch writes PyTorch's to torch_strides.json by running this file."""

import json
import pathlib

VALUES = pathlib.Path(__file__).with_name("torch_strides.json")

# a: in C order; t: its dims in another order; o: one element in some dims; x: expanded; p: a part; e: without elements;
# r: dims turned round; g: with gaps; f: the first two dims swapped; c: channels last, k: of one channel; m: expanded after
# its dims were swapped; s: one element in a dim between two that are swapped
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

# Copies, and results of elementwise operations: they keep the operands' order.
KEPT = """
x.clone()
x.clone(memory_format=torch.contiguous_format)
x.contiguous()
torch.empty_like(x)
torch.zeros_like(x, dtype=torch.int32)
torch.rand_like(x)
torch.randint_like(x, 3)
torch.empty_like(x, memory_format=torch.contiguous_format)
x.new_empty(x.shape)
x + 1
x + x
-x
x > 1
x.double()
x.to(x.dtype, copy=True)
x.to(torch.float64, memory_format=torch.contiguous_format)
x.float(memory_format=torch.contiguous_format)
x + x.contiguous()
x.contiguous() + x
x + x.transpose(0, 1).contiguous().transpose(0, 1)
x.transpose(0, 1).contiguous().transpose(0, 1) + x
x + torch.ones(x.shape[-1])
x[:1] + x
x[..., :1].clone()
x[:, 0] + 1
x[..., 0].clone()
torch.zeros_like(x[0])
x.transpose(0, 1) + 1
x.mT.clone()
x.movedim(0, -1).clone()
x.squeeze().clone()
torch.nn.Parameter(x)
""".split("\n")
ORDERED = """
torch.where(x > 1, x, 0)
x.clamp(0, 1)
torch.lerp(x, x, 0.5)
torch.addcmul(x, x, x)
x.pow(2)
x.round(decimals=1)
x.nan_to_num()
x.sign()
x.logit()
x.sinc()
x.digamma()
torch.polygamma(1, x)
torch.special.bessel_j0(x)
torch.xlogy(x, x)
torch.special.zeta(x, x)
torch.acosh(x)
torch.isclose(x, x)
x.logical_and(x)
x.int() << 1
torch.heaviside(x, x)
torch.nextafter(x, x)
torch.frexp(x)[0]
torch.frexp(x)[1]
torch.complex(x, x)
torch.view_as_real(torch.complex(x, x))
torch.polar(x, x)
torch.angle(x)
F.dropout(x, 0.5)
F.gelu(x)
F.hardswish(x)
F.glu(x, -1)
F.prelu(x, torch.ones(1))
F.binary_cross_entropy_with_logits(x, x, reduction="none")
x.sort(1)[0]
x.argsort(1)
x.flip(0)
x.rot90()
x[[0, 1]]
x[:, [0, 1]]
x[..., [0, 1]]
x[:, torch.tensor([[0, 1]])]
x.index_fill(0, torch.tensor([0]), 1.0)
x.clone().zero_()
torch.add(x, 1, out=torch.empty_like(x))
torch.vmap(lambda t: t + 1)(x)
x.index_select(0, torch.tensor([0, 1]))
x.masked_scatter(x > 1, torch.ones(48))
x.scatter_add(0, torch.zeros(x.shape).long(), x)
x.index_copy(0, torch.tensor([0]), x[:1])
x.repeat(*[1] * x.ndim)
F.one_hot(x.long())
F.rrelu(x)
""".split("\n")


def cases():
    yield from ((name, text) for name in OPERANDS for text in (*VIEWS, *RESULTS, *ROOMY[2:]) if text)
    yield from (("e", text) for text in ROOMY if text)
    yield from ((name, text) for name in "atp" for text in CHANNELS if text)
    yield from ((name, text) for name in "trgfckms" for text in KEPT if text)
    yield from ((name, text) for name in "trgc" for text in ORDERED if text)


def told(torch):
    a = torch.arange(24.0).reshape(2, 3, 4)
    operands = {
        "a": a,
        "t": torch.arange(24.0).reshape(4, 3, 2).permute(2, 1, 0),
        "e": torch.zeros(0, 2, 3),
        "o": torch.ones(1, 3, 1),
        "x": torch.ones(1, 1, 4).expand(2, 3, 4),
        "p": a[..., 1:3],
        "r": torch.arange(24.0).reshape(4, 2, 3).permute(1, 2, 0),
        "g": torch.arange(96.0).reshape(8, 6, 2).permute(2, 1, 0)[:, ::2, ::2],
        "f": torch.arange(24.0).reshape(3, 2, 4).transpose(0, 1),
        "c": torch.arange(48.0).reshape(2, 3, 2, 4).to(memory_format=torch.channels_last),
        "k": torch.arange(16.0).reshape(2, 1, 2, 4).to(memory_format=torch.channels_last),
        "m": torch.arange(12.0).reshape(4, 3).t()[None].expand(2, 3, 4),
        "s": torch.arange(16.0).reshape(4, 1, 4).permute(2, 1, 0),
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
