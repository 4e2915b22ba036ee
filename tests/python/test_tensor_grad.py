"""Tensors' tapes: views, writing in place, subscripts, products, hooks, custom functions, errors, memory."""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_side import check_grad, check_second, gradients, host, leaf, weigh

import treadle as td
from treadle import _core


def run(roots, inputs=None, gradients=None, retain=False, graph=False, collect=None):
    return _core._grad_run(roots, gradients, inputs, retain or graph, graph, inputs is not None if collect is None else collect)


def parts(*shapes):
    rng = np.random.default_rng(5)
    return [rng.uniform(-1, 1, s) for s in shapes]


# ---- shapes and subscripts ----

VIEWS = {
    "reshape": lambda x: x.reshape(4, 3),
    "view": lambda x: x.view(2, 6),
    "flatten": lambda x: x.flatten(),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "T": lambda x: x.T,
    "permute": lambda x: x.unsqueeze(0).permute(2, 0, 1),
    "transpose": lambda x: x.transpose(0, 1).reshape(12),
    "expand": lambda x: x.expand(2, 3, 4),
    "row": lambda x: x[1],
    "slice": lambda x: x[1:, ::2],
    "ellipsis": lambda x: x[..., -1],
    "newaxis": lambda x: x[:, None, 1:3],
    "flip": lambda x: _core._grad_flip(x, (0, 1)),
    "strided": lambda x: _core._grad_strided(x, (2, 2), (5, 1), 1),
    "overlapping": lambda x: _core._grad_strided(x, (4, 5), (2, 1), 1),
    "repeated": lambda x: _core._grad_strided(x, (9, 9, 4), (0, 0, 1), 2),
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.T.contiguous(),
    "rows": lambda x: x[leaf([2, 0, 2])],
    "pairs": lambda x: x[leaf([2, 0, 2]), leaf([1, 1, 1])],
    "list": lambda x: x[[0, 2]],
    "mask": lambda x: x[leaf(np.array([True, False, True]))],
    "whole mask": lambda x: x[leaf(np.arange(12).reshape(3, 4) % 3 == 0)],
    "mixed": lambda x: x[1:, leaf([3, 0, 0])],
    "negative": lambda x: x[leaf([-1, -2])],
    "apart": lambda x: x.unsqueeze(1)[leaf([0, 2]), :, leaf([1, 3])],
    "expanded rows": lambda x: x.expand(2, 3, 4)[leaf([1, 0, 1]), 1],
    "gather": lambda x: _core._grad_gather(x, 1, leaf([[0, 0], [3, 1], [2, 2]])),
    "gather rows": lambda x: _core._grad_gather(x, 0, leaf([[0, 1, 2, 0], [1, 1, 1, 1]])),
    "cumsum": lambda x: _core._grad_cumulate("sum", x, 1),
    "cumprod": lambda x: _core._grad_cumulate("prod", x, 0),
    "cat": lambda x: _core._grad_cat([x, x[:1], x * 2], 0),
    "cat columns": lambda x: _core._grad_cat([x, x[:, :1]], 1),
    "double and back": lambda x: x.float().double() * x,
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_and_subscripts(name):
    (x,) = parts((3, 4))
    # "double and back" passes through float32, which differences would see
    if name != "double and back":
        check_grad(VIEWS[name], [x])
    got = VIEWS[name](leaf(x, grad=True))
    assert got.requires_grad and not VIEWS[name](leaf(x)).requires_grad
    if name != "double and back":
        check_second(lambda v: VIEWS[name](v * v), [x])


def test_a_window_beyond_its_tensor():
    """What lies in the storage alone has no gradient."""
    x = leaf(np.arange(12.0).reshape(3, 4), grad=True)
    w = _core._grad_strided(x[1], (2, 2), (4, 1), 2)
    assert host(w).tolist() == [[2, 3], [6, 7]]
    w.sum().backward()
    assert host(x.grad).tolist() == [[0] * 4, [0, 0, 1, 1], [0] * 4]
    with pytest.raises(RuntimeError, match="of a storage of 12"):
        _core._grad_strided(x, (2,), (1,), 11)


@pytest.mark.parametrize("shapes", [((3, 4), (4, 2)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (4, 2)), ((2, 3, 4), (2, 4, 2)), ((3, 4), (2, 4, 2)), ((2, 1, 3, 4), (5, 4, 2)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3))])  # fmt: skip
@pytest.mark.parametrize("turned", [False, True])
def test_products(shapes, turned):
    x = parts(*shapes)

    def f(a, b):
        return (a.mT.contiguous().mT if a.ndim > 1 else a) @ (b.mT.contiguous().mT if b.ndim > 1 else b)

    check_grad(f if turned else lambda a, b: a @ b, x)


def test_products_twice_and_complex():
    check_second(lambda a, b: a @ b, parts((2, 3), (3, 2)))
    x, y = (a + 1j * b for a, b in zip(parts((2, 3), (3, 2)), parts((2, 3), (3, 2))[::1], strict=True))
    check_grad(lambda a, b: a @ b, [x, y])


def test_gradients_of_a_turned_matrix_lie_in_rows():
    w, x = leaf(parts((5, 4))[0], grad=True), leaf(parts((3, 4))[0])
    (x @ w.T).sum().backward()
    assert w.grad.is_contiguous()


# ---- in place ----


def in_place(steps):
    """steps(y, a) writes to y, a fresh copy of x."""

    def f(x, a):
        y = x * 1
        steps(y, a)
        return y

    return f


def item(y, a):
    y[1] = a
    y[:, 2] = 0


def views(y, a):
    y[0].mul_(a)
    y.T[1] += a[:3]
    y.reshape(12)[3:7] = a * 2


def whole(y, a):
    y.mul_(a)
    y += 1
    y.tanh_()


def written_later(y, a):
    row = y[0]
    y.mul_(a)
    row.add_(a * 2)
    row += y[1].clone()


def puts(y, a):
    y[leaf([0, 2])] = a
    y[leaf(np.arange(12).reshape(3, 4) % 5 == 0)] = a[0]
    _core._grad_put_(y, (1,), (leaf([1, 1, 3]),), 0, 0, a[:3].reshape(3, 1).expand(3, 3), True)


def copies(y, a):
    y.copy_(a)
    y[1:].copy_(y[:1].clone() * a)
    y[0].zero_()


@pytest.mark.parametrize("steps", [item, views, whole, written_later, puts, copies])
def test_writing_in_place(steps):
    f = in_place(steps)
    x, a = parts((3, 4), (4,))
    check_grad(f, [x, a + 2])
    y = leaf(x, grad=True) * 1
    steps(y, leaf(a))
    assert y.requires_grad and not y.is_leaf
    check_second(lambda x, a: f(x * x, a * a), [x, a + 2])


@pytest.mark.parametrize("steps", [item, views, written_later, puts, copies])
def test_writing_to_what_lies_in_another_order(steps):
    def f(x, a):
        y = x.T * 1  # columns one behind the other, as x lies
        assert not y.is_contiguous()
        steps(y.T, a)
        return y

    x, a = parts((3, 4), (4,))
    check_grad(f, [x, a + 2])
    check_second(lambda x, a: f(x * x, a * a), [x, a + 2])


def test_where_something_was_written_an_infinite_gradient_is_gone():
    x = leaf(np.zeros(3), grad=True)
    y = x * 1
    y[1] = 2.0
    g = leaf([1.0, np.inf, 3.0], grad=True)
    (got,) = _core._grad_run(y, g, [x], True, True, True)
    assert host(got).tolist() == [1, 0, 3] and got.requires_grad


@pytest.mark.parametrize("window", [((2, 3), (1, 3), 0), ((3, 3), (1, 2), 2)])
def test_windows_on_what_lies_in_another_order(window):
    def f(x):
        y = x.T * 1
        return _core._grad_strided(y, *window)

    (x,) = parts((3, 4))
    check_grad(f, [x])
    check_second(lambda x: f(x * x), [x])


def test_a_buffer_takes_the_history_of_what_is_written_to_it():
    a = leaf(np.array([1.0, 2.0]), grad=True)
    buffer = leaf(np.zeros(4))
    buffer[1:3] = a * 3
    row = buffer[2:]
    buffer.mul_(2)
    assert buffer.requires_grad and row.requires_grad
    row.sum().backward()
    np.testing.assert_array_equal(host(a.grad), [0, 6])


def test_saved_values_that_were_written_over():
    x = leaf(np.ones(3), grad=True)
    y = x.exp()
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch.DoubleTensor \[3\]\].*is at version 1; expected version 0"):
        z.sum().backward()
    w = leaf(np.ones(3))
    p = (x * w).sum()
    w[0] = 5
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        p.backward()
    q = (x * w).sum()
    w.detach().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        q.backward()
    r = (x * w).sum()
    w._array[1] = 3
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        r.backward()


def test_leaves_are_not_written_but_unrecorded():
    x = leaf(np.ones(3), grad=True)
    for write in (lambda: x.mul_(2), lambda: x.__setitem__(0, 1), lambda: x[1:].zero_()):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad is being used in an in-place operation"):
            write()
    was = _core._grad_set_mode(False)
    x.mul_(2)
    x[0] = 7
    _core._grad_set_mode(was)
    assert x.is_leaf and x.requires_grad and host(x).tolist() == [7, 2, 2] and x._version >= 2


def test_writing_to_what_shares_memory_is_refused():
    with pytest.raises(RuntimeError, match="refers to a single memory location"):
        leaf(np.zeros(1)).expand(3).add_(1)
    part = leaf(np.zeros(3))[1:]
    part.requires_grad = True
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        part.add_(1)


def test_results_must_fit_what_they_are_written_to():
    n = leaf(np.arange(3))
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        n.mul_(1.5)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        leaf(np.ones(3)).add_(leaf(np.ones((2, 3))))


# ---- passes ----


def test_gradients_accumulate_and_are_nobody_elses():
    x, y = (leaf(np.ones(2), grad=True) for _ in range(2))
    (x + y).sum().backward()
    assert x.grad is x.grad and x.grad is not y.grad
    x.grad.mul_(5)
    assert host(y.grad).tolist() == [1, 1]
    held = x.grad
    (x * 2).sum().backward()
    assert held is x.grad and host(held).tolist() == [7, 7]
    x.grad = None
    assert x.grad is None


def test_what_a_pass_frees_and_keeps():
    x = leaf(np.ones(2), grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert host(x.grad).tolist() == [4, 4]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    z = (x + 1).sum()  # saves nothing
    z.backward()
    z.backward()


def test_roots():
    x = leaf(np.ones((2, 2)), grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        x.detach().sum().backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(leaf(np.ones(3)))
    (x * 2).backward(leaf(np.full((2, 2), 3.0)))
    assert host(x.grad).tolist() == [[6, 6], [6, 6]]
    with pytest.raises(RuntimeError, match="floating point and complex dtype"):
        leaf(np.arange(3), grad=True)
    with pytest.raises(RuntimeError, match="requires_grad flags of leaf variables"):
        (x * 2).requires_grad = False


def test_inputs():
    x, y = (leaf(np.array([2.0, 3.0]), grad=True) for _ in range(2))
    h = x * y
    z = (h * h).sum()
    gx, gh, none = run(z, [x, h, leaf(np.ones(1), grad=True)], retain=True)
    assert host(gx).tolist() == [16, 54] and host(gh).tolist() == [8, 18] and none is None
    assert x.grad is None and y.grad is None
    z.backward(inputs=[y])
    assert x.grad is None and host(y.grad).tolist() == [16, 54]


def test_gradients_of_gradients():
    x = leaf(np.array([1.0, 2.0]), grad=True)
    (g,) = run((x**4).sum(), [x], graph=True)
    (gg,) = run(g.sum(), [x], graph=True)
    (ggg,) = run(gg.sum(), [x])
    np.testing.assert_allclose(host(ggg), [24, 48])
    y = (x**3).sum()
    y.backward(create_graph=True)
    assert x.grad.requires_grad
    x.grad.sum().backward()
    np.testing.assert_allclose(host(x.grad), [3 + 6, 12 + 12])


def test_modes_belong_to_threads():
    x = leaf(np.ones(2), grad=True)
    was = _core._grad_set_mode(False)
    seen = []
    t = threading.Thread(target=lambda: seen.append((x * 2).requires_grad))
    t.start()
    t.join()
    assert not (x * 2).requires_grad and seen == [True] and not _core._grad_mode()
    _core._grad_set_mode(was)
    assert (x * 2).requires_grad


def test_threads_add_to_one_leaf():
    """A pass gives the lock up while it computes: no gradient is lost."""
    x, w = leaf(np.ones((20, 20)), grad=True), leaf(np.ones((20, 20)))
    was = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def work():
        for _ in range(50):
            ((x @ w).tanh() * 0 + x).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    sys.setswitchinterval(was)
    assert (host(x.grad) == 200).all()


def test_retained_gradients():
    x = leaf(np.ones(2), grad=True)
    h = x * 3
    h.retain_grad()
    (h * h).sum().backward()
    assert host(h.grad).tolist() == [6, 6] and h.retains_grad and not x.retains_grad
    (x * 2).retain_grad()  # its tensor is gone before the pass


def test_dtypes_of_gradients_are_the_operands():
    x, w = leaf(np.ones(3, "f4"), grad=True), leaf(np.ones(3), grad=True)
    h = leaf(np.ones(3, "f2"), grad=True)
    c = leaf(np.ones(3, "c8"), grad=True)
    y = _core._grad_apply("real", x * w * h * c)
    y.sum().backward()
    assert [str(v.grad._array.dtype) for v in (x, w, h, c)] == ["float32", "float64", "float16", "complex64"]


@pytest.mark.parametrize("a, b, want", [("i8", "f4", "float32"), ("f4", 2.5, "float32"), ("i8", 2.5, "float32"), ("i8", 2, "int64"), ("?", 1, "int64"), ("f4", 1j, "complex64"), ("f2", "f4", "float32"), ("u1", "i1", "int16"), ("f4", np.array(1.0), "float32"), ("i4", np.array(1.0), "float64"), ("f4", np.float64(2), "float32"), ("?", "?", "bool"), ("f8", 1j, "complex128")])  # fmt: skip
def test_promotion(a, b, want):
    y = b if not isinstance(b, (str, np.ndarray)) else leaf(np.ones(3, b) if isinstance(b, str) else b)
    assert str((leaf(np.ones(3, a)) + y)._array.dtype) == want


def test_quotients_of_integers_are_floats():
    assert str((leaf(np.arange(3)) / leaf(np.arange(1, 4)))._array.dtype) == "float32"
    assert str((leaf(np.arange(3)).sqrt())._array.dtype) == "float32"
    assert str((leaf(np.arange(3)) // 2)._array.dtype) == "int64"


# ---- hooks and custom functions ----


def test_hooks():
    x = leaf(np.ones(2), grad=True)
    h = x * 3
    seen = []
    a = h.register_hook(lambda g: seen.append(host(g).tolist()))
    b = h.register_hook(lambda g: g * 2)
    c = x.register_hook(lambda g: seen.append(host(g).tolist()))
    d = x.register_post_accumulate_grad_hook(lambda v: seen.append(host(v.grad).tolist()))
    (h.sum() + x.sum()).backward()
    assert seen == [[1, 1], [7, 7], [7, 7]]
    for handle in (a, b, c, d, a):
        handle.remove()
    seen.clear()
    (x * 3).sum().backward()
    assert not seen
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        leaf(np.ones(1)).register_hook(print)
    x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * 3).sum().backward()


def custom(f, back):
    """The function f with a backward of its own."""

    def call(*x):
        was = _core._grad_set_mode(False)
        r = f(*(a.detach() for a in x))
        _core._grad_set_mode(was)
        return _core._grad_custom(x, back, x, r if isinstance(r, tuple) else (r,), "Mine")

    return call


def back_of_both(ctx, g, h):
    """Of (x + y, x * y); what nobody asked for is None."""
    x, y = ctx
    g, h = (0 if a is None else a for a in (g, h))
    return g + h * y, g + h * x


def test_custom_functions():
    cube = custom(lambda x: x * x * x, lambda ctx, g: g * 3 * ctx[0] * ctx[0])
    check_grad(lambda x: cube(x)[0], parts((3,)))
    check_second(lambda x: cube(x)[0], parts((3,)))
    both = custom(lambda x, y: (x + y, x * y), back_of_both)
    check_grad(lambda x, y: both(x, y)[0] * both(x, y)[1], parts((3,), (3,)))
    check_grad(lambda x, y: both(x, y)[1], parts((3,), (3,)))
    few = custom(lambda x, y: x + y, lambda ctx, g: g)
    with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 2, got 1\)"):
        few(leaf(np.ones(2), grad=True), leaf(np.ones(2)))[0].sum().backward()
    wrong = custom(lambda x: x + 1, lambda ctx, g: leaf(np.ones(5)))
    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        wrong(leaf(np.ones(2), grad=True))[0].sum().backward()
    none = custom(lambda x, y: x + y, lambda ctx, g: (g, None))
    x, y = (leaf(np.ones(2), grad=True) for _ in range(2))
    none(x, y)[0].sum().backward()
    assert y.grad is None and host(x.grad).tolist() == [1, 1]


def test_a_pass_within_a_pass():
    x = leaf(np.array([2.0]), grad=True)
    h = x * x

    def hook(g):
        was = _core._grad_set_mode(True)
        (inner,) = run((x * x * x).sum(), [x])
        _core._grad_set_mode(was)
        return g * inner

    h.register_hook(hook)
    h.sum().backward()
    assert host(x.grad).tolist() == [12 * 4]


# ---- life ----


def test_long_chains_are_walked_and_freed_in_loops():
    x = leaf(np.ones(1), grad=True)
    y = x
    for _ in range(20000):
        y = y * 1.0
    y.sum().backward()
    assert host(x.grad).tolist() == [1]
    for _ in range(20000):
        y = y[:]
    del y


def test_memory_is_given_back():
    def live():
        gc.collect()
        return td.memory.stats()["active"] if isinstance(td.memory.stats(), dict) and "active" in td.memory.stats() else None

    x = leaf(np.ones(1000), grad=True)
    y = (x * x).exp()
    alive = weakref.ref(y)
    z = y.sum()
    del y
    assert alive() is None  # nobody holds the tensor, only its value
    z.backward()
    base = live()
    for _ in range(50):
        ((x * x).exp() * x).sum().backward()
        x.grad = None
    if base is not None:
        assert live() <= base + 8 * 1000 * 8


def test_circles_through_hooks_and_contexts_are_collected():
    class Probe:
        pass

    gone = []
    for make in ("hook", "attribute", "context", "leaf hook"):
        p = Probe()
        weakref.finalize(p, gone.append, make)
        x = leaf(np.ones(2), grad=True)
        if make == "hook":
            y = x * 2
            y.register_hook(lambda g, y=y, p=p: None)
        elif make == "leaf hook":
            x.register_hook(lambda g, y=x, p=p: None)
            y = None
        elif make == "attribute":
            y = x * 2
            y.me, y.probe = y, p
        else:
            ctx = {"p": p}
            (y,) = _core._grad_custom(ctx, lambda c, g: g, (x,), (x.detach(),), "Mine")
            ctx["out"] = y
            del ctx
        del x, y, p
    gc.collect()
    assert sorted(gone) == ["attribute", "context", "hook", "leaf hook"]


def test_attributes_and_subclasses():
    class Sub(_core.Tensor):
        pass

    s = _core._make_subclass(Sub, leaf(np.ones(2)), True)
    s.note = 3
    assert type(s) is Sub and s.requires_grad and s.is_leaf and s.note == 3
    assert isinstance(s * 2, _core.Tensor)
    x = leaf(np.ones(3))
    x.flag = True
    assert x.flag and x.grad_fn is None and (x + 1).grad_fn is None
    y = leaf(np.ones(3), grad=True) * 2
    assert y.grad_fn.name() == "MulBackward0" and y.grad_fn is y.grad_fn and repr(y.grad_fn) == "<MulBackward0>"
    assert sys.getrefcount(x) == 2


def test_devices():
    x = leaf(np.arange(3.0), grad=True)
    y = _core._grad_to_device(x, "null")
    assert y._array.device.name == "null"
    (y * y).sum().backward()
    assert x.grad._array.device.kind == "cpu" and host(x.grad).tolist() == [0, 2, 4]
    number = leaf(np.array(2.0), grad=True)  # a single number goes to where the others are
    (y.detach() * number).sum().backward()
    assert number.grad._array.device.kind == "cpu" and float(number.grad) == 3
    with pytest.raises(RuntimeError, match="arrays on"):
        x + y


# ---- random graphs ----

STEPS = [
    lambda a, b: a + b, lambda a, b: a * b, lambda a, b: (a - b).tanh(), lambda a, b: a.sigmoid() * b[:1],
    lambda a, b: a.sum(0, keepdim=True) + b, lambda a, b: a.T.reshape(3, 4) * b, lambda a, b: (a @ b.T) @ b,
    lambda a, b: _core._grad_cat([a[1:], b[:1]], 0), lambda a, b: a.mul(b.mean()), lambda a, b: a[leaf([0, 0, 2])] + b,
    lambda a, b: a.clone().add_(b), lambda a, b: _core._grad_apply("select", a > b, a, b * 2),
]  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(STEPS) - 1), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8))
def test_random_graphs(steps):
    x = parts((3, 4), (3, 4))

    def f(a, b):
        made = [a, b, a * 0.5, b + 0.1]
        for k, i, j in steps:
            made[(i + j) % 4] = STEPS[k](made[i], made[j]) * 0.5
        return made[0] + made[1] + made[2] + made[3]

    check_grad(f, x, tol=5e-6)


def test_weights_tell_elements_apart():
    (g,) = gradients(lambda v: v, [np.ones(3)])
    assert len(set(g.tolist())) == 3 and weigh(leaf(np.ones(3))).ndim == 0
