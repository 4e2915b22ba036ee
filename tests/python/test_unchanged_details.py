"""What a program sees of its arrays beside their values: layouts, dtypes, names put into NumPy's module."""

import pytest
from test_unchanged_arrays import CROSSOVERS, same

LAYOUTS = """
import numpy as np
m = np.arange(12.0).reshape(3, 4) + 1
d = np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1) + 1
x = m.T
def lies(r):
    return r.dtype.str, r.shape, r.strides, r.flags.c_contiguous, r.flags.f_contiguous
for f in (np.sin, np.negative, np.isnan, np.sinc, np.nan_to_num, np.copy, np.array, np.zeros_like, np.round, np.angle, np.modf):
    r = f(x)
    print(f.__name__, lies(r[0] if type(r) is tuple else r))
print([lies(r) for r in (x + 1, np.minimum(x, 3), x > 2, np.where(x > 2, x, 0), np.clip(x, 1, 3), x.clip(1, 3), divmod(x, 2)[0])])
print([lies(r) for r in (d.sum(0), d.sum(1), d.sum(2), d.mean(1, keepdims=True), d.max(2), d.std(1), np.nansum(d, 1), d.argmax(1))])
print([lies(r) for r in (d.cumsum(1), np.cumsum(d, 0), np.cumprod(x, 0), np.concatenate([x, x]), np.stack([x, x]), np.hstack([x, x]))])
print([lies(r) for r in (x.copy("K"), x.copy("A"), x.copy(), x.astype("f4"), x.astype("f4", order="C"), x.round(), (x * 1j).conj())])
print(x.flatten("K"), (x * 2).ravel("K"), np.add(x, 1).ravel("A"), x.astype("f8", copy=False) is x, np.astype(x, "f8", copy=False).base is m)
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_layouts(tmp_path, crossover):
    same(tmp_path, LAYOUTS, crossover=crossover)


ORDERS = """
import numpy as np
b = np.arange(1, 61).reshape(3, 4, 5)
arrays = [b, np.asfortranarray(b), b.transpose(1, 0, 2), b.transpose(2, 0, 1)[::2], b[::-1, :, ::-1], b[0].T, np.asfortranarray(b[0] / 3), b[:, ::2, 1].T]
for x in arrays:
    made = [np.add.accumulate(x, 0), np.maximum.accumulate(x, 1), np.subtract.accumulate(x, -1), np.add.reduceat(x, [0, 1], 0)]
    made += [np.multiply.reduceat(x, [0, 1], 1), np.add.reduceat(x, [0, 1], -1), np.add.outer(x, x[0]), np.add.outer(x[0], x)]
    made += [np.sort(x, axis=0), np.sort(x, axis=1), np.partition(x, 1, axis=0), np.nan_to_num(x), np.isreal(x), *np.gradient(x)]
    made += [np.unwrap(x), np.unwrap(x, axis=0), np.roll(x, 1), np.roll(x, 1, 0), np.roll(x, 1, axis=1), np.polyval([1, 2, 3], x)]
    made += [np.choose((x % 2).astype(int), [x, x]), np.select([x > 2, x > 3], [x, x * 2]), np.argwhere(x), np.packbits(x > 3, axis=0)]
    made += [np.unpackbits(x.astype("u1"), axis=0), np.cross(x[..., :3], x[..., :3]) if x.shape[-1] > 2 else x]
    made += [np.pad(x, 1), np.pad(x, 1, mode="edge"), np.insert(x, 1, 7, axis=0), np.insert(x, [0, 1], 7, axis=1), np.delete(x, 1, axis=0)]
    made += [np.delete(x, slice(0, 2), axis=-1), np.insert(x, 2, 7), np.delete(x, 2)]
    for k, r in enumerate(made):
        print(k, r.shape, [s for s, n in zip(r.strides, r.shape) if n > 1], r.ravel("K").tolist())
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_orders(tmp_path, crossover):
    """What NumPy computes along an axis, or by Python code, lies in memory as NumPy leaves it."""
    same(tmp_path, ORDERS, crossover=crossover)


CLASSES = """
import inspect
import os
import sys
import types
import numpy as np
made = [np.sin, np.array, np.mean, np.zeros, np.linalg.norm, np.add.reduce, np.vectorize, np.einsum, np.where, np.fft.fft, np.random.rand]
for f in made:
    print(f.__name__, [isinstance(f, c) for c in (np.ufunc, types.BuiltinFunctionType, types.FunctionType, types.MethodType, type)])
    print(f.__class__.__name__, [ask(f) for ask in (inspect.isbuiltin, inspect.isfunction, inspect.isroutine, inspect.isclass, callable)])
class Own(np.ndarray):
    average, root, made, fold = np.mean, np.sqrt, np.zeros, np.add.reduce
x = np.arange(4.0).view(Own)
print(x.average(), x.average.__self__ is x, Own.average == np.mean, x.root(4.0), x.made(3), x.fold([1, 2]), inspect.signature(x.average))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "libs"))
from told import told
print(told(np.add, np.mean))
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_classes_of_functions(tmp_path, crossover):
    """Functions are what NumPy's are to isinstance, to inspect and as attributes of classes, also in a library."""
    (tmp_path / "libs" / "told.dist-info").mkdir(parents=True)
    (tmp_path / "libs" / "told.py").write_text("import numpy\n\ndef told(*fs):\n    return [isinstance(f, numpy.ufunc) for f in fs]\n")
    same(tmp_path, CLASSES, crossover=crossover)


DETAILS = """
import warnings
import numpy as np
for dtype in "?bBhHiIlLqQ":
    print(np.reciprocal(np.arange(-2, 3).astype(dtype)), np.reciprocal(np.arange(3).astype(dtype), out=np.ones(3, "f8")))
x = np.arange(6.0).reshape(2, 3)
print(x.sum(where=None), x.prod(0, where=None), x.any(where=None), x.all(1, where=None), x.max(initial=-1, where=None), np.nansum(x, where=None))
print(np.add(x, x, where=None, out=x.copy()), np.add.reduce(x, where=None), np.hypot.reduce(x, where=None))
for f in (x.mean, x.var, np.std):
    try:
        f(*[x] * (f is np.std), where=None)
    except TypeError as e:
        print(e)
c, o = np.arange(6) + 1j, np.zeros(6, complex)
for f in (lambda: c.conj(o), lambda: c.conj(out=o), lambda: c.conjugate(o), lambda: np.conj(c, o), lambda: c.conj(np.zeros(6)),
          lambda: c.conj(None), lambda: c.conj(np.zeros(3, complex)), lambda: c.conj(c)):
    try:
        r = f()
        print(r, r is o, r is c)
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
    o[:] = 0
y = np.arange(200, 260).reshape(3, 20)
for to in "?bBhIq":
    print([f(dtype=to).dtype.char + str(f(dtype=to)) for f in (y.mean, (y / 3).mean, (y + 1j).mean)], y.mean(0, dtype=to), np.nanmean(y, 1, dtype=to))
for n in (4, 200, 5000):
    x = (np.arange(n) % 3 * 85).astype("u1").view(bool)
    print(x.sum(), np.count_nonzero(x), x.mean(), (x + 0).sum(), x.astype(int).sum(), (~x).sum(), np.where(x, 1, 0).sum(), (x * 2).sum())
    print((x & x).sum(), np.logical_and(x, x).sum(), x.reshape(2, -1).sum(0).sum(), np.unique(x), x[x].size)
print([a.dtype.char for a in (np.zeros(3, "q"), np.zeros(3).astype("q"), np.arange(3).sum(dtype="q"), np.ones(3, np.longlong), np.ones(3, "q") + 1)])
pair = np.dtype((np.int32, [("a", "i2"), ("b", "i2")]))
print(repr(np.zeros(4, pair)), np.zeros(4, np.dtype("f8", metadata={"unit": "m"})).dtype.metadata)
z, o = np.arange(3.0) + 1j, np.zeros(3, complex)
print(z.conj(o) is o, o, z.conjugate(o) is o, np.modf(np.arange(3.0) / 2, np.zeros(3)), z.real.sum(0, None, None, True))
print(np.arange(0, 1, np.inf), np.arange(0, 5e-324, 1e-10), np.arange(0, -5e-324, 1.0), np.arange(0, 1, -np.inf))
for n in (1, 3, 50, 5000):
    for t in "efdFD":
        x, y = np.full(n, -0.0, t), np.full((n, 3), -0.0, t)
        print(*(np.signbit(np.real(v)) for v in (x.sum(), x.mean(), y.sum(0)[0], y.mean(0)[0], y.sum(1)[0], y.sum(), x[:0].sum())))
def fails(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
a, b = np.ones((3, 3)), np.arange(3)
def product(a, b):
    a = a.copy(); a @= b; return a
fails(lambda: product(a, b)); fails(lambda: product(a, a[:, :1])); fails(lambda: product(a, a)); fails(lambda: product(b, b))
fails(lambda: np.dot(a, a, out=np.zeros((3, 3)).T)); fails(lambda: a.dot(a, out=np.zeros((3, 3))[::-1]))
fails(lambda: b.searchsorted(b, sorter=b + 5)); fails(lambda: np.searchsorted(b, b, sorter=-b - 9)); fails(lambda: np.correlate(b, b, mode=-1))
w = np.array([np.nan, 1.0]); print(np.nan_to_num(w, copy=False) is w, w, np.nan_to_num(np.array([np.inf]), False))
for t in "bBhHiIlL":
    print(np.pad(np.array([3], t), 3, mode="linear_ramp", end_values=0), np.pad(np.array([0], t), 3, mode="linear_ramp", end_values=3))
fails(lambda: np.insert(b, np.array([1.0, 2.0]), 5)); fails(lambda: np.ravel_multi_index(np.zeros((3, 1), int), (2, 1, 0)))
fails(lambda: np.linalg.cross(b[:2] * 1.0, b[:2])); print(np.linalg.cross(b * 1.0, b[::-1]))
fails(lambda: np.unique(b, axis=0.0)); fails(lambda: np.array(3.0).mean(0)); fails(lambda: np.array(3.0).var(0)); print(np.array(3.0).sum(0))
y = np.from_dlpack(b); print(y.flags.writeable, np.shares_memory(b, y))
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_details(tmp_path, crossover):
    same(tmp_path, DETAILS, crossover=crossover)


BLOCKED = """
import signal, threading
import numpy as np
def work():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    x = np.arange(5000.0) * 2
    print(sum(x.tolist()), signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
for _ in range(2):
    t = threading.Thread(target=work); t.start(); t.join()
try:
    import numexpr
except ImportError:
    pass
else:
    x = np.arange(10000.0) * 2
    assert numexpr.evaluate("x + 3", out=x) is x and x[2] == 7
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_threads_that_block_signals(tmp_path, crossover):
    same(tmp_path, BLOCKED, crossover=crossover)


NAMESPACES = """
import numpy as np
import numpy.linalg
for module in (np, np.linalg, np.fft, np.random, np.ma, np.polynomial):
    names = vars(module)
    own = [n for n in names if not n.startswith("_")]
    print(module.__name__, sorted(own), all(names[n] is getattr(module, n) for n in own))
print(sorted(n for n, f in np.__dict__.items() if isinstance(f, np.ufunc)), "sin" in vars(np), vars(np)["sum"](np.arange(5.0)))
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_all_names_stand_in_the_modules_dictionaries(tmp_path, crossover):
    """Also those that the program has not asked for."""
    same(tmp_path, NAMESPACES, crossover=crossover)


NAMES = """
import numpy as np
import numpy.linalg
def mine(*args):
    return "mine"
plain = np.sum
np.sum, np.float, np.linalg.norm = mine, float, mine
import scipy.linalg
x = np.arange(4.0)
print(np.sum(x), np.float, np.linalg.norm(x), x.sum(), hasattr(__import__("numpy"), "float"))
import sys
print(sys.modules["numpy"].sum is mine, sys.modules["numpy"].float)
np.sum = plain
del np.float
print(np.sum(x), hasattr(np, "float"), sys.modules["numpy"].sum(x), np.sum.__module__)
"""


@pytest.mark.parametrize("crossover", CROSSOVERS)
def test_names_put_into_numpy(tmp_path, crossover):
    """They are seen by libraries too, called whatever the size of the arrays, and put back."""
    pytest.importorskip("scipy")
    same(tmp_path, NAMES, crossover=crossover)
