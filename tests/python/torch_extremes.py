"""Results at the ends of what dtypes hold: zeros with signs, infinities, NaN, denormals, the largest numbers. told(torch)
gives {expression: [values, dtype] or the name of an exception}. A Python that has PyTorch writes PyTorch's to
torch_extremes.json by running this file."""

import json
import pathlib
import warnings

VALUES = pathlib.Path(__file__).with_name("torch_extremes.json")

# x: floats of a dtype
FLOATS = """
torch.nextafter(x, -x)
torch.nextafter(x, x[:1])
torch.nextafter(x, x.flip(0))
x % 2
x % -2
x % x.flip(0)
2 % x
x.fmod(2)
x // 2
x.round(decimals=1)
x.round(decimals=-2)
(x / 3).round()
torch.ldexp(x, torch.tensor([3]))
torch.ldexp(x, torch.arange(-7, 7) * 40)
x.nan_to_num()
x.clamp(0, 1)
x.sign()
x.frac()
x.trunc()
x.sqrt()
x.pow(2)
x.pow(0)
x.exp2()
x.atan2(x)
x.hypot(x)
x.xlogy(x)
x.copysign(-x)
x.sinc()
torch.heaviside(x, x)
torch.frexp(x)[0]
torch.frexp(x)[1]
F.hardswish(x)
F.logsigmoid(x)
F.hardsigmoid(x)
F.hardtanh(x)
F.softsign(x)
torch.isclose(x, x)
x.cumsum(0)
x.sort()[0].isnan()
x.int() * 0
"""
# c: complex numbers; u: uint8; i: int8, with zeros
OTHERS = """
c.reciprocal()
(c * 0).rsqrt()
c.nan_to_num()
c.nan_to_num(nan=2.0, posinf=1.0)
c.clone().abs_()
c.abs()
u.clamp(-1)
u.clamp(max=-1)
u.clamp(max=300)
u.clamp_min(300)
u.clamp(-1, 300)
u.clamp(1.5)
i.clamp(-200)
i.clamp(max=200)
i.clamp(-200, 200)
i.clone().clamp_(-200, 100)
i // 0
i % 0
i.fmod(0)
i // i
5 // i
5 % i
i // 0.0
i / 0
i.clone().floor_divide_(0)
i.clone().remainder_(i)
torch.div(i, 0, rounding_mode="trunc")
torch.div(i, i, rounding_mode="floor")
torch.tensor([True]) // 0
i[:0] // i[:0]
i ** -1
i ** i
2 ** i
(-1) ** i
i.pow(torch.tensor(-2))
u ** i
u.clone().add_(i[:4])
u.clone().pow_(i[:4].abs())
i & 1.0
i.double() << 1
torch.special.spherical_bessel_j0(torch.tensor([float("inf"), 0.0]))
torch.logaddexp(torch.tensor([True]), torch.tensor([1.0]))
torch.logaddexp(i, i)
torch.logaddexp2(i, i)
torch.heaviside(u, u.long())
"""
DTYPES = "float16 bfloat16 float32 float64".split()


def cases():
    yield from ((name, text) for text in FLOATS.split("\n") if text for name in DTYPES)
    yield from ((None, text) for text in OTHERS.split("\n") if text)


def _scope(torch, name):
    inf, nan = float("inf"), float("nan")
    c = torch.tensor([complex(a, b) for a in (0.0, -0.0, 2.0, inf, nan) for b in (0.0, -1.0, inf, nan)])
    scope = {"torch": torch, "F": torch.nn.functional, "c": c}
    scope["u"] = torch.tensor([0, 1, 128, 255], dtype=torch.uint8)
    scope["i"] = torch.tensor([-128, -3, -1, 0, 1, 2, 127], dtype=torch.int8)
    if name is not None:
        kind = getattr(torch, name)
        facts = torch.finfo(kind)
        ends = [facts.max, facts.min, facts.tiny, -facts.tiny * 3]
        scope["x"] = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -4.0, 1e3, inf, -inf, nan, *ends]).to(kind)
        if name == "float64":
            scope["x"] = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -4.0, 1e3, inf, -inf, nan, *ends], dtype=kind)
    return scope


def told(torch):
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, text in cases():
            try:
                r = eval(text, _scope(torch, name))
                wide = r.double() if r.dtype.is_floating_point else torch.view_as_real(r) if r.dtype.is_complex else r
                values = [repr(v) for v in wide.reshape(-1).tolist()]
                found[f"{name or ''}: {text}"] = [" ".join(values), str(r.dtype).removeprefix("torch.")]
            except (RuntimeError, TypeError) as problem:
                found[f"{name or ''}: {text}"] = type(problem).__name__
    return found


if __name__ == "__main__":
    import torch

    rows = (f"{json.dumps(case)}: {json.dumps(values)}" for case, values in told(torch).items())
    VALUES.write_text("{\n" + ",\n".join(rows) + "\n}\n")
