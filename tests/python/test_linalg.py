"""treadle.linalg against numpy.linalg: values, dtypes, shapes, named results, errors, on every device."""

import itertools

import numpy as np
import pytest

import treadle as td
from treadle import _core
from treadle.linalg import _dispatch, _solver

L, N = td.linalg, np.linalg
DTYPES = ["f4", "f8", "c8", "c16"]
BATCHES = [(), (3,), (2, 1)]


def draw(rng, shape, dt):
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dt).kind == "c" else x).astype(dt)


def tolerance(dt):
    return 2e-3 if np.dtype(dt) in (np.dtype("f4"), np.dtype("c8")) else 1e-9


def same(got, want, tol, what=""):
    assert isinstance(got, td._core.ndarray), what
    want = np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype, (what, got.shape, want.shape, got.dtype, want.dtype)
    np.testing.assert_allclose(got.get(), want, rtol=tol, atol=tol, err_msg=str(what))


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


@pytest.fixture(autouse=True)
def no_trips(dev):
    """Nothing here is computed on the host but where the CPU's library is NumPy."""
    before, td.config.fallback = td.config.fallback, "error"
    yield
    td.config.fallback = before


# What is unique up to rounding, as functions of a square matrix a, a right side b, a positive definite p and a matrix r.
UNIQUE = [
    lambda m, a, b, p, r: m.solve(a, b),
    lambda m, a, b, p, r: m.inv(a),
    lambda m, a, b, p, r: m.det(a),
    lambda m, a, b, p, r: m.slogdet(a).sign,
    lambda m, a, b, p, r: m.slogdet(a).logabsdet,
    lambda m, a, b, p, r: m.cholesky(p),
    lambda m, a, b, p, r: m.cholesky(p, upper=True),
    lambda m, a, b, p, r: m.eigvalsh(p),
    lambda m, a, b, p, r: m.eigvalsh(p, UPLO="U"),
    lambda m, a, b, p, r: m.eigh(p).eigenvalues,
    lambda m, a, b, p, r: m.svdvals(r),
    lambda m, a, b, p, r: m.svd(r).S,
    lambda m, a, b, p, r: m.svd(p, compute_uv=False, hermitian=True),
    lambda m, a, b, p, r: m.qr(r).Q,
    lambda m, a, b, p, r: m.qr(r).R,
    lambda m, a, b, p, r: m.qr(r, mode="complete").Q,
    lambda m, a, b, p, r: m.qr(r, "r"),
    lambda m, a, b, p, r: m.qr(r, "raw")[0],
    lambda m, a, b, p, r: m.qr(r, "raw")[1],
    lambda m, a, b, p, r: m.pinv(r),
    lambda m, a, b, p, r: m.pinv(r * 1.0, rtol=None),
    lambda m, a, b, p, r: m.pinv(p, hermitian=True),
    lambda m, a, b, p, r: m.matrix_rank(r),
    lambda m, a, b, p, r: m.matrix_rank(r, tol=1.5),
    lambda m, a, b, p, r: m.matrix_rank(p, rtol=0.2, hermitian=True),
    lambda m, a, b, p, r: m.matrix_power(a, -2),
    *(lambda m, a, b, p, r, k=k: m.cond(a, k) for k in (None, -2, 1, np.inf, "fro", "nuc")),
    *(lambda m, a, b, p, r, k=k: m.norm(r, k, axis=(-2, -1)) for k in (2, -2, "nuc")),
]


@pytest.mark.parametrize("dt", [*DTYPES, "i4"])
def test_unique_values(dev, rng, dt):
    for batch, shape in itertools.product(BATCHES, ((3, 2), (2, 3))):
        a, b, r = (draw(rng, (*batch, *s), dt) for s in ((3, 3), (3, 2), shape))
        if dt == "i4":
            a, r = (x + 3 * np.eye(*x.shape[-2:], dtype=dt) for x in (a, r))
        p = a @ adjoint(a) + np.eye(3, dtype=dt)
        ours = [td.asarray(x) for x in (a, b, p, r)]
        for k, f in enumerate(UNIQUE):
            same(f(L, *ours), f(N, a, b, p, r), tolerance(dt), (k, batch, shape))


@pytest.mark.parametrize("dt", DTYPES)
@pytest.mark.parametrize("row", [None, "gesvd", "gesvdp", "gesvdj"])
def test_singular_vectors(dev, rng, dt, row, monkeypatch):
    """Every way to find them, tall and wide, with zero singular values; full and reduced."""
    monkeypatch.setattr(_solver, "SVD", dict.fromkeys(_solver.SVD, row) if row else _solver.SVD)
    monkeypatch.setattr(_solver, "SVD_ROWS", 0)
    monkeypatch.setattr(_solver, "JACOBI_ROWS", 0 if row else 32)
    tol = tolerance(dt)
    for batch, (m, n), full in itertools.product(BATCHES[:2], ((2, 4), (4, 2), (3, 3)), (False, True)):
        x = draw(rng, (*batch, m, n), dt)
        x[..., -1, :] = x[..., 0, :]  # a rank that is less for all but the wide ones
        u, s, vh = (y.get() for y in L.svd(td.asarray(x), full_matrices=full))
        U, S, V = N.svd(x, full_matrices=full)
        assert (u.shape, s.shape, vh.shape) == (U.shape, S.shape, V.shape) and u.dtype == vh.dtype == U.dtype
        k = min(m, n)
        np.testing.assert_allclose(s, S, rtol=tol, atol=tol)
        np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, rtol=tol, atol=tol)
        for y, count in ((adjoint(u) @ u, u.shape[-1]), (vh @ adjoint(vh), vh.shape[-2])):
            np.testing.assert_allclose(y, np.broadcast_to(np.eye(count), y.shape), atol=tol)


@pytest.mark.parametrize("wrong", [lambda s: 1e-3, lambda s: s.__imul__(2) is None])
def test_unfaithful_decompositions_are_done_again(dev, rng, monkeypatch, wrong):
    """The polar decomposition tells that it changed the matrix, or gives values that cannot be."""
    if dev == "cpu":
        return
    rows, run = [], _solver._run

    def noted(row, flags, sizes, batch, *arrays):
        r = run(row, flags, sizes, batch, *arrays)
        rows.append(row)
        return float(wrong(arrays[1])) if row == "gesvdp" else r

    monkeypatch.setattr(_solver, "_run", noted)
    monkeypatch.setattr(_solver, "SVD_ROWS", 0)
    x = rng.normal(size=(40, 3))
    same(L.svdvals(td.asarray(x)), N.svd(x, compute_uv=False), 1e-9)
    assert rows == ["gesvdp", "gesvd"]


@pytest.mark.parametrize("dt", DTYPES)
def test_eigenvectors(dev, rng, dt):
    tol = tolerance(dt)
    for batch in BATCHES[:2]:
        a = draw(rng, (*batch, 4, 4), dt)
        h = a + adjoint(a)
        for half, x in (("L", np.tril(h)), ("u", np.triu(h))):  # the other triangle is not read
            w, v = (y.get() for y in L.eigh(td.asarray(x), half))
            np.testing.assert_allclose(h @ v, v * w[..., None, :], rtol=tol, atol=10 * tol)
            np.testing.assert_allclose(adjoint(v) @ v, np.broadcast_to(np.eye(4), v.shape), atol=tol)
        want = N.eig(a)
        got = L.eig(td.asarray(a))
        assert type(got) is type(want)
        w, v = got.eigenvalues.get(), got.eigenvectors.get()
        assert w.dtype == want.eigenvalues.dtype and v.dtype == want.eigenvectors.dtype
        np.testing.assert_allclose(a @ v, v * w[..., None, :], rtol=tol, atol=10 * tol)
        np.testing.assert_allclose(N.norm(v, axis=-2), 1, atol=tol)
        values = L.eigvals(td.asarray(a)).get()
        gaps = np.abs(values[..., None] - want.eigenvalues[..., None, :])
        assert (gaps.min(-1) < 20 * tol).all() and (gaps.min(-2) < 20 * tol).all()


def test_real_eigenvalues_are_real(dev):
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    w, v = L.eig(td.asarray(a))
    assert w.dtype == v.dtype == N.eigvals(a).dtype  # complex since NumPy 2.5
    np.testing.assert_allclose(np.sort(w.get()), np.sort(N.eigvals(a)))


def test_layouts(dev, rng):
    """Operands that lie across, strided, backwards, broadcast, at an offset."""
    a = rng.normal(size=(3, 8, 8))
    t = td.asarray(a)
    for cut in (np.s_[1, ::2, ::2], np.s_[:, :4, 3:7], np.s_[::-1, 4:, 3::-1], np.s_[0, 1:5, 1:5]):
        x, y = a[cut], t[cut]
        for turn in (False, True):
            if turn:
                x, y = np.swapaxes(x, -1, -2), td.matrix_transpose(y)
            same(L.inv(y), N.inv(x), 1e-9, cut)
            same(L.solve(y, t[0, :4, :2]), N.solve(x, a[0, :4, :2]), 1e-9, cut)
            same(L.svdvals(y[..., :2]), N.svd(x[..., :2], compute_uv=False), 1e-9, cut)
            np.testing.assert_array_equal(t.get(), a)  # nobody wrote over what was given


def test_solve_broadcasts(dev, rng):
    for sa, sb in (
        ((3, 3), (3,)),
        ((2, 3, 3), (3,)),
        ((3, 3), (5, 3, 2)),
        ((2, 1, 3, 3), (4, 3, 2)),
        ((2, 3, 3), (3, 2)),
    ):
        a, b = rng.normal(size=sa), rng.normal(size=sb)
        same(L.solve(td.asarray(a), td.asarray(b)), N.solve(a, b), 1e-9, (sa, sb))
    z = rng.normal(size=(3,)) + 1j
    same(L.solve(td.asarray(a[0]).astype("f4"), td.asarray(z)), N.solve(a[0].astype("f4"), z), 1e-5)


def test_many_at_once_and_one_by_one(dev, rng, monkeypatch):
    a = rng.normal(size=(4, 3, 3)) + 3 * np.eye(3)
    p = a @ adjoint(a)
    for rows, eigh in ((0, "syevd"), (256, "syev_batched"), (256, "syevj_batched")):
        monkeypatch.setattr(_solver, "BATCHED_ROWS", rows)
        monkeypatch.setattr(_solver, "EIGH", eigh)
        t, q = td.asarray(a), td.asarray(p)
        same(L.inv(t), N.inv(a), 1e-9)
        same(L.solve(t, t), N.solve(a, a), 1e-9)
        same(L.det(t), N.det(a), 1e-9)
        same(L.cholesky(q), N.cholesky(p), 1e-9)
        same(L.eigvalsh(q), N.eigvalsh(p), 1e-9)
        for mode in ("reduced", "complete"):
            for x in (
                a,
                a[..., :2],
                np.swapaxes(a[..., :2], -1, -2),
                a * [1, 0, 1],
                a[..., :1] * 0,
                a.astype("c8") * 1j,
            ):
                for got, want in zip(L.qr(td.asarray(x), mode), N.qr(x, mode), strict=True):
                    same(got, want, tolerance(x.dtype), (rows, mode, x.shape))


def test_by_threads(dev, rng, monkeypatch):
    """A share of many matrices to each thread; an error of one is the call's."""
    monkeypatch.setattr(_dispatch, "_THREADS_FROM", 1)
    a = rng.normal(size=(5, 2, 3, 3)) + 3 * np.eye(3)
    t = td.asarray(a)
    for f in UNIQUE[:8]:
        same(f(L, t, t, t @ td.matrix_transpose(t), t), f(N, a, a, a @ adjoint(a), a), 1e-9)
    same(L.solve(t, t[0]), N.solve(a, a[0]), 1e-9)
    with pytest.raises(N.LinAlgError):
        t[4, 1] = 0
        L.inv(t)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_many_small(dtype, dev, rng):
    """What the CPU computes with a matrix in each lane: all sizes, groups that are not full, pivots, right sides."""
    for n, batch in itertools.product((1, 2, 7, 16, 31, 32, 33) if dev == "cpu" else (1, 3), ((16,), (2, 3, 7), (75,))):
        a = rng.normal(size=(*batch, n, n)).astype(dtype)
        a[..., 0, 0] = 0  # the first row is never the first pivot
        a += np.roll(3 * n * np.eye(n, dtype=dtype), 1, 0)
        p = (a @ adjoint(a) / n + np.eye(n)).astype(dtype)
        t, q, tol, where = td.asarray(a), td.asarray(p), tolerance(dtype), (n, batch)
        same(L.inv(t), N.inv(a), tol, where)
        for x, y in ((t, a), (td.matrix_transpose(t), np.swapaxes(a, -1, -2))):
            same(L.slogdet(x).sign, N.slogdet(y).sign, 0, where)
            same(L.slogdet(x).logabsdet, N.slogdet(y).logabsdet, tol, where)
            if n < 8:
                same(L.det(x), N.det(y), tol, where)
        for upper in (False, True):
            same(L.cholesky(q, upper=upper), N.cholesky(p, upper=upper), tol, where)
        for k in (1, 5, 32, 33):
            b = rng.normal(size=(*batch, n, k)).astype(dtype)
            same(L.solve(t, td.asarray(b)), N.solve(a, b), tol, (*where, k))
            x, y = np.swapaxes(a, -1, -2), np.broadcast_to(b[..., :1, :], b.shape)  # neither in C order
            same(
                L.solve(td.matrix_transpose(t), td.broadcast_to(td.asarray(b)[..., :1, :], b.shape)),
                N.solve(x, y),
                tol,
                where,
            )
        same(L.solve(t, td.asarray(b[0, ..., :n, :1])), N.solve(a, b[0, ..., :n, :1]), tol, where)
        np.testing.assert_array_equal(t.get(), a)
        np.testing.assert_array_equal(q.get(), p)


def test_one_of_many_small_is_singular(dev, rng):
    a = rng.normal(size=(40, 4, 4)) + 4 * np.eye(4)
    for at in (0, 17, 39) if dev == "cpu" else (17,):
        bad = a.copy()
        bad[at, 2] = 0
        for f in (
            lambda m, x: m.inv(x),
            lambda m, x: m.solve(x, x),
            lambda m, x: m.cholesky(-x @ np.swapaxes(x, -1, -2)),
        ):
            for m, x in ((N, bad), (L, td.asarray(bad))):
                with pytest.raises(N.LinAlgError):
                    f(m, x)
        same(L.det(td.asarray(bad)), N.det(bad), 1e-9, at)
        assert float(L.det(td.asarray(bad))[at]) == 0
        sign, size = L.slogdet(td.asarray(bad))
        assert float(sign[at]) == 0 and float(size[at]) == -np.inf and np.isfinite(size.get()).sum() == 39
        lost = a.copy()
        lost[at, 1, 2] = np.nan
        assert np.isnan(L.det(td.asarray(lost)).get()[at]) and np.isnan(L.slogdet(td.asarray(lost)).logabsdet.get()[at])
        got = L.solve(td.asarray(lost), td.asarray(a)).get()
        assert np.isnan(got[at]).any()
        rest = np.arange(40) != at
        same(td.asarray(got[rest]), np.broadcast_to(N.solve(a, a)[rest], got[rest].shape), 1e-9)


EMPTY = ["inv(a)", "det(a)", "slogdet(a).sign", "slogdet(a).logabsdet", "solve(a, a)", "cholesky(a)", "eigvalsh(a)", "eigh(a).eigenvectors",
         "qr(r).Q", "qr(r).R", "qr(r, 'complete').Q", "svd(r).U", "svd(r).S", "svd(r).Vh", "svd(r, False).Vh", "pinv(r)",
         "eigvals(a)"]  # fmt: skip


def test_empty(dev):
    for batch, n in (((), 0), ((0,), 2), ((2,), 0)):
        a, r = np.zeros((*batch, n, n)), np.zeros((*batch, 3, 0))
        for text in EMPTY:
            f = eval(f"lambda m, a, r: m.{text}")
            same(f(L, td.asarray(a), td.asarray(r)), f(N, a, r), 0, (text, batch, n))


def test_singular_without_error(dev):
    a = np.zeros((2, 3, 3))
    a[1] = [[1, 2, 3], [2, 4, 6], [0, 0, 1]]
    t = td.asarray(a)
    same(L.det(t), [0.0, 0.0], 0)
    sign, size = L.slogdet(t)
    same(sign, [0.0, 0.0], 0)
    same(size, [-np.inf, -np.inf], 0)
    same(L.cond(t, 1), [np.inf, np.inf], 0)


def test_lstsq(dev, rng):
    for m, n, rank in ((5, 3, 3), (3, 5, 3), (5, 3, 2), (4, 4, 4)):
        a = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
        for b in (rng.normal(size=m), rng.normal(size=(m, 2))):
            got, want = L.lstsq(td.asarray(a), td.asarray(b)), N.lstsq(a, b)
            for k in (0, 1, 3):
                same(got[k], want[k], 1e-8, (m, n, rank, k))
            assert got[2] == want[2]


def test_tensors(dev, rng):
    a, b = rng.normal(size=(6, 4, 2, 3, 4)), rng.normal(size=(6, 4))
    same(L.tensorsolve(td.asarray(a), td.asarray(b)), N.tensorsolve(a, b), 1e-8)
    c = np.moveaxis(a, 2, 0)
    same(L.tensorsolve(td.asarray(c), td.asarray(b), (0,)), N.tensorsolve(c, b, (0,)), 1e-8)
    d = rng.normal(size=(4, 6, 8, 3))
    same(L.tensorinv(td.asarray(d), 2), N.tensorinv(d, 2), 1e-8)


ERRORS = ["solve(a * 0, a)", "inv(a * 0)", "cholesky(-a @ a.T)", "inv(a[0])", "inv(a[:2])", "det(a[:2])", "eigh(a, 'X')",
          "qr(a, 'all')", "svd(a[0])", "solve(a, a[:2])", "eig(a * float('nan'))", "lstsq(a, a[:2])", "cond(a[:0])",
          "pinv(a, 1e-3, rtol=1e-3)", "matrix_rank(a, 1, rtol=1)", "tensorinv(a, 0)", "tensorsolve(a, a[0, :2])",
          "inv(a.astype('f2'))", "solve(a)", "eigvalsh(a[:2])", "inv(td.stack([a, a * 0]))"]  # fmt: skip


@pytest.mark.parametrize("text", ERRORS)
def test_errors(dev, rng, text):
    a = rng.normal(size=(3, 3))

    def outcome(m, a, td):
        try:
            eval(f"m.{text}", {"m": m, "a": a, "td": td, "float": float})
        except Exception as e:
            kinds = (N.LinAlgError, ValueError, TypeError)
            return next((k for k in kinds if isinstance(e, k)), type(e))
        return None

    want = outcome(N, a, np)
    assert want and outcome(L, td.asarray(a), td) is want


def test_not_in_a_recording(dev):
    if dev == "cpu":
        return
    t = td.eye(3)
    with pytest.raises(ValueError, match="factorising"):
        td.graph(lambda x: L.inv(x))(t)


def test_without_the_library(dev, monkeypatch):
    """What no library does goes to the host, and says so."""
    if dev == "cpu":
        return
    monkeypatch.setattr(_core, "_solver_can", lambda d, row: False)
    with pytest.raises(NotImplementedError, match=r"numpy.linalg.inv is computed by NumPy on the host: .* no getrf"):
        L.inv(td.eye(3))
    td.config.fallback = "allow"
    same(L.inv(td.eye(3)), np.eye(3), 0)
