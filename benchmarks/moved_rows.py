"""Rows of what moves elements: sorting, searching, scattering, gathering, shapes, random draws, transforms."""

from composed_rows import compiled, f4, made
from row import CPU, GPU, Input, Row, Target, vectors, whole


def ordered(device):
    n, side = (1 << 24, 4095) if device == GPU else (1 << 20, 1023)
    one, square = vectors("a", "f4", n), [f4("a", side, side)]
    keys = [Input("k", "i4", (n,), below=1_000_000)]
    return made("order and search", device, [
        ("sort of rows", square, "m.sort(a, axis=1)", (side, side), {"torch": "m.sort(a, 1).values"}),
        ("sort of columns", square, "m.sort(a, axis=0)", (side, side), {"torch": "m.sort(a, 0).values"}),
        ("argsort of rows", square, "m.argsort(a, axis=1)", (side, side)),
        ("sort of int32", keys, "m.sort(k)", (n,), {"torch": "m.sort(k).values"}),
        ("sort of float64", vectors("a", "f8", n), "m.sort(a)", (n,), {"torch": "m.sort(a).values"}),
        ("median of rows", square, "m.median(a, axis=1)", (side,), {"torch": "m.median(a, 1).values"}),
        ("median of all", vectors("a", "f4", n - 1), "m.median(a)", (), {"torch": "m.median(a)"}),
        ("quartiles of all", one, "m.percentile(a, m.asarray([25.0, 50.0, 75.0]))", (3,),
         {"torch": "m.quantile(a[:1 << 24], m.tensor([0.25, 0.5, 0.75], device=a.device))",
          "treadle": "m.percentile(a, [25.0, 50.0, 75.0])", "numpy": "m.percentile(a, [25.0, 50.0, 75.0])"}),
        ("the five largest", one, "m.sort(m.partition(a, a.size - 5)[-5:])", (5,),
         {"torch": "m.sort(m.topk(a, 5).values).values"}),
        ("the five largest of rows", square, "m.sort(m.partition(a, a.shape[1] - 5, axis=1)[:, -5:], axis=1)", (side,
         5),
         {"torch": "m.sort(m.topk(a, 5, 1).values, 1).values"}),
        ("unique with counts", keys, "m.unique(k, return_counts=True)[1]", (1_000_000,), {"jax": None}),
        ("elements found in a table", [f4("a", n), f4("t", 10_000)], "m.searchsorted(m.sort(t), a)", (n,),
         {"torch": "m.searchsorted(m.sort(t).values, a)"}),
        ("which are in a set", [*keys, Input("t", "i4", (1000,), below=1_000_000)], "m.isin(k, t)", (n,)),
        ("bins of values", [f4("a", n), f4("t", 256)], "m.digitize(a, m.sort(t))", (n,),
         {"torch": "m.bucketize(a, m.sort(t).values, right=True)"}),
    ], cannot={"jax": "the result's size depends on the values"})  # fmt: skip


def scattered(device):
    n, bins = (1 << 24, 1 << 20) if device == GPU else (1 << 20, 1 << 16)
    side = 4096 if device == GPU else 1024
    place = Input("i", "i8", (n,), below=bins)
    rows = Input("i", "i8", (1 << 17 if device == GPU else 1 << 14,), below=1000)
    return made("scatter and gather", device, [
        ("add.at", [f4("a", n), place, f4("t", bins)], "(lambda r: m.add.at(r, i, a) or r)(t * 0)", (bins,),
         {"torch": "(t * 0).index_add_(0, i, a)", "jax": "(t * 0).at[i].add(a)"}),
        ("maximum.at", [f4("a", n), place, f4("t", bins)], "(lambda r: m.maximum.at(r, i, a) or r)(t * 0)", (bins,),
         {"torch": "(t * 0).scatter_reduce_(0, i, a, 'amax')",
          "jax": "(t * 0).at[i].max(a)"}),
        ("bincount with weights", [f4("a", n), place], "m.bincount(i, a, 1 << 20)", (bins,),
         {"torch": "m.bincount(i, a, 1 << 20)", "jax": "m.bincount(i, a, length=1 << 20)"}),
        ("elements set by places", [f4("a", n), place, f4("t", bins)],
         "(lambda r: r.__setitem__(i, 1.5) or r)(t * a[0])", (bins,),
         {"torch": "(t * 0).index_fill_(0, i, 1.5)", "jax": "(t * 0).at[i].set(1.5)"}),
        ("rows gathered and summed", [f4("a", 1000, 128), rows], "a[i].sum(axis=1)", (rows.shape[0],),
         compiled("a[i].sum(1)")),
        ("rows gathered", [f4("a", 1000, 128), rows], "a[i]", (rows.shape[0], 128), compiled("a[i]")),
        ("columns taken", [f4("a", side, side), Input("i", "i8", (side // 2,), below=side)], "m.take(a, i, axis=1)",
         (side, side // 2), {"torch": "m.index_select(a, 1, i)"}),
        ("one element a row", [f4("a", side, side), Input("i", "i8", (side,), below=side)],
         "a[m.arange(a.shape[0]), i]", (side,), {"torch": "a[m.arange(a.shape[0], device=a.device), i]"}),
        ("elements set by a mask", [f4("a", n)], "m.where(a > 0.5, 0, a)", (n,), compiled("m.where(a > 0.5, 0, a)")),
        ("places of a condition", [f4("a", n)], "m.flatnonzero(a > 0.5)", (n // 2,),
         {"torch": "m.nonzero(a > 0.5)[:, 0]", "jax": None}),
        ("rows of a condition", [f4("a", n >> 6, 64)], "a[a[:, 0] > 0.5]", (n >> 7, 64), {"jax": None}),
        ("take_along_axis of an argsort", [f4("a", side, 64)], "m.take_along_axis(a, m.argsort(a, axis=1), 1)", (side,
         64),
         {"torch": "m.take_along_dim(a, m.argsort(a, 1), 1)"}),
    ], cannot={"jax": "the result's size depends on the values"})  # fmt: skip


def shaped(device):
    n, side = (1 << 24, 8192) if device == GPU else (1 << 20, 2048)
    two, square = vectors("ab", "f4", n), [f4("a", side, side)]
    return made("shapes", device, [
        ("pairs of two vectors", two, "m.stack([a, b], axis=1)", (n, 2), compiled("m.stack([a, b], 1)")),
        ("two vectors end to end", two, "m.concatenate([a, b])", (2 * n,), compiled("m.concatenate([a, b])")),
        ("two matrices side by side", [f4("a", side, side), f4("b", side, side)], "m.concatenate([a, b], axis=1)",
         (side, 2 * side), compiled("m.concatenate([a, b], 1)")),
        ("a border of zeros", square, "m.pad(a, 1)", (side + 2, side + 2),
         compiled("m.nn.functional.pad(a, (1, 1, 1, 1))")),
        ("a border of mirrored values", square, "m.pad(a, 2, mode='reflect')", (side + 4, side + 4),
         {"torch": "m.nn.functional.pad(a[None], (2, 2, 2, 2), mode='reflect')[0]"}),
        ("roll by rows and columns", square, "m.roll(a, (3, 5), (0, 1))", (side, side),
         compiled("m.roll(a, (3, 5), (0, 1))")),
        ("flip of both axes", square, "m.flip(a, (0, 1))", (side, side), compiled("m.flip(a, (0, 1))")),
        ("tile 3 by 2", [f4("a", side // 2, side // 2)], "m.tile(a, (3, 2))", (3 * side // 2, side),
         compiled("m.tile(a, (3, 2))")),
        ("each element four times", [f4("a", n)], "m.repeat(a, 4)", (4 * n,), compiled("m.repeat_interleave(a, 4)")),
        ("upper triangle", square, "m.triu(a)", (side, side), compiled("m.triu(a)")),
        ("a matrix turned", square, "m.rot90(a)", (side, side), {"torch": "m.rot90(a).contiguous()"}),
        ("axes exchanged", [f4("a", 64, n >> 12, 64)], "m.ascontiguousarray(a.transpose(2, 0, 1))", (64, 64, n >> 12),
         {**compiled("a.permute(2, 0, 1).contiguous()"), "jax": "a.transpose(2, 0, 1)"}),
        ("differences of neighbours", [f4("a", n)], "m.diff(a)", (n - 1,), compiled("m.diff(a)")),
        ("slopes of a plane", square, "m.gradient(a)[0]", (side, side), {"torch": "m.gradient(a)[0]"}),
        ("sliding means of 9", [f4("a", n)], "(lambda c: (c[9:] - c[:-9]) / 9)(m.cumsum(a, 0))", (n - 9,),
         {"torch": "(lambda c: (c[9:] - c[:-9]) / 9)(m.cumsum(a, 0))"}),
        ("every third row, second column", square, "a[::3, 1::2] + 1", (-(-side // 3), side // 2),
         compiled("a[::3, 1::2] + 1")),
        ("a grid of coordinates", [f4("a", side), f4("b", side)], "(lambda x, y: x * y)(*m.meshgrid(a, b))", (side,
         side),
         compiled("(lambda x, y: x * y)(*m.meshgrid(a, b, indexing='xy'))")),
    ], cannot={"jax": "not measured"})  # fmt: skip


# NumPy's draws are float64 or int64; torch's are asked for as many bytes.
DRAWS = {
    "exponential": ("exponential(1.0, {n})", "m.empty({n}, dtype=m.float64, device='{on}').exponential_()"),
    "gamma": ("gamma(2.0, 1.0, {n})", "m._standard_gamma(m.full(({n},), 2.0, dtype=m.float64, device='{on}'))"),
    "beta": ("beta(2.0, 3.0, {n})", None),
    "Poisson": ("poisson(3.0, {n})", "m.poisson(m.full(({n},), 3.0, dtype=m.float64, device='{on}'))"),
    "binomial": ("binomial(20, 0.3, {n})",
    "m.binomial(*(m.full(({n},), x, dtype=m.float64, device='{on}') for x in (20.0, 0.3)))"),
    "integers": ("integers(0, 1000, {n})", "m.randint(0, 1000, ({n},), device='{on}')"),
    "normal float64": ("standard_normal({n})", "m.randn({n}, dtype=m.float64, device='{on}')"),
    "permutation": ("permutation({n})", "m.randperm({n}, device='{on}')"),
    "choice with replacement": ("choice(1000, {n})", "m.randint(0, 1000, ({n},), device='{on}')"),
}


def drawn(device):
    n = 1 << (24 if device == GPU else 20)
    for name, (ours, torch) in DRAWS.items():
        theirs = torch and torch.format(n=n, on={CPU: "cpu", GPU: "cuda"}[device])
        legacy = {"integers": "m.random.randint(0, 1000, {n})", "normal float64": "m.random.standard_normal({n})"}
        text = legacy.get(name, "m.random." + ours) if device == GPU else "generator." + ours
        own = {"": "generator." + ours.format(n=n), "cupy": text.format(n=n) if device == GPU else None,
        "torch": theirs}
        texts = {**whole("", numba=None, jax=None, torch_compile=None), **own}
        yield Row(f"draws, {name}", "draws", device, text=texts, out=(n,), floor=False, alike=False,
                  cannot={"jax": "draws from keys that the caller splits", "torch": "no such draw", "cupy": "a GPU's",
                          "numba": "not measured", "torch.compile": "as torch"},
                  target=Target(of_best=1.0))  # fmt: skip


def transformed(device):
    side, n = (4096, 1 << 22) if device == GPU else (1000, 1 << 18)
    cube = 256 if device == GPU else 64
    square = [Input("a", "c8", (side, side))]
    return made("transforms", device, [
        ("fft of two axes", square, "m.fft.fft2(a)", (side, side)),
        ("fft, filter, inverse", [*square, f4("b", side, side)], "m.fft.ifft2(m.fft.fft2(a) * b)", (side, side)),
        ("rfft of two axes", [f4("a", side, side)], "m.fft.rfft2(a)", (side, side // 2 + 1)),
        ("fft of three axes", [Input("a", "c8", (cube, cube, cube))], "m.fft.fftn(a)", (cube, cube, cube)),
        ("fft of rows of 1000", [Input("a", "c8", (n // 1000, 1000))], "m.fft.fft(a)", (n // 1000, 1000)),
        ("fft of rows of 1009", [Input("a", "c8", (n // 1009, 1009))], "m.fft.fft(a)", (n // 1009, 1009)),
        ("rfft of rows of 512", [f4("a", n // 512, 512)], "m.fft.rfft(a)", (n // 512, 257)),
        ("irfft of rows of 512", [Input("a", "c8", (n // 512, 257))], "m.fft.irfft(a, 512)", (n // 512, 512)),
        ("fft of 3^11 complex128", [Input("a", "c16", (3**11,))], "m.fft.fft(a)", (3**11,)),
        ("fft of 1000 complex128", [Input("a", "c16", (1000,))], "m.fft.fft(a)", (1000,)),
        ("power spectrum of frames", [f4("a", n // 512, 512), f4("b", 512)], "m.abs(m.fft.rfft(a * b))**2", (n // 512,
         257)),
        ("convolution by fft", [f4("a", n), f4("b", n)], "m.fft.irfft(m.fft.rfft(a) * m.fft.rfft(b))", (n,)),
    ])  # fmt: skip


def rows(device):
    return [row for part in (ordered, scattered, shaped, drawn, transformed) for row in part(device)]
