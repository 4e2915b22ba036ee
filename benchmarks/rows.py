"""The rows of the benchmark: what is computed, on what, and what is to be reached.

Everything that is true of a row stands here once.
"""

import composed_rows
import kernel_rows
import moved_rows
import raw_rows
import script_rows
import unchanged_rows
from row import CPU, DEVICES, GPU, KERNELS_ONLY, Input, Row, Target, matrices, vectors, whole

__all__ = ["CPU", "DEVICES", "GPU", "KERNELS_ONLY", "rows"]

BIG = {CPU: 1 << 24, GPU: 1 << 27}  # elements of the rows that have a target

CHAIN = {
    "": "m.sqrt(a*a + b*b) * m.exp(-c) + d",
    "numexpr": "sqrt(a*a + b*b) * exp(-c) + d",
}
INTEGER_CHAIN = {"": "a*b + c - d"}
SQUARES = {"": "((a - b)**2).sum()", "numexpr": "sum((a - b)**2)"}
VARIANCE = {
    "": "a.var()",
    "torch": "a.var(correction=0)",
    "torch.compile": "a.var(correction=0)",
    "numexpr": None,
}
SUM = {"": "a.sum()", "numexpr": "sum(a)"}
PRODUCT = {"": "a @ b", "numexpr": None, "numba": "m.dot(a, b)", "numba.cuda": None,
           "cupy.fuse": None}
SOFTMAX = {
    "": "(lambda e: e / e.sum(axis=1, keepdims=True))(m.exp(a - a.max(axis=1, keepdims=True)))",
    "torch": "m.softmax(a, 1)",
    "torch.compile": "m.softmax(a, 1)",
    "numexpr": None,
    "numba": None,
    "numba.cuda": None,
    "cupy.fuse": None,
}

LAYERS = {
    "": "(a - a.mean(axis=1, keepdims=True)) / m.sqrt(a.var(axis=1, keepdims=True) + 1e-5) * b + c",
    "torch": "m.nn.functional.layer_norm(a, (1024,), b, c)",
    "torch.compile": "m.nn.functional.layer_norm(a, (1024,), b, c)",
    "numexpr": None,
    "numba": None,
    "numba.cuda": None,
    "cupy.fuse": None,
}

# numba.cuda and cupy.fuse make elementwise kernels; a reduction is written another way there.
ONE_KERNEL = {
    "numba.cuda": "its kernels are elementwise; reductions are written by hand",
    "cupy.fuse": "fuses one elementwise chain with at most one reduction",
    "numexpr": "no such operation",
    "numba": "keepdims is not supported",
}


NO_GENERATOR = {"numba": "no normal float32", "jax": "draws from keys that the caller splits"}
# What a library of whole expressions says to an operation that it lacks.
NOT_FUSED = {
    **ONE_KERNEL,
    "torch.compile": "the result's size depends on the values",
    "jax": "the result's size depends on the values",
}


def limit(device, seconds):
    """The figure on the GPU; on the CPU the best peer's."""
    return Target(seconds=seconds) if device == GPU else Target(of_best=1.0)


def with_targets(device):
    """The expressions that the project has set itself figures for."""
    n = BIG[device]
    fused = Target(seconds=0.65e-3) if device == GPU else Target(of_best=1.0, of_numpy=0.2)

    return [
        Row("chain", "arrays", device, inputs=vectors("abcd", "f4", n), text=CHAIN, target=fused),
        Row("squared difference", "arrays", device, inputs=vectors("ab", "f4", n),
            text={**SQUARES, "numba.cuda": None}, cannot=ONE_KERNEL, out=(),
            target=limit(device, 0.27e-3)),
        Row("variance", "arrays", device, inputs=vectors("a", "f4", n),
            text={**VARIANCE, "numba.cuda": None, "cupy.fuse": None}, cannot=ONE_KERNEL, out=(),
            target=limit(device, 0.165e-3)),
        Row("sum", "arrays", device, inputs=vectors("a", "f4", n),
            text={**SUM, "numba.cuda": "reduce"}, out=(), target=limit(device, 0.135e-3)),
    ]


def varied(device):
    """Other sizes, dtypes and layouts, so that nothing is tuned to one case."""
    n = BIG[device]
    side = 1 << (n.bit_length() // 2)  # 4096 on the CPU, 16384 on the GPU
    rows = []
    for power in (12, 16, 20) if device == CPU else (16, 20, 24):
        rows.append(Row(f"chain 2^{power}", "arrays", device,
                        inputs=vectors("abcd", "f4", 1 << power), text=CHAIN))
    rows += [
        Row("chain odd length", "arrays", device, inputs=vectors("abcd", "f4", n // 3), text=CHAIN),
        Row("chain float64", "arrays", device, inputs=vectors("abcd", "f8", n // 2), text=CHAIN),
        Row("chain int32", "arrays", device, inputs=vectors("abcd", "i4", n),
            text=INTEGER_CHAIN),
        Row("sum float64", "arrays", device, inputs=vectors("a", "f8", n // 2),
            text={**SUM, "numba.cuda": "reduce"}, out=()),
        Row("sum int32", "arrays", device, inputs=vectors("a", "i4", n),
            text={**SUM, "numba.cuda": None}, cannot=ONE_KERNEL, out=()),
        Row("chain with a strided operand", "arrays", device,
            inputs=vectors("abcd", "f4", n // 2, ["step2"]), text=CHAIN),
        Row("a + b with a transposed", "arrays", device,
            inputs=matrices("ab", "f4", side, ["T"]), text={"": "a + b"}),
        Row("centre and scale columns", "arrays", device,
            inputs=(*matrices("a", "f4", side), Input("b", "f4", (side,)),
                    Input("c", "f4", (side,))),
            text={"": "(a - b) * c", "numba.cuda": None}, cannot=ONE_KERNEL),
        Row("sum over axis 0, 1000 wide", "arrays", device,
            inputs=(Input("a", "f4", (n // 1000, 1000)),),
            text={**whole("a.sum(axis=0)"), "numexpr": "sum(a, axis=0)"}, cannot=ONE_KERNEL,
            out=(1000,)),
        Row("sum over rows of 64", "arrays", device, inputs=(Input("a", "f4", (n // 64, 64)),),
            text={**whole("a.sum(axis=1)"), "numexpr": "sum(a, axis=1)"}, cannot=ONE_KERNEL,
            out=(n // 64,)),
        Row("softmax over rows of 1000", "arrays", device,
            inputs=(Input("a", "f4", (n // 1000, 1000)),), text=SOFTMAX, cannot=ONE_KERNEL),
        Row("layer normalisation of rows", "arrays", device,
            inputs=(Input("a", "f4", (n // 1024, 1024)), Input("b", "f4", (1024,)),
                    Input("c", "f4", (1024,))), text=LAYERS, cannot=ONE_KERNEL),
    ]
    return rows


def by_axes(device):
    """A matrix of long rows: sums over each axis, softmax, transposing."""
    shape = {CPU: (1024, 16384), GPU: (8192, 16384)}[device]
    a = (Input("a", "f4", shape),)

    def row(name, seconds, out, text):
        return Row(name, "arrays", device, inputs=a, out=out, text=text, cannot=ONE_KERNEL,
                   target=limit(device, seconds))

    return [
        row("sum over axis 0", 0.135e-3, shape[1:], {**whole("a.sum(axis=0)"),
                                                     "numexpr": "sum(a, axis=0)"}),
        row("sum over axis 1", 0.135e-3, shape[:1], {**whole("a.sum(axis=1)"),
                                                     "numexpr": "sum(a, axis=1)"}),
        row("softmax over rows", 0.34e-3, "inputs", SOFTMAX),
        row("transpose to contiguous", 0.30e-3, shape[::-1],
            whole("m.ascontiguousarray(a.T)", torch="a.T.contiguous()",
                  torch_compile="a.T.contiguous()", jax="a.T")),
    ]


def selecting(device):
    """Picking elements by a mask and by their places; running sums."""
    n = BIG[device]
    index = Input("i", "i8", (n // 4,), below=n)
    none = {"torch_compile": None, "jax": None}
    return [
        Row("a[a > 0.5]", "arrays", device, inputs=vectors("a", "f4", n), cannot=NOT_FUSED,
            text=whole("a[a > 0.5]", **none), out=(n // 2,),
            target=limit(device, 0.60e-3)),
        Row("a[i], a quarter of the elements", "arrays", device,
            inputs=(*vectors("a", "f4", n), index), text=whole("a[i]"), cannot=ONE_KERNEL,
            out=(n // 4,), floor=False, target=limit(device, 0.86e-3)),
        Row("cumsum", "arrays", device, inputs=vectors("a", "f4", n), cannot=ONE_KERNEL,
            text=whole("m.cumsum(a, 0)", numba="a.cumsum()"), target=limit(device, 0.40e-3)),
    ]


def ordering(device):
    """Sorting and counting, of half as many elements."""
    n = BIG[device] // 2
    a = vectors("a", "f4", n)
    k = (Input("k", "i4", (n,), below=1_000_000),)
    none = {"torch_compile": None, "jax": None}

    def row(name, seconds, inputs, text, out="inputs"):
        return Row(name, "arrays", device, inputs=inputs, text=text, cannot=NOT_FUSED, out=out,
                   floor=False, target=limit(device, seconds))

    return [
        row("sort", 1.80e-3, a, whole("m.sort(a)", torch="m.sort(a).values",
                                      torch_compile="m.sort(a).values")),
        row("argsort", 3.0e-3, a, whole("m.argsort(a)")),
        row("unique int32", 3.1e-3, k, whole("m.unique(k)", **none), out=(1_000_000,)),
        row("histogram of 256 bins", 0.12e-3, a,
            whole("m.histogram(a, 256)[0]", torch="m.histc(a, 256)",
                  torch_compile="m.histc(a, 256)"), out=(256,)),
        row("bincount of 10^6 bins", 0.5e-3, k,
            whole("m.bincount(k, minlength=1000000)", numba="m.bincount(k, None, 1000000)",
                  **none), out=(1_000_000,)),
    ]


def drawing(device):
    """Random numbers; every library has its own generator and its own default."""
    n = {CPU: (1000, 10000), GPU: (10000, 10000)}[device]
    size = f"({n[0]}, {n[1]})"
    on = {CPU: "cpu", GPU: "cuda"}[device]

    def torch(name, dtype):
        text = f"m.{name}{size[:-1]}, dtype=m.{dtype}, device='{on}')"
        return {"torch": text, "torch_compile": text}

    def row(name, seconds, text):
        return Row(name, "arrays", device, text=text, cannot={**ONE_KERNEL, **NO_GENERATOR},
                   out=n, floor=False, alike=False, target=limit(device, seconds))

    return [
        row("10^8 uniform float64" if device == GPU else "10^7 uniform float64", 0.22e-3,
            whole(f"m.random.random({size})", jax=None, **torch("rand", "float64"))),
        row("10^8 normal float32" if device == GPU else "10^7 normal float32", 0.16e-3,
            whole(f"generator.standard_normal({size}, dtype='float32')", jax=None, numba=None,
                  **torch("randn", "float32"))),
    ]


def transfers(device):
    """Between the host and a GPU: 1 GiB from a NumPy array, and to a new one."""
    if device == CPU:
        return []
    nbytes = 1 << 30
    h = Input("h", "f4", (nbytes // 4,), place="host")
    a = Input("a", "f4", (nbytes // 4,))
    fused = dict.fromkeys(("torch_compile", "cupy_fuse"))
    cannot = {"torch.compile": "as torch", "cupy.fuse": "as cupy"}
    return [
        Row("1 GiB from a NumPy array", "arrays", device, "transfer", (h,), cannot=cannot,
            text=whole("m.asarray(h)", torch="m.from_numpy(h).cuda()", jax="device_put(h)",
                       **{**fused, "numba_cuda": "m.to_device(h)"}),
            target=Target(seconds=nbytes / 45e9)),
        Row("1 GiB to a new NumPy array", "arrays", device, "transfer", (a,),
            cannot={**cannot, "jax": "an array keeps the copy that it made first"},
            text=whole("m.asnumpy(a)", torch="a.cpu().numpy()", jax=None,
                       **{**fused, "numba_cuda": "a.copy_to_host()"}),
            target=Target(seconds=nbytes / 22e9)),
    ]


def replayed(device):
    """Many small operations in a row, of which the library may make what it can."""
    eager = dict.fromkeys(("torch_compile", "numba"))
    return [Row("100 small operations replayed", "arrays", device, "graph",
                inputs=vectors("ab", "f4", 4096),
                text=whole("functools.reduce(lambda x, _: m.tanh((x - x.mean()) * b), range(25), a)",
                           **eager),
                cannot={**ONE_KERNEL, "torch.compile": "as torch",
                        "numba": "takes no function as an argument"},
                target=Target(of_best=1.0))]


def products(device):
    """Matrix products, which go to the library that the machine has."""
    rows = []
    side = {CPU: 2000, GPU: 8192}[device]
    for dtype, label in (("f4", "float32"), ("f8", "float64"), ("bf16", "bfloat16")):
        rows.append(Row(f"matrix product {side} {label}", "arrays", device,
                        inputs=matrices("ab", dtype, side), text=PRODUCT, cannot=ONE_KERNEL,
                        floor=False, target=Target(of_best=1.02)))

    def other(name, first, second, out, text="a @ b"):
        inputs = (Input("a", "f4", first), *([Input("b", "f4", second)] if second else []))
        return Row(name, "arrays", device, inputs=inputs, text={**PRODUCT, "": text, "numba": None},
                   cannot={**ONE_KERNEL, "numba": "not measured"}, out=out, floor=False, target=Target(of_best=1.02))

    return [
        *rows,
        other("1000 products of 64 x 64", (1000, 64, 64), (1000, 64, 64), (1000, 64, 64)),
        other("product of 128 x 128", (128, 128), (128, 128), (128, 128)),
        other("product of 20 x 200 and 200 x 800", (20, 200), (200, 800), (20, 800)),
        other("product of 32 x 32768 and 32768 x 288", (32, 32768), (32768, 288), (32, 288)),
        other("product of a row of 2048 and 2048 x 2048", (1, 2048), (2048, 2048), (1, 2048)),
        other("product of 2000 x 1000 and its transpose", (2000, 1000), None, (2000, 2000), "a @ a.T"),
    ]


def factorised(device):
    """Factorisations and Fourier transforms, which go to the library that the machine has."""
    gpu = device == GPU
    others = dict.fromkeys(("torch_compile", "jax", "numba"))
    cannot = {**ONE_KERNEL, "torch.compile": "as torch", "jax": "not measured", "numba": "not measured"}

    def row(name, seconds, inputs, text, out="inputs", **more):
        target = Target(seconds=seconds) if gpu and seconds else Target(of_best=1.0)
        return Row(name, "linear algebra", device, inputs=inputs, text=whole(text, **others), cannot=cannot,
                   out=out, target=target, **more)

    def square(count):
        return Input("a", "f8", (count, count))

    side, less = (8192, 2048) if gpu else (2000, 500)
    n = (1 << 26) if gpu else (1 << 21)
    many = 10000 if gpu else 2000
    batch = Input("a", "f4", (many, 16, 16))
    rows = (n >> 12, 4096)
    solved = "m.linalg.solve(a, b)"
    return [
        row(f"solve {side} float64", 41.1e-3, (square(side), Input("b", "f8", (side,))), solved, (side,), floor=False),
        row(f"{many} systems of 16 float32", None, (batch, Input("b", "f4", (many, 16, 1))), solved, (many, 16, 1),
            floor=False),
        row(f"singular value decomposition {less} float64", 429e-3, (square(less),), "m.linalg.svd(a)[1]", (less,),
            floor=False),
        row(f"eigenvectors of a symmetric {less} float64", None, (square(less),), "m.linalg.eigh(a + a.T)[0]", (less,),
            floor=False),
        row(f"fft of 2^{n.bit_length() - 1} complex128", 1.85e-3, vectors("a", "c16", n), "m.fft.fft(a)"),
        row("fft of rows of 4096 complex64", None, (Input("a", "c8", rows),), "m.fft.fft(a)"),
        row("fft of columns of 4096 complex64", None, (Input("a", "c8", rows[::-1]),),
            "m.fft.fft(a, None, 0)"),
        row(f"rfft of 2^{n.bit_length() - 1} float32", None, vectors("a", "f4", n), "m.fft.rfft(a)", (n // 2 + 1,),
            written=8 * (n // 2 + 1)),
    ]


def elements(device):
    """Work on ten numbers, whose values the program looks at."""
    few = vectors("ab", "f8", 10)
    fused = {**dict.fromkeys(("numexpr", "numba", "torch.compile")), "torch": None}
    cannot = {"numexpr": "whole arrays only", "numba": "loops of its own", "torch.compile": "as torch",
              "torch": "not measured"}
    texts = {"float(a[3]) of 10": "float(a[3])", "float(a[3] + b[4]) of 10": "float(a[3] + b[4])",
             "(a + b).tolist() of 10": "(a + b).tolist()", "float(a.sum()) of 10": "float(a.sum())",
             "float(a @ b) of 10": "float(a @ b)"}
    return [Row(name, "arrays", device, "latency", few, {**fused, "": text}, cannot) for name, text in texts.items()]


def small(device):
    """What a call costs when there is nearly nothing to compute, and what a new one costs."""
    pair = vectors("ab", "f4", 1024)
    eager = dict.fromkeys(
        ("numpy", "numexpr", "numba", "torch", "torch.compile", "cupy", "cupy.fuse", "numba.cuda",
         "jax"), None)
    gpu = device == GPU
    return [
        Row("a + b of 1024 evaluated", "arrays", device, "latency", pair, {"": "a + b"},
            target=Target(seconds=5.0e-6) if gpu else None),
        Row("a + b of 1024 recorded", "arrays", device, "record", pair, {"": "a + b", **eager},
            dict.fromkeys(eager, "computes at once"),
            target=Target(seconds=0.4e-6) if gpu else None),
        *([] if gpu else elements(device)),
        Row("a new fused kernel", "compile", device, "compile", vectors("abc", "f4", 4096),
            {"": "(a new expression each time)",
             **dict.fromkeys(("numpy", "numexpr", "torch", "cupy"))},
            {**dict.fromkeys(("numpy", "torch", "cupy"), "compiles no fused kernel"),
             "numexpr": "interprets its program"},
            target=None if gpu else Target(seconds=15e-3)),
    ]


def processes(device):
    """Whole processes, timed from outside; `processes.py` holds the programs."""
    gpu = device == GPU
    rows = [Row("process start to first result", "startup", device, "startup",
                target=Target(seconds=0.480) if gpu else None)]
    if not gpu:
        rows.append(Row("import over `python -c pass`", "startup", device, "import",
                        target=Target(seconds=25e-3)))
    return rows


def rows(device):
    """All rows of a device, in the order of the table."""
    return [*with_targets(device), *by_axes(device), *selecting(device), *ordering(device),
            *drawing(device), *transfers(device), *products(device), *factorised(device),
            *varied(device), *composed_rows.rows(device), *moved_rows.rows(device), *small(device), *replayed(device),
            *kernel_rows.rows(device), *raw_rows.rows(device),
            *unchanged_rows.rows(device), *script_rows.rows(device), *processes(device)]
