"""Programs for the adviser: twenty-four with one fault each, on a line that ends with "# FAULT id", and clean ones.

Each is (name, device, text). Texts that import numpy are run as programs that run unchanged."""

FAULTS = [
    (
        "element-read-numpy",
        "cpu",
        """
import numpy as np
x = np.linspace(0, 1, 60000)
s = 0.0
for i in range(5000):
    s += x[i]  # FAULT element-read
""",
    ),
    (
        "element-read-small",
        "cpu",
        """
import numpy as np
a = np.random.rand(60, 60)
best = 0.0
for i in range(60):
    for j in range(60):
        if a[i, j] > best:  # FAULT element-read
            best = 1.0
""",
    ),
    (
        "element-write-numpy",
        "cpu",
        """
import numpy as np
x = np.zeros(50000)
for i in range(4000):
    x[i] = i * 0.5  # FAULT element-write
""",
    ),
    (
        "element-read",
        "cpu",
        """
import treadle as td
x = td.linspace(0, 1, 10000)
s = 0.0
for i in range(3000):
    s += float(x[i])  # FAULT element-read
""",
    ),
    (
        "element-read-device",
        "null",
        """
import treadle as td
x = td.linspace(0, 1, 10000)
s = 0.0
for i in range(60):
    s += x[i].item()  # FAULT element-read
""",
    ),
    (
        "element-write",
        "cpu",
        """
import treadle as td
x = td.zeros(10000)
for i in range(3000):
    x[i] = 2.0 * i  # FAULT element-write
x.sum().item()
""",
    ),
    (
        "demand",
        "cpu",
        """
import treadle as td
from treadle._observe import _trials
_trials.demands = lambda device: 1e-3  # as where a device is waited for
w = td.zeros(20000)
for step in range(60):
    w = w * 0.9 + 1.0
    loss = float((w * w).sum())  # FAULT demand
""",
    ),
    (
        "demand-print",
        "cpu",
        """
import numpy as np
from treadle._observe import _trials
_trials.demands = lambda device: 1e-3
x = np.ones(300000)
for step in range(40):
    x = np.sqrt(x + 1.0) * 0.5
    text = str(x.max())  # FAULT demand
""",
    ),
    (
        "round-trip",
        "null",
        """
import numpy
import treadle as td
x = td.ones(5000)
for step in range(12):
    h = (x + 1).get()
    h.sort()
    x = td.asarray(h)  # FAULT round-trip
x.sum().item()
""",
    ),
    (
        "upload-again",
        "null",
        """
import numpy
import treadle as td
table = numpy.linspace(0, 1, 20000)
total = td.zeros(20000)
for step in range(12):
    total = total + td.asarray(table)  # FAULT transfer
    td.evaluate(total)
""",
    ),
    (
        "download-again",
        "null",
        """
import treadle as td
x = td.ones(20000)
y = td.ones(20000)
td.evaluate(x, y)
seen = 0
for step in range(12):
    seen += len(x.get())  # FAULT transfer
""",
    ),
    (
        "compile-types",
        "cpu",
        """
import numpy
from treadle import cuda

@cuda.jit
def scale(x, by):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= by

for kind in "bhilBHILfd":
    x = cuda.to_device(numpy.ones(256, kind))
    scale[1, 256](x, x.dtype.type(2))  # FAULT compile
""",
    ),
    (
        "compile-text",
        "cpu",
        """
import treadle as td
x = td.ones(256, dtype=td.float32)
for k in range(4):
    double = td.ElementwiseKernel("float32 x", "float32 y", f"y = x * {k}.5f", "scaled")
    double(x)  # FAULT compile
""",
    ),
    (
        "compile-shape",
        "cpu",
        """
import treadle as td
x = td.ones(40000)
for k in range(2, 12):
    y = x
    for i in range(k):
        y = td.sin(y) + i
    td.evaluate(y)  # FAULT compile
""",
    ),
    (
        "launches",
        "cpu",
        """
import treadle as td
rows = [td.ones(64) * i for i in range(800)]
td.evaluate(*rows)
for i in range(800):
    td.evaluate(rows[i] * 2.0)  # FAULT launches
""",
    ),
    (
        "calls-of-rows",
        "cpu",
        """
import numpy as np
a = np.random.rand(3000, 20)
out = []
for row in a:
    out.append(np.sum(row))  # FAULT small-calls
""",
    ),
    (
        "float64-constant",
        "cpu",
        """
import numpy as np
x = np.ones(1_000_000, dtype=np.float32)
scale = np.float64(0.5)
for step in range(10):
    y = x * scale  # FAULT float64
print(y.dtype)
""",
    ),
    (
        "float64-array",
        "cpu",
        """
import treadle as td
x = td.ones(1_000_000, dtype=td.float32)
weights = td.linspace(0, 1, 1_000_000)
for step in range(10):
    y = td.sqrt(x) * weights  # FAULT float64
    td.evaluate(y)
""",
    ),
    (
        "columns",
        "cpu",
        """
import numpy as np
a = np.random.rand(1500, 1500)
total = 0.0
for j in range(1500):
    total += a[:, j].sum()  # FAULT stride
""",
    ),
    (
        "transposed",
        "cpu",
        """
import treadle as td
a = td.random.rand(900, 900)
b = td.random.rand(900, 900)
for step in range(8):
    c = a + b.T  # FAULT stride
    td.evaluate(c)
""",
    ),
    (
        "memory-peak",
        "cpu",
        """
import treadle as td
x = td.random.rand(3000)
d = td.absolute(x[:, None] - x[None, :])  # FAULT memory
td.evaluate(d)
nearest = td.sort(d, axis=1)[:, 1].sum().item()
""",
    ),
    (
        "fallback",
        "null",
        """
import treadle as td
x = td.random.rand(40)
for step in range(12):
    y = td.poly(x)  # FAULT fallback
""",
    ),
    (
        "fallback-numpy",
        "null",
        """
import numpy as np
x = np.random.rand(200, 200)
for step in range(3):
    y = np.sum(x * 2, axis=0, dtype=np.longdouble)  # FAULT fallback
""",
    ),
    (
        "wait",
        "null",
        """
import treadle as td
x = td.ones(30000)
for step in range(50):
    x = x * 0.5 + 1.0
    td.evaluate(x)
    td.synchronize()  # FAULT wait
""",
    ),
]

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
]
