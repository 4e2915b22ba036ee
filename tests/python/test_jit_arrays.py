"""NumPy's functions of whole arrays, array indices and methods in compiled functions: NumPy's values, shapes and dtypes."""

import warnings

import numpy as np
import pytest
from small_kernels import made

from treadle import cuda, njit

FLOATS = [np.array(v, np.float64) for v in ([3.0, 1.0, 2.0, 5.0, 1.0, -0.5], [2.5], [np.nan, 1.0, np.inf, -np.inf, np.nan, 0.0], [])]
OTHERS = [np.array([5, -3, 5, 0, 7], np.int64), np.array([3, 1, 2], np.int32), np.array([1.5, 0.25, 1.5], np.float32),
          np.array([200, 3, 200], np.uint8), np.array([True, False, True]), np.arange(40)[::-3] % 7, np.arange(33.0)[::-1]]  # fmt: skip
VECTORS = FLOATS + OTHERS
MATRICES = [np.arange(6.0).reshape(2, 3), np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]]), np.arange(12, dtype=np.int32).reshape(4, 3).T, np.eye(2)]

ANY = """np.sort(a)|np.argsort(a, kind='stable')|np.unique(a)|np.concatenate((a, a[:2], a))|np.hstack((a, a))|np.vstack((a, a))|np.column_stack((a, a))
np.stack((a, a))|np.append(a, a)|np.repeat(a, 2)|np.repeat(a, 0)|np.tile(a, 3)|np.diff(a)|np.ediff1d(a)|np.median(a)|np.nanmedian(a)|np.flip(a)
np.roll(a, 1)|np.roll(a, -7)|np.nonzero(a)[0]|np.flatnonzero(a)|np.argwhere(a)|np.extract(a > 1, a)|np.atleast_1d(a)|np.atleast_2d(a)|np.diag(a)
np.diag(a, -1)|np.isin(a, [1, 5])|np.union1d(a, a[::-1])|np.intersect1d(a, a[1:])|np.setdiff1d(a, a[1:])|np.array_equal(a, a)|np.array_equal(a, a[1:])
np.allclose(a, a)|np.searchsorted(np.sort(a), a)|np.searchsorted(np.sort(a), a, side='right')|np.nancumsum(a)|a[a > 1]|a[np.argsort(a, kind='stable')]
np.outer(a, a)|a.argsort(kind='stable')|a.repeat(2)|a[~(a > 1)]|a[np.array([0, -1, 0])[: a.size]]|np.concatenate((a, np.array([1.5])))|np.argwhere(a)
np.average(a)|np.trapezoid(a)|np.nanvar(a)|np.nanstd(a)|np.percentile(a, 30)|np.quantile(a, [0.0, 0.5, 1.0])|np.nanpercentile(a, 50)
np.convolve(a, [1.0, 2.0])|np.convolve(a, [1.0, 2.0, 0.5], 'same')|np.correlate(a, [1, 2], 'full')|np.interp(a, [0.0, 1.0, 4.0], [1.0, 3.0, -1.0])
np.delete(a, 0)|np.delete(a, [0, -1])|np.take(a, 0)|np.take(a, [0, -1])|np.cov(a)|np.linalg.norm(a)|np.linalg.norm(a, 1)|np.linalg.norm(a, np.inf)
np.histogram(a, 4)[0]|np.histogram(a, [0.0, 1.0, 4.0])[0]|np.average(a, weights=np.ones(a.size))""".replace("\n", "|")
FLAT = """np.sort(a)|np.sort(a, axis=-1)|np.sort(a, axis=0)|np.concatenate((a, a))|np.concatenate((a, a), axis=1)|np.hstack((a, a))|np.vstack((a, a))|np.unique(a)|np.flip(a)
np.flipud(a)|np.fliplr(a)|np.rot90(a)|np.rot90(a, 2)|np.rot90(a, -1)|np.tril(a)|np.triu(a, 1)|np.tril(a, -1)|np.diag(a)|np.diag(a, 1)|np.trace(a)|a.trace(1)
np.median(a)|a[a > 1]|a[np.array([0, -1])]|a[np.array([True, False, True, False])[: a.shape[0]]]|np.nonzero(a)[1]|np.argwhere(a)|np.cov(a)|np.corrcoef(a)
np.cov(a, rowvar=False)|np.linalg.norm(a)|np.kron(a, a[:1])|np.kron(a[0], a[0])|np.kron(a[0], a)|np.kron(a, a[0])|np.roll(a, 2)|np.append(a, 7.0)|np.isin(a, [1, 4])|np.percentile(a, 50)|np.atleast_2d(a)
np.array_equal(a, a.T)|np.stack((a, a))|np.stack((a, a, a), 1)|np.stack((a, a), axis=-1)|np.dstack((a, a))|np.tile(a, 2)|np.tile(a, (3, 2))|np.tile(a, (2,))
np.diff(a)|np.diff(a, 2)|np.diff(a > 1)|np.argsort(a, kind='stable')|np.argsort(a, axis=0, kind='stable')|np.cumsum(a)|np.cumprod(a)|a.cumsum()|np.cumsum(a, dtype=np.float32)
np.append(a, a, axis=0)|np.append(a, a, axis=1)|np.concatenate((a, a), axis=-2)|np.concatenate((a, a, a, a > 1, a))|a.ravel('F')|np.ravel(a, order='F')|a.flatten('F')|a.flatten('C')|np.atleast_3d(a)|np.array_split(a, 2)[1]
np.array_split(a, 2, axis=1)[0]|np.split(a, 1)[0]|np.hsplit(a, 1)[0]|np.vsplit(a, [1])[1]|np.cov(a, bias=True)|np.digitize(a, [1.0, 2.0])|np.tril_indices_from(a)[1]
np.triu_indices_from(a, 1)[0]|np.select([a > 2, a > 1], [a, -a], 7)|np.nancumprod(a)|np.asfortranarray(a)|np.linalg.det(a @ a.T)|np.linalg.inv(a @ a.T + np.eye(a.shape[0]))|np.linalg.solve(a @ a.T + np.eye(a.shape[0]), a)
np.linalg.solve(a @ a.T + np.eye(a.shape[0]), np.ones(a.shape[0]))|np.linalg.cholesky(a @ a.T + np.eye(a.shape[0]))""".replace("\n", "|")
SCALARS = """np.bincount(i)|np.bincount(i, minlength=9)|np.bincount(i, weights=np.arange(4.0))|np.tri(3)|np.tri(3, 5, 1)|np.logspace(0, 2, 5)
np.cross(np.array([1, 2, 3]), np.array([4, 5, 6]))|np.cross(np.array([[1, 2, 3], [0, 1, 5]]), np.array([4, 5, 6.5]))|
np.cross(np.eye(3), np.eye(3)[::-1])|np.cross(np.array([1, 2, 3]), np.array([[4, 5, 6], [7, 8, 1]]))|np.linalg.matrix_power(np.array([[1.0, 2.0], [3.0, 4.0]]), 5)|np.sort([3, 1, 2])|np.median([3, 1, 2])
np.linalg.matrix_power(np.array([[1.0, 2.0], [3.0, 4.0]]), -2)|np.searchsorted([1, 3, 5], 3)|np.unique([2, 2, 1])|np.diff([1, 4, 9])
np.hanning(5)|np.hamming(1)|np.blackman(6)|np.bartlett(4)|np.hanning(0)|np.geomspace(1.0, 1000.0, 4)|np.tril_indices(3, 1)[0]|np.triu_indices(3, -1, 4)[1]
np.vander(i)|np.vander(i, 3)|np.vander(i, increasing=True)|np.trim_zeros(i)|np.setxor1d(i, [1, 7])|np.digitize(i, [2, 1])|np.digitize(i, [1, 2], right=True)
np.digitize(i, [2, 1], right=True)|np.cumsum(i, dtype=np.float64)|np.cumsum(i, axis=0)|np.array_split(i, 3)[0]|np.array_split(i, [1, 3])[2]|np.dstack((i, i))|np.atleast_3d(i)
np.tile(i, (2, 2))|np.split(i, 2)[1]|np.diff(np.array([1, 4, 9, 16]), 2)|np.interp(2.5, [1, 2, 3], [10, 20, 40])""".replace("\n", "|")


def both(expression, **space):
    """What the expression gives compiled, and in NumPy; their errors; the arguments as they are left."""
    f = made(f"def f({', '.join(space)}):\n    return {expression}\n", np=np)
    out = []
    for g in (njit(f), f):
        args = [x.copy(order="K") if isinstance(x, np.ndarray) else x for x in space.values()]
        try:
            out.append((g(*args), args))
        except TypeError:
            raise
        except Exception as e:
            out.append((e, args))
    return out


def check(expression, **space):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            (got, left), (wanted, kept) = both(expression, **space)
        except TypeError as e:
            if "no np" in str(e) or "boolean" in str(e) or "subtract" in str(e):  # NumPy refuses bools here
                return
            raise
    if isinstance(wanted, Exception):
        assert isinstance(got, Exception) or expression.startswith(("np.histogram", "np.cov", "np.average", "np.quantile")), (got, wanted)
        return
    if isinstance(got, Exception):
        raise got
    assert np.shape(got) == np.shape(wanted), (got, wanted)
    if isinstance(wanted, np.ndarray) and expression.split("(")[0] not in ("np.median", "np.nanmedian"):
        assert np.asarray(got).dtype.kind == wanted.dtype.kind, (got, wanted)
    np.testing.assert_allclose(np.asarray(got, np.float64), np.asarray(wanted, np.float64), rtol=1e-6, atol=1e-12)
    for a, b in zip(left, kept):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("expression", ANY.split("|"))
def test_of_vectors(expression):
    for a in VECTORS:
        # of nothing some raise in NumPy where these give NaN; bools have arithmetic of their own
        if a.size or expression.split("(")[0] not in ("np.percentile", "np.quantile", "np.histogram", "np.cov", "np.average", "np.take", "np.linalg.norm"):
            if a.dtype != np.bool_ or expression.split("(")[0] not in ("np.outer", "np.linalg.norm", "np.histogram", "np.nancumsum"):
                check(expression, a=a)


@pytest.mark.parametrize("expression", FLAT.split("|"))
def test_of_matrices(expression):
    for a in MATRICES:
        check(expression, a=a)


@pytest.mark.parametrize("expression", SCALARS.split("|"))
def test_of_numbers_and_lists(expression):
    check(expression, i=np.array([2, 0, 1, 0]))


CUBES = [np.arange(24.0).reshape(2, 3, 4), np.arange(8).reshape(2, 2, 2)[::-1]]
ANY_AXES = """np.stack((a, a))|np.flip(a)|np.tile(a, 2)|np.tile(a, (2, 1))|np.rot90(a)|np.diff(a)|np.diff(a, 2)|np.tril(a)|np.triu(a)|np.argsort(a)|np.cumsum(a)|a.ravel('F')
np.trace(a)|np.dstack((a, a))|np.array_split(a, 2)[0]|np.append(a, a, axis=0)|np.repeat(a, 2)|np.roll(a, 1)|np.take(a, 1)|np.delete(a, 0)|np.atleast_3d(a)
np.concatenate((a, a))|np.sort(a)|np.diag(a)|np.select([a > 2], [a])|np.unique(a)|np.nonzero(a)|np.round(a, 1)|np.vstack((a, a))|np.hstack((a, a))""".replace("\n", "|")


@pytest.mark.parametrize("expression", ANY_AXES.split("|"))
def test_of_three_axes_and_one(expression):
    """What a function does not compute for so many axes it refuses: there is never another value than NumPy's."""
    for a in [*CUBES, np.array([3, 1, 2])]:
        try:
            (got, _), (wanted, _) = both(expression, a=a)
        except TypeError:
            continue
        if isinstance(wanted, Exception):
            assert isinstance(got, Exception), (expression, got)
        elif not isinstance(got, Exception):
            np.testing.assert_array_equal(got, wanted)


def test_any_number_of_axes_is_joined_along_the_first():
    joined = njit(
        lambda a: (
            np.concatenate((a, a[:1])), np.concatenate((a, a), -3), np.concatenate((a, a[:, :1] > 2), 1), np.hstack((a[:, :1], a)),
            np.concatenate((a * 1.5, a[:, :, :1]), -1),
        )
    )  # fmt: skip
    for a in CUBES:
        for got, want in zip(joined(a), joined.py_func(a)):
            np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError):
        njit(lambda a: np.concatenate((a, a[:, :1])))(CUBES[0])
    with pytest.raises(ValueError):
        njit(lambda a: np.concatenate((a, a[:, :, :1]), 1))(CUBES[0])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("part", ["a", "a.T", "a[::2]", "a[:, 1:]", "a[1:]", "a[0]", "a[:, 0]", "a[1:, 0]", "a[:, 1]", "a[::2, 0]"])
def test_contiguous_arrays_are_copies_of_others(part, order):
    names = {"np": np}
    exec(f"def changed(a):\n    b = np.ascontiguousarray({part})\n    b[0] = 9.0\n    return b\n", names)
    changed = names["changed"]
    one, other = (np.array(np.arange(12.0).reshape(4, 3), order=order) for _ in range(2))
    got, want = njit(changed)(one), changed(other)
    assert got.flags.c_contiguous and got.strides == want.strides
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(one, other)


def test_in_place():
    def f(a, m):
        a.sort()
        np.fill_diagonal(m, 9.0)
        m[0].sort()

    for a in VECTORS:
        one, other = (a.copy(), np.arange(9.0).reshape(3, 3)[:, ::-1].copy()), (a.copy(), np.arange(9.0).reshape(3, 3)[:, ::-1].copy())
        njit(f)(*one)
        f(*other)
        for x, y in zip(one, other):
            np.testing.assert_array_equal(x, y)


def test_big_sorts():
    rng = np.random.default_rng(3)
    for a in (rng.normal(size=10007), rng.integers(0, 50, 4096), rng.integers(0, 2**63, 999).astype(np.uint64) * np.uint64(2)):
        np.testing.assert_array_equal(njit(lambda x: np.sort(x))(a), np.sort(a))
        np.testing.assert_array_equal(njit(lambda x: np.argsort(x))(a), np.argsort(a, kind="stable"))


def test_errors():
    for expression, error in (("a[np.array([7])]", IndexError), ("a[np.array([True])]", IndexError), ("np.linalg.inv(np.zeros((2, 2)))", np.linalg.LinAlgError),
                              ("np.linalg.cholesky(-np.eye(2))", np.linalg.LinAlgError), ("np.take(a, 9)", IndexError), ("np.quantile(a, 2.0)", ValueError),
                              ("np.linalg.det(np.zeros((2, 3)))", np.linalg.LinAlgError), ("np.bincount(np.array([-1]))", ValueError)):  # fmt: skip
        with pytest.raises(error):
            njit(made(f"def f(a):\n    return {expression}\n", np=np))(np.arange(3.0))


def test_kernels_have_none():
    def kernel(a):
        a[0] = np.sort(a)[0]

    with pytest.raises(TypeError):
        cuda.jit(kernel)[1, 1](cuda.to_device(np.arange(3.0)))


@pytest.mark.parametrize("expression", ["a + b", "a * b", "np.add(a, b)", "np.multiply(a, b)", "a + True", "np.maximum(a, b)", "np.minimum(a, b)", "a - b",
                                        "a | b", "a + 1", "a * 2.5", "np.add(a, b)[1:] * b[1:]"])  # fmt: skip
def test_bools_beside_bools(expression):
    f = made(f"def f(a, b):\n    return {expression}\n", np=np)
    a, b = np.array([True, False, True]), np.array([True, True, False])
    if expression == "a - b":
        with pytest.raises(TypeError, match="bools have no -"):
            njit(f)(a, b)
        return
    got, wanted = njit(f)(a, b), f(a, b)
    np.testing.assert_array_equal(got, wanted)
    assert got.dtype == wanted.dtype


def test_a_product_that_is_no_array_is_not_written_in_place():
    """a @= b of vectors: NumPy refuses, too."""

    def f(a, b):
        a @= b
        return a

    with pytest.raises((TypeError, ValueError)):
        f(np.ones(3), np.ones(3))
    with pytest.raises(TypeError, match=r"array\(float64, 1d, C\) cannot be changed to float64 in its place"):
        njit(f)(np.ones(3), np.ones(3))


@pytest.mark.parametrize("statement", ["(-a)[0] = 7", "(-a)[:] = 7", "(a + a)[1:][0] = 7", "(-a).T[0] = 7", "(-a)[0] += 7", "(-a)[a > 1] = 7",
                                       "(-a)[:1] = a[:1]", "np.sin(a)[-1] = 7", "(-a).real[0] = 7"])  # fmt: skip
def test_elements_of_expressions_are_written_to_nobody(statement):
    f = made(f"def f(a):\n    {statement}\n    return a * 1", np=np)
    for a in (np.arange(3.0), np.arange(6.0).reshape(3, 2)):
        np.testing.assert_array_equal(njit(f)(a), f(a))


# Places where NumPy decides by rules of its own: missing values, wrong orders, lengths that differ, what is optional.
NAN, INF = np.nan, np.inf
EDGES = """np.interp(x, [1, 2, 3], [1.0, nan, 3.0])|np.interp(x, [1.0, 2.0, inf], [1.0, 2.0, 5.0])|np.interp(x, [1.0, 2.0, 4.0], [-inf, inf, 0.0])|np.interp(x, [2.0], [3.0])
np.interp(x, [1.0, 2.0], [1.0])|np.interp(x, [1.0, 2.0, 3.0], [1j, 2.0, 1 + 1j])|np.interp(x, np.array([1.1, 2.2], np.float32), np.array([0.1, 0.7], np.float32))
np.digitize(x, [3.0, 2.0, -inf])|np.digitize(x, [nan, 3.0, 2.0])|np.digitize(x, [1.0, 2.0, nan], True)|np.digitize(x, [1.0, 3.0, 2.0])|np.digitize(x, [nan, 1.5, 2.3, nan])
np.searchsorted([1, 2, 0], [[5, 4], [6, 7], [2, 1], [0, 3]])|np.searchsorted([9, 1, 4, 2, 0, 3, 7, 6, 8], [[5, 10], [10, 5], [-1, 5]], side='right')|np.searchsorted(x, x)
np.searchsorted(x, x, 'right')|np.searchsorted([1, 2], 1, 'middle')|np.extract([1, 0, 1], x)|np.extract([1] * 9, x)|np.extract(x > 1, [1, 2, 3, 4, 5, 6, 7, 8])|np.partition(x, 99)
np.partition(x, (0, -1))[0]|np.argpartition(x, -99)|np.partition(x, 1)[1]|np.intersect1d([1, 2], [2.0, 3.0])|np.intersect1d(x[:0], [1, 2])|np.intersect1d([1, 3, 5], [5, 3], True)
np.setdiff1d([3, 1, 2, 1], [2], True)|np.setxor1d([3, 1], [1, 2], True)|np.isin(x, [1, 2], invert=True)|np.isin(1, [1, 2])|np.ediff1d([1, 4, 9], 7, [-1, 0])|np.ediff1d(x, 1.0)
np.ediff1d(x, None, 3)|np.trim_zeros([0, 1, 0], 'b')|np.trim_zeros([0, 1, 0], 'F')|np.average([1, 2, 3], None, [1, 1, 2])|np.average([1.0, 2.0], weights=[1.0, -1.0])
np.geomspace(-1, -1000, 4)|np.geomspace(1, 1e6, 7)|np.geomspace(-3, 3, 4)|np.geomspace(0, 1)|np.linspace(0, 1j, 3)|np.linspace(1j, 2, 4, endpoint=False)|np.flipud([1, 2])
np.flip([[1, 2], [3, 4]])|np.array_equal((1, 2), [1, 2])|np.array_equal(x, 3)|np.allclose(1.0, 1.0 + 1e-9)|np.allclose([1.0, nan], [1.0, nan], equal_nan=True)|np.asarray(3)
np.array(2.5)|np.nan_to_num(x, True, 1.0, 2.0, 3.0)|np.cov([1, 2, 4], [3, 1, 1])|np.cov(np.arange(6).reshape(2, 3), [1, 0, 1], ddof=0)|np.cov([1, 2, 4], None, True, True)
np.cov(np.array([10000.1, 10000.2, 10000.4], np.float32))|np.cov([1j, 2, 3])|np.cov(np.arange(6.0).reshape(3, 2), rowvar=False)|np.cov([1.0])|np.corrcoef([1, 2, 4], [3, 1, 1])
np.corrcoef([1, 2, 4])|np.corrcoef([[1, 2j, 4], [3, 1, 1j]])|np.vander([1.1, nan, inf])|np.vander([1, 2], 0)|np.tri(-1)|np.tri(2, -1)|np.argsort(x[:8].reshape(2, 2, 2))
np.sort(x[:8].reshape(2, 2, 2))|np.bincount([1, 2, 2], None, 5)|np.sum(3)|np.mean(2.5)|np.max(7)|np.any(0)|np.std(4.0)|np.ptp(3)|np.nanvar(x[:3], ddof=1)
np.nanstd(np.array([1.0, nan, 4.0, 9.0]), ddof=1)|np.unwrap(np.array([0.0, 3.0, 6.0, 9.5, 1.0, -3.0, 20.0]))|np.unwrap([1, 5, 3, 1], period=4.0)|np.asarray_chkfinite([1, 2])
np.asarray_chkfinite(x)|np.diagflat([[1, 2], [3, 4]])|np.diagflat([1, 2], -1)|np.insert([1, 2, 3], 1, 9)|np.insert([1, 2, 3], [0, -1, 3], [7, 8, 9])|np.insert([1, 2], 5, 1)
np.insert([1, 2, 3], 3, [4, 5])|np.insert([1, 2, 3], [1, 1], 6)|np.resize([1, 2, 3], (2, 4))|np.resize([1, 2, 3], 7)|np.resize(x[:0], 3)|np.resize([1], -1)
np.take_along_axis(x[:6].reshape(2, 3), np.argsort(x[:6].reshape(2, 3), axis=0), 0)|np.take_along_axis(x[:6].reshape(2, 3), np.array([[2], [-1]]), axis=1)
np.take_along_axis(x[:6].reshape(2, 3), np.array([[3], [0]]), 1)|np.take_along_axis(x, np.array([2, 0]), 0)|np.bincount([1, 2], None, -1)|np.repeat(x, -1)
np.repeat([1, 2], [1, -1])|np.repeat([1, 2], [2, 0])|x.repeat(-2)|np.linspace(1, 1e100, 1)|np.linspace(3, 7, 1, endpoint=False)|np.linspace(3, 7, 2)|np.linspace(1, 9, 0)|np.dot(x, x[:1])
np.dot(x[:1], x)|x @ x[:1]|np.vdot(x[:2], x[:1])|np.inner(x[:1], x[:3])|np.dot(x[:1], x[:1])|np.dot(x[:0], x[:0])|np.histogram(x[4:6], int(x[0]) - 1)[0]|np.histogram(x[4:6], [3, 1])[0]
np.histogram([1, 2], int(-x[0]))[0]|np.select([x > 1], [x, x])|np.select([x > 1, x > 2], [x])|np.histogram([1, 2, 2], [1, 1, 2])[0]
np.delete(x, slice(1, None, 2))|np.delete(x, slice(None, -2))|np.delete(x, slice(9, 2, -3))|np.indices((3,))|np.indices((2, 3))|np.indices((2, 0, 2))|np.zeros((2,) * 3)
np.argpartition(x, np.array([[0, 1]]))|np.partition(x, np.array([[0, 1]]))[:0]|np.asarray_chkfinite([1, 2], np.float32)|np.arange(stop=4)|np.arange(2, step=-1, stop=-3)
np.arange(start=0.5, stop=3)|np.arange(3, None, 2)|np.arange(0, step=1)|np.stack((np.asarray(x[0]), np.asarray(x[2])), axis=-1)|np.stack((np.array(2), np.array(3)))""".replace("\n", "|")  # fmt: skip


@pytest.mark.parametrize("expression", EDGES.split("|"))
def test_edges(expression):
    x = np.array([1.0, NAN, 0.5, INF, 2.0, 2.5, -INF, 3.0, 7.0])
    f = made(f"def f(x):\n    return {expression}\n", np=np, nan=NAN, inf=INF)
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for g in (njit(f), f):
            try:
                results.append(g(x))
            except Exception as e:
                results.append(e)
    got, want = results
    if isinstance(want, Exception):
        assert type(got) is type(want), (got, want)
        return
    assert not isinstance(got, Exception), got
    assert np.shape(got) == np.shape(want) and np.asarray(got).dtype.kind == np.asarray(want).dtype.kind, (got, want)
    np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", [np.int8, np.float64, np.complex128])
def test_products_of_vectors_of_all_lengths(mode, dtype):
    both_of = made(f"def f(a, v):\n    return np.convolve(a, v, '{mode}'), np.correlate(a, v, '{mode}')\n", np=np)
    compiled = njit(both_of)
    for m in range(1, 7):
        for n in range(1, 7):
            a, v = np.arange(1, m + 1).astype(dtype), np.arange(n, 0, -1).astype(dtype)
            if dtype is np.complex128:
                v = v * 1j + 1
            for got, want in zip(compiled(a, v), both_of(a, v)):
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_are_sorted(dtype):
    rng = np.random.default_rng(5)
    values = np.array([0, -0.0, 1, 2, np.nan, np.inf, -np.inf, -1])
    sort, order = njit(lambda a: np.sort(a, kind="mergesort")), njit(lambda a: np.argsort(a))
    for n in (*range(5), *rng.integers(5, 60, 40)):
        a = rng.choice(values, n).astype(dtype)
        a.imag = rng.choice(values, n)
        np.testing.assert_array_equal(order(a), np.argsort(a, kind="stable"))
        np.testing.assert_array_equal(sort(a).view(a.real.dtype), np.sort(a, kind="stable").view(a.real.dtype))


VIEWS = """np.real(a) np.imag(a) a.real a.imag np.ravel(a) a.ravel() np.reshape(a,-1) a.reshape(-1) np.transpose(a) a.T np.squeeze(a)
np.asarray(a) np.atleast_1d(a) np.atleast_2d(a) np.atleast_3d(a) np.flip(a) np.flipud(a) np.fliplr(a) np.rot90(a) np.rot90(a,2)
np.rot90(a,-1) np.rot90(a,4) np.split(a,1)[0] np.swapaxes(a,0,1) np.expand_dims(a,0) np.ascontiguousarray(a) np.asfortranarray(a)
np.array_split(a,2)[0] np.hsplit(a,1)[0] np.vsplit(a,1)[0] np.array(a) np.copy(a) a.flatten() np.diag(a) np.conj(a) np.conjugate(a)
a.conj() a.conjugate() np.roll(a,0) np.tile(a,1) np.repeat(a,1) a[...] a[::-1] np.nan_to_num(a) np.triu(a) np.unique(a) np.sort(a)
+a np.round(a) np.take(a,[0]) np.broadcast_to(a,a.shape)""".split()


@pytest.mark.parametrize("call", VIEWS)
def test_results_share_memory_where_numpys_do(call):
    """A store to the result is seen in the array, or is not. Who refuses the function is not asked."""
    f = made(f"def f(a):\n    b = {call}\n    b[(0,) * b.ndim] = 7\n    return a\n", np=np)
    compiled = njit(f)
    for a in (np.arange(1, 5), np.arange(1, 5).reshape(2, 2), np.arange(1, 7).reshape(3, 2)):
        for dtype in (np.complex128, np.float64, np.int64):
            try:
                want = f(a.astype(dtype))
            except (ValueError, IndexError, TypeError):  # NumPy has no such view of that array
                continue
            try:
                got = compiled(a.astype(dtype))
            except (ValueError, TypeError):
                continue
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["i8", "u1", "f4", "?"])
def test_diagonals_refuse_what_numpy_refuses(dtype):
    def fill(a, v):
        np.fill_diagonal(a, v)
        return a

    compiled = njit(fill)
    for value in (2.7, -1.5, 300.5, np.nan, np.inf, 200, -1, True):
        try:
            want = fill(np.zeros((2, 2), dtype), value)
        except (ValueError, OverflowError):
            with pytest.raises(ValueError, match="fill_diagonal"):
                compiled(np.zeros((2, 2), dtype), value)
        else:
            np.testing.assert_array_equal(compiled(np.zeros((2, 2), dtype), value), want)


@pytest.mark.parametrize("shape", [(3, 3), (7, 3), (3, 7), (2, 2, 2), (2, 3, 2), (4,)])
@pytest.mark.parametrize("value", [5, (1, 2), np.array([7, 8, 9])])
@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals_are_filled(shape, value, wrap):
    def fill(a, v, w):
        np.fill_diagonal(a, v, w)

    left = []
    for f in (njit(fill), fill):
        a = np.zeros(shape)
        try:
            f(a, value, wrap)
        except ValueError as e:
            a = str(e)
        left.append(a)
    np.testing.assert_array_equal(*left)


STORES = ["d[:] = s", "d[::-1] = s", "d[1:] = s[:-1]", "d[:-1] = s[1:]", "d += s", "d[:] = s * 2 + d", "d[i] = s", "d[d > 2] = s[d > 2]",
          "d[...] = s[::-1] - s", "np.add(s, s[::-1], d)", "np.clip(s, 1, 4, d)", "np.round(s[::-1], 1, d)", "d[:] = np.where(s > 2, s, d[::-1])", "d[2:5] *= s[1:4]"]  # fmt: skip
ROWS = ["d[:, :] = s", "d[::-1] = s", "d[:, i] = s", "d[i] = s", "d[i] = s[1]", "d[:] = s.T", "d[i, i] = s[0]", "d[0] = s[:, 0]", "d -= s[0]"]


@pytest.mark.parametrize("store", STORES + ROWS)
def test_arguments_that_share_memory(store):
    """A whole array is stored as if its source were computed before, wherever the two arguments lie in one memory."""
    f = made(f"def f(d, s, i):\n    {store}\n", np=np)
    compiled, order = njit(f), np.array([3, 0, 1, 2, 4, 5])
    # NumPy itself copies vectors of different strides in order, over what it has not read yet
    for stride in (1, 2, -1) if store in ROWS else (1, -1):
        for start in range(7):
            left = []
            for g in (compiled, f):
                memory = np.arange(40.0) % 7
                if store in ROWS:
                    square = memory.reshape(4, 10)
                    d, s = square[:, start : start + 4], square[:, 3:7]
                    d, s = (d[::-1] if stride < 0 else d), (s.T if stride == 2 else s)
                else:
                    d, s = memory[3:9][::stride], memory[start : start + 6]
                g(d, s, order[:4] if store in ROWS else order)
                left.append(memory)
            np.testing.assert_array_equal(*left)


AXES = ["a.sum(k)", "np.mean(a, axis=k)", "a.max(axis=k)", "np.argmin(a, k)", "np.std(a, axis=k)", "np.nansum(a, k)", "np.nanmax(a, axis=k)",
        "np.nanmean(a, k)", "np.ptp(a, k)", "(a * 2 + 1).prod(axis=k)", "np.any(a > 3, k)", "np.count_nonzero(a, axis=k)"]  # fmt: skip


@pytest.mark.parametrize("expression", AXES)
def test_an_axis_that_only_the_running_program_knows(expression):
    f = made(f"def f(a, k):\n    return {expression}\n", np=np)
    compiled = njit(f)
    missing = np.arange(24.0).reshape(2, 3, 4)
    missing[1, 2, 3] = np.nan
    for a in (missing, np.arange(6).reshape(2, 3), np.arange(12.0).reshape(3, 4).T, np.arange(5.0)):
        for k in range(-a.ndim, a.ndim):
            got, want = compiled(a, k), f(a, k)
            assert np.shape(got) == np.shape(want)
            np.testing.assert_allclose(got, want)
        for k in (-a.ndim - 1, a.ndim):
            with pytest.raises(ValueError, match="axis"):
                compiled(a, k)


INDICES = ["b[1, i]", "b[1, i, :]", "b[i, 1]", "b[:, 1, i]", "b[:, i, 1]", "b[:, i]", "b[:, i, :]", "b[1:, i]", "b[-1, i]", "b[:, i, 1:3]", "b[i, 1, 2]",
           "b[1, i, 2]", "b[1, 2, i]", "b[1, i, ::-1]", "b[0, b[0, :, 0] > 5]", "b[0, :, i]"]  # fmt: skip


@pytest.mark.parametrize("place", INDICES)
def test_arrays_of_indices_beside_numbers(place):
    b, i = np.arange(60).reshape(3, 4, 5), np.array([2, 0, 1])
    for body in (f"return {place}", f"{place} = 7\n    return b", f"{place} = {place} * 2\n    return b"):
        f = made(f"def f(b, i):\n    {body}\n", np=np)
        if place == "b[0, :, i]":
            with pytest.raises(TypeError, match="a slice between"):
                njit(f)(b.copy(), i)
        else:
            np.testing.assert_array_equal(njit(f)(b.copy(), i), f(b.copy(), i))


LISTS = ["b[[1, 0]]", "b[[i, -1]]", "b[some]", "b[grown]", "b[:, [2, 0]]", "b[1, [0, 2]]", "b[[0, 1], [1, 2]]", "b[[True, False, True, False]]",
         "b[0][[2, 1]]", "b[[2]]", "b[[True, True, False, False], 1]"]  # fmt: skip


@pytest.mark.parametrize("place", LISTS)
def test_a_list_in_an_index_is_no_tuple(place):
    b = np.arange(12).reshape(4, 3)
    head = "some = [1, 0, 1]\n    grown = []\n    for k in range(2):\n        grown.append(k + i)\n    "
    for body in (f"return {place}", f"{place} = 7\n    return b", f"{place} = {place} * 2\n    return b", f"{place} += 5\n    return b"):
        f = made(f"def f(b, i):\n    {head}{body}\n", np=np)
        np.testing.assert_array_equal(njit(f)(b.copy(), 1), f(b.copy(), 1))


def test_kernels_take_no_lists_as_indices():
    def kernel(b, out):
        out[0] = b[[1, 0]]

    with pytest.raises(TypeError, match="a list is no index"):
        cuda.jit(kernel)[1, 1](np.ones((3, 3)), np.ones(1))


NESTED = """np.array([x * k for k in range(3)])|np.array([x, x + 1])|np.array((x[1:], x[:-1]), np.float32)|np.asarray([[x, x], [x, -x]])|np.array([m, m])|np.array([m.T, m.T])
np.array([[[i * j * k for k in range(2)] for j in range(3)] for i in range(4)])|np.array([[(1, 2), (3, 4)], [(5, 6), (7, 8)]])|np.array([list(r) for r in m])|np.array([x, x[1:]])
np.array([(i, x[i]) for i in range(3)])|np.array([[x[:2] + i for i in range(k)] for k in (2, 2)])|np.array([x, m[0]]).sum(axis=0)|np.vstack([x, x])[0]|np.array([m[:, 0], m[0]])""".replace("\n", "|")


@pytest.mark.parametrize("expression", NESTED.split("|"))
def test_arrays_of_arrays_and_lists(expression):
    (got, mine), (want, theirs) = both(expression, x=np.arange(3.0), m=np.arange(9.0).reshape(3, 3))
    if isinstance(want, Exception):
        assert type(got) is type(want)
        return
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)
    got[...] = 7  # the array has memory of its own
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_round_takes_out_of_its_own_dtype():
    f = njit(lambda a, out: np.around(a, 2, out))
    a = np.array([1.23456, 2.5, -3.14159], np.float32)
    np.testing.assert_array_equal(f(a, np.zeros(3, np.float32)), np.around(a, 2))
    np.testing.assert_array_equal(njit(lambda a, out: np.around(a, 0, out))(a.astype("f8"), np.zeros(3)), np.around(a))
    np.testing.assert_array_equal(f(np.array([1, 2]), np.zeros(2)), [1, 2])
    with pytest.raises(TypeError, match="out= is of float32"):
        f(a, np.zeros(3))
