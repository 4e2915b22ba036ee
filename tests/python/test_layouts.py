"""How arrays lie in memory and what views are of: order= and .base as NumPy has them."""

import ctypes
import gc
import itertools

import numpy as np
import pytest

import treadle as td

pytestmark = pytest.mark.skipif(np.__version__ < "2.4", reason="layouts are those of NumPy 2.4")

# What the calls below are given: x of either library m.
SOURCES = {
    "contiguous": lambda m: m.arange(24.0).reshape(2, 3, 4),
    "transposed": lambda m: m.arange(24.0).reshape(2, 3, 4).T,
    "permuted": lambda m: m.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2),
    "strided": lambda m: m.arange(48.0).reshape(2, 3, 8)[:, :, ::2],
    "reversed": lambda m: m.arange(24.0).reshape(2, 3, 4)[:, ::-1].T,
    "broadcast": lambda m: m.broadcast_to(m.arange(4.0), (2, 3, 4)),
    "fortran": lambda m: m.asfortranarray(m.arange(6.0).reshape(2, 3)),
    "row": lambda m: m.arange(4.0),
    "number": lambda m: m.array(3.0),
    "empty": lambda m: m.zeros((2, 0, 3)),
    "column": lambda m: m.arange(6.0).reshape(1, 6, 1).T,
}
CALLS = """
x.copy() | x.copy('F') | x.copy('A') | x.copy('K') | np.copy(x) | np.copy(x, 'F') | np.copy(x, order='C')
np.array(x) | np.array(x, order='C') | np.array(x, order='F') | np.array(x, order='A') | np.array(x, copy=None, order='F')
np.asarray(x) | np.asarray(x, order='C') | np.asarray(x, order='F') | np.asarray(x, order='A') | np.asarray(x, order='K')
np.asarray(x, 'f4', order='F') | np.asarray(x, 'f4', order='C') | np.ascontiguousarray(x) | np.asfortranarray(x)
np.asanyarray(x, order='f') | np.asarray_chkfinite(x, order='F') | np.require(x, None, ['F', 'O']) | np.require(x, None, 'C')
x.astype('f4') | x.astype('f4', 'C') | x.astype('f4', 'F') | x.astype('f4', 'A') | x.astype('f8', 'F', copy=False)
x.astype('f8', 'c', copy=False) | x.astype('f8', copy=False) | x.astype(complex)
np.zeros_like(x) | np.zeros_like(x, order='C') | np.ones_like(x, order='F') | np.zeros_like(x, order='A') | np.ones_like(x)
np.full_like(x, 3) | np.full_like(x, 3.7, 'i4', order='F') | np.zeros_like(x, 'i4') | np.zeros_like(x, shape=(3, 4))
np.zeros_like(x, shape=(2, 2, 2)) | np.ones_like(x, shape=(2, 2), order='F') | np.zeros_like(x, order='Q')
np.zeros(x.shape, order='F') | np.ones(x.shape, 'i4', 'F') | np.full(x.shape, 2, order='F') | np.zeros(x.shape, order='K')
np.full(x.shape, [1.5], 'i4', 'F') | np.ones(x.shape, order='A') | np.zeros(x.shape, order=3) | np.eye(3, 2, order='F')
x + 1 | -x | x * x | np.add(x, 1, order='C') | np.add(x, 1, order='F') | np.add(x, x, order='A') | np.negative(x, order='F')
np.add(x, 1, order='f', dtype='f4') | np.add(x, 1, order='Q') | np.add(x, 1, order=None)
x.ravel('K') | x.ravel('A') | x.ravel('F') | x.flatten('K') | x.flatten('F') | x.flatten('A') | x.reshape(-1)
x.reshape(-1, order='A') | x.reshape(-1, order='F') | x.reshape(x.shape, order='F') | x.T | np.array(x, order='F').ravel('K')
np.array(x, order='F').reshape(-1, order='A') | np.array(x, order='F') + np.array(x, order='F') | np.array(x, order='F').T
x.sum(0) | x.sum(-1, keepdims=True) | x.mean(0) | x.max(-1) | x.any(0) | x.std(0) | x.argmax(0) | np.add.reduce(x, 0)
x.cumsum(0) | x.cumprod(-1) | np.cumsum(x, 0) | np.round(x.astype(int)) | np.concatenate([x, x]) | np.concatenate([x, x], -1)
np.stack([x, x]) | np.stack([x, x], -1) | np.concatenate([x, np.ascontiguousarray(x)])
""".replace("\n", "|").split("|")
CALLS = [text.strip() for text in CALLS if text.strip()]


def lies(r):
    """What a program sees of how r lies: strides only where they say something."""
    told = r.strides if r.size and all(n > 1 for n in r.shape) else None
    return r.dtype, r.shape, told, r.flags.c_contiguous, r.flags.f_contiguous


def seen(text, library, source):
    x = SOURCES[source](library)
    try:
        r = eval(text, {"np": library, "x": x})
    except (TypeError, ValueError) as error:
        return type(error)
    shared = r is x or library.shares_memory(r, x)
    return (*lies(r), shared, (r.get() if library is td else r).tolist())


@pytest.mark.parametrize("text", CALLS)
def test_order_is_kept(text, dev):
    """Strides, flags, values, and whether the result shares the memory of what it was made of."""
    for source in SOURCES:
        assert seen(text, td, source) == seen(text, np, source), source


def test_empty_arrays_lie_so_too(dev):
    for order, shape in itertools.product("CF", [(2, 3), (2, 3, 4), (5,), ()]):
        assert lies(td.empty(shape, order=order)) == lies(np.empty(shape, order=order))
        assert lies(td.ndarray(shape, "i4", order=order)) == lies(np.ndarray(shape, "i4", order=order))
    for source in ("transposed", "permuted", "fortran"):
        assert lies(td.empty_like(SOURCES[source](td))) == lies(np.empty_like(SOURCES[source](np)))
    with pytest.raises(ValueError, match="do not lie in order 'F'"):
        td.asarray(td.zeros((2, 3)), order="F", copy=False)


def test_what_others_are_handed(dev):
    """NumPy's arrays, DLPack, the array interfaces and buffers have the strides; and back."""
    host = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for x in (td.asarray(host), td.array(host, order="K"), td.asarray(host.tolist(), order="F"), td.asfortranarray(td.asarray(host))):
        assert x.flags.f_contiguous and not x.flags.c_contiguous and x.strides == (8, 16)
        assert x.get().flags.f_contiguous and np.array_equal(x.get(), host)
        assert td.asnumpy(x).flags.c_contiguous and td.asnumpy(x, order="F").flags.f_contiguous
        if dev == "cpu":
            assert np.asarray(x).strides == (8, 16) and np.from_dlpack(x).strides == (8, 16)
            assert memoryview(x).f_contiguous and x.__array_interface__["strides"] == (8, 16)
            address = x.__array_interface__["data"][0]
            assert list((ctypes.c_double * 6).from_address(address)) == host.ravel("K").tolist()
        elif hasattr(x, "__cuda_array_interface__"):
            assert x.__cuda_array_interface__["strides"] == (8, 16)
    assert td.asarray(host, order="C").flags.c_contiguous
    kept = np.zeros((2, 3))
    assert td.asnumpy(td.asarray(host), out=kept) is kept and np.array_equal(kept, host)


def test_written_through(dev):
    """An array in Fortran's order is written, in place and through views, as any other."""
    theirs, ours = (m.zeros((3, 4), order="F") for m in (np, td))
    for a in (theirs, ours):
        a[1] = 5
        a.T[2] += 1
        a[:, 1:3] *= 2
        a.ravel("K")[3] = 9
        a += a
        a[a > 9] = -1
    np.testing.assert_array_equal(ours.get(), theirs)
    assert ours.flags.f_contiguous


VIEWS = """
x[1:] | x[...] | x[1:][1:] | x[0] | x.T | x.T.T | x.reshape(-1) | x.ravel() | x.view('i8') | x.view() | x.swapaxes(0, 1)
x[:1].squeeze() | np.expand_dims(x, 0) | np.flip(x) | np.broadcast_to(x, (2, 2, 3, 4)) | x.diagonal() | np.moveaxis(x, 0, 1)
np.split(x, 2)[1] | x.real | x.astype(complex).real.base | x.copy() | x + 1 | x.flatten() | np.atleast_3d(x) | np.asarray(x)
np.zeros((2, 3), order='F') | np.asfortranarray(x) | np.ascontiguousarray(x[:, ::2]) | x.copy('K') | x.T.copy('K')
""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", [v.strip() for v in VIEWS if v.strip()])
def test_base_is_the_very_array(text, dev):
    told = []
    for m in (np, td):
        x = m.arange(24.0).reshape(2, 3, 4).copy()
        v = eval(text, {"np": m, "x": x})
        told.append((v.base is x, v.base is None, v.flags.owndata, x.base is None, x.flags.owndata))
    assert told[1] == told[0]


def test_base_after_the_array_is_gone(dev):
    """A view keeps the memory, not the object: its base is an array of the whole of it then, always the same."""
    x = td.arange(6.0).copy()
    y, z = x[1:], x[2:]
    del x
    gc.collect()
    base = y.base
    assert base is y.base is z.base and base.shape == (6,) and base.base is None and not y.flags.owndata
    base[1] = 7
    assert float(y[0]) == 7
    x = td.arange(6.0).copy()
    y = x[1:]
    x.resize(3)
    assert y.base is not x and y.base.shape == (6,)
