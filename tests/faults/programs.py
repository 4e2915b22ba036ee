"""Small programs through every face, each of which gives numbers that are the same each time. Requests of the C code
fail under them."""

import pathlib
import tempfile

import numpy as np

import treadle as td

RNG = np.random.default_rng(5)
X = RNG.random(1000)
M = RNG.random((40, 30))
SMALL = np.arange(6.0)
PROGRAMS = {}


def program(f):
    PROGRAMS[f.__name__] = f
    return f


@program
def elementwise():
    x = td.asarray(X)
    y = td.where(x > 0.5, td.sin(x) * 2, x) + x[::-1]
    return y.get(), (td.asarray(SMALL) + 1).get()


@program
def steps():
    x = td.asarray(X)
    for _ in range(80):
        x = x * 0.5 + td.cos(x)
    return [x.get()]


@program
def reductions():
    m = td.asarray(M)
    return m.sum().get(), m.mean(0).get(), m.std(1).get(), m.argmax(1).get(), td.cumsum(m, 1).get(), m.max().get()


@program
def broadcasts_and_types():
    x = td.arange(50, dtype="int32")
    return (x[:, None] * td.ones(7, "float32")).get(), (x.astype("uint8") << 3).get(), (x + 1j).get()


@program
def views_and_stores():
    m = td.asarray(M).copy()
    m[::2, 3] = 7
    m[m > 0.9] = 0
    m += m[::-1]
    m[[3, 1]] = m[[1, 3]]
    td.add.at(m, (np.array([0, 0, 5]), np.array([1, 1, 2])), 2.0)
    return m.get(), m.T[1:4].copy().get()


@program
def shapes():
    m = td.asarray(M)
    return td.concatenate([m, m * 2], 1).get(), td.pad(m, 2).get(), td.roll(m, 3, 1).get(), td.stack([m, m]).get()


@program
def orders():
    x = td.asarray(X)
    return td.sort(x).get(), td.argsort(x).get(), td.unique((x * 10).astype(int)).get(), td.median(x).get()


@program
def algebra():
    m = td.asarray(M[:30])
    return (
        (m @ m.T).get(),
        td.linalg.solve(m, m[:, :2]).get(),
        td.linalg.svd(m)[1].get(),
        td.einsum("ij,kj->ik", m, m).get(),
    )


@program
def transforms():
    x = td.asarray(X)
    return td.fft.fft(x).get(), td.fft.irfft(td.fft.rfft(x[:64])).get(), td.fft.fft2(td.asarray(M)).get()


@program
def draws():
    g = td.random.default_rng(3)
    return g.random(100).get(), g.normal(size=50).get(), g.integers(9, size=40).get(), g.permutation(20).get()


@program
def mapped():
    rows = td.map(lambda r: (r * r).sum(), td.asarray(M))
    return rows.get(), td.vmap(lambda a, b: a * b + 1)(td.asarray(M), td.asarray(M)).get()


@program
def compiled():
    @td.jit
    def f(a, n):
        total = 0.0
        for k in range(n):
            if k % 3:
                total += a[k] * k
        return total

    return [np.float64(f(X, 500))]


@program
def compiled_language():
    import treadle as numba

    @numba.njit
    def f(n):
        names = {}
        for k in range(n):
            names[f"k{k % 7}"] = names.get(f"k{k % 7}", 0) + k
        return sorted([len(s) + v for s, v in names.items()])

    return [np.array(f(40))]


@program
def parallel():
    import treadle as numba

    @numba.njit(parallel=True)
    def f(a):
        total = 0.0
        for k in numba.prange(len(a)):
            total += a[k]
        return total

    return [np.round(f(X), 6)]


@program
def kernels():
    from treadle import cuda

    @cuda.jit
    def f(a, out):
        part = cuda.shared.array(32, "float64")
        k = cuda.grid(1)
        part[cuda.threadIdx.x] = a[k] if k < len(a) else 0
        cuda.syncthreads()
        if k < len(a):
            out[k] = part[cuda.threadIdx.x ^ 1]

    out = np.zeros(992)
    f[31, 32](X[:992], out)
    return [out]


@program
def raw_kernels():
    f = td.RawKernel(r'extern "C" __global__ void f(const double *a, double *b, int n) { int k = blockIdx.x * blockDim.x + threadIdx.x; if (k < n) b[k] = 2 * a[k]; }', "f")  # fmt: skip
    a, b = td.asarray(X), td.zeros(1000)
    f((8,), (128,), (a, b, np.int32(1000)))
    return [b.get()]


@program
def executor():
    from treadle.executor import DeviceExecutor

    with DeviceExecutor() as pool:
        return [
            np.array(list(pool.map(lambda x: 2 * x + 1, SMALL.tolist()))),
            np.array(pool.submit(pow, 3, 4).result()),
        ]


@program
def training():
    from treadle import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(30, 8), torch.nn.ReLU(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 1))
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape) * (k + 1))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    x = torch.tensor(M, dtype=torch.float32)
    for _ in range(2):
        opt.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        opt.step()
    return [loss.detach().numpy(), *(p.detach().numpy() for p in net.parameters())]


@program
def convolutions():
    from treadle import torch

    x = torch.tensor(M[:16, :16].reshape(1, 1, 16, 16), requires_grad=True)
    w = torch.ones(2, 1, 3, 3, dtype=torch.float64, requires_grad=True)
    y = torch.nn.functional.max_pool2d(torch.nn.functional.conv2d(x, w, padding=1), 2).sum()
    y.backward()
    return y.detach().numpy(), x.grad.numpy(), w.grad.numpy()


@program
def recurrent():
    from treadle import torch

    torch.manual_seed(1)
    net = torch.nn.LSTM(3, 4).double()
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape))
    y, _ = net(torch.tensor(M[:5, :6].reshape(5, 2, 3)))
    y.sum().backward()
    return [y.detach().numpy(), *(p.grad.numpy() for p in net.parameters())]


@program
def streams():
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder) / "rows.npy"
        np.save(at, np.tile(M, (20, 1)))
        a = np.load(at, mmap_mode="r")
        total = td.stream(lambda a: (a * a).sum(0), a, chunk=100).get()
        out = np.zeros(a.shape)
        td.stream(lambda a: td.sort(a, axis=1), a, out=out, chunk=100)
        return total, out


@program
def files():
    with tempfile.TemporaryDirectory() as folder:
        at = str(pathlib.Path(folder) / "x.npz")
        td.savez(at, x=td.asarray(X), m=td.asarray(M))
        with td.load(at) as f:
            return td.asarray(f["x"]).get(), td.asarray(f["m"]).get()


@program
def captured():
    f = td.graph(lambda x: td.sqrt(x) + x.sum())
    return f(td.asarray(X)).get(), f(td.asarray(X * 2)).get()


@program
def devices():
    with td.device("null"):
        m = td.asarray(M)
        return (m * 2 + m.sum(0)).get(), td.sort(m, axis=1).get(), (m @ m.T).get()


@program
def sharded():
    mesh = td.mesh("null:0", "null:1")
    s = td.shard(M, axis=0, devices=mesh)
    return np.asarray(s * 2 + 1), np.asarray(s.sum(0)), np.asarray(s @ M.T)


@program
def drivers():
    from treadle.pycuda import driver, gpuarray

    with td.device("null"):
        driver.init()
        context = driver.Device(0).make_context()
        try:
            a = gpuarray.to_gpu(X.astype(np.float32))
            return [(a * 2 + 1).get()]
        finally:
            context.pop()


@program
def special():
    from treadle import scipy

    return scipy.special.gamma(td.asarray(X + 1)).get(), scipy.ndimage.gaussian_filter(td.asarray(M), 1).get()


@program
def profiled():
    with td.profile() as p:
        y = (td.asarray(X) * 3).sum().get()
    str(p)
    return [y]
