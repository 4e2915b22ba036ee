"""What bad input gets: the exception's type, its words, and that nothing else has changed."""

import copy
import pickle
import re
import sys

import numpy as np
import pytest
from numpy_side import check

import treadle as td
from treadle import _core


def test_shapes_are_named():
    a, b = td.zeros((2, 3)), td.zeros((4, 5))
    for f in (lambda: a + b, lambda: td.maximum(a, b), lambda: a.__iadd__(b), lambda: td.where(a > 0, a, b)):
        with pytest.raises(ValueError) as e:
            f()
        assert "(2, 3)" in str(e.value) and "(4, 5)" in str(e.value)
    with pytest.raises(ValueError, match=r"size 6 into shape \(4,\)"):
        a.reshape(4)
    with pytest.raises(ValueError) as e:
        a @ b
    assert "(2, 3)" in str(e.value) and "(4, 5)" in str(e.value)
    with pytest.raises(ValueError) as e:
        a[...] = b
    assert "(2, 3)" in str(e.value) and "(4, 5)" in str(e.value)
    with pytest.raises(ValueError, match="axis 0"):
        td.concatenate([a, b], 0)
    check(a, np.zeros((2, 3)))


@pytest.mark.parametrize(
    "text",
    [
        "b - b", "-b", "f & f", "f << 1", "~f", "np.invert(f)", "np.sign(b)", "i.astype('no')", "f + 'text'", "f + None",
        "f < {}", "np.exp('x')", "np.exp(None)", "np.add(f, object())",
        "np.asarray({}, dtype=float)", "f.sum(dtype='O')", "np.mean(['a'])",
        "float(f)", "int(i)", "np.zeros('ab')", "np.zeros(2.5)", "np.arange('a')", "range(3)[f]", "np.add(f)", "np.add(1, 2, 3, 4)",
        "f.sum(bad=1)", "f.sum(0, None, None, False, 9, 9)", "np.zeros()", "f.astype()", "len(np.asarray(1.0))", "iter(np.asarray(1.0))",
        "hash(f)", "f.clip(2, bad=3)",
    ],
)  # fmt: skip
def test_type_errors(text):
    names = {"np": td, "f": td.ones(3), "i": td.arange(3), "b": td.ones(3, bool)}
    with pytest.raises(TypeError):
        eval(text, names)


@pytest.mark.parametrize(
    "text,error",
    [
        ("np.zeros((2, -1))", ValueError), ("f.sum(3)", IndexError), ("f.sum((0, 0))", ValueError), ("np.zeros((1,) * 20)", ValueError),
        ("bool(f)", ValueError), ("bool(f[:0])", ValueError), ("f.item()", ValueError), ("f.item(9)", IndexError),
        ("np.arange(1, 2, 0)", ZeroDivisionError), ("i ** -1", ValueError), ("i ** np.asarray([1, -1, 1])", ValueError),
        ("i.astype('int8') + 1000", OverflowError), ("i + 2**70", OverflowError), ("i.astype('uint8') * -1", OverflowError),
        ("np.array([1000], dtype='int8')", OverflowError), ("np.array(300, dtype='uint8')", OverflowError), ("f[:0].min()", ValueError),
        ("np.stack([f, f[:2]])", ValueError), ("np.concatenate([])", ValueError), ("f.transpose(0, 0)", ValueError),
        ("f.reshape(2, 2)", ValueError), ("f.squeeze(0)", ValueError), ("f.swapaxes(0, 3)", IndexError), ("np.split(f, 2)", ValueError),
        ("np.device('cuda:99')", RuntimeError), ("np.device('nonsense')", ValueError), ("np.asarray([[1, 2], [3]])", ValueError),
        ("np.broadcast_to(f, (2, 2))", ValueError), ("np.zeros((2**40, 2**40))", ValueError), ("np.moveaxis(f, 2, 0)", IndexError),
        ("np.random.default_rng(-1)", ValueError), ("np.random.default_rng(0).integers(3, 3)", ValueError), ("np.linspace(0, 1, -1)", ValueError),
        ("f.__array__(copy=False, dtype='f4')", ValueError), ("np.asarray([1.0, 2.0], copy=False)", (ValueError, TypeError)),
        ("np.matmul(f, 2.0)", ValueError), ("np.where(f > 0, f)", ValueError),
    ],
)  # fmt: skip
def test_other_errors(text, error):
    names = {"np": td, "f": td.ones(3), "i": td.arange(3)}
    with pytest.raises(error):
        eval(text, names)


def test_as_numpy_words_overflow():
    with pytest.raises(OverflowError, match="Python integer 1000 out of bounds for int8"):
        td.zeros(3, "int8") + 1000


def test_out_of_memory_says_how_much(dev):
    kept = td.arange(10) * 2
    with pytest.raises(td.OutOfMemoryError) as e:
        td.empty(2**46, "float64")
    assert isinstance(e.value, MemoryError)
    for word in ("asked", "hold", "free"):
        assert word in str(e.value), str(e.value)
    check(kept + 1, np.arange(10) * 2 + 1)


def test_a_value_that_cannot_be_had_disturbs_no_other(dev):
    """Recorded, it fails where it is looked at; work beside it goes on."""
    big = td.zeros(2**44) + 1
    x = td.arange(10)
    td.evaluate(x)
    y = x + 1
    x[:2] = 0
    check(y, np.arange(10) + 1)
    many = [x + k for k in range(1000)]
    check(many[-1], np.array([0, 0, 2, 3, 4, 5, 6, 7, 8, 9]) + 999)
    for _ in range(2):
        with pytest.raises(td.OutOfMemoryError):
            big.get()
    with pytest.raises(td.OutOfMemoryError):
        float(big.sum() * 0 + big[5])
    check(y + x, np.arange(10) + 1 + [0, 0, 2, 3, 4, 5, 6, 7, 8, 9])


def test_an_error_leaves_what_was_recorded(dev):
    x = td.arange(6.0).reshape(2, 3)
    y = x * 2
    z = y + 1
    for bad in (lambda: y + td.zeros(7), lambda: y[9], lambda: y.reshape(5), lambda: y @ y, lambda: y.__setitem__(0, td.zeros(9))):
        with pytest.raises((ValueError, IndexError)):
            bad()
    check(y, np.arange(6.0).reshape(2, 3) * 2)
    check(z, np.arange(6.0).reshape(2, 3) * 2 + 1)


def test_in_place_casts_are_checked():
    i = td.arange(3)
    with pytest.raises(TypeError, match="same_kind"):
        i += 1.5
    with pytest.raises(ValueError):
        i += td.ones((2, 3), int)
    check(i, np.arange(3))


def test_exceptions_have_their_places():
    assert issubclass(td.OutOfMemoryError, MemoryError)
    assert issubclass(td.CompileError, RuntimeError) and issubclass(td.DeviceError, RuntimeError)
    assert issubclass(td.MissingLibraryError, ImportError)
    assert td.DeviceError.__module__ == "treadle"


def test_arrays_on_two_devices():
    a, b = td.asarray([1.0], device="cpu"), td.asarray([1.0], device="null")
    with pytest.raises(ValueError, match=r"cpu.*null"):
        a + b
    check(a + td.asarray(b, device="cpu"), np.array([2.0]))


def test_a_late_failure_names_kernel_and_line(fault):
    """An illegal address is told by a later call: which launch it was is remembered."""
    with td.device("null"):
        x = td.ones(100)
        td.evaluate(x)
        td.synchronize()
        fault("cuEventQuery", 1, 700)
        y = x * 2 + 1
        td.evaluate(y)
        z = td.exp(x)
        at = sys._getframe().f_lineno
        with pytest.raises(td.DeviceError) as e:
            z.get()
        said = str(e.value)
        assert "CUDA_ERROR_ILLEGAL_ADDRESS" in said
        assert re.search(
            r"told by cuEventQuery, of one of the kernels "
            rf"multiply add \(\w+\) launched at \S*test_errors.py:{at - 2}, exp \(\w+\) launched at \S*test_errors.py:{at + 2}$",
            said,
        ), said
        fault("cuMemAlloc", 1, 1)  # any failure after it says it too
        with pytest.raises(td.DeviceError, match=f"cuMemAlloc.*first error: .*test_errors.py:{at - 2}"):
            td.evaluate(td.zeros(2**26) + 1)
    np.testing.assert_array_equal(y.get(), np.full(100, 3.0))


def test_a_late_failure_after_waiting_blames_nobody_before(fault):
    with td.device("null"):
        td.evaluate(td.ones(10) + 1)
        td.synchronize()
        x = td.arange(10) * 3
        td.evaluate(x)  # here
        fault("cuEventQuery", 1, 719)
        with pytest.raises(td.DeviceError, match=r"of the kernel arange multiply \(\w+\) launched at \S*test_errors.py:\d+$"):
            td.synchronize()


def test_a_late_failure_names_a_kernel_of_the_users(fault):
    @td.cuda.jit
    def twice(x):
        i = td.cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    with td.device("null"):
        x = td.ones(100)
        td.evaluate(x)
        td.synchronize()
        twice[1, 128](x)
        at = sys._getframe().f_lineno - 1
        fault("cuEventQuery", 1, 700)
        with pytest.raises(td.DeviceError, match=rf"of the kernel twice \(\w+\) launched at \S*test_errors.py:{at}$"):
            td.synchronize()


OURS = [c for c in vars(_core).values() if isinstance(c, type) and issubclass(c, BaseException)]


@pytest.mark.parametrize("kind", OURS, ids=lambda c: c.__name__)
def test_exceptions_are_copied(kind):
    """As pickle does, and as tblib does for Dask: by __new__ alone."""
    for made in (pickle.loads(pickle.dumps(kind("why"))), kind.__new__(kind, "why"), copy.copy(kind("why"))):
        assert type(made) is kind and made.args == ("why",) and str(made) == "why"
