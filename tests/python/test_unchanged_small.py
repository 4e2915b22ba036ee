"""Where the work of `python -m treadle` on a CPU is done: scalars beside big arrays, small parts of big arrays, functions
whose results are bigger than their operands.
"""

import pytest
from test_unchanged import program, run
from test_unchanged_arrays import CROSSOVERS, same

SCALARS = """
import operator, fractions, warnings
import numpy as np
warnings.simplefilter("ignore")

class Mine(np.float64):
    def __rmul__(self, other):
        return "mine"

class Plain(np.float64):
    pass

class Answers:
    __array_ufunc__ = None
    def __radd__(self, other):
        return "answers"

names = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 longdouble"
scalars = [getattr(np, n)(3) for n in names.split()]
scalars += [Mine(3), Plain(3), 3, 2.5, 2j, True, fractions.Fraction(1, 2), Answers(), "x", None]
small = [np.arange(1, 3), np.arange(1, 3, dtype="f4"), np.array(2.0), np.array([True, False])]
big = [np.arange(1.0, 9000), np.arange(1, 9000, dtype="i4")[::-1], np.arange(1, 9000, dtype="c8").reshape(-1, 1)]
ops = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.and_,
       operator.or_, operator.xor, operator.lshift, operator.rshift, divmod, operator.lt, operator.eq]

def shown(f, x, y):
    try:
        r = f(x, y)
    except Exception as e:
        return type(e).__name__
    r = r[0] if type(r) is tuple else r
    if isinstance(r, np.ndarray) and r.size > 10:
        if r.dtype == object:
            return "O", r.shape, repr(r.ravel()[::997])
        ok = np.isfinite(r.ravel()[::997])
        return r.dtype.str, r.shape, np.round(r.ravel()[::997][ok].astype("c16"), 9).tolist()
    return type(r).__name__, repr(r)

for f in ops:
    for s in scalars:
        for t in scalars + small + big:
            if not (f is operator.pow and isinstance(t, np.ndarray) and t.size > 10) and f not in (operator.lshift,):
                print(f.__name__, type(s).__name__, getattr(t, "dtype", type(t).__name__), shown(f, s, t), shown(f, t, s) if f is not operator.pow else "")
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_scalars(tmp_path, crossover):
    """Each scalar type with each, with Python's numbers and with arrays, in both orders, types and exceptions included."""
    same(tmp_path, SCALARS, crossover=crossover)


WHERE = """
import numpy as np
import treadle
where = treadle._core._unchanged_where
n = treadle.config.crossover
x, y = np.arange(2.0 * n) * 2, np.arange(float(n) // 8)
step = x[1] - x[0]
for r in (step * x, np.float32(2) * x, np.int64(2) * x, 2 / x[1:] * step, step ** x, step + x, x * step, step // x[1:]):
    assert where(r) == "ahead", r
for r in (np.outer(y, y), np.add.outer(y, y), np.multiply.outer(y, y), np.kron(y, y), np.tile(y, 16), np.tile(y, (4, 4)),
          np.repeat(y, 16), *np.meshgrid(y, y), y[:, None] * y, np.add(y[:, None], y)):
    assert where(r) == "ahead", r.shape
for r in (np.outer(y[:9], y[:9]), np.tile(y[:9], 3), np.repeat(y[:9], 3), np.kron(y[:3], y[:3]), y + y, np.add(y, y)):
    assert where(r) is None, r.shape
assert where(np.empty(n - 1)) is None and where(np.zeros(2 * n)) == "open"
assert where(np.empty(n)) == where(np.zeros(32 * n)) == where(np.ones((32, n))) == "ahead"
print("there")
"""


def test_where_work_is_done(tmp_path):
    status, out, err = run(program(tmp_path, "prog.py", WHERE), crossover=8192)
    assert (status, out) == (0, "there\n"), err


STEPS = """
import numpy as np
import treadle
where = treadle._core._unchanged_where
p = np.zeros((128, 128)) + 1.0
flips = 0
for step in range(30):
    p[1:-1, 1:-1] = (p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1]) / 4
    p[:, -1] = p[:, -2]
    p[0, :] = p[1, :]
    p[:, 0] = p[:, 1]
    p[-1, :] = step
    p[5, 6] = 2.0
    flips += where(p) != "ahead"
s = 0.0
for i in range(60):  # many elements in a row: they come to the program's memory
    s += p[i, i]
print(flips, where(p), round(s, 9))
"""


def test_boundaries_stay_with_the_array(tmp_path):
    """Writing the edges of a grid each step does not bring the grid to the program's memory and back."""
    path = program(tmp_path, "prog.py", STEPS.replace("import treadle", "").replace("treadle._core._unchanged_where", "lambda p: 0"))
    want = run(path, treadle=False)[1].split()[-1]
    status, out, err = run(program(tmp_path, "prog.py", STEPS), crossover=4096)
    assert status == 0 and out.split() == ["0", "clean", want], (out, want, err)


MODULE = """
import numpy as np
print(np.sin.__name__, hasattr(np, "nothing"), getattr(np, "nothing", 5), "sin" in dir(np), repr(np).startswith("<module 'numpy'"))
try:
    np.nothing
except AttributeError as e:
    print(e)
np.mine = 3
import numpy
print(np.mine, numpy.mine, np.__name__, type(np.__dict__).__name__, np.__version__ == numpy.__version__)
del np.mine
print(hasattr(np, "mine"), np.linalg.norm([3.0, 4.0]), np.fft.fft([1.0, 0]).tolist(), np.random.__name__)
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_module(tmp_path, crossover):
    same(tmp_path, MODULE, crossover=crossover)


SPIN = """
import os, time
import numpy as np
a, y = np.ones((1000, 1000)), np.ones(1000)
y @ a
begin = time.process_time()
for _ in range(10):
    y @ a
    time.sleep(0.05)
print("OPENBLAS_THREAD_TIMEOUT" in os.environ, (time.process_time() - begin) / 10 < 0.01)
"""


def test_threads_of_the_library_sleep(tmp_path):
    """NumPy's OpenBLAS lets its threads wait for 25 ms after a product, on cores that treadle's kernels need."""
    status, out, err = run(program(tmp_path, "prog.py", SPIN))
    assert (status, out) == (0, "False True\n"), err
