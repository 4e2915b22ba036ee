"""NumPy beside treadle: operands of either side, protocols, shared memory."""

import array as stdlib_array
import copy
import ctypes
import mmap
import operator
import pickle

import numpy as np
import pytest
from numpy_side import REAL, check, values

import treadle as td


@pytest.mark.parametrize("dtype", REAL)
def test_there_and_back(dtype, dev, rng):
    x = values((3, 4), dtype, rng)
    t = td.asarray(x)
    check(t, x)
    assert td.asnumpy(t).tolist() == x.tolist()
    assert type(t.get()) is np.ndarray and t.get().flags.writeable
    check(td.asarray(x.T), x.T)
    check(td.asarray(x[::2, ::-1]), x[::2, ::-1])


def test_import_has_read_its_source():
    n = np.arange(5.0)
    x = td.asarray(n)
    y = x + 1
    n[:] = 0
    check(y, np.arange(5.0) + 1)
    check(x, np.arange(5.0))


def test_get_is_the_callers_own(dev):
    t = td.arange(5.0) * 2
    n = t.get()
    n[:] = -1
    check(t, np.arange(5.0) * 2)
    m = (t + 1).get()
    m[0] = 7
    check(t + 1, np.arange(5.0) * 2 + 1)
    u = t + 0
    v = u
    w = u.get()
    w[:] = 3
    check(v, np.arange(5.0) * 2)


def test_get_of_temporaries():
    big = td.arange(1 << 20)
    for _ in range(20):
        n = (big * 2).get()
        assert n[-1] == 2 * ((1 << 20) - 1)
        kept = n
        n = (big + 1).get()
        assert kept[1] == 2 and n[1] == 2 and kept[2] == 4


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", "@"])
def test_numpy_on_the_left(op, rng):
    n, x = values((3, 3), "float32", rng, 1, 5), values((3, 3), "float32", rng, 1, 4)
    names = {"n": n, "x": x, "t": td.asarray(x)}
    check(eval(f"n {op} t", names), eval(f"n {op} x", names), 8)
    check(eval(f"t {op} n", names), eval(f"x {op} n", names), 8)


def test_numpy_scalars(dev):
    x = np.arange(3, dtype="float32")
    t = td.asarray(x)
    for s in (np.float64(2), np.float32(2), np.int32(2), np.array(2.0), np.bool_(True)):
        check(s * t, s * x)
        check(t * s, x * s)
        check(s - t.astype("float64"), s.astype("float64") - x.astype("float64"))
    assert (np.float64(2) * t).dtype == np.float64


def test_ufuncs_dispatch(rng):
    x = values((4,), "float32", rng, 1, 4)
    t = td.asarray(x)
    for name in (
        "exp",
        "sqrt",
        "add",
        "arctan2",
        "rad2deg",
        "abs",
        "maximum",
        "isnan",
        "less",
        "true_divide",
        "square",
    ):
        f = getattr(np, name)
        args = (t,) * f.nin
        check(f(*args), f(*(x,) * f.nin), 4, name)
    check(np.add(x, t), x + x)
    check(np.multiply(t, 2, dtype="float64"), np.multiply(x, 2, dtype="float64"))
    check(np.matmul(t, t), np.matmul(x, x), 4)
    out = td.zeros(4, "float32")
    assert np.add(t, 1, out=out) is out
    check(out, x + 1)
    check(np.add.reduce(t), np.add.reduce(x), 4)
    with pytest.raises(TypeError, match="datetime64"):
        np.isnat(td.arange(3))
    check(np.add.accumulate(t), np.add.accumulate(x), 4)


def test_numpy_arrays_receive():
    n, t = np.ones(3), td.arange(3.0)
    m = n
    n += t
    assert n is m and n.tolist() == [1, 2, 3]
    np.add(t, t, out=n)
    assert n.tolist() == [0, 2, 4]
    n[:] = t
    assert n.tolist() == [0, 1, 2]


def test_functions_dispatch(rng):
    x = values((3, 4), "float32", rng)
    t = td.asarray(x)
    for text in ("np.sum(a)", "np.mean(a, axis=0)", "np.concatenate([a, b])", "np.where(a > 0, a, b)", "np.reshape(a, (2, 6))",
                 "np.stack([b, a], axis=1)", "np.clip(a, -1, 1)", "np.max(a, 1)", "np.transpose(a)", "np.zeros_like(a)",
                 "np.dot(a.T, b)", "np.argmax(a)", "np.round(a, 1)", "np.count_nonzero(a, 0)", "np.expand_dims(a, 1)"):  # fmt: skip
        check(eval(text, {"np": np, "a": t, "b": x}), np.asarray(eval(text, {"np": np, "a": x, "b": x})), 16, text)
    assert np.allclose(t, x) and np.array_equal(t, x) and np.shape(t) == (3, 4) and np.ndim(t) == 2


def test_asarray_shares_on_the_cpu():
    t = td.arange(6.0)
    n = np.asarray(t)
    n[0] = 100
    t[1] = 200
    assert n[1] == 200
    y = t + 1
    n[2] = 300
    check(t, np.array([100, 200, 300, 3, 4, 5.0]))
    check(y, np.array([101, 201, 3, 4, 5, 6.0]))
    t += 1
    assert n.tolist() == [101, 201, 301, 4, 5, 6]
    t[:] = 0
    assert n.tolist() == [0] * 6
    assert np.array(t) is not n
    check(td.asarray(n), np.zeros(6))


def test_copy_false_shares_both_ways():
    n = np.arange(6.0)
    t = td.asarray(n, copy=False)
    y = t * 2
    n[0] = 50
    check(t + 0, n)
    check(y, np.arange(6.0) * 2)
    t[1:3] = -1
    assert n.tolist() == [50, -1, -1, 3, 4, 5]
    view = td.asarray(n[::-2], copy=False)
    check(view + 0, n[::-2])
    view[0] = 77
    assert n[5] == 77
    check(t + 0, n)
    del n
    check(t * 1, np.array([50, -1, -1, 3, 4, 77.0]))
    locked = np.arange(3.0)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        td.asarray(locked, copy=False)[0] = 1
    with pytest.raises(ValueError):
        td.asarray(np.arange(3), copy=False, dtype="float32")


def test_shared_memory_outlives_its_arrays():
    n = np.asarray(td.arange(1000.0) + 1)
    junk = [td.full(1000, 5.0) + k for k in range(50)]
    td.evaluate(*junk)
    assert n.tolist() == [k + 1 for k in range(1000)]


def test_owners_are_released():
    class Owner(np.ndarray):
        alive = 0

        def __array_finalize__(self, _):
            Owner.alive += 1

        def __del__(self):
            Owner.alive -= 1

    owner = np.arange(1000.0).view(Owner)
    before = Owner.alive
    t = td.asarray(owner, copy=False)
    y = t + 1
    del owner
    assert Owner.alive >= before
    del t
    td.synchronize()
    assert Owner.alive == before - 1
    check(y, np.arange(1000.0) + 1)


def test_buffer_protocol():
    t = td.arange(6, dtype="int32").reshape(2, 3)
    m = memoryview(t)
    assert m.shape == (2, 3) and m.format == "i" and m.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert bytes(t) == np.arange(6, dtype="int32").tobytes()
    assert memoryview(t.T).strides == (4, 12)
    assert memoryview(td.broadcast_to(t, (2, 2, 3))).readonly
    check(td.asarray(stdlib_array.array("d", [1, 2, 3])), np.array([1.0, 2, 3]))
    for data in (memoryview(b"abc"), bytearray(b"abc")):
        check(td.asarray(data), np.frombuffer(b"abc", "uint8"))
    check(td.asarray(np.arange(3, dtype=">i4")), np.arange(3, dtype="int32"))


def test_frombuffer_is_a_view():
    for buffer in (bytearray(24), stdlib_array.array("d", [0, 0, 0]), (ctypes.c_double * 3)(), mmap.mmap(-1, 24)):
        x = td.frombuffer(buffer, "float64", 2, 8)
        later = x + 1
        np.frombuffer(buffer)[1] = 5
        x[1] += 2
        assert np.frombuffer(buffer).tolist() == [0, 5, 2] and x.tolist() == [5, 2]
        assert later.tolist() == [1, 1]
    check(td.frombuffer(b"abcd", "uint8", 2), np.frombuffer(b"ab", "uint8"))
    with td.device("null"):  # whose memory is its own: a copy
        assert td.frombuffer(bytearray(b"ab"), "uint8").tolist() == [97, 98]


class Answers:
    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return self.value


def test_array_protocol_of_other_objects():
    for n in (np.arange(3), np.asarray(2.5), np.ones((2, 2), "float32")):
        for given in (n, td.asarray(n)):
            check(td.asarray(Answers(given)), n)
            check(td.asarray(Answers(given), dtype="float64"), n.astype("float64"))
            check(td.sqrt(Answers(given)), np.sqrt(n))
            check(td.ones(2) + Answers(given[..., None]), np.ones(2) + n[..., None])
    with pytest.raises(ValueError, match="not producing an array"):
        td.asarray(Answers([1, 2]))


def test_interfaces(dev):
    t = td.arange(4.0)
    if dev == "cpu":
        d = t.__array_interface__
        assert d["shape"] == (4,) and d["typestr"] == "<f8" and d["strides"] == (8,)
        assert np.from_dlpack(t).tolist() == [0, 1, 2, 3]
        assert td.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]
    else:
        assert not hasattr(t, "__array_interface__")
        with pytest.raises(BufferError):
            memoryview(t)
        with pytest.raises(ValueError):
            t.__array__(copy=False)
    assert np.asarray(t).tolist() == [0, 1, 2, 3]
    assert np.asarray(t, dtype="float32").dtype == np.float32
    assert np.array(t, copy=True).tolist() == [0, 1, 2, 3]


def test_pickle_and_copy(dev):
    t = td.arange(6.0).reshape(2, 3) + 1
    for other in (pickle.loads(pickle.dumps(t)), copy.copy(t), copy.deepcopy(t)):
        check(other, t.get())
        other[0] = 0
    check(t, np.arange(6.0).reshape(2, 3) + 1)
    assert pickle.loads(pickle.dumps(td.exp)) is td.exp


class Tagged:
    """An array with a unit, of a class that NumPy asks, and that hands on what its array has."""

    def __init__(self, values):
        self.values = values

    def __getattr__(self, name):
        if name.startswith("__array_") or name == "values":
            raise AttributeError(name)
        return getattr(self.values, name)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "tagged", ufunc.__name__, method, self._plain(inputs)

    def __array_function__(self, func, types, args, kwargs):
        return "tagged", func.__name__, self._plain(args)

    def _plain(self, v):
        if isinstance(v, (list, tuple)):
            return list(map(self._plain, v))
        return np.asarray(v.values if isinstance(v, Tagged) else v).tolist() if not isinstance(v, str) else v


@pytest.mark.parametrize(
    "text",
    "sin(q) | add(q, x) | add(x, q) | multiply(2.0, q) | modf(q) | isnan(q) | sum(q) | mean(q, 0) | std(q) | concatenate([q, q]) | "
    "concatenate([x, q]) | stack((q, q)) | block([[q, q], [q, q]]) | where(x > 1, q, q) | dot(x, q) | cross(x, q) | clip(q, 0, 2) | "
    "einsum('i,i', q, x) | linalg.norm(q) | fft.fft(q) | diff(q) | trapezoid(x, q) | interp(q, x, x) | reshape(q, (3, 1)) | argsort(q) | "
    "cumsum(q) | maximum(x, q) | round(q) | full_like(q, 2) | array_equal(q, x) | unique(q) | percentile(q, 50)".split(
        " | "
    ),
)
def test_a_librarys_class_answers_as_beside_numpy(text):
    theirs, ours = (
        eval(
            f"lib.{text}",
            {"lib": lib, "x": lib.array([1.0, 2.0, 3.0]), "q": Tagged(lib.array([1.0, 2.0, 3.0])), "types": ()},
        )
        for lib in (np, td)
    )
    assert ours == theirs and ours[0] == "tagged"


def test_synonyms_keep_their_name_behind_vmap():
    """Its wrappers around the package's functions come with its first use."""
    td.vmap(lambda a: td.around(a) + td.linalg.norm(a))(td.ones((2, 3)))
    q = Tagged(np.array([1.0, 2.0]))
    for name in ("round", "linalg.norm", "concatenate", "full_like"):
        ours, theirs = (operator.attrgetter(name)(lib) for lib in (td, np))
        args = ((q, q),) if name == "concatenate" else (q, 2) if name == "full_like" else (q,)
        assert ours(*args) == theirs(*args), name


def test_other_objects_may_answer():
    class Other:
        def __radd__(self, x):
            return "radd"

        def __eq__(self, x):
            return "eq"

        __hash__ = None

    class First(Other):
        __array_priority__ = 1

    t = td.arange(3)
    for other in (First(), Other()):  # beside the second NumPy works element by element
        theirs = np.arange(3) + other
        assert type(t + other) is type(theirs) and np.array_equal(t + other, theirs)
        assert np.array_equal(t == other, np.arange(3) == other)
    check(t == None, np.arange(3) == None)  # noqa: E711
    check(t + [1, 2, 3], np.arange(3) + [1, 2, 3])
    check((1, 2, 3) * t, (1, 2, 3) * np.arange(3))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_iterative_solvers_of_scipy_take_matrices(dtype, dev, rng):
    linalg = pytest.importorskip("scipy.sparse.linalg")

    half = rng.standard_normal((6, 6)) + (1j * rng.standard_normal((6, 6)) if dtype == "complex128" else 0)
    n, b = (half @ half.conj().T + 6 * np.eye(6)).astype(dtype), rng.standard_normal(6).astype(dtype)
    t, tolerance = td.asarray(n), 1e-4 if dtype == "float32" else 1e-8
    for solve in (linalg.cg, linalg.gmres, linalg.bicg, linalg.lgmres):
        np.testing.assert_allclose(
            solve(t, td.asarray(b), rtol=1e-10)[0], solve(n, b, rtol=1e-10)[0], tolerance, tolerance
        )
    np.testing.assert_allclose(linalg.lsqr(t[:, :4], b)[0], linalg.lsqr(n[:, :4], b)[0], tolerance, tolerance)
    for many in (linalg.aslinearoperator(t), linalg.aslinearoperator(n)):
        np.testing.assert_allclose(many.H @ np.eye(6, dtype=dtype), n.conj().T, 1e-5)
    np.testing.assert_allclose(linalg.eigsh(t, 2)[0], linalg.eigsh(n, 2)[0], 1e-4)


def test_optimizers_of_scipy_take_gradients():
    optimize = pytest.importorskip("scipy.optimize")
    a, b = td.asarray(np.diag(np.arange(1.0, 6))), td.ones(5)

    def value(x):
        return 0.5 * td.asarray(x) @ a @ td.asarray(x) - b @ td.asarray(x)

    def slope(x):
        return a @ td.asarray(x) - b

    for method in ("L-BFGS-B", "SLSQP", "BFGS", "CG", "TNC", "Newton-CG"):
        found = optimize.minimize(value, td.zeros(5), jac=slope, method=method)
        np.testing.assert_allclose(td.asnumpy(found.x), 1 / np.arange(1.0, 6), atol=1e-3)
        assert found.success
    found = optimize.least_squares(lambda v: td.asarray(v) * b - 1, np.zeros(5), jac=lambda v: td.diag(b))
    np.testing.assert_allclose(found.x, np.ones(5))


def test_plotting_libraries_get_numpys_array_at_once():
    x = td.arange(5) * 2
    assert type(x.to_numpy()) is np.ndarray and x.to_numpy().tolist() == x.tolist()
