"""Programs for the adviser: those with one fault each, on a line that ends with "# FAULT id", and CLEAN ones.

Each is (name, device, text). Texts that import numpy are run as programs that run unchanged."""

from doctor_clean import CLEAN

__all__ = ["CLEAN", "FAULTS"]

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
        "columns-ufunc",
        "cpu",
        """
import numpy as np
table = np.random.rand(1500, 1500)
totals = {}
for c in range(table.shape[1]):
    column = table[:, c]
    totals[c] = np.sqrt(column)  # FAULT stride
""",
    ),
    (
        "columns-right",
        "cpu",
        """
import numpy as np
table, shift = np.random.rand(1500, 1500), np.ones(1500)
for c in range(1500):
    moved = shift - table[:, c]  # FAULT stride
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
    (
        "nearest-by-hand",
        "cpu",
        """
import numpy as np

def nearest(points):
    best = np.zeros(len(points), dtype=int)
    for i in range(len(points)):
        smallest = 1e30
        for j in range(len(points)):
            if i == j:
                continue
            dx = points[i, 0] - points[j, 0]  # FAULT element-read
            d = dx * dx
            if d < smallest:
                smallest, best[i] = d, j
    return best

print(nearest(np.random.default_rng(3).random((80, 2)))[:3].shape)
""",
    ),
    (
        "windows",
        "cpu",
        """
import numpy as np

class Window:
    def __init__(self, size):
        self.size = size

    def smooth(self, signal):
        out = []
        for k in range(len(signal) - self.size):
            out.append(np.mean(signal[k : k + self.size]))  # FAULT small-calls
        return np.array(out)

print(Window(16).smooth(np.sin(np.linspace(0, 60, 3000))).shape)
""",
    ),
    (
        "vignette",
        "cpu",
        """
import numpy
import treadle as td
image = td.asarray(numpy.random.default_rng(1).random((1500, 2000), dtype=numpy.float32))
vignette = td.asarray(numpy.linspace(0.5, 1.0, 2000))
lit = image * vignette  # FAULT float64
print(float(lit.sum()) > 0)
""",
    ),
    (
        "histogram",
        "cpu",
        """
import numpy as np
counts = np.zeros(50)
for v in np.random.default_rng(1).normal(size=8000).tolist():
    k = min(max(int((v + 4) / 8 * 50), 0), 49)
    counts[k] += 1  # FAULT element-write
print(counts.sum())
""",
    ),
]
