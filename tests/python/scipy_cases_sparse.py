"""Cases of scipy.sparse, sparse.linalg and sparse.csgraph.

Matrices come back dense, with their formats beside them; expressions stand for the functions of a case, with sp for the
modules of scipy or treadle, xp for the arrays', A, B, … for what the makers below give.
"""

import io

import numpy as np
from scipy_side import Case

MODULES = ("sparse", "sparse.linalg", "sparse.csgraph")


def numbers(dtype, shape=(6, 5), seed=0, density=0.5):
    rng = np.random.default_rng(seed)
    x = (rng.random(shape) < density) * rng.integers(-4, 5, shape)
    x = x + 1j * (x != 0) * rng.integers(1, 4, shape) if np.dtype(dtype).kind == "c" else x
    return x.astype(dtype)


X, Y, Z = numbers("f8"), numbers("f8", seed=1), numbers("f8", (5, 4), 2)
SQUARE = numbers("f8", (6, 6), 3, 0.4) + 9 * np.eye(6)
DEFINITE = SQUARE @ SQUARE.T
GRAPH = np.array([[0, 2, 0, 6], [2, 0, 3, 0], [0, 3, 0, 1], [6, 0, 1, 0.0]])


def dense(x):
    """Sparse results as (format, dense array)."""
    if hasattr(x, "toarray") and hasattr(x, "format"):
        return (x.format, x.toarray())
    return type(x)(map(dense, x)) if type(x) in (tuple, list) else x


def several(texts, make, **options):
    """One case of many expressions: those that fail are in the error."""

    def call(sp, xp):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scope = {"sp": sp, "xp": xp, "np": np}
            return [dense(eval(text, {**scope, **make(sp, xp)})) for text in texts]

    case = Case(call, **options)
    case.texts, case.make = texts, make
    return case


def operands(name, dtype="f8"):
    x, y, z = (numbers(dtype, s.shape, k) for k, s in enumerate((X, Y, Z)))

    def make(sp, xp):
        cls = getattr(sp.sparse, name)
        put = xp.asarray
        return {
            "A": cls(put(x)), "B": cls(put(y)), "C": cls(put(z)), "D": put(y), "cls": cls, "V": put(z),
            "v": put(z[:, 0]), "w": put(x[:, 0]), "row": put(y[:1]), "column": put(y[:, :1]), "U": put(x[:3].T @ x[:3]).T[:, :4],
        }  # fmt: skip

    return make


PRODUCTS = (
    "A @ v|A @ V|w @ A|D.T @ A|A @ C|A.T @ B|A.dot(v)|A.dot(C)|A @ v.reshape(-1, 1)|A.T @ w|A.conj().T @ w|A.T.tocsr() @ w"
).split("|")
CONVERSIONS = "A.toarray()|A.todense()|A.tocsr()|A.tocsc()|A.tocoo().toarray()|A.T.toarray()|A.copy()|A.astype('f4')|A.real.toarray()|A.imag.toarray()".split("|")
ARITHMETIC = (
    "A + B|A - B|A.multiply(B)|A * 2|2.5 * A|A / 2|-A|abs(A)|A + D|D + A|A - D|D - A|A.multiply(row)|A.multiply(column)|"
    "A.multiply(D)|A / B|A.power(2)|A.sqrt()|A.sin()|round(A)|A + 0|A.multiply(B.tocsr()[0])|A.multiply(B.tocsr()[:, [0]]).toarray()"
).split("|")
COMPARISONS = (
    "A == B|A != B|A < B|A > B|A <= B|A >= B|A == 1|A != 0|A > 0|A < 1|A >= 2|A <= -1|A.maximum(B)|A.minimum(B)|A.maximum(0)|"
    "A.minimum(0)|A.maximum(1)|A == D|A.maximum(D)"
).split("|")
SUMS = "A.sum()|A.sum(axis=0)|A.sum(axis=1)|A.sum(-1)|A.mean()|A.mean(axis=0)|A.mean(1)|A.diagonal()|A.diagonal(2)|A.diagonal(-3)|A.trace()".split("|")
EXTREMES = (
    "A.max()|A.min()|A.max(axis=0)|A.min(axis=1)|A.max(axis=1, explicit=True)|A.argmax(axis=0)|A.argmin(axis=1)|A.argmax()|"
    "A.argmin()|A.nanmax()|A.nanmin(axis=0)|A.count_nonzero()"
).split("|")
KEYS = (
    "A[1]|A[-1]|A[1, 2]|A[1:5, 2:4]|A[2:5]|A[:, 2]|A[3, :]|A[[0, 2, 2]]|A[[0, 1], [3, 4]]|A[:, [4, 0, 0]]|A[[[1], [3]], [0, 2, 4]]|"
    "A[::-1]|A[4:0:-2, ::2]|A[w > 0]|A[A > 0]|A[D > 0]|A[[[0, 1], [2, 3]], [[1, 2], [3, 4]]]|A[..., 1]|A[1, None, :]|A[0:0]|A[2, [1, 3]]|"
    "A[:, -1]|A[xp.asarray([1, 3])]|A[np.array([True, False] * 3)]"
).split("|")


def written(key, value):
    return f"(lambda a: (a.__setitem__({key}, {value}), a)[1])(A.copy())"


def after(call):
    return f"(lambda a: (a.{call}, a)[1])(A.copy())"


WRITES = [
    written(k, v)
    for k, v in (
        ("1", "5.0"), ("(1, 2)", "0.0"), ("slice(1, 3)", "D[3:5]"), ("(slice(None), 2)", "D[:, :1]"), ("([0, 1, 0], [3, 4, 3])", "[1, 2, 3]"),
        ("(slice(0, 2), slice(0, 2))", "cls(D[:2, :2])"), ("A > 1", "7"),
    )
] + [after(c) for c in ("setdiag(3)", "setdiag(D[0], 1)", "setdiag(D[0], -2)", "resize((4, 8))", "eliminate_zeros()", "sum_duplicates()")]  # fmt: skip
MADE = (
    "cls((3, 4))|cls([[1, 0], [0, 2]])|cls(B)|cls(xp.asarray([[0, 1.5]]), dtype='f4')|cls(A, copy=True)|"
    "A.reshape(3, 10).tocsr()|A.reshape((5, 6), order='F').tocsr()|A.tocoo().reshape(10, -1).tocsr()"
).split("|")
PAIRS = (
    "cls((xp.asarray([1.0, 2, 3]), (xp.asarray([0, 1, 0]), xp.asarray([1, 1, 1]))), shape=(3, 3))|cls(([1, 2], ([0, 1], [2, 0]))).toarray()"
).split("|")
ARRAYS = "cls((xp.asarray([1.0, 2, 3]), xp.asarray([0, 2, 1]), xp.asarray([0, 2, 3, 3])))|cls(([1, 2, 3], [2, 2, 0], [0, 2, 3, 3]), shape=(3, 3)) @ np.arange(3)".split("|")
CASES = {}
for _format in ("csr", "csc", "coo", "dia"):
    for _kind in ("matrix", "array"):
        _name = f"{_format}_{_kind}"
        _make = operands(_name)
        # SciPy's DIA keeps zeros on its diagonals, and so NaN and formats that depend on them
        _texts = PRODUCTS + CONVERSIONS + SUMS
        if _format == "dia":
            _texts = [f"({t}).toarray()" if t in ("A @ C", "A.T @ B", "A.dot(C)") else t for t in _texts]
            _texts += [f"({t}).toarray()" for t in ("A + B", "A - B", "A.multiply(B)", "A * 2", "-A", "abs(A)", "A.power(2)")]
        else:
            _texts = _texts + ARITHMETIC + COMPARISONS + EXTREMES + MADE + PAIRS
        if _format in ("csr", "csc"):
            _texts = _texts + KEYS + WRITES + ARRAYS
        CASES[f"sparse.{_name}"] = [several(_texts, _make), several(PRODUCTS[:4] + SUMS[:3], _make, null=True)]
for _dtype in ("f4", "i4", "?", "c16", "i1"):
    _texts = PRODUCTS + ARITHMETIC[:5] + COMPARISONS[:3] + SUMS[:3] + KEYS[:8]
    _texts = [t for t in _texts if _dtype != "?" or t not in ("A - B", "2.5 * A") and "conj" not in t]
    CASES["sparse.csr_matrix"].append(several(_texts, operands("csr_matrix", _dtype), rtol=1e-6))
    CASES["sparse.coo_array"].append(several(PRODUCTS + SUMS[:3], operands("coo_array", _dtype), rtol=1e-6))
CASES["sparse.csr_matrix"].append(several(PRODUCTS + SUMS[:4], operands("csr_matrix", "c16"), null=True))
CASES["sparse.csr_matrix"].append(several(KEYS[:12] + WRITES[:5] + ARITHMETIC[:3] + EXTREMES[:8], operands("csr_matrix"), null=True))
CASES["sparse.csr_array"].append(
    several(
        "a @ a|(a + a).toarray()|(a * 2).toarray()|a[1]|a[0:2]|a[[2, 0]]|a.sum()|a.toarray()|a.tocoo()|a.reshape(3, 1).toarray()|a.max()|"
        "a.multiply(a).toarray()|a.count_nonzero()|m[1] @ v|(m @ m[1]).toarray()|(m[0] * m).toarray()|(m * m[0]).toarray()|m[:, 1].toarray()".split("|"),
        lambda sp, xp: {"a": sp.sparse.csr_array(xp.asarray([1.0, 0, 2])), "m": sp.sparse.csr_array(xp.asarray(X)), "v": xp.arange(5.0)},
    )
)


# ---- construction ----


def blocks(sp, xp):
    a = sp.sparse.csr_matrix(xp.asarray(X))
    return {"S": sp.sparse, "a": a, "k": a[:3, :3].tocsc(), "c": sp.sparse.coo_array(xp.asarray(Y)), "data": xp.asarray(Z.T.copy())}


MAKERS = {
    "eye": "S.eye(4, 5, 1)|S.eye(4, format='csr')|S.eye(3, k=-1, dtype='f4')",
    "eye_array": "S.eye_array(3, k=-1)|S.eye_array(3, format='csc')",
    "identity": "S.identity(3)|S.identity(3, format='csr')",
    "diags": "S.diags([[1.0, 2, 3], [4.0, 5]], [0, 1])|S.diags([1.0, -2, 1], [-1, 0, 1], shape=(4, 4)).tocsr()|S.diags(data[0])",
    "diags_array": "S.diags_array(data[0], offsets=1)|S.diags_array([data[0], data[1][:4]], offsets=[0, -1], shape=(5, 5))",
    "spdiags": "S.spdiags(data, [0, -1, 1, 2], 5, 5).toarray()",
    "kron": "S.kron(a, k, format='csr')|S.kron(c, c).toarray()",
    "kronsum": "S.kronsum(k, a[:2, :2], format='csr')",
    "hstack": "S.hstack([a, a])|S.hstack([c, a]).toarray()|S.hstack([c, c], format='csc', dtype='f4')",
    "vstack": "S.vstack([a, a])|S.vstack([k, k])|S.vstack([c, a]).toarray()",
    "bmat": "S.bmat([[a, None], [None, k]]).toarray()|S.bmat([[a], [a]])",
    "block_array": "S.block_array([[a], [a]])|S.block_array([[c, None], [None, k]]).toarray()",
    "block_diag": "S.block_diag([a, [[1.0, 2]], c]).toarray()|S.block_diag([k, k], format='csr')",
    "tril": "S.tril(a, 1).toarray()|S.tril(k, format='csr')",
    "triu": "S.triu(a, -1).toarray()|S.triu(c).toarray()",
    "find": "S.find(a)",
    "swapaxes": "S.swapaxes(c, 0, 1)",
    "permute_dims": "S.permute_dims(c, (1, 0))|S.permute_dims(c)",
    "matrix_transpose": "S.csr_matrix(a).T",
    "expand_dims": "S.expand_dims(S.coo_array(data[0]), axis=0)",
    "issparse": "S.issparse(a), S.issparse(data)",
    "isspmatrix": "S.isspmatrix(a), S.isspmatrix(c), S.isspmatrix(3)",
    "isspmatrix_csr": "S.isspmatrix_csr(a), S.isspmatrix_csr(k)",
    "isspmatrix_csc": "S.isspmatrix_csc(a), S.isspmatrix_csc(k)",
    "isspmatrix_coo": "S.isspmatrix_coo(a.tocoo()), S.isspmatrix_coo(c)",
    "isspmatrix_dia": "S.isspmatrix_dia(a), S.isspmatrix_dia(a.todia())",
    "isspmatrix_bsr": "S.isspmatrix_bsr(3)",
    "isspmatrix_dok": "S.isspmatrix_dok(3)",
    "isspmatrix_lil": "S.isspmatrix_lil(3)",
    "spmatrix": "isinstance(a, S.spmatrix), isinstance(c, S.spmatrix)",
    "sparray": "isinstance(a, S.sparray), isinstance(c, S.sparray)",
    "SparseWarning": "issubclass(S.SparseWarning, Warning)",
    "SparseEfficiencyWarning": "issubclass(S.SparseEfficiencyWarning, S.SparseWarning)",
    "get_index_dtype": "[np.dtype(S.get_index_dtype(maxval=n)) for n in (5, 2**31)]",
    "safely_cast_index_arrays": "[x.dtype for x in S.safely_cast_index_arrays(a, np.int64)]",
    "rand": "S.rand(5, 6, 0.5).nnz, S.rand(2, 3).shape",
    "random": "S.random(5, 6, 0.5, format='csr', dtype='f4').dtype, S.random(5, 6, 0.2).nnz, S.random(300, 300, 0.01).nnz",
    "random_array": "S.random_array((5, 6), density=0.5, format='csc').format, S.random_array((4, 4), density=1.0).nnz",
    "linalg": "S.linalg.norm(a)",
    "csgraph": "S.csgraph.connected_components(k)[0]",
    "bsr_matrix": "S.bsr_matrix(data).shape",
    "bsr_array": "S.bsr_array(data).shape",
    "dok_matrix": "S.dok_matrix((3, 4)).shape",
    "dok_array": "S.dok_array((3, 4)).shape",
    "lil_matrix": "S.lil_matrix(data).tocsr()",
    "lil_array": "S.lil_array((3, 4)).shape",
}
for _name, _texts in MAKERS.items():
    CASES[f"sparse.{_name}"] = several(_texts.split("|"), blocks, null=_name in ("kron", "bmat", "eye", "find", "tril"))
    if _name == "matrix_transpose":
        CASES["sparse.matrix_transpose"].call = lambda sp, xp: dense(
            getattr(sp.sparse, "matrix_transpose", lambda a: a.T)(blocks(sp, xp)["a"])
        )


def _files(sp, xp):
    results = []
    for name in ("csr_matrix", "coo_array", "dia_matrix"):
        file = io.BytesIO()
        sp.sparse.save_npz(file, getattr(sp.sparse, name)(xp.asarray(X)))
        file.seek(0)
        results.append(dense(sp.sparse.load_npz(file)))
    return results


CASES["sparse.save_npz"] = CASES["sparse.load_npz"] = Case(_files)


# ---- solvers ----


def system(sp, xp):
    return {
        "L": sp.sparse.linalg, "S": sp.sparse.csr_matrix(xp.asarray(DEFINITE)), "N": sp.sparse.csc_matrix(xp.asarray(SQUARE)),
        "J": sp.sparse.diags(xp.asarray(1 / np.diag(DEFINITE))), "E": sp.sparse.csr_matrix(xp.asarray(SQUARE + 30 * np.eye(6))), "b": xp.arange(1.0, 7), "T": sp.sparse.csr_matrix(xp.asarray(X)),
        "Q": sp.sparse.csr_matrix(xp.asarray(SQUARE + SQUARE.T + np.diag([-30.0, 20, -20, 10, 0, 3]))), "c": xp.arange(1.0, 6), "D": xp.asarray(SQUARE),
        "W": sp.sparse.csr_matrix(xp.asarray(numbers("f8", (30, 22), 5))),
    }  # fmt: skip


SOLVERS = {
    "cg": "L.cg(S, b, rtol=1e-12)|L.cg(S, b, x0=b, M=J, rtol=1e-12)|L.cg(S, b, maxiter=2)|L.cg(S, b * 0)",
    "cgs": "L.cgs(E, b, rtol=1e-9)|L.cgs(E, b.reshape(-1, 1), rtol=1e-9)",
    "bicg": "L.bicg(E, b, rtol=1e-9)",
    "bicgstab": "L.bicgstab(E, b, rtol=1e-9)|L.bicgstab(E, b, x0=b, rtol=1e-9)",
    "gmres": "L.gmres(N, b, rtol=1e-12)|L.gmres(N, b, restart=3, rtol=1e-10)|L.gmres(D, b, rtol=1e-12)",
    "minres": "L.minres(Q, b, rtol=1e-12)[0]",
    "lsqr": "L.lsqr(T, b, atol=1e-12, btol=1e-12)[0]|L.lsqr(T, b, damp=0.5)[:5]",
    "lsmr": "L.lsmr(T, b, atol=1e-12, btol=1e-12)[0]|L.lsmr(T, b, damp=0.5)[:4]",
    "eigsh": "L.eigsh(Q, 2)[0]|xp.sort(L.eigsh(Q, 2, which='SA', return_eigenvectors=False))|L.eigsh(Q, 3, which='LA')[0]",
    "svds": "L.svds(W, 3)[1]|(lambda u, s, v: (u * s) @ v)(*L.svds(W, 4))|L.svds(W.T, 3, return_singular_vectors=False)",
    "LinearOperator": "L.LinearOperator((6, 6), matvec=lambda x: S @ x, dtype='f8') @ b|(2 * L.aslinearoperator(N) + L.aslinearoperator(S)).matvec(b)",
    "aslinearoperator": "[f(L.aslinearoperator(N)) for f in (lambda a: a @ b, lambda a: a.H @ b, lambda a: a.T.matvec(b), lambda a: (a @ a)(b), "
    "lambda a: (a / 2 - a).rmatvec(b), lambda a: (a**2).matvec(b), lambda a: a.matmat(D), lambda a: b @ a, lambda a: a.rmatmat(D))]",
    "norm": "[L.norm(N, o) for o in (None, 1, -1, np.inf, -np.inf, 'fro')]|[L.norm(N, o, 1) for o in (None, 1, 0, np.inf, 3)]|L.norm(N, axis=0)",
    "matrix_power": "L.matrix_power(N, 3)|L.matrix_power(N, 1)|(S**2)",
    "spbandwidth": "L.spbandwidth(T)",
    "is_sptriangular": "L.is_sptriangular(T)|L.is_sptriangular(sp.sparse.tril(T, format='csr'))",
    "spsolve": "L.spsolve(N, b)",
    "spsolve_triangular": "L.spsolve_triangular(sp.sparse.tril(N, format='csr'), b)",
    "splu": "L.splu(N).solve(b)|L.splu(N).L.toarray()",
    "spilu": "L.spilu(N).solve(b)",
    "SuperLU": "isinstance(L.splu(N), L.SuperLU), L.splu(N).shape",
    "factorized": "L.factorized(N)(b)",
    "lobpcg": "L.lobpcg(W.T @ W, xp.asarray(np.eye(22)[:, :2]), tol=1e-9, maxiter=200)[0]",
}  # fmt: skip
for _name, _texts in SOLVERS.items():
    _null = _name in ("cg", "gmres", "lsqr", "eigsh", "norm", "aslinearoperator", "minres")
    CASES[f"sparse.linalg.{_name}"] = several(_texts.split("|"), system, rtol=1e-7, atol=1e-9, null=_null)
CASES["sparse.csgraph.connected_components"] = Case(
    lambda sp, xp: sp.sparse.csgraph.connected_components(sp.sparse.csr_matrix(xp.asarray(GRAPH))), dtype=False
)
