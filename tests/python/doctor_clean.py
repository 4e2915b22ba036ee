"""Programs in which the adviser finds nothing to change: (name, device, text), as in doctor_programs."""

CLEAN = [
    (
        "jacobi",
        "cpu",
        """
import numpy as np
def kernel(steps, A, B):
    for t in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
A, B = np.random.rand(250, 250), np.random.rand(250, 250)
kernel(12, A, B)
print(A.sum() > 0)
""",
    ),
    (
        "kmeans",
        "cpu",
        """
import numpy as np
rng = np.random.default_rng(0)
x = rng.random((20000, 8))
c = x[:10].copy()
for step in range(8):
    d = ((x * x).sum(1)[:, None] - 2 * (x @ c.T) + (c * c).sum(1))
    label = d.argmin(1)
    hot = (label[:, None] == np.arange(10)).astype(x.dtype)
    c = (hot.T @ x) / np.maximum(hot.sum(0), 1)[:, None]
print(c.shape)
""",
    ),
    (
        "image-filter",
        "cpu",
        """
import numpy as np
image = np.random.default_rng(1).random((400, 500)).astype(np.float32)
padded = np.pad(image, 1)
blur = sum(padded[i : i + 400, j : j + 500] for i in range(3) for j in range(3)) / np.float32(9)
sharp = np.clip(image + np.float32(0.5) * (image - blur), 0, 1)
print(sharp.dtype, float(sharp.mean()) > 0)
""",
    ),
    (
        "black-scholes",
        "cpu",
        """
import treadle as np
price = np.random.rand(100000, dtype=np.float32) * 30 + 10
strike = np.random.rand(100000, dtype=np.float32) * 40 + 5
years = np.random.rand(100000, dtype=np.float32) * 2 + 0.1
d1 = (np.log(price / strike) + 0.15 * years) / (0.3 * np.sqrt(years))
call = price / (1 + np.exp(-1.6 * d1)) - strike * np.exp(-0.1 * years)
print(float(call.mean()) > 0)
""",
    ),
    (
        "njit",
        "cpu",
        """
import numpy as np
from numba import njit
@njit
def walk(x):
    s = 0.0
    for i in range(x.size):
        s += x[i] * 0.5
    return s
x = np.random.rand(100000)
print(all(walk(x) > 0 for _ in range(20)))
""",
    ),
    (
        "torch-training",
        "cpu",
        """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.rand(128, 8)
y = x.sum(1, keepdim=True)
for step in range(15):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item() < 100)
""",
    ),
    (
        "torch-losses",
        "cpu",
        """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.rand(64, 8)
y = x.sum(1, keepdim=True)
for step in range(40):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
print(loss.item() < 100)
""",
    ),
    (
        "three-dtypes",
        "cpu",
        """
import numpy
from treadle import cuda
@cuda.jit
def scale(x, by):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= by
arrays = [cuda.to_device(numpy.ones(256, kind)) for kind in "ifd"]
for step in range(40):
    for x in arrays:
        scale[1, 256](x, x.dtype.type(2))
print(arrays[0].copy_to_host()[0])
""",
    ),
    (
        "executor",
        "cpu",
        """
from treadle.executor import DeviceExecutor
def escape(c):
    z, n = 0j, 0
    while abs(z) <= 2 and n < 50:
        z, n = z * z + c, n + 1
    return n
with DeviceExecutor() as pool:
    counts = list(pool.map(escape, [complex(i / 100, 0.3) for i in range(200)]))
print(len(counts))
""",
    ),
    (
        "cuda-kernel",
        "null",
        """
import numpy
from treadle import cuda
@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]
x = cuda.to_device(numpy.ones(2000, numpy.float32))
y = cuda.to_device(numpy.zeros(2000, numpy.float32))
for step in range(5):
    axpy[8, 256](numpy.float32(0.5), x, y)
print(y.copy_to_host().sum())
""",
    ),
    (
        "monte-carlo",
        "cpu",
        """
import treadle as td
rng = td.random.default_rng(3)
inside = 0
for block in range(4):
    x, y = rng.random(200000), rng.random(200000)
    inside = inside + (x * x + y * y < 1).sum()
print(4 * float(inside) / 800000 > 3)
""",
    ),
    (
        "spectrum",
        "cpu",
        """
import numpy as np
t = np.arange(65536) / 1000.0
wave = np.sin(50 * t) + 0.5 * np.cos(120 * t)
power = np.abs(np.fft.rfft(wave)) ** 2
print(int(power.argmax()) > 0, power.dtype)
""",
    ),
    (
        "small-scalars",
        "cpu",
        """
import numpy as np
settings = np.array([0.1, 0.5, 0.9])
total = 0.0
for value in settings:
    total += value
for i in range(3):
    settings[i] = i
print(total > 0, np.linalg.norm(settings))
""",
    ),
    (
        "option-price",
        "cpu",
        """
import numpy as np
rng = np.random.default_rng(11)
s0, k, r, sigma, t = 100.0, 105.0, 0.02, 0.3, 1.0
z = rng.standard_normal(500_000)
st = s0 * np.exp((r - sigma**2 / 2) * t + sigma * np.sqrt(t) * z)
price = np.exp(-r * t) * np.maximum(st - k, 0).mean()
print(f"{price:.1f}", f"{1.96 * st.std() / len(st) ** 0.5:.1f}")
""",
    ),
    (
        "group-means",
        "cpu",
        """
import io
import numpy as np
data = np.loadtxt(io.StringIO("\\n".join(f"{i % 7},{i * 0.5}" for i in range(5000))), delimiter=",")
keys = data[:, 0].astype(int)
means = np.bincount(keys, weights=data[:, 1]) / np.bincount(keys)
for key, mean in enumerate(means):
    print(key, round(float(mean), 2))
""",
    ),
    (
        "residual-now-and-then",
        "cpu",
        """
import treadle as np
u = np.zeros((300, 300), dtype=np.float32)
u[0] = 1
for k in range(100):
    inner = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    if k % 50 == 49:
        print(k, round(float(np.abs(inner - u[1:-1, 1:-1]).max()), 5))
    u[1:-1, 1:-1] = inner
""",
    ),
    (
        "life",
        "cpu",
        """
import numpy as np
board = np.random.default_rng(2).random((300, 300)) < 0.3
beside = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
for generation in range(20):
    n = sum(np.roll(board, at, (0, 1)).astype(np.int8) for at in beside)
    board = (n == 3) | (board & (n == 2))
print(int(board.sum()) > 0)
""",
    ),
]
