"""What tests of derivatives share: leaves, finite differences."""

import numpy as np

import treadle as td
from treadle import _core


def leaf(a, grad=False, device="cpu"):
    return _core.tensor_wrap(td.asarray(np.asarray(a), device=device), grad)


def host(t):
    return t._array.get()


def _weights(shape, dtype):
    w = np.cos(np.arange(max(1, int(np.prod(shape)))).reshape(shape) + 1)
    return (w + 0.5j * w[..., ::-1] if w.ndim else w * (1 + 0.5j)) if np.dtype(dtype).kind == "c" else w


def weigh(r):
    """A real number of all of r's elements, each with a weight of its own."""
    w = leaf(_weights(tuple(r._array.shape), r._array.dtype))
    p = r * w
    return (_core._grad_apply("real", p) if p._array.dtype.kind == "c" else p).sum()


def gradients(f, x):
    v = [leaf(a, grad=True) for a in x]
    weigh(f(*v)).backward()
    return [host(a.grad) if a.grad is not None else np.zeros_like(host(a)) for a in v]


def value(f, x):
    return float(weigh(f(*(leaf(a) for a in x))))


def differences(f, x, eps=1e-6):
    """Central differences of value(f, x); for a complex operand d/da + i d/db."""
    out = []
    for i, a in enumerate(x):
        g = np.zeros_like(a)
        for k in np.ndindex(a.shape):
            for unit in (1, 1j) if a.dtype.kind == "c" else (1,):
                ends = []
                for sign in (1, -1):
                    moved = [b.copy() for b in x]
                    moved[i][k] += sign * eps * unit
                    ends.append(value(f, moved))
                g[k] += (ends[0] - ends[1]) / (2 * eps) * unit
        out.append(g)
    return out


def check_grad(f, x, tol=1e-6):
    for got, want in zip(gradients(f, x), differences(f, x), strict=True):
        np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


def check_second(f, x):
    """The gradient's own gradient: f's gradient, recorded, is a function like another."""

    def first(*v):
        v = [a if a.requires_grad else a.detach().requires_grad_() for a in v]
        g = _core._grad_run(weigh(f(*v)), None, v, True, True, True)
        parts = [(a * leaf(_weights(tuple(a._array.shape), a._array.dtype))).sum() for a in g if a is not None]
        total = parts[0]
        for p in parts[1:]:
            total = total + p
        return total

    check_grad(first, x, tol=2e-6)
