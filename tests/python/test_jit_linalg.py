"""numpy.linalg in compiled functions beside NumPy, which calls the same loops of LAPACK's."""

import numpy as np
import pytest

from treadle import njit, prange

L = np.linalg


def hermitian(a):
    return a + np.conj(a).T


CASES = {
    "inv": lambda a, b: L.inv(a),
    "solve": lambda a, b: L.solve(a, b),
    "det": lambda a, b: L.det(a),
    "slogdet": lambda a, b: L.slogdet(a),
    "cholesky": lambda a, b: L.cholesky(a @ np.conj(a).T + np.eye(a.shape[0]) * a.shape[0]),
    "eigh": lambda a, b: L.eigh(a + np.conj(a).T)[0],
    "eigvalsh": lambda a, b: L.eigvalsh(a + np.conj(a).T),
    "eigvals": lambda a, b: L.eigvals(a + np.conj(a).T),
    "eig": lambda a, b: L.eig(a + np.conj(a).T)[0],
    "svd": lambda a, b: L.svd(a)[1],
    "svd of a tall one": lambda a, b: L.svd(a[:, :3], full_matrices=False)[1],
    "svd of a wide one": lambda a, b: L.svd(a[:3], compute_uv=False),
    "qr": lambda a, b: L.qr(a[:, :3]),
    "qr of a wide one": lambda a, b: L.qr(a[:3]),
    "lstsq": lambda a, b: L.lstsq(a[:, :3], b, rcond=None),
    "lstsq of a wide one": lambda a, b: L.lstsq(a[:3], b[:3], rcond=None)[0],
    "pinv": lambda a, b: L.pinv(a[:, :3]),
    "matrix_rank": lambda a, b: L.matrix_rank(a),
    "cond": lambda a, b: (L.cond(a), L.cond(a, 1), L.cond(a, -2)),
    "norm": lambda a, b: (L.norm(a), L.norm(a, 1), L.norm(a, np.inf), L.norm(a, 2), L.norm(a, -1), L.norm(a, "fro")),
    "norm of a vector": lambda a, b: (L.norm(a[0]), L.norm(a[0], 1), L.norm(a[0], 0), L.norm(a[0], 3), L.norm(a[0], -np.inf)),
    "matrix_power": lambda a, b: (L.matrix_power(a * 1.0, 3), L.matrix_power(a, -1)),
}
COMPILED = {name: njit(f) for name, f in CASES.items()}


def drawn(n, dtype, shape):
    r = np.random.default_rng(n)
    a, b = r.standard_normal((n, n)) + np.eye(n) * 2, r.standard_normal(shape)
    if dtype[0] == "c":
        a, b = a + 1j * r.standard_normal((n, n)), b + 1j * r.standard_normal(shape)
    return (a * 10).astype(dtype), (b * 10).astype(dtype)


def check(got, want, tolerance):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            check(g, w, tolerance)
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and (got.dtype == want.dtype or want.ndim == 0)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * max(1, np.abs(want).max(initial=0)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i8"])
@pytest.mark.parametrize("n", [4, 20])
@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name, n, dtype):
    for shape in ((n,), (n, 2)):
        a, b = drawn(n, dtype, shape)
        check(COMPILED[name](a, b), CASES[name](a, b), 2e-3 if dtype in ("f4", "c8") else 1e-8)


def test_vectors_of_decompositions():
    @njit
    def rebuilt(a):
        u, s, v = L.svd(a)
        w, x = L.eigh(hermitian_(a))
        q, r = L.qr(a)
        return u @ np.diag(s) @ v, x @ np.diag(w) @ np.conj(x).T, q @ r

    hermitian_ = hermitian
    a, _ = drawn(12, "f8", (12,))
    for got, want in zip(rebuilt(a), (a, hermitian(a), a), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-10)


@pytest.mark.parametrize("n", [3, 20])
@pytest.mark.parametrize("name", ["inv", "solve", "cholesky"])
def test_what_has_no_result(name, n):
    f = {"cholesky": njit(lambda a, b: L.cholesky(a - 1))}.get(name, COMPILED[name])
    with pytest.raises(np.linalg.LinAlgError):
        f(np.zeros((n, n)), np.zeros(n))
    with pytest.raises(np.linalg.LinAlgError):
        f(np.zeros((n, n + 1)), np.zeros(n))


def test_complex_eigenvalues_of_a_real_matrix_are_refused():
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    f = njit(lambda a: L.eigvals(a))
    if L.eigvals(np.eye(1)).dtype.kind == "f":  # before NumPy 2.5
        with pytest.raises(ValueError, match="complex"):
            f(turn)
    np.testing.assert_allclose(np.sort(f(turn + 0j).imag), [-1, 1], atol=1e-12)


@pytest.mark.parametrize("n", [3, 30])
def test_in_parallel(n):
    @njit(parallel=True)
    def solved(a, b):
        out = np.empty_like(b)
        for i in prange(a.shape[0]):
            out[i] = np.linalg.solve(a[i], b[i])
        return out

    r = np.random.default_rng(3)
    a, b = r.random((300, n, n)) + np.eye(n) * n, r.random((300, n))
    np.testing.assert_allclose(solved(a, b), np.linalg.solve(a, b[..., None])[..., 0], rtol=1e-9)


def test_many_functions_in_one():
    """Each has loops whose types settle only when those before it have settled."""

    def f(m, v):
        s = m @ m.T + np.eye(4)
        first = np.linalg.solve(m, v), np.linalg.inv(m), np.linalg.det(m), np.linalg.eigvalsh(s), np.linalg.cholesky(s)
        then = np.linalg.qr(m)[1], np.linalg.svd(m)[1], np.linalg.lstsq(m, v)[0], np.linalg.matrix_rank(m)
        return first, then, np.linalg.cond(m), np.linalg.norm(v), np.kron(v, v), np.outer(v, v), np.trace(m)

    m = np.arange(16.0).reshape(4, 4) % 5 + 3 * np.eye(4)
    for got, want in zip(njit(f)(m, m[0]), f(m, m[0]), strict=True):
        for a, b in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
            np.testing.assert_allclose(np.abs(a), np.abs(b), rtol=1e-10, atol=1e-12)
