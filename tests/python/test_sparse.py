"""Sparse matrices beyond the comparison of single names: drawn matrices, mistakes, other libraries' objects, what is fetched."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle as td
from treadle.scipy import sparse
from treadle.scipy.sparse import _arith, _kernels, linalg

FORMATS = ["csr", "csc", "coo", "dia"]


@st.composite
def drawn(draw, shape=None, dtype="f8"):
    """SciPy's matrix of a few elements, places several times among them."""
    m, n = shape or (draw(st.integers(1, 7)), draw(st.integers(1, 7)))
    count = draw(st.integers(0, 12))
    rows, columns = (draw(st.lists(st.integers(0, k - 1), min_size=count, max_size=count)) for k in (m, n))
    data = draw(st.lists(st.integers(-3, 3), min_size=count, max_size=count))
    return scipy.sparse.coo_matrix((np.array(data, dtype), (rows, columns)), shape=(m, n))


def same(got, want):
    np.testing.assert_allclose(got.toarray().get() if hasattr(got, "toarray") else got.get(), want.toarray() if hasattr(want, "toarray") else want, rtol=1e-13)


@settings(max_examples=40)
@given(drawn(), st.sampled_from(FORMATS), st.sampled_from(FORMATS))
def test_conversions(a, one, other):
    ours, theirs = sparse.coo_matrix(a).asformat(one).asformat(other), a.asformat(one).asformat(other)
    same(ours, theirs)
    same(ours.T, theirs.T)
    assert ours.get().format == other and abs(ours.get() - theirs).sum() == 0
    if other in ("csr", "csc"):
        assert ours.nnz == theirs.nnz and ours.indptr.tolist() == theirs.indptr.tolist()
        ours.check_format()


@settings(max_examples=40)
@given(st.data(), st.sampled_from(FORMATS), st.sampled_from(FORMATS), st.sampled_from(["f8", "i4", "c16", "f4"]))
def test_two_matrices(data, one, other, dtype):
    m, k, n = (data.draw(st.integers(1, 6)) for _ in range(3))
    a, b, c = (data.draw(drawn(shape, dtype)) for shape in ((m, k), (m, k), (k, n)))
    x, y, z = (sparse.coo_matrix(v).asformat(f) for v, f in ((a, one), (b, other), (c, other)))
    a, b, c = a.tocsr(), b.tocsr(), c.tocsr()
    for ours, theirs in ((x + y, a + b), (x - y, a - b), (x.multiply(y), a.multiply(b)), (x @ z, a @ c), (x != y, a != b)):
        same(ours, theirs)
    v = np.arange(k).astype(dtype)
    same(x @ td.asarray(v), a @ v)
    same(x.sum(axis=0), a.sum(axis=0))


@pytest.mark.filterwarnings("ignore:Changing the sparsity")
@settings(max_examples=30)
@given(st.data(), st.sampled_from(["csr", "csc"]))
def test_subscripts(data, fmt):
    """NumPy says what is right: SciPy 1.17 fails at some slices that name nothing."""
    x = sparse.csr_matrix(data.draw(drawn())).asformat(fmt)
    a = x.toarray().get()
    cuts = st.builds(slice, *[st.one_of(st.none(), st.integers(-8, 8))] * 2, st.sampled_from([None, 1, 2, -1]))
    keys = [data.draw(st.one_of(cuts, st.lists(st.integers(-n, n - 1), min_size=1, max_size=4))) for n in a.shape]
    if all(isinstance(k, list) for k in keys):
        keys[0] = slice(None)
    same(x[tuple(keys)], a[tuple(keys)])
    b, y = a.copy(), x.copy()
    y[tuple(keys)] = b[tuple(keys)] = data.draw(st.integers(-2, 2))
    same(y, b)
    same(x, a)


def test_products_by_sorting_and_by_rows():
    rng = np.random.default_rng(3)
    a = scipy.sparse.random(40, 30, 0.2, "csr", random_state=1)
    x, y = sparse.csr_matrix(a), sparse.csr_matrix(a.T)
    rows = _arith._by_rows(x, y, np.dtype("f8"))
    major, minor, data = _arith._by_sorting(x, y, np.dtype("f8"))
    one = sparse.csr_matrix((rows[0], rows[1], rows[2]), shape=(40, 40))
    other = sparse.coo_matrix((data, (major, minor)), shape=(40, 40))
    assert (one.toarray() == other.toarray()).all() and one.nnz == other.nnz
    same(one @ td.asarray(rng.random(40)), (a @ a.T) @ np.random.default_rng(3).random(40))


@pytest.mark.parametrize("width", [2, 8, 32])
def test_threads_of_a_row(width):
    """All widths that a GPU's rows can have, with rows shorter and longer than them."""
    a = scipy.sparse.random(9, 70, 0.4, "csr", random_state=2)
    v = np.arange(70.0)
    with td.device("null"):
        x, y = sparse.csr_matrix(a), td.empty(9)
        args = x.indptr, x.indices, x.data, td.asarray(v), y, np.float64(0)
        _kernels.group_products(width)[(9 * width + 63) // 64, 64](*args)
        np.testing.assert_allclose(y.get(), a @ v, rtol=1e-13)


def test_beside_numpy_and_scipy(dev):
    a = sparse.csr_matrix(np.arange(6.0).reshape(2, 3))
    b = scipy.sparse.csr_matrix(np.ones((2, 3)))
    same(np.ones(2) @ a, np.ones(2) @ a.get())
    same(a + b, a.get() + b)
    same(a @ b.T, a.get() @ b.T)
    same(np.ones((2, 3)) + a, 1 + a.toarray().get())
    assert sparse.issparse(a) and not scipy.sparse.issparse(a) and sparse.csr_matrix(b).device == td.device(dev)
    assert isinstance(a.tolil(), scipy.sparse.lil_matrix)
    assert td.scipy.get_array_module(a) is td.scipy


def test_functions_of_arrays():
    """NumPy's functions and treadle's come to a matrix's methods; what it has no method for is refused."""
    a = sparse.csr_matrix(np.diag([1.0, 4.0]))
    for f in (np.sqrt, td.sqrt):
        assert sparse.issparse(f(a)) and f(a).diagonal().tolist() == [1, 2]
    assert td.absolute(-a).sum() == 5 and np.negative(a).sum() == -5
    assert (np.ones((2, 2)) < a).tolist() == [[False, False], [False, True]]
    assert np.subtract(a, a).nnz == 0 and np.less(a, 2).sum() == 3
    for f in (np.exp, td.exp):
        with pytest.raises(TypeError):
            f(a)


def test_lists_and_rows():
    a = sparse.csr_array([[1, 0, 2], [0, 3, 0]])
    assert [row.toarray().tolist() for row in a] == [[1, 0, 2], [0, 3, 0]]
    a.data *= 2
    a.indices = a.indices
    assert a.toarray().tolist() == [[2, 0, 4], [0, 6, 0]] and str(a) == str(a.get()) and repr(a) == repr(a.get())
    a *= 3
    assert a.sum() == 36 and bool(sparse.csr_matrix([[1]]))


MISTAKES = [
    (lambda a: sparse.csr_matrix(([1.0], [5], [0, 1]), shape=(1, 3)).check_format(), ValueError, "indices must be < 3"),
    (lambda a: sparse.csr_matrix(([1.0], [0], [0, 2])), ValueError, "index pointer"),
    (lambda a: sparse.csr_matrix(([1.0], [0], [0, 1]), shape=(2, 2)), ValueError, "index pointer size 2 should be 3"),
    (lambda a: sparse.coo_matrix(([1.0], ([3], [0])), shape=(2, 2)), ValueError, "axis 0 index 3 exceeds"),
    (lambda a: sparse.coo_matrix(([1.0], ([-1], [0])), shape=(2, 2)), ValueError, "negative axis 0 index"),
    (lambda a: sparse.coo_matrix(([1.0, 2], ([0], [0]))), ValueError, "same length"),
    (lambda a: sparse.dia_matrix((np.ones((2, 3)), [0, 0]), shape=(3, 3)), ValueError, "duplicate"),
    (lambda a: sparse.csc_array(np.ones(3)), ValueError, "1D input"),
    (lambda a: a + 1, NotImplementedError, "nonzero scalar"),
    (lambda a: a + sparse.eye(5), ValueError, "inconsistent shapes"),
    (lambda a: a @ td.ones(4), ValueError, "dimension mismatch"),
    (lambda a: a @ 3, ValueError, "Scalar operands"),
    (lambda a: a[2, 0], IndexError, "out of range"),
    (lambda a: a[[0, 9]], IndexError, "out of range"),
    (lambda a: a[0, 0, 0], IndexError, "Too many indices"),
    (lambda a: a.power(0), NotImplementedError, "zero power"),
    (lambda a: a.reshape(4, 4), ValueError, "cannot reshape"),
    (lambda a: bool(a), ValueError, "ambiguous"),
    (lambda a: len(a), TypeError, "ambiguous"),
    (lambda a: a.asformat("xyz"), ValueError, "unknown"),
    (lambda a: a.max(out=1), ValueError, "out"),
    (lambda a: a.setdiag(1, 7), ValueError, "exceeds"),
    (lambda a: a + sparse.csr_matrix(np.ones((2, 3)), device="null"), ValueError, "arrays on cpu and on null"),
    (lambda a: linalg.cg(a, td.ones(2)), ValueError, "square"),
    (lambda a: linalg.cg(sparse.eye(2), td.ones(3)), ValueError, "incompatible"),
    (lambda a: linalg.eigsh(sparse.eye(4), k=4), ValueError, "k=4"),
    (lambda a: linalg.LinearOperator((2, 2), matvec=lambda x: x).matvec(td.ones(3)), ValueError, "dimension mismatch"),
    (lambda a: linalg.LinearOperator((2, 2), matvec=lambda x: x).rmatvec(td.ones(2)), NotImplementedError, "rmatvec"),
    (lambda a: linalg.norm(a, 2, 5), ValueError, "Invalid axis"),
    (lambda a: linalg.matrix_power(sparse.eye(2), -1), ValueError, "exponent"),
    (lambda a: sparse.bmat([[a, sparse.eye(3)]]), ValueError, "incompatible row"),
    (lambda a: sparse.random(2, 2, density=3), ValueError, "density"),
]


@pytest.mark.parametrize("call,error,text", MISTAKES, ids=[m[2] for m in MISTAKES])
def test_mistakes(call, error, text):
    with pytest.raises(error, match=text):
        call(sparse.csr_matrix(np.arange(6.0).reshape(2, 3)))


def test_a_made_operator():
    class Twice(linalg.LinearOperator):
        def __init__(self, n):
            super().__init__("f8", (n, n))

        def _matvec(self, x):
            return 2 * x

        _rmatvec = _matvec

    a = Twice(3)
    assert (a @ td.ones(3)).tolist() == [2, 2, 2] and (a.H @ td.ones((3, 2))).shape == (3, 2)
    assert linalg.cg(a, td.ones(3))[0].tolist() == [0.5] * 3
    assert ((3 * a - a) @ td.ones(3)).tolist() == [4, 4, 4]


def test_slow_ways_warn():
    a = sparse.csr_matrix(np.eye(3))
    with pytest.warns(sparse.SparseEfficiencyWarning, match="sparsity structure"):
        a[0, 2] = 1
    with pytest.warns(sparse.SparseEfficiencyWarning, match="inefficient"):
        assert (a == 0).sum() == 5
    with pytest.warns(sparse.SparseEfficiencyWarning, match="dense matrix"):
        a.maximum(1)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_ptx(dtype, tmp_path):
    """The kernels that a GPU runs are made for one without one."""
    v, i = f"{dtype}[::1]", "int32[::1]"
    td.build(_kernels.row_products, f"({i},{i},{v},{v},{v},{dtype})", str(tmp_path / "a.ptx"), arch="sm_90")
    text, _ = td.cuda.compile_ptx(_kernels.group_products(8).py_func, f"void({i},{i},{v},{v},{v},{dtype})", cc=(9, 0))
    assert "shfl.sync" in text
