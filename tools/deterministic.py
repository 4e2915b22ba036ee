"""Which operations give other bits with other numbers of threads, under load, or in another run.

    PYTHONPATH=build/tree .venv/bin/python tools/deterministic.py [--device cuda] [--rounds 3] [--plain] [--only NAMES]

Runs the operations below in processes of 1, 2, 3 and 8 threads, beside others that keep the machine busy, several
times each, with treadle.config.deterministic = True (--plain: without), and compares the bits of all results. Prints
the operations that differ or fail, and ends with status 1 if there are any.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import threading

import numpy

THREADS = (1, 2, 3, 8)
N = 200_003
SIDE = 211


def inputs(td):
    r = numpy.random.default_rng(11)
    x = r.standard_normal(N) * 10.0 ** r.integers(-6, 7, N)
    data = {"x": x, "f": x.astype("f4"), "h": r.standard_normal(N).astype("f2"), "c": x + 1j * x[::-1]}
    data |= {"m": r.standard_normal((SIDE, SIDE)), "t": r.standard_normal((40, 50, 60)).astype("f4")}
    data |= {
        "i": r.integers(0, 1000, N),
        "few": r.integers(0, 7, N),
        "one": numpy.zeros(N, "i8"),
        "k": r.integers(-9, 9, N),
    }
    data |= {"w": r.standard_normal((1201, 83)).astype("f4"), "u": r.random(N), "s": r.integers(0, 50, N).astype("i4")}
    data |= {"spd": (lambda a: a @ a.T + SIDE * numpy.eye(SIDE))(r.standard_normal((SIDE, SIDE)))}
    return {k: td.asarray(v) for k, v in data.items()}


def at(td, how, d, where, what):
    out = td.zeros(1000, d[what].dtype)
    getattr(td, how).at(out, d[where], d[what])
    return out


def add_operations(td):
    """name -> function of the inputs."""
    ops = {}
    floats = ("x", "f", "h", "c")
    for (
        name
    ) in "sum mean std var prod max min argmax argmin any all ptp median nansum nanmean nanstd nanmax nanprod".split():
        for k in floats:
            if k != "c" or name not in ("max", "min", "argmax", "argmin", "ptp", "median", "nanmax"):
                ops[f"{name} {k}"] = lambda d, name=name, k=k: getattr(td, name)(d[k])
        for axis in (0, 1, 2):
            ops[f"{name} axis {axis}"] = lambda d, name=name, a=axis: getattr(td, name)(d["t"], axis=a)
    for name in "cumsum cumprod nancumsum diff sort argsort unique gradient".split():
        for k in ("x", "f", "k" if name in ("cumsum", "sort", "argsort", "unique") else "x"):
            ops[f"{name} {k}"] = lambda d, name=name, k=k: getattr(td, name)(d[k])
    for name in "sin exp log1p sqrt tanh arctan2 hypot logaddexp power".split():
        two = name in ("arctan2", "hypot", "logaddexp", "power")
        ops[name] = lambda d, name=name, two=two: getattr(td, name)(*([d["u"], d["u"][::-1]] if two else [d["u"]]))
    for how in ("add", "subtract", "multiply", "maximum", "minimum", "logaddexp", "hypot"):
        for where in ("i", "few", "one"):
            for what in ("x", "f"):
                ops[f"{how}.at {where} {what}"] = lambda d, a=how, b=where, c=what: at(td, a, d, b, c)
    ops["add.at complex"] = lambda d: at(td, "add", d, "few", "c")
    ops["add.at half"] = lambda d: at(td, "add", d, "few", "h")
    for where in ("i", "few", "one"):
        for what in ("x", "f"):
            ops[f"bincount {where} {what}"] = lambda d, a=where, b=what: td.bincount(d[a], weights=d[b])
    ops["histogram"] = lambda d: td.histogram(d["u"], 50)[0]
    ops["histogram weights"] = lambda d: td.histogram(d["u"], 50, weights=d["x"])[0]
    ops["histogram density"] = lambda d: td.histogram(d["u"], 50, density=True)[0]
    ops["histogram2d weights"] = lambda d: td.histogram2d(d["u"], d["u"][::-1], 20, weights=d["x"])[0]
    ops["histogramdd"] = lambda d: td.histogramdd(td.stack([d["u"], d["u"]], 1), 9, weights=d["x"])[0]
    ops["write twice"] = lambda d: write_twice(td, d)
    products = {
        "m @ m": lambda d: d["m"] @ d["m"],
        "w @ w.T": lambda d: d["w"] @ d["w"].T,
        "w.T @ w": lambda d: d["w"].T @ d["w"],
    }
    products |= {
        "m @ v": lambda d: d["m"] @ d["m"][0],
        "v @ m": lambda d: d["m"][0] @ d["m"],
        "w.T @ v": lambda d: d["w"].T @ d["w"][:, 0],
    }
    products |= {
        "dot": lambda d: td.dot(d["x"], d["u"]),
        "dot f": lambda d: td.dot(d["f"], d["f"]),
        "vdot": lambda d: td.vdot(d["c"], d["c"]),
    }
    products |= {
        "batched": lambda d: d["t"] @ d["t"].transpose(0, 2, 1),
        "outer": lambda d: td.outer(d["m"][0], d["m"][1]),
    }
    products |= {
        "einsum": lambda d: td.einsum("ij,jk,kl->il", d["m"], d["m"], d["m"]),
        "inner": lambda d: td.inner(d["w"], d["w"]),
    }
    products |= {
        "tensordot": lambda d: td.tensordot(d["t"], d["t"], ([1, 2], [1, 2])),
        "long": lambda d: d["x"][:200000].reshape(2, -1) @ d["u"][:200000].reshape(-1, 2),
    }
    ops |= products
    solvers = "inv det slogdet cholesky qr svd eigh eigvalsh pinv norm cond matrix_rank"
    for name in solvers.split():
        ops[f"linalg.{name}"] = lambda d, name=name: getattr(td.linalg, name)(d["spd"])
    ops["linalg.solve"] = lambda d: td.linalg.solve(d["spd"], d["m"])
    ops["linalg.lstsq"] = lambda d: td.linalg.lstsq(d["w"], d["w"][:, 0])[0]
    ops["linalg.eig"] = lambda d: td.linalg.eig(d["m"])
    for name in ("fft", "ifft", "rfft", "hfft"):
        ops[f"fft.{name}"] = lambda d, name=name: getattr(td.fft, name)(d["x"][:65536])
        ops[f"fft.{name} odd"] = lambda d, name=name: getattr(td.fft, name)(d["x"])
    ops["fft.fft2"] = lambda d: td.fft.fft2(d["m"])
    ops["convolve"] = lambda d: td.convolve(d["x"], d["u"][:99])
    ops["interp"] = lambda d: td.interp(d["u"], td.linspace(0, 1, 100), td.linspace(0, 1, 100) ** 2)
    ops |= {
        "cov": lambda d: td.cov(d["w"].T),
        "corrcoef": lambda d: td.corrcoef(d["w"].T),
        "trapezoid": lambda d: td.trapezoid(d["x"]),
    }
    ops |= {
        "percentile": lambda d: td.percentile(d["x"], [1, 50, 99]),
        "average": lambda d: td.average(d["x"], weights=d["u"]),
    }
    ops |= {
        "reduceat": lambda d: td.add.reduceat(d["x"], td.arange(0, N, 997)),
        "where sum": lambda d: td.sum(d["x"], where=d["u"] > 0.5),
    }
    for name in "normal random integers standard_exponential standard_gamma permutation choice".split():
        ops[f"random.{name}"] = lambda d, name=name: draw(td, name)
    add_torch(ops)
    add_kernels(td, ops)
    add_sparse(td, ops)
    return ops


def write_twice(td, d):
    out = td.zeros(1000)
    out[d["i"]] = d["x"]
    return out


def draw(td, name):
    g = td.random.default_rng(5)
    return getattr(g, name)(
        *{
            "integers": (0, 99, N),
            "standard_gamma": (2.0, N),
            "permutation": (N,),
            "choice": (99, N),
            "normal": (0, 1, N),
        }.get(name, (N,))
    )


def add_torch(ops):
    from treadle import torch
    from treadle.torch.nn import functional as F

    def tensors(d):
        x = torch.as_tensor(d["t"]).requires_grad_()
        return x, torch.as_tensor(d["w"])

    def grad(make):
        def run(d):
            x, w = tensors(d)
            make(x, w, d).sum().backward()
            return x.grad

        return run

    index = lambda d, n: torch.as_tensor(d["i"]) % n  # noqa: E731
    ops["torch.scatter_add"] = lambda d: torch.zeros(1000, dtype=torch.float64).scatter_add(
        0, index(d, 1000), torch.as_tensor(d["x"])
    )
    for how in ("sum", "prod", "mean", "amax"):
        ops[f"torch.scatter_reduce {how}"] = lambda d, how=how: torch.zeros(9, dtype=torch.float64).scatter_reduce(
            0, index(d, 9), torch.as_tensor(d["x"]), how
        )
    ops["torch.index_add"] = lambda d: torch.zeros(83, 83).index_add(0, index(d, 83)[:1201], tensors(d)[1])
    ops["torch.index_put"] = lambda d: torch.zeros(9, dtype=torch.float64).index_put(
        (index(d, 9),), torch.as_tensor(d["x"]), accumulate=True
    )
    ops["torch.bincount"] = lambda d: torch.bincount(index(d, 9), torch.as_tensor(d["x"]))
    ops["torch.cumsum"] = lambda d: torch.cumsum(torch.as_tensor(d["f"]), 0)
    ops["embedding grad"] = grad(lambda x, w, d: F.embedding(index(d, 40), x.reshape(40, -1)))
    ops["gather grad"] = grad(lambda x, w, d: x.reshape(-1).gather(0, index(d, 50)))
    ops["index grad"] = grad(lambda x, w, d: x[index(d, 40)[:3000]])
    ops["index_select grad"] = grad(lambda x, w, d: x.index_select(0, index(d, 40)[:3000]))
    ops["softmax grad"] = grad(lambda x, w, d: torch.softmax(x, -1) ** 2)
    ops["layer_norm grad"] = grad(lambda x, w, d: F.layer_norm(x, (60,)) ** 2)
    ops["batch_norm grad"] = grad(lambda x, w, d: F.batch_norm(x, None, None, training=True) ** 2)
    ops["conv1d"] = lambda d: F.conv1d(tensors(d)[0].detach(), tensors(d)[1][:50, :50].reshape(50, 50, 1))
    ops["conv2d grad"] = grad(
        lambda x, w, d: F.conv2d(x.reshape(1, 40, 50, 60), w[:360, :40].reshape(40, 40, 3, 3)[:, :, :, :])
    )
    ops["max_pool2d grad"] = grad(lambda x, w, d: F.max_pool2d(x.reshape(1, 40, 50, 60), 3, 2))
    ops["avg_pool2d grad"] = grad(lambda x, w, d: F.avg_pool2d(x.reshape(1, 40, 50, 60), 3, 2))
    ops["interpolate grad"] = grad(
        lambda x, w, d: F.interpolate(x.reshape(1, 40, 50, 60), scale_factor=1.7, mode="bilinear")
    )
    ops["grid_sample grad"] = grad(
        lambda x, w, d: F.grid_sample(
            x.reshape(1, 40, 50, 60),
            torch.as_tensor(d["u"][:2000].astype("f4")).reshape(1, 20, 50, 2),
            align_corners=False,
        )
    )
    ops["pad grad"] = grad(lambda x, w, d: F.pad(x, (3, 3), mode="reflect") ** 2)
    ops["cross_entropy grad"] = grad(lambda x, w, d: F.cross_entropy(x.reshape(-1, 60), index(d, 60)[:2000]))
    ops["linear grad"] = grad(lambda x, w, d: F.linear(x, w[:60, :60]) ** 2)
    ops["attention grad"] = grad(lambda x, w, d: F.scaled_dot_product_attention(x, x, x))
    ops["einsum grad"] = grad(lambda x, w, d: torch.einsum("bij,bkj->ik", x, x))
    ops["fold grad"] = grad(lambda x, w, d: F.unfold(x.reshape(1, 40, 50, 60), 3) ** 2)
    ops["norm grad"] = grad(lambda x, w, d: torch.linalg.norm(x))
    ops["cumsum grad"] = grad(lambda x, w, d: torch.cumsum(x, 1) ** 2)
    ops["repeat_interleave grad"] = grad(lambda x, w, d: x.repeat_interleave(7, 0) ** 2)
    ops["lstm"] = lambda d: recurrent(torch, d)


def recurrent(torch, d):
    torch.manual_seed(3)
    layer = torch.nn.LSTM(60, 32)
    return layer(torch.as_tensor(d["t"]))[0].detach()


def add_kernels(td, ops):
    @td.njit(parallel=True)
    def summed(x):
        s = 0.0
        for i in td.prange(x.size):
            s += x[i] * 0.5
        return s

    @td.njit(parallel=True)
    def columns(x):
        s = numpy.zeros(x.shape[1])
        for i in td.prange(x.shape[0]):
            s += x[i]
        return s

    @td.njit(parallel=True)
    def wholes(x, y):
        return (x * y).sum() + x.mean()

    @td.njit
    def plain(x):
        s = numpy.float32(0)
        for v in x:
            s += v
        return s

    @td.vectorize
    def element(x, y):
        return x * y + y

    ops["prange sum"] = lambda d: summed(d["x"].get() if hasattr(d["x"], "get") else d["x"])
    ops["prange array"] = lambda d: columns(d["m"].get())
    ops["parallel array sum"] = lambda d: wholes(d["x"].get(), d["u"].get())
    ops["jit loop"] = lambda d: plain(d["f"].get())
    ops["vectorize"] = lambda d: element(d["x"], d["u"])
    ops["ReductionKernel"] = lambda d: td.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")(d["x"])


def add_sparse(td, ops):
    from treadle.scipy import sparse

    def matrix(d, form):
        made = sparse.coo_matrix((d["x"][:20000], (d["i"][:20000], d["i"][20000:40000])), shape=(1000, 1000))
        return getattr(made, f"to{form}")()

    for form in ("csr", "csc", "coo"):
        ops[f"{form} @ vector"] = lambda d, form=form: matrix(d, form) @ d["x"][:1000]
        ops[f"{form} @ matrix"] = lambda d, form=form: matrix(d, form) @ d["x"][:5000].reshape(1000, 5)
        ops[f"{form}.T @ vector"] = lambda d, form=form: matrix(d, form).T @ d["x"][:1000]
        ops[f"{form}.sum"] = lambda d, form=form: matrix(d, form).sum(0)
        ops[f"{form} @ {form}"] = lambda d, form=form: (matrix(d, form) @ matrix(d, form)).toarray()


# ---- running ----


def bits(value):
    """A digest of all arrays and numbers in a result."""
    if isinstance(value, (tuple, list)):
        return "".join(bits(v) for v in value)
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    elif hasattr(value, "get"):
        value = value.get()
    a = numpy.ascontiguousarray(value)
    return hashlib.sha256(a.tobytes()).hexdigest()[:12]


def child(device, rounds, plain, only):
    import treadle as td
    from treadle import torch

    td.config.deterministic = not plain
    td.use(device)
    torch.set_default_device(device)
    data, ops = inputs(td), add_operations(td)
    for name, run in ops.items():
        if only and name not in only.split("|"):
            continue
        try:
            seen = sorted({bits(run(data)) for _ in range(rounds)})
        except Exception as error:  # whatever an operation says of itself is what is reported
            seen = [f"{type(error).__name__}: {error}".splitlines()[0][:160]]
        print(json.dumps([name, seen]), flush=True)


def load(stop):
    """Keeps the machine's cores busy now and then."""
    code = "import time\nwhile True:\n t = time.time()\n while time.time() - t < .05: pass\n time.sleep(.03)"
    busy = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    stop.wait()
    for p in busy:
        p.kill()
        p.wait()


def compare(device, rounds, plain, only, threads=THREADS):
    """{operation: {threads: results}} of those whose bits are not the same everywhere, and how many there are."""
    found = {}
    for n in threads:
        args = [sys.executable, __file__, "--child", "--device", device, "--rounds", str(rounds), "--only", only]
        run = subprocess.run(
            args + ["--plain"] * plain, env=os.environ | {"TREADLE_THREADS": str(n)}, capture_output=True, text=True
        )
        if run.returncode:
            raise SystemExit(run.stderr)
        for name, seen in map(json.loads, run.stdout.splitlines()):
            found.setdefault(name, {})[n] = seen
    return {
        name: by for name, by in found.items() if len({r for seen in by.values() for r in seen}) > 1 or not one(by)
    }, len(found)


def one(by):
    """Did it compute?"""
    return all(":" not in r for seen in by.values() for r in seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plain", action="store_true", help="without treadle.config.deterministic")
    parser.add_argument("--only", default="", help="these operations, with | between them")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.child:
        return child(a.device, a.rounds, a.plain, a.only)
    stop = threading.Event()
    worker = threading.Thread(target=load, args=(stop,))
    worker.start()
    try:
        differ, count = compare(a.device, a.rounds, a.plain, a.only)
    finally:
        stop.set()
        worker.join()
    for name, by in differ.items():
        print(f"{name:30s}", *(f"{n} threads: {' '.join(seen)}" for n, seen in by.items()), sep="  ")
    print(f"{count} operations on {a.device}, {len(differ)} differ")
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
