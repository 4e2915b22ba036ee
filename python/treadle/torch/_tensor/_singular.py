"""Where the factorisation of a matrix ends that has no factors: what LAPACK calls info, and the results up to there.

The array layer's library only says that there are none. This is asked afterwards, on the host.
"""

import numpy


def _each(a, f):
    """(results, info) of f for each matrix."""
    a = numpy.asarray(a)
    done, info = numpy.empty_like(a), numpy.zeros(a.shape[:-2], numpy.int32)
    for at in numpy.ndindex(a.shape[:-2]):
        done[at], info[at] = f(a[at])
    return done, info


def leading(a):
    """Cholesky's factors up to the first leading minor that is not positive, and the minor's order, or 0."""

    def factor(m):
        m = numpy.tril(m)
        for k in range(len(m)):
            m[k, k] -= (abs(m[k, :k]) ** 2).sum()
            if not m[k, k].real > 0:
                return m, k + 1
            m[k, k] = numpy.sqrt(m[k, k].real)
            m[k + 1 :, k] = (m[k + 1 :, k] - m[k + 1 :, :k] @ m[k, :k].conj()) / m[k, k]
        return m, 0

    return _each(a, factor)


def pivots(a):
    """The place, from 1, of the first zero on the diagonal of U in A = P L U, or 0."""

    def first(m):
        m = m.copy()
        for k in range(len(m)):
            best = k + int(abs(m[k:, k]).argmax())
            m[[k, best]] = m[[best, k]]
            if m[k, k] == 0:
                return m, k + 1
            m[k + 1 :, k:] -= numpy.outer(m[k + 1 :, k] / m[k, k], m[k, k:])
        return m, 0

    return _each(a, first)[1]


def inverse(a):
    """(inverses, info); NaN is the inverse of a singular matrix."""
    info = pivots(a)
    regular = numpy.where((info != 0)[..., None, None], numpy.eye(a.shape[-1], dtype=a.dtype), a)
    return numpy.where((info != 0)[..., None, None], a.dtype.type(numpy.nan), numpy.linalg.inv(regular)), info


def solution(a, b, left):
    """(the X of A X = B, or of X A = B, info); NaN is the solution for a singular matrix."""
    inverses, info = inverse(a)
    vectors = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    b = b[..., None] if vectors else b
    x = inverses @ b if left else b @ inverses
    return numpy.ascontiguousarray(x[..., 0] if vectors else x), info


INFO = {"cholesky": lambda a: leading(a)[1], "inv": pivots, "solve": pivots}
_REASONS = {
    "cholesky": "The factorization could not be completed because the input is not positive-definite (the leading "
    "minor of order {0} is not positive-definite).",
    "inv": "The diagonal element {0} is zero, the inversion could not be completed because the input matrix is "
    "singular.",
    "solve": "The solver failed because the input matrix is singular.",
}


def reason(name, info):
    """PyTorch's words for the first matrix of a batch that has no factors."""
    place = next((p for p in numpy.ndindex(info.shape) if info[p]), None)
    batch = f"(Batch element {numpy.ravel_multi_index(place, info.shape)}): " if place else ""
    return batch + _REASONS[name].format(0 if place is None else info[place])
