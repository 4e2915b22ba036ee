"""Cases of scipy.linalg."""

import numpy as np
from scipy_side import Case

MODULES = ("linalg",)
_rng = np.random.default_rng(5)
A, R, Z = _rng.normal(size=(4, 4)), _rng.normal(size=(4, 3)), _rng.normal(size=(3, 3)) + 1j * _rng.normal(size=(3, 3))
S, B = A @ A.T + np.eye(4), _rng.normal(size=(2, 3, 3))
H = Z @ Z.conj().T + np.eye(3)
V = np.array([3.0, 1.0, -2.0, 0.5])


def case(f, *arrays, rtol=1e-9, atol=1e-10, null=True, **k):
    """f(scipy.linalg, arrays…)."""
    return Case(lambda sp, xp: f(sp.linalg, *(xp.asarray(x) for x in arrays)), rtol=rtol, atol=atol, null=null, **k)


def product(q, r):
    """Of factors that are unique up to phases."""
    return q @ r


CASES = {
    "LinAlgError": Case(lambda sp, xp: isinstance(sp.linalg.LinAlgError(), np.linalg.LinAlgError)),
    "solve": [case(lambda m, a, b: m.solve(a, b), A, R), case(lambda m, a, b: m.solve(a, b, transposed=True), A, V),
              case(lambda m, a, b: m.solve(a, b, assume_a="pos"), S, V), case(lambda m, a, b: m.solve(a, b), B, B[:, :, :2]),
              case(lambda m, a, b: m.solve(a, b, assume_a="sym", lower=True), np.tril(S), V),
              case(lambda m, a, b: m.solve(a, b, assume_a="lower triangular"), np.tril(S), V)],
    "inv": [case(lambda m, a: m.inv(a), A), case(lambda m, a: m.inv(a), Z)],
    "det": case(lambda m, a: m.det(a), A),
    "norm": [case(lambda m, a: m.norm(a), R), case(lambda m, a: m.norm(a, 2), R)],
    "lu": [case(lambda m, a: m.lu(a), x) for x in (A, R, R.T, Z, B)]
    + [case(lambda m, a: m.lu(a, permute_l=True), A), case(lambda m, a: m.lu(a, p_indices=True), R)],
    "lu_factor": [case(lambda m, a: m.lu_factor(a), A), case(lambda m, a: m.lu_factor(a), Z.astype("c8"), rtol=1e-4, atol=1e-5)],
    "lu_solve": [case(lambda m, a, b, t=t: m.lu_solve(m.lu_factor(a), b, trans=t), Z, Z[:, :2]) for t in (0, 1, 2)]
    + [case(lambda m, a, b: m.lu_solve(m.lu_factor(a), b), A, V)],
    "solve_triangular": [case(lambda m, a, b, t=t, lo=lo: m.solve_triangular(a, b, trans=t, lower=lo), Z, Z[0])
                         for t in (0, "T", 2) for lo in (False, True)]
    + [case(lambda m, a, b: m.solve_triangular(a, b, unit_diagonal=True), A, R), case(lambda m, a, b: m.solve_triangular(a, b), B, B)],
    "cholesky": [case(lambda m, a: m.cholesky(a), S), case(lambda m, a: m.cholesky(a, lower=True), H)],
    "cho_factor": [case(lambda m, a: m.cho_factor(a), S), case(lambda m, a: m.cho_factor(a, lower=True), H)],
    "cho_solve": [case(lambda m, a, b: m.cho_solve(m.cho_factor(a), b), S, V),
                  case(lambda m, a, b: m.cho_solve(m.cho_factor(a, lower=True), b), H, Z)],
    "lstsq": [case(lambda m, a, b: m.lstsq(a, b), A[:, :3], V), case(lambda m, a, b: m.lstsq(a, b)[0], R.T, R[:3])],
    "qr": [case(lambda m, a: m.qr(a), R), case(lambda m, a: m.qr(a, mode="economic"), R), case(lambda m, a: m.qr(a, mode="r")[0], R)],
    "svd": [case(lambda m, a: m.svd(a)[1], R), case(lambda m, a: (lambda u, s, v: (u * s) @ v)(*m.svd(a, full_matrices=False)), Z)],
    "svdvals": case(lambda m, a: m.svdvals(a), Z),
    "eigh": [case(lambda m, a: m.eigh(a)[0], H), case(lambda m, a, b: m.eigh(a, b)[0], A + A.T, S),
             case(lambda m, a, b: (lambda w, v: a @ v - b @ v * w)(*m.eigh(a, b)), A + A.T, S),
             case(lambda m, a: m.eigh(a, subset_by_index=[0, 1])[0], H, null=False)],
    "eigvalsh": [case(lambda m, a: m.eigvalsh(a), S), case(lambda m, a, b: m.eigvalsh(a, b), A + A.T, S)],
    "eig": [case(lambda m, a: (lambda w, v: a @ v - v * w)(*m.eig(a)), A), case(lambda m, a, b: m.eig(a, b)[0], A, S, null=False)],
    "eigvals": case(lambda m, a: m.eigvals(a).real.sum(), A),
    "pinv": [case(lambda m, a: m.pinv(a), R), case(lambda m, a: m.pinv(a, rtol=0.5, return_rank=True)[0], Z)],
    "pinvh": case(lambda m, a: m.pinvh(a), H),
    "orth": case(lambda m, a: (lambda q: q @ q.T)(m.orth(a)), R @ R[:3]),
    "null_space": case(lambda m, a: (lambda q: q @ q.T)(m.null_space(a)), R.T),
    "polar": [case(lambda m, a: m.polar(a), R), case(lambda m, a: m.polar(a, side="left"), Z)],
    "orthogonal_procrustes": case(lambda m, a, b: m.orthogonal_procrustes(a, b), A, S),
    "diagsvd": case(lambda m, a: m.diagsvd(a, 4, 5), V),
    "khatri_rao": [case(lambda m, a, b: m.khatri_rao(a, b), R, R[:2]), case(lambda m, a, b: m.khatri_rao(a, b), B, B[:, :1])],
    "issymmetric": [case(lambda m, a: m.issymmetric(a), S), case(lambda m, a: m.issymmetric(a), A)],
    "ishermitian": [case(lambda m, a: m.ishermitian(a, atol=1e-9), H), case(lambda m, a: m.ishermitian(a), Z)],
    "bandwidth": [case(lambda m, a: tuple(m.bandwidth(a)), x) for x in (np.tril(A), np.triu(A, 1), R, np.zeros((3, 3)))],
    "expm": [case(lambda m, a: m.expm(a), x) for x in (A, 30 * A, Z, B, np.zeros((2, 2)))],
    **{name: [case(lambda m, a, name=name: getattr(m, name)(a), x) for x in (A / 4, Z / 4)]
       for name in ("sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm")},
    "toeplitz": [case(lambda m, a: m.toeplitz(a), V), case(lambda m, a, b: m.toeplitz(a, b), V, Z[0]), case(lambda m, a: m.toeplitz(a), R)],
    "circulant": [case(lambda m, a: m.circulant(a), V), case(lambda m, a: m.circulant(a), R)],
    "hankel": [case(lambda m, a: m.hankel(a), V), case(lambda m, a, b: m.hankel(a, b), V, R[:, 0])],
    "hilbert": Case(lambda sp, xp: sp.linalg.hilbert(4), null=True),
    "hadamard": [Case(lambda sp, xp: sp.linalg.hadamard(8), null=True), Case(lambda sp, xp: sp.linalg.hadamard(1, dtype="f4"), null=True)],
    "leslie": case(lambda m, a, b: m.leslie(a, b), V, V[1:]),
    "companion": [case(lambda m, a: m.companion(a), V), case(lambda m, a: m.companion(a), R)],
    "block_diag": [case(lambda m, a, b, c: m.block_diag(a, b, c), A, V, Z), case(lambda m, a, b: m.block_diag(a, b), B, B[:1, :2])],
    "helmert": [Case(lambda sp, xp, full=full: sp.linalg.helmert(5, full), null=True) for full in (False, True)],
    "dft": [Case(lambda sp, xp, scale=scale: sp.linalg.dft(5, scale), atol=1e-13, null=True) for scale in (None, "n", "sqrtn")],
    "fiedler": [case(lambda m, a: m.fiedler(a), V), case(lambda m, a: m.fiedler(a), V[:1])],
    "fiedler_companion": [case(lambda m, a: m.fiedler_companion(a), x) for x in (V, V[:3], V[:2], np.r_[V, V], np.r_[V, V, V[0]])],
    "convolution_matrix": [case(lambda m, a, mode=mode, n=n: m.convolution_matrix(a, n, mode), V) for mode in ("full", "same", "valid")
                           for n in (2, 6)],
}  # fmt: skip
CASES = {f"linalg.{name}": cases for name, cases in CASES.items()}
