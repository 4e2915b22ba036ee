"""Linear algebra and Fourier transforms with one odd argument among good ones: NumPy's kind of
exception where it raises, NumPy's shape and dtype where it does not."""

import warnings

import numpy as np
import pytest

import treadle as td

ARRAYS = {
    "empty": np.zeros(0), "empty matrix": np.zeros((0, 0)), "no rows": np.zeros((0, 3)), "empty stack": np.zeros((2, 0, 3)),
    "no axes": np.array(2.0), "vector": np.arange(3.0), "other vector": np.arange(4.0), "wide": np.ones((2, 3)), "tall": np.ones((3, 2)),
    "singular": np.ones((2, 2)), "zeros": np.zeros((3, 3)), "stack": np.ones((2, 2, 2)) + np.eye(2), "ints": np.array([[2, 1, 0], [1, 2, 1], [0, 1, 3]]),
    "bools": np.eye(2, dtype=bool), "complex": np.array([[1 + 1j, 2], [3, 4 - 1j]]), "nan": np.array([[1, np.nan], [2, 3]]),
    "half": np.eye(2, dtype="f2"), "bytes": np.array([[3, 1], [1, 2]], "u1"), "negative": -np.eye(2), "good": np.array([[2.0, 1], [1, 3]]),
}  # fmt: skip
OPTIONS = [None, 0, 1, -1, 2, -3, 5, 1.5, "x", "fro", (0, 1), (1, 0), (0, 0), (0,), [0], (0, 1, 2), (), float("inf"), float("nan")]  # fmt: skip
CALLS = {
    "linalg": [
        "norm(A)", "norm(G, O)", "norm(G, axis=O)", "norm(A, 2)", "norm(A, 'nuc')", "norm(A, axis=0)", "norm(A, axis=(0, 1))", "cholesky(A)", "qr(A)", "qr(G, O)", "svd(A)",
        "svdvals(A)", "eig(A)", "eigh(A)", "eigh(G, O)", "eigvals(A)", "eigvalsh(A)", "inv(A)", "pinv(A)", "det(A)", "slogdet(A)", "matrix_rank(A)", "cond(A)",
        "cond(G, O)", "solve(A, G)", "solve(G, A)", "lstsq(A, G)", "lstsq(G, A)", "matrix_power(A, 2)", "matrix_power(A, -1)", "matrix_power(G, O)",
        "multi_dot([A, G])", "multi_dot([G, A])", "multi_dot([G, A, G])", "multi_dot([A])", "tensorsolve(A, A)",
        "tensorinv(G, O)", "cross(A, A)", "outer(A, G)", "vecdot(A, G)", "tensordot(A, G)", "tensordot(G, A)", "tensordot(G, G, axes=O)",
        "trace(A)", "diagonal(A)", "matrix_norm(A)", "vector_norm(A)", "vector_norm(G, axis=O)", "matrix_transpose(A)", "matmul(A, G)",
    ],
    "": ["dot(A, G)", "vdot(A, G)", "inner(A, G)", "outer(A, G)", "matmul(G, A)", "tensordot(A, G)", "tensordot(A, G, 1)", "kron(A, G)", "cross(A, A)", "cross(V, V, axis=O)",
         "trace(A)", "einsum('ij,jk', A, G)", "einsum('ii', A)", "einsum('i,i', A, A)", "einsum('...j,jk', A, G)"],
    "fft": [f"{f}({a})" for f in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for a in ("A", "G, O", "G, axis=O", "G, norm=O", "A, 2") if not ("r" in f and "A" in a)]
    + [f"{f}({a})" for f in ("fft2", "ifft2", "fftn", "ifftn", "irfft2") for a in ("A", "G, axes=O", "G, s=O, axes=(0, 1)", "G, norm=O")] + ["fftfreq(O)", "rfftfreq(O)", "fftshift(G, O)"],
}  # fmt: skip
# Where both refuse, and NumPy by an accident of its code: int() of the axis, a comparison with a text, a hash.
ACCIDENTS = ("fft(G, O)", "fft(G, axis=O)", "fft(G, norm=O)", "fft2(G", "fftn(G", "cond(G, O)", "norm(G, O)", "tensorinv(G, O)", "fftfreq(O)", "einsum")


def _outcome(xp, module, call, array, option):
    def own(a):
        return xp.asarray(a)

    space = {"A": own(array), "G": own(ARRAYS["good"]), "V": own(np.arange(6.0).reshape(2, 3)), "O": option}
    try:
        r = eval(f"home.{call}", {"home": getattr(xp, module) if module else xp, **space})
    except Exception as error:
        return error
    return [(tuple(np.shape(x)), x.dtype if hasattr(x, "dtype") else type(x)) for x in (r if isinstance(r, tuple) else [r])]


@pytest.mark.parametrize("module", CALLS)
def test_one_odd_argument(module):
    misses = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in CALLS[module]:
            for name, array, option in [("", None, o) for o in OPTIONS] if "O" in call else [(n, a, None) for n, a in ARRAYS.items()]:
                array = ARRAYS["good"] if array is None else array
                want, got = _outcome(np, module, call, array, option), _outcome(td, module, call, array, option)
                if isinstance(want, Exception) and isinstance(got, Exception):
                    fits = isinstance(got, type(want).__mro__[1] if type(want).__name__.startswith("_UFunc") else type(want))
                    fits |= any(part in call for part in ACCIDENTS)
                else:
                    fits = not isinstance(want, Exception) and got == want
                if not fits:
                    misses.append(f"{call} of {name or repr(option)}: {got!r}, NumPy {want!r}")
    assert not misses, "\n".join(misses)


@pytest.mark.parametrize("name", ["ndim", "shape", "size", "iscomplexobj", "isrealobj"])
def test_what_objects_without_numbers_are(name):
    for x in (None, "ab", b"a", {1}, {"a": 1}, ["a", "b"], [None, 1], [["a"], ["b"]], np.array(["a"]), object(), np.datetime64(1, "s"), [1, 2j]):
        assert getattr(td, name)(x) == getattr(np, name)(x), x
