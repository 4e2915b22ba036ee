"""Derivatives of every row of ops.def and reduce.def against finite differences, from the tables."""

import numpy as np
import pytest
from conftest import DEVICES
from tensor_side import check_grad, check_second, host, leaf

from treadle import _core

ROWS, REDS = _core.derivatives()
ARITY = {name: (arity, kinds) for name, arity, kinds, _ in _core.ops()}
# Where a row has a derivative; elsewhere (-2, 2).
DOMAIN = {name: tuple(map(float, domain.partition("|")[2].split())) for name, (_, domain) in _core.op_columns().items()}
STEPS = {name for name, text in ROWS.items() if text and all(t.strip() == "0" for t in text.split("|"))}
SMOOTH = sorted(name for name, text in ROWS.items() if text and name not in STEPS and "f" in ARITY[name][1])


def operands(name, rng, shapes=((3, 4), (4,), (3, 1)), dtype="float64"):
    lo, hi = DOMAIN[name] or (-2, 2)
    x = [rng.uniform(lo, hi, s) for s in shapes[: ARITY[name][0]]]
    if np.dtype(dtype).kind == "c":
        x = [a + 1j * rng.uniform(0.3, 0.9, a.shape) for a in x]
    return [a.astype(dtype) for a in x]


def function(name, x):
    """The row as a function of those operands that have a gradient, and these."""
    if name == "select":
        return lambda y, z: _core._grad_apply("select", leaf(x[0] > 0), y, z), x[1:]
    if name in ("scale", "copysign"):
        n = leaf(np.rint(x[1] * 3))
        return lambda y: _core._grad_apply(name, y, n), x[:1]
    if name == "heaviside":
        return lambda y: _core._grad_apply(name, leaf(np.sign(x[0])), y), x[1:]
    if name in ("remainder", "fmod"):
        n = leaf(np.full(4, 1.7))
        return lambda y: _core._grad_apply(name, y, n), x[:1]
    return lambda *v: _core._grad_apply(name, *v), x


def test_every_row_says_what_its_derivative_is():
    """A row of floats has a formula for each operand, "0" or none; what is left out is a truth, a neighbour or a part of a float."""
    for name, text in ROWS.items():
        arity, kinds = ARITY[name]
        if not text:
            continue
        assert text.count("|") == arity - 1, name
    without = {n for n, t in ROWS.items() if not t and "f" in ARITY[n][1] and n not in
               ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "isnan", "isinf", "isfinite", "signbit")}  # fmt: skip
    assert without <= {"gamma", "lgamma", "nextafter", "mantissa", "exponent"}


@pytest.mark.parametrize("name", SMOOTH)
def test_first_derivative(name, rng):
    f, x = function(name, operands(name, rng))
    check_grad(f, x)


@pytest.mark.parametrize("name", [n for n in SMOOTH if ARITY[n][0] == 2 and n not in ("scale", "copysign", "heaviside")])
@pytest.mark.parametrize("which", [0, 1])
def test_beside_a_number(name, which, rng):
    """A number as the other operand: the gradient is as beside a tensor of it."""
    if ROWS[name].split("|")[which].strip() == "0" or (name in ("remainder", "fmod") and which):
        pytest.skip("the gradient is 0 almost everywhere")
    x, n = operands(name, rng, shapes=((5,), (5,)))[0], 1.5
    grads = []
    for other in (n, leaf(np.full(5, n))):
        v = leaf(x, grad=True)
        _core._grad_apply(name, *((v, other) if which == 0 else (other, v))).sum().backward()
        grads.append(host(v.grad))
    np.testing.assert_allclose(*grads, rtol=1e-12)


@pytest.mark.parametrize("name", ["multiply", "divide", "power", "tanh", "sigmoid", "softplus", "hypot", "logaddexp", "exp", "sqrt", "gelu", "square"])  # fmt: skip
def test_second_derivative(name, rng):
    f, x = function(name, operands(name, rng, shapes=((3,), (3,), (3,))))
    check_second(f, x)


@pytest.mark.parametrize("name", sorted(n for n in SMOOTH if "c" in ARITY[n][1] and n not in ("maximum", "minimum", "fmax", "fmin", "remainder")))  # fmt: skip
def test_complex(name, rng):
    f, x = function(name, operands(name, rng, shapes=((3,), (3,), (3,)), dtype="complex128"))
    check_grad(f, x)


@pytest.mark.parametrize("name", sorted(STEPS))
def test_steps_are_flat(name, rng):
    x = [leaf(a, grad=True) for a in operands(name, rng)]
    r = _core._grad_apply(name, *x)
    assert r.requires_grad
    r.sum().backward()
    for v in x:
        assert v.grad._array.shape == v._array.shape and not v.grad._array.get().any()


@pytest.mark.parametrize("name", ["less", "isnan", "equal"])
def test_truths_require_no_gradient(name, rng):
    x = [leaf(a, grad=True) for a in operands(name, rng)]
    assert not _core._grad_apply(name, *x).requires_grad


@pytest.mark.parametrize("number", [0, 1, 2, 3, -1, 0.5, 2.5])
def test_powers_of_numbers(number, rng):
    check_grad(lambda x: x**number, [rng.uniform(0.3, 2, 5)])
    if number > 0:
        check_grad(lambda x: number**x, [rng.uniform(0.3, 2, 5)])
    if number in (2, 3):
        x = leaf(np.array([0.0, -1.5]), grad=True)
        (x**number).sum().backward()
        np.testing.assert_allclose(x.grad._array.get(), number * np.array([0.0, -1.5]) ** (number - 1))


@pytest.mark.parametrize("name", sorted(n for n, t in REDS.items() if t))
@pytest.mark.parametrize("axes, keepdim", [(None, False), ((0,), False), ((1,), False), ((0, 2), True), ((1, 2), False)])
def test_reductions(name, axes, keepdim, rng):
    x = rng.permutation(24).reshape(2, 3, 4) / 7 + 0.3
    check_grad(lambda v: _core._grad_reduce(name, v, axes, keepdim, None, 1.0), [x])


@pytest.mark.parametrize("name", ["sum", "mean", "var", "std", "prod", "max"])
def test_reductions_twice(name, rng):
    check_second(lambda v: _core._grad_reduce(name, v * v, (1,), False, None, 1.0), [rng.uniform(0.3, 1, (2, 3))])


@pytest.mark.parametrize("zeros", [(), (1,), (1, 3)])
def test_products_with_zeros(zeros):
    x = np.array([0.5, 1.5, -2.0, 0.7])
    x[list(zeros)] = 0
    check_grad(lambda v: v.prod(), [x])
    check_grad(lambda v: _core._grad_cumulate("prod", v, 0), [x])


def test_extremes_share_among_equals():
    x = leaf(np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 1.0]]), grad=True)
    x.amax(1).sum().backward()
    np.testing.assert_array_equal(x.grad._array.get(), [[0, 0.5, 0.5], [0.5, 0.5, 0]])


def on(x, numbers):
    return leaf(numbers, device=x._array.device)


def written(x, y):
    z = x * 1
    z[0] = y * y
    z[:, 1:].mul_(2)
    return z


DEVICE_CASES = {
    "elementwise": lambda x, y: (x * y).tanh() / (y + 2),
    "rows": lambda x, y: (x / y).var(1) + x.amax(1),
    "gather": lambda x, y: _core._grad_gather(x, 1, on(x, [[1, 1], [0, 2]])).sum() + y,
    "several for one": lambda x, y: x[on(x, [0, 1, 1, 0])] * y,
    "product": lambda x, y: (x @ x.T).exp() @ x * y,
    "windows": lambda x, y: _core._grad_strided(x, (2, 2, 2), (3, 1, 1), 0).sum(0) * y[:2],
    "running": lambda x, y: _core._grad_cumulate("prod", x, 1) * y,
    "written": written,
    "joined": lambda x, y: _core._grad_cat([x, y.reshape(1, 3)], 0).T.reshape(9),
}


@pytest.mark.parametrize("device", DEVICES[1:])
@pytest.mark.parametrize("name", DEVICE_CASES)
def test_devices_agree(name, device):
    """A GPU, or what plays one, has the CPU's gradients."""
    grads = []
    for where in ("cpu", device):
        x, y = (leaf(a, grad=True, device=where) for a in (np.arange(6.0).reshape(2, 3) / 5, np.arange(1.0, 4)))
        DEVICE_CASES[name](x, y).sum().backward()
        grads.append([host(v.grad) for v in (x, y) if v.grad is not None])
    assert len(grads[0]) == len(grads[1])
    for a, b in zip(*grads, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
