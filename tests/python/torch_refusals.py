"""Calls that PyTorch 2.15 refuses, by the exception that it raises.

`python torch_refusals.py` with PyTorch says which rows are not so.
"""

REFUSED = {
    "RuntimeError": """
        x.clone().cauchy_(0, 0)
        x.clone().exponential_(0)
        x.clone().geometric_(-1)
        x.clone().log_normal_(0, 0)
        x.clone().normal_(0, -1)
        x.clone().uniform_(3, -1)
        x.sum_to_size(2, 2)
        torch.complex(x, x.double())
        torch.cov(x[None])
        torch.cov(x, fweights=torch.tensor([1, -1, 1, 1]))
        torch.cov(x, aweights=x[0, :2].abs())
        torch.diff(x, n=-1)
        x.masked_fill(x > 0, 1j)
        torch.zeros(3, dtype=torch.int8).masked_fill(torch.zeros(3, dtype=torch.bool), 1000)
        x.masked_scatter(x, x)
        torch.isclose(x, x, rtol=-0.4)
        torch.arange(0, inf)
        torch.linspace(0, 1, -1)
        torch.logspace(x[0], x[1], 3)
        torch.eye(-1)
        torch.eye(3, -3)
        torch.rot90(x, dims=(1, 1))
        torch.rot90(x, dims=(1,))
        torch.fliplr(x[0])
        torch.flipud(x[0, 0])
        torch.gradient(x, spacing=[1.0, 2.0, 3.0])
        torch.hsplit(x[0, 0], 2)
        torch.vsplit(x, 0)
        torch.dsplit(x, 2)
        torch.hstack([])
        torch.movedim(x, (0, 1), (0,))
        torch.tril(x[0])
        torch.narrow(x[0, 0], 0, 0, 1)
        torch.gather(x, 1, torch.full((2, 2), 23))
        torch.scatter(x, 0, torch.full((2, 2), 34), x)
        torch.scatter(x, 0, torch.zeros(2, 2, dtype=torch.int64), x.double())
        torch.scatter_add(x, 0, torch.zeros(2, 2, dtype=torch.int64), x.double())
        torch.scatter_reduce(x, 0, torch.zeros(2, 2, dtype=torch.int64), x.double(), "sum")
        torch.index_add(x, 0, torch.tensor([0, 1]), x[0, :2])
        torch.multinomial(x, 1)
        torch.multinomial(x.abs() * nan, 1)
        torch.multinomial(x * 0, 1)
        torch.multinomial(x.abs(), 0)
        torch.multinomial(k, 1)
        torch.renorm(x[0, 0], 2, 0, 1)
        torch.histogramdd(x, [2, 2, 2])
        torch.amax(x, 0, out=torch.empty(4, dtype=torch.int32))
        torch.add(x, x, out=torch.empty(1).expand(3, 4))
        torch.mean(k)
        torch.mean(x, dtype=torch.int64)
        torch.empty_permuted((2, 3), (0, 0))
        torch.linalg.lstsq(x[0], x)
        F.avg_pool1d(x, 2, padding=-1)
        F.avg_pool2d(x[None], 2, divisor_override=0)
        F.max_pool1d(x, 0)
        F.max_pool1d(x, 2, stride=0)
        F.max_pool1d(x[:, :0], 2)
        F.max_pool1d(x, 2, dilation=0)
        F.max_unpool1d(x, torch.zeros(3, 3, dtype=torch.int64), 2)
        F.adaptive_avg_pool2d(x[None], (-1, 0))
        F.conv1d(x, torch.ones(1, 3, 2), torch.ones(1, dtype=torch.float64))
        F.conv1d(x, torch.ones(1, 3, 2), padding=-1)
        F.group_norm(x[0], 1)
        F.rms_norm(x, [])
        F.prelu(x, x)
        F.rrelu(x, 0.3, 0.2)
        F.embedding(x, x)
        F.embedding(k, x[0])
        F.multi_margin_loss(x, x[:, 0])
        F.cross_entropy(x, k[:3], weight=x[0, :2])
        F.cross_entropy(x, x, ignore_index=1)
        F.cross_entropy(x, x[:, 0])
        F.nll_loss(x, k[:3], weight=torch.ones(4, dtype=torch.float16))
        F.linear_cross_entropy(x, x[0], k[:3])
        torch.nn.LinearCrossEntropyLoss(3, 4, label_smoothing=2.0)
    """,
    "ValueError": """
        torch.cat([])
        F.adaptive_max_pool3d(x, (2, 2, 2))
        F.multi_margin_loss(x, k[:3], reduction="abc")
        F.multilabel_margin_loss(x, x, reduction="abc")
        F.triplet_margin_loss(x, x, x, margin=-1.0)
        F.gaussian_nll_loss(x, x, torch.ones(3, 2))
        F.batch_norm(x, None, None, training=True, eps=-1.0)
        torch.signal.windows.hann(4, dtype=torch.float16)
        torch.signal.windows.kaiser(4, layout=torch.sparse_coo)
        torch.nn.RNN(0, 3)
        torch.nn.LSTM(4, 3, dtype=torch.float64)(x)
        torch.nn.GRUCell(4, 3)(x, torch.zeros(1, 1, 1, 3))
        torch.nn.CircularPad1d(1)(torch.ones(1, 1, 1, 3))
    """,
    "TypeError": """
        torch.atan2(x, 1)
        torch.maximum(1, x)
        torch.eq(1, x)
        torch.clamp_min(1, x)
        torch.logical_and(1, x)
        torch.ldexp(1, x)
        torch.cat(x)
        torch.cat([x, None])
        torch.linspace(0, 1, 2.5)
        torch.special.zeta(1, 2)
        torch.nn.HuberLoss(delta=1j)
        torch.nn.Softmax(dim=True)
        torch.nn.GRU(4, 3, bias=1)
        torch.argmax(c)
        torch.argmin(c, 0)
        torch.sort(c)
        torch.argsort(c)
        torch.topk(c, 1)
        torch.maximum(c, c)
        torch.minimum(c, c)
        torch.fmax(c, c)
        torch.fmin(c, c)
        torch.isposinf(c)
        torch.isneginf(c)
    """,
    "IndexError": """
        torch.aminmax(x[:, :0], dim=1)
    """,
    "NotImplementedError": """
        torch.complex(x, k)
        torch.lt(c, c)
        1 - b
        x - True
        b - x[:, 0]
        b.sub_(b)
        -b
        abs(b)
        b // b
        b % b
        b**b
        b << b
        torch.floor(b)
        torch.ceil(b)
        torch.trunc(b)
        torch.relu(b)
        torch.fmod(b, b)
        torch.gcd(b, b)
        torch.hypot(b, b)
        torch.floor_divide(b, b)
        c <= 2
        c > c
        2 >= c
        c.lt_(c)
        torch.max(c)
        torch.amin(c, 0)
        torch.median(c)
        torch.kthvalue(c, 1)
        torch.mode(c)
        torch.unique(c)
        torch.bucketize(c, c)
        torch.searchsorted(c, c)
        torch.cummax(c, 0)
        torch.clamp(c, 0, 1)
        torch.round(c)
        torch.sign(c)
        torch.heaviside(c, c)
        torch.floor(c)
        torch.ceil(c)
        torch.trunc(c)
        torch.frac(c)
        torch.fmod(c, c)
        torch.remainder(c, c)
        torch.floor_divide(c, c)
        torch.atan2(c, c)
        torch.hypot(c, c)
        torch.erf(c)
        torch.copysign(c, c)
        torch.nextafter(c, c)
    """,
}


def scope(torch):
    """The names in the expressions."""
    x = torch.arange(12, dtype=torch.float32).reshape(3, 4) - 5
    k = torch.tensor([0, 1, 2, 1])
    c = torch.tensor([1 + 2j, 3 - 1j])
    b = torch.tensor([True, False, True])
    return {"torch": torch, "F": torch.nn.functional, "x": x, "k": k, "b": b, "c": c, "inf": float("inf"), "nan": float("nan")}


def rows():
    return [(line.strip(), kind) for kind, text in REFUSED.items() for line in text.split("\n") if line.strip()]


def main():
    import torch

    for expression, kind in rows():
        try:
            eval(expression, scope(torch))
            print(f"{expression}: a result")
        except Exception as e:
            if kind not in [c.__name__ for c in type(e).__mro__]:
                print(f"{expression}: {type(e).__name__}: {e}")


if __name__ == "__main__":
    main()
