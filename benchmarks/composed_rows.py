"""Rows of what is composed: reductions over short axes and of reductions, batches of small matrices, contractions,
loops of array operations, elementwise work of other kinds.

A row is (name, inputs, text, shape of the result), and texts of libraries that say it otherwise.
"""

import math

from row import GPU, Input, Row, Target, whole

NOT_WRITTEN = {"numexpr": "no such operation", "numba": "not written as loops here", "torch.compile": "not measured",
               "numba.cuda": "its kernels are elementwise; others are written by hand",
               "cupy.fuse": "fuses one elementwise chain with at most one reduction"}


def made(group, device, rows, **more):
    """The rows of a group. A row that has no texts of its own is the same expression in all libraries."""
    for name, inputs, text, out, *own in rows:
        texts = whole(text, numba=None, **{"torch_compile": None, **(own[0] if own else {})})
        yield Row(name, group, device, inputs=tuple(inputs), text=texts, out=out, target=Target(of_best=1.0),
                  cannot={**NOT_WRITTEN, **more.get("cannot", {})}, floor=more.get("floor", False),
                  alike=more.get("alike", True))


def f4(name, *shape):
    return Input(name, "f4", shape)


def compiled(text):
    """The text of PyTorch, eager and compiled."""
    return {"torch": text, "torch_compile": text}


def short_axes(device):
    n = 1 << (23 if device == GPU else 20)
    triples, rows16 = [f4("a", n, 3)], [f4("a", n, 16)]
    both = [f4("a", n, 3), f4("b", n, 3)]
    return made("short axes", device, [
        ("sums of triples", triples, "a.sum(axis=1)", (n,), compiled("a.sum(1)")),
        ("lengths of triples", triples, "m.sqrt((a * a).sum(axis=1))", (n,), compiled("m.sqrt((a * a).sum(1))")),
        ("triples scaled to length 1", triples, "a / m.sqrt((a * a).sum(axis=1, keepdims=True))", (n, 3),
         compiled("a / m.sqrt((a * a).sum(1, keepdim=True))")),
        ("products of triples", both, "(a * b).sum(axis=1)", (n,), compiled("(a * b).sum(1)")),
        ("cross products", both, "m.cross(a[:, :3], b[:, :3])", (n, 3), compiled("m.linalg.cross(a, b)")),
        ("pairs' differences", [f4("a", n, 2)], "a[:, 1] - a[:, 0]", (n,), compiled("a[:, 1] - a[:, 0]")),
        ("maxima of 16", rows16, "a.max(axis=1)", (n,), compiled("a.amax(1)")),
        ("places of minima of 8", [f4("a", n, 8)], "a.argmin(axis=1)", (n,), compiled("a.argmin(1)")),
        ("softmax of 10", [f4("a", n, 10)], "(lambda e: e / e.sum(axis=1, keepdims=True))"
         "(m.exp(a - a.max(axis=1, keepdims=True)))", (n, 10), compiled("m.softmax(a, 1)")),
        ("sums over the first of 5 axes", [f4("a", 5, n)], "a.sum(axis=0)", (n,), compiled("a.sum(0)")),
        ("means over a middle axis of 7", [f4("a", n >> 4, 7, 16)], "a.mean(axis=1)", (n >> 4, 16),
         compiled("a.mean(1)")),
        ("variances of 12", [f4("a", n, 12)], "a.var(axis=1)", (n,), compiled("a.var(1, correction=0)")),
    ], floor=True)  # fmt: skip


def nested(device):
    side, points = (4096, 8192) if device == GPU else (1024, 1024)
    square, two = [f4("a", side, side)], [f4("a", points, 3), f4("b", points, 3)]
    wide = [f4("a", side, side), f4("b", side, side)]
    return made("reductions of reductions", device, [
        ("nearest of points", two, "((a[:, None, :] - b[None, :, :])**2).sum(axis=2).min(axis=1)", (points,),
         compiled("((a[:, None, :] - b[None, :, :])**2).sum(2).amin(1)")),
        ("which point is nearest", two, "((a[:, None, :] - b[None, :, :])**2).sum(axis=2).argmin(axis=1)", (points,),
         compiled("((a[:, None, :] - b[None, :, :])**2).sum(2).argmin(1)")),
        ("distances of points", two, "m.sqrt(((a[:, None, :] - b[None, :, :])**2).sum(axis=2))", (points, points),
         compiled("m.sqrt(((a[:, None, :] - b[None, :, :])**2).sum(2))")),
        ("forces between points", two, "(lambda d: (d / ((d * d).sum(axis=2, keepdims=True) + 0.1)).sum(axis=1))"
         "(a[:, None, :] - b[None, :, :])", (points, 3),
         compiled("(lambda d: (d / ((d * d).sum(2, keepdim=True) + 0.1)).sum(1))(a[:, None, :] - b[None, :, :])")),
        ("logsumexp of rows", square, "(lambda t: m.log(m.exp(a - t).sum(axis=1)) + t[:, 0])"
         "(a.max(axis=1, keepdims=True))", (side,), compiled("m.logsumexp(a, 1)")),
        ("mean of rows' maxima", square, "a.max(axis=1).mean()", (), compiled("a.amax(1).mean()")),
        ("variance of columns' means", square, "a.mean(axis=0).var()", (), compiled("a.mean(0).var(correction=0)")),
        ("rows standardised", square, "(a - a.mean(axis=1, keepdims=True)) / a.std(axis=1, keepdims=True) + 1",
         (side, side), compiled("(a - a.mean(1, keepdim=True)) / a.std(1, keepdim=True, correction=0) + 1")),
        ("columns standardised", square, "(a - a.mean(axis=0)) / a.std(axis=0) + 1", (side, side),
         compiled("(a - a.mean(0)) / a.std(0, correction=0) + 1")),
        ("cosines of rows", wide, "(a * b).sum(axis=1) / m.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))", (side,),
         compiled("(a * b).sum(1) / m.sqrt((a * a).sum(1) * (b * b).sum(1))")),
        ("entropies of rows", square, "(lambda p: -(p * m.log(p)).sum(axis=1))(a / a.sum(axis=1, keepdims=True))",
         (side,), compiled("(lambda p: -(p * m.log(p)).sum(1))(a / a.sum(1, keepdim=True))")),
        ("Frobenius norm", square, "m.sqrt((a * a).sum())", (), compiled("m.sqrt((a * a).sum())")),
        ("are all finite", square, "m.isfinite(a).all()", (), compiled("m.isfinite(a).all()")),
        ("count of a condition", wide, "m.count_nonzero(a > b)", (), {"torch": "m.count_nonzero(a > b)"}),
        ("range of rows", square, "a.max(axis=1) - a.min(axis=1)", (side,), compiled("a.amax(1) - a.amin(1)")),
    ])  # fmt: skip


def batches(device):
    n = 100_000 if device == GPU else 10_000
    fewer = n // 100

    def pair(count, side):
        return [f4("a", count, side, side), f4("b", count, side, side)]

    own = [Input("a", "f8", (n, 4, 4))]
    definite = "a @ a.swapaxes(1, 2) + a.shape[1] * m.eye(a.shape[1]{})"
    there = definite.format(", dtype=a.dtype, device=a.device")
    return made("batches of small matrices", device, [
        (f"{n} products of 4 x 4", pair(n, 4), "a @ b", (n, 4, 4)),
        (f"{n} products of 16 x 16", pair(n, 16), "a @ b", (n, 16, 16)),
        (f"{fewer} products of 96 x 96", pair(fewer, 96), "a @ b", (fewer, 96, 96)),
        (f"{n} matrices of 8 times vectors", [f4("a", n, 8, 8), f4("b", n, 8)], "m.einsum('nij,nj->ni', a, b)", (n, 8)),
        (f"{n} inverses of 4 x 4 float64", own, "m.linalg.inv(a)", (n, 4, 4)),
        (f"{n} determinants of 4 x 4 float64", own, "m.linalg.det(a)", (n,)),
        (f"{fewer} Cholesky factors of 32 float64", [Input("a", "f8", (fewer, 32, 32))],
         f"m.linalg.cholesky({definite.format('')})", (fewer, 32, 32), {"torch": f"m.linalg.cholesky({there})"}),
        (f"{fewer} symmetric eigenvalues of 16 float64", [Input("a", "f8", (fewer, 16, 16))],
         "m.linalg.eigvalsh(a + a.swapaxes(1, 2))", (fewer, 16)),
        (f"{fewer} systems of 64 float64", [Input("a", "f8", (fewer, 64, 64)), Input("b", "f8", (fewer, 64, 1))],
         "m.linalg.solve(a, b)", (fewer, 64, 1)),
        ("Cholesky factor of 1000 float64", [Input("a", "f8", (1000, 1000))],
         "m.linalg.cholesky(a @ a.T + m.eye(a.shape[0]) * a.shape[0])", (1000, 1000),
         {"torch": "m.linalg.cholesky(a @ a.T + m.eye(a.shape[0], dtype=a.dtype, device=a.device) * a.shape[0])"}),
        ("QR of 1000 x 500 float64", [Input("a", "f8", (1000, 500))], "abs(m.linalg.qr(a)[1])", (500, 500)),
        ("inverse of 1000 float64", [Input("a", "f8", (1000, 1000))],
         "m.linalg.inv(a + m.eye(a.shape[0]) * a.shape[0])", (1000, 1000),
         {"torch": "m.linalg.inv(a + m.eye(a.shape[0], dtype=a.dtype, device=a.device) * a.shape[0])"}),
        ("matrix of 4000 times a vector", [f4("a", 4000, 4000), f4("b", 4000)], "a @ b", (4000,)),
        ("a vector times a matrix of 4000", [f4("a", 4000), f4("b", 4000, 4000)], "a @ b", (4000,)),
        ("ten steps of power iteration, 4000", [f4("a", 4000, 4000), f4("b", 4000)],
         "functools.reduce(lambda x, _: (lambda y: y / m.sqrt((y * y).sum()))(a @ x), range(10), b)", (4000,)),
    ])  # fmt: skip


def contractions(device):
    side, n = (2048, 512) if device == GPU else (512, 128)
    two = [f4("a", side, side), f4("b", side, side)]
    cube = [f4("a", n, n, n)]

    def einsum(label, subscripts, inputs, out):
        names = ", ".join(item.name for item in inputs)
        return (f"einsum {label}", inputs, f"m.einsum('{subscripts}', {names})", out)

    return made("contractions", device, [
        einsum("of products", "ij,jk->ik", two, (side, side)),
        einsum("of transposed products", "ji,kj->ik", two, (side, side)),
        einsum("elementwise", "ij,ij->ij", two, (side, side)),
        einsum("of a whole sum", "ij,ij->", two, ()),
        einsum("of rows", "ij,ij->i", two, (side,)),
        einsum("of a diagonal", "ii->i", two[:1], (side,)),
        einsum("of a bilinear form", "ni,ij,nj->n", [f4("a", 8 * n, n), f4("b", n, n), f4("c", 8 * n, n)], (8 * n,)),
        einsum("of batches", "bij,bjk->bik", [f4("a", n, 64, 64), f4("b", n, 64, 64)], (n, 64, 64)),
        einsum("over the last axis", "ijk,k->ij", [*cube, f4("b", n)], (n, n)),
        einsum("over two axes", "ijk,jk->i", [*cube, f4("b", n, n)], (n,)),
        einsum("of a permutation", "ijk->kji", cube, (n, n, n)),
        einsum("of three vectors", "i,j,k->ijk", [f4("a", n), f4("b", n), f4("c", n)], (n, n, n)),
        ("outer product", [f4("a", 4 * side), f4("b", 4 * side)], "m.outer(a, b)", (4 * side, 4 * side)),
        ("table of sums of squares", [f4("a", 4 * side), f4("b", 4 * side)], "a[:, None]**2 + b[None, :]**2",
         (4 * side, 4 * side), compiled("a[:, None]**2 + b[None, :]**2")),
        ("tensordot of two axes", [f4("a", n, n, n), f4("b", n, n, n)], "m.tensordot(a, b, 2)", (n, n)),
        ("covariance of columns", [f4("a", 8 * side, 64)],
         "(lambda c: c.T @ c)(a - a.mean(axis=0))", (64, 64), {"torch": "(lambda c: c.T @ c)(a - a.mean(0))"}),
        ("product, bias and tanh", [*two, f4("c", side)], "m.tanh(a @ b + c)", (side, side),
         compiled("m.tanh(a @ b + c)")),
        ("attention of one head", [f4("a", side, 64), f4("b", side, 64), f4("c", side, 64)],
         "(lambda e: (e / e.sum(axis=1, keepdims=True)) @ c)(m.exp(a @ b.T / 8))", (side, 64),
         compiled("m.softmax(a @ b.T / 8, 1) @ c")),
    ])  # fmt: skip


MANDELBROT = ("functools.reduce(lambda s, _: (lambda x, y, k, inside: (m.where(inside, x * x - y * y + a, x),"
              " m.where(inside, 2 * x * y + b, y), k + inside))(*s, s[0] * s[0] + s[1] * s[1] < 4), range(50),"
              " (a, b, a * 0))[2]")
LIFE = ("(lambda k: ((k == 3) | ((k == 2) & (a == 1))) * 1)(sum(m.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1)"
        " for j in (-1, 0, 1) if i or j))")
HEAT = ("functools.reduce(lambda x, _: (x + m.roll(x, 1, 0) + m.roll(x, -1, 0) + m.roll(x, 1, 1) + m.roll(x, -1, 1))"
        " / 5, range(20), a)")
JACOBI = ("(lambda x: [x.__setitem__((slice(1, -1), slice(1, -1)), 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2]"
          " + x[1:-1, 2:])) for _ in range(50)] and x)({copy})")  # fmt: skip


def loops(device):
    """Array operations in loops, as programs have them; what compiles whole functions sees the loops unrolled."""
    side, n = (2048, 1 << 24) if device == GPU else (512, 1 << 20)
    square = [f4("a", side, side)]
    return made("loops", device, [
        ("1000 small updates", [f4("a", 10_000)], "functools.reduce(lambda x, _: x * 0.999 + 0.001, range(1000), a)",
         (10_000,)),
        ("100 updates of a million", [f4("a", 1_000_000)],
         "functools.reduce(lambda x, _: x * 0.999 + 0.001, range(100), a)",
         (1_000_000,)),
        ("20 steps of the logistic map", [f4("a", n)],
         "functools.reduce(lambda x, _: 3.7 * x * (1 - x), range(20), a / 2)", (n,)),
        ("Mandelbrot set, 50 rounds", [f4("a", side, side), f4("b", side, side)], MANDELBROT, (side, side)),
        ("Newton's iteration, 10 steps", [f4("a", n)],
         "functools.reduce(lambda x, _: 0.5 * (x + a / x), range(10), a)", (n,)),
        ("game of life by rolls", [Input("a", "i4", (side, side), below=2)], LIFE, (side, side)),
        ("20 steps of heat by rolls", square, HEAT, (side, side)),
        ("50 steps of Jacobi in place", square, JACOBI.format(copy="m.copy(a)"), (side, side),
         {"torch": JACOBI.format(copy="a.clone()"), "jax": None}),
        ("a stencil of slices", square,
         "a[1:-1, 1:-1] * 0.5 + 0.125 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])",
         (side - 2, side - 2),
          compiled("a[1:-1, 1:-1] * 0.5 + 0.125 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])")),
        ("exponential smoothing of 100 columns", [f4("a", 1000, 100)],
         "functools.reduce(lambda s, i: 0.9 * s + 0.1 * a[i], range(1, a.shape[0]), a[0])", (100,)),
        ("a polynomial of degree 12", [f4("a", n)], "functools.reduce(lambda s, c: s * a + c, range(1, 13), 0.5)",
         (n,)),
        ("20 steps of gradient descent", [f4("a", 4096, 64), f4("b", 4096)],
         "functools.reduce(lambda w, _: w - 0.0001 * (a.T @ (a @ w - b)), range(20), a[0] * 0)", (64,)),
    ], cannot={"jax": "arrays are not written"})  # fmt: skip


def elementwise(device):
    """Kinds of elementwise work that the chain is not."""
    n = 1 << (26 if device == GPU else 22)
    one, two = [f4("a", n)], [f4("a", n), f4("b", n)]
    normal = "(0.5 * (1 + m.tanh(0.7978845608 * ({0} + 0.044715 * {0} * {0} * {0}))))"
    d = "(m.log(a / b) + 0.06) / 0.2"
    scholes = f"a * {normal.format(f'({d})')} - b * 0.95 * {normal.format(f'({d} - 0.2)')}"
    rows = [
        ("where, clip, log1p", two, "m.log1p(m.clip(m.where(a > b, a, 2 * b), 0.1, 1.5))", (n,),
         compiled("m.log1p(m.clip(m.where(a > b, a, 2 * b), 0.1, 1.5))")),
        ("options by Black and Scholes", two, scholes, (n,), compiled(scholes)),
        ("sine and cosine", one, "m.sin(a) * m.cos(3 * a)", (n,), compiled("m.sin(a) * m.cos(3 * a)")),
        ("powers", two, "a ** b", (n,), compiled("a ** b")),
        ("float16 chain", [Input("a", "f2", (n,)), Input("b", "f2", (n,))], "m.sqrt(a * a + b * b) * b", (n,),
         compiled("m.sqrt(a * a + b * b) * b")),
        ("int8 chain", [Input("a", "i1", (n,), below=100), Input("b", "i1", (n,), below=100)],
         "(a & b) + (a ^ b) // 2", (n,),
         compiled("(a & b) + (a ^ b) // 2")),
        ("magnitudes of complex64", [Input("a", "c8", (n,))], "m.abs(a)", (n,), compiled("m.abs(a)")),
        ("complex64 product and sum", [Input("a", "c8", (n,)), Input("b", "c8", (n,))], "a * b + a", (n,),
         compiled("a * b + a")),
        ("remainders of int32", [Input("a", "i4", (n,)), Input("b", "i4", (n,), below=1000)], "a % (b + 7)", (n,),
         compiled("a % (b + 7)")),
        ("float32 to int32", one, "(a * 1000).astype('int32')", (n,), compiled("(a * 1000).to(m.int32)")),
        ("place of the maximum", one, "a.argmax()", (), compiled("a.argmax()")),
        ("running maximum", one, "m.maximum.accumulate(a)", (n,),
         {**compiled("m.cummax(a, 0).values"), "jax": "m.maximum.accumulate(a)"}),
        ("running sums of columns", [f4("a", n >> 10, 1024)], "a.cumsum(axis=0)", (n >> 10, 1024),
         compiled("a.cumsum(0)")),
        ("mean and deviation", one, "a.mean() + a.std()", (), compiled("a.mean() + a.std(correction=0)")),
    ]  # fmt: skip
    return made("elementwise", device, rows)


def rows(device):
    """All rows of this file; their names are distinct."""
    found = [row for part in (short_axes, nested, batches, contractions, loops, elementwise) for row in part(device)]
    assert all(math.prod(item.shape) for row in found for item in row.inputs)
    return found
