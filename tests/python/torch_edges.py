"""Derivatives at NaN, infinities, signed zeros and outside of domains: the expressions, and who evaluates them.

`python torch_edges.py` with PyTorch writes torch_edges.json, which test_torch_edges.py compares with.
"""

import itertools
import json
import math
import pathlib

VALUES = pathlib.Path(__file__).with_suffix(".json")
nan, inf = math.nan, math.inf
# Sixteen: of fewer PyTorch computes one by one, and its branches for NaN are others then than in vectors.
ONE = [nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.5, -0.5, 3.0, -3.0, 6.0, 20.5, -20.5]
TWO = list(itertools.product([nan, inf, 0.0, -0.0, 1.0, -2.5], repeat=2))
FUNCTIONS = """
    abs acos acosh angle asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1
    floor frac i0 lgamma log log10 log1p log2 logit nan_to_num neg positive rad2deg reciprocal relu round rsqrt
    sgn sigmoid sign sin sinc sinh sqrt square tan tanh trunc selu celu special.entr special.erfcx special.i0e
    special.i1 special.i1e special.log_ndtr special.ndtr special.ndtri special.bessel_j0 special.expit
"""
LAYERS = """
    relu6 elu selu celu leaky_relu gelu silu mish softplus logsigmoid softsign tanhshrink softshrink hardshrink
    hardtanh hardsigmoid hardswish
"""
OF_ONE = [f"torch.{n}(x)" for n in FUNCTIONS.split()] + [f"F.{n}(x)" for n in LAYERS.split()]
OF_ONE += """
    F.gelu(x, approximate="tanh")
    F.threshold(x, 0.5, 2.0)
    F.elu(x, 2.0)
    F.celu(x, 2.0)
    F.softplus(x, 2.0)
    F.hardtanh(x, -2.0, 0.5)
    torch.logit(x, eps=0.1)
    torch.clamp(x, -1, 1)
    x.clamp(min=0.5)
    x.clamp(max=0.5)
    x**2
    x**0.5
    x**-1
    x**-0.5
    x**3
    x**0
    x**1
    x**inf
    2.0**x
    0.0**x
    (-1.0)**x
    x*2
    2/x
    x/2
    x%2
    torch.fmod(x, 2)
    torch.special.polygamma(1, x)
    torch.special.polygamma(2, x)
    torch.special.multigammaln(x, 2)
    torch.special.xlogy(x, 2.0)
    torch.special.xlog1py(x, 2.0)
    torch.xlogy(2.0, x)
    torch.special.xlog1py(2.0, x)
    torch.xlogy(0.0, x)
    torch.round(x, decimals=1)
    torch.ldexp(x, torch.tensor(2))
    torch.frexp(x)[0]
    torch.nan_to_num(x, 1.0, 2.0, 3.0)
    torch.float_power(x, 2)
    torch.log_softmax(x[:, None]*torch.ones(1, 3, dtype=x.dtype), 1)[:, 0]
    torch.logsumexp(x[:, None]*torch.ones(1, 3, dtype=x.dtype), 1)
    torch.linalg.vector_norm(x[:, None], dim=1)
    torch.linalg.vector_norm(x[:, None], 1, dim=1)
    torch.linalg.vector_norm(x[:, None], 3, dim=1)
    torch.linalg.vector_norm(x[:, None], inf, dim=1)
    torch.linalg.vector_norm(x[:, None], -inf, dim=1)
    torch.linalg.vector_norm(x[:, None], 0, dim=1)
    torch.linalg.vector_norm(x[:, None], 0.5, dim=1)
    F.normalize(x[:, None], dim=1)[:, 0]
    x[:, None].amax(1)
    x[:, None].prod(1)
    x[:, None].cumprod(1)[:, 0]
    x[:, None].expand(-1, 2).prod(1)
    x[:, None].expand(-1, 2).cumprod(1)[:, 1]
    x[:, None].expand(-1, 2).cummax(1)[0][:, 1]
    x[:, None].expand(-1, 2).amax(1)
    x[:, None].expand(-1, 2).max(1)[0]
    x[:, None].expand(-1, 2).std(1)
    x[:, None].expand(-1, 2).var(1)
    x[:, None].expand(-1, 2).logcumsumexp(1)[:, 1]
    x[:, None].expand(-1, 2).nansum(1)
    x[:, None].expand(-1, 2).logsumexp(1)
    torch.where(x>0, x, 0.0)
    torch.where(x>0, torch.log(x), 0.0)
    torch.cosine_similarity(x[:, None], torch.full_like(x, 0.5)[:, None], 1)
    torch.complex(x, x).abs()
    torch.complex(x, x).angle()
    F.poisson_nll_loss(x, torch.full_like(x, 2.0), reduction="none")
    F.poisson_nll_loss(x, torch.full_like(x, 2.0), log_input=False, reduction="none")
    F.gaussian_nll_loss(x, torch.full_like(x, 2.0), torch.full_like(x, 2.0), reduction="none")
    torch.special.gammainc(torch.full_like(x, 2.0), x)
    torch.special.gammaincc(torch.full_like(x, 2.0), x)
    torch.renorm(x[:, None], 2, 0, 1.0)[:, 0]
    F.glu(torch.stack([x, x], 1), 1)[:, 0]
""".split("\n")[1:-1]
FUNCTIONS_OF_TWO = """
    atan2 hypot logaddexp logaddexp2 maximum minimum fmax fmin fmod remainder copysign xlogy special.xlog1py
    ldexp float_power nextafter
"""
OF_TWO = [f"torch.{n}(x, y)" for n in FUNCTIONS_OF_TWO.split()]
OF_TWO += """
    x*y
    x/y
    x**y
    torch.lerp(x, y, 0.3)
    torch.lerp(x, y, 0.7)
    torch.lerp(x, y, y)
    torch.lerp(x, y, x)
    torch.addcmul(x, x, y)
    torch.addcdiv(x, x, y)
    torch.clamp(x, y, y+1)
    torch.clamp(x, min=y)
    torch.clamp(x, max=y)
    F.smooth_l1_loss(x, y, reduction="none")
    F.huber_loss(x, y, reduction="none")
    F.l1_loss(x, y, reduction="none")
    F.smooth_l1_loss(x, y, reduction="none", beta=0.0)
    F.huber_loss(x, y, reduction="none", delta=2.0)
    F.binary_cross_entropy_with_logits(x, y, reduction="none")
    F.poisson_nll_loss(x, y, reduction="none")
    F.poisson_nll_loss(x, y, log_input=False, full=True, reduction="none")
    F.hinge_embedding_loss(x, y.sign(), reduction="none")
    F.margin_ranking_loss(x, y, torch.ones_like(x), reduction="none")
    F.prelu(x[:, None], y[:1])[:, 0]
    torch.stack([x, y], 1).amax(1)
    torch.stack([x, y], 1).max(1)[0]
    torch.stack([x, y], 1).prod(1)
    torch.stack([x, y], 1).cumprod(1)[:, 1]
    torch.stack([x, y], 1).logsumexp(1)
    torch.stack([x, y], 1).softmax(1)[:, 0]
    torch.stack([x, y], 1).log_softmax(1)[:, 0]
    torch.stack([x, y], 1).std(1)
    torch.stack([x, y], 1).norm(dim=1)
    torch.stack([x, y], 1).norm(1, dim=1)
    torch.stack([x, y], 1).norm(3, dim=1)
    torch.stack([x, y], 1).norm(inf, dim=1)
    torch.stack([x, y], 1).norm(0.5, dim=1)
    torch.stack([x, y], 1).logcumsumexp(1)[:, 1]
    torch.stack([x, y], 1).aminmax(dim=1)[0]
    torch.stack([x, y], 1).cummax(1)[0][:, 1]
    torch.stack([x, y], 1).nansum(1)
    torch.complex(x, y).abs()
    torch.complex(x, y).angle()
    torch.view_as_real(torch.complex(x, y).sqrt()).sum(-1)
    torch.view_as_real(torch.complex(x, y).log()).sum(-1)
    torch.view_as_real(torch.complex(x, y).exp()).sum(-1)
    torch.view_as_real(torch.complex(x, y).sgn()).sum(-1)
    F.glu(torch.stack([x, y], 1), 1)[:, 0]
    F.normalize(torch.stack([x, y], 1), dim=1)[:, 0]
    F.cosine_similarity(torch.stack([x, y], 1), torch.ones(len(x), 2, dtype=x.dtype))
    F.pairwise_distance(x[:, None], y[:, None])
    F.gaussian_nll_loss(x, y.detach(), torch.full_like(x, 2.0), reduction="none")
""".split("\n")[1:-1]
EXPRESSIONS = [e.strip() for e in OF_ONE + OF_TWO]


def operands(torch, expression):
    """The operands that the expression is of, as leaves."""
    of_two = expression in map(str.strip, OF_TWO)
    columns = zip(*TWO, strict=True) if of_two else [ONE]
    return [torch.tensor(c, dtype=torch.float64, requires_grad=True) for c in columns]


def derivatives(torch, expression):
    """{"r": results, "0": by the first operand, "01": of that by the second, ...}: lists; zeros where there is none."""
    leaves = operands(torch, expression)
    scope = {"torch": torch, "F": torch.nn.functional, "inf": inf, **dict(zip("xy", leaves, strict=False))}
    r = eval(expression, scope)
    found = {"r": r.tolist()}
    for i, g in enumerate(_gradients(torch, r, leaves)):
        found[str(i)] = (g + 0).tolist()
        for j, h in enumerate(_gradients(torch, g, leaves)):
            found[f"{i}{j}"] = (h + 0).tolist()
    return found


def _gradients(torch, r, leaves):
    got = [None] * len(leaves)
    if r.requires_grad:
        # Times ones: of an expanded gradient PyTorch computes one by one, too.
        got = torch.autograd.grad((r * torch.ones_like(r)).sum(), leaves, create_graph=True, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for g, x in zip(got, leaves, strict=True)]


def main():
    import torch

    rows = []
    for e in EXPRESSIONS:
        try:
            found = derivatives(torch, e)
        except RuntimeError as problem:  # a derivative that PyTorch has not got
            print(f"{e}: {problem}")
            continue
        texts = {k: " ".join(f"{v:.8g}" for v in values) for k, values in found.items()}
        rows.append(f"{json.dumps(e)}: {json.dumps(texts)}")
    VALUES.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
