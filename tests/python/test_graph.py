"""td.graph: replays equal calls of the function, on every device; what cannot be recorded is named."""

import gc
import threading
import weakref

import numpy as np
import pytest
from conftest import DEVICES
from hypothesis import given
from hypothesis import strategies as st

import treadle as td


def softmax(x):
    e = td.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def chain(x):
    for _ in range(6):
        x = td.cumsum(x, axis=1) * 0.5
    return x


def part_written(x):
    y = x * 2
    y[1:, ::2] = x[:-1, ::2]
    return y


def products(x):
    y = x + 1
    z = y @ y.T
    for _ in range(3):
        z = (z @ z) * 1e-3
    return td.cumsum(z, axis=0)


FUNCTIONS = {
    "elementwise": lambda x: td.sin(x) * 2 + 1,
    "reductions": lambda x: (x.sum(), x.mean(axis=0), x.max(axis=1), x.var(), x.argmin(axis=1)),
    "softmax": softmax,
    "views": lambda x: (x.T, x[::-1, 1:], x.reshape(-1)[3:], x[2]),
    "same storage": lambda x: (lambda y: (y, y.T, y[1:]))(x + 1),
    "identity": lambda x: x,
    "gather": lambda x: x[td.arange(4) * 2 - 3],
    "cumsum": lambda x: td.cumsum(x, axis=0),
    "matmul": lambda x: (x @ x.T) @ x,
    "matmul inside": products,
    "constants": lambda x: (td.ones((3, 2)), td.arange(5), x * 0),
    "part written": part_written,
    "transposing": lambda x: td.ascontiguousarray((x + 1).T),
    "long": chain,
    "cast": lambda x: x.astype("float32") + td.arange(7, dtype="int8"),
    "structure": lambda x: {"a": [x + 1, (x - 1, None)], "b": 3},
}


def flat(x):
    if isinstance(x, dict):
        x = tuple(x[k] for k in sorted(x))
    return [y for z in x for y in flat(z)] if isinstance(x, (tuple, list)) else [x]


def check(got, want):
    got, want = flat(got), flat(want)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        if isinstance(w, td._core.ndarray):
            assert g.dtype == w.dtype
            assert g.shape == w.shape
            np.testing.assert_allclose(g.get(), w.get(), rtol=1e-6, atol=1e-12)
        else:
            assert g == w


@pytest.mark.parametrize("name", FUNCTIONS)
def test_replays_equal_calls(dev, rng, name):
    f = FUNCTIONS[name]
    g = td.graph(f)
    for _ in range(4):
        x = td.asarray(rng.standard_normal((6, 7)))
        check(g(x), f(x))
    assert g.recordings == 1
    assert g.kernels >= 1


@pytest.mark.parametrize("f", [chain, products])
def test_rows_of_kernels_are_one_launch(dev, rng, f):
    """What neither inputs nor results touch: a graph of the driver's, else all would be right and slow."""
    g = td.graph(f)
    x = td.asarray(rng.standard_normal((6, 7)))
    check(g(x), f(x))
    info = g._last.capture.info
    assert info["kernels"] == g.kernels
    assert info["runs"] == 0 if dev == "cpu" else info["runs"] >= 1
    if dev != "cpu":
        assert info["patched"] <= 3


def test_reductions_over_rows_are_one_kernel(dev, rng):
    """Whose own arguments are numbers: only its inputs and results are put in anew."""

    def f(x):
        y = softmax(x)
        return y, softmax(y + x[0])

    g = td.graph(f)
    for _ in range(3):
        x = td.asarray(rng.standard_normal((6, 7)))
        check(g(x), f(x))
    assert g.recordings == 1
    assert g.kernels == 2


def test_results_are_new_arrays(dev, rng):
    g = td.graph(lambda x: x + 1)
    a, b = g(td.zeros(5)), g(td.ones(5))
    assert a.get().tolist() == [1] * 5
    assert b.get().tolist() == [2] * 5
    a += 7
    assert g(td.zeros(5)).get().tolist() == [1] * 5


def test_static_results_are_filled_again(dev):
    g = td.graph(lambda x: x + 1, static_outputs=True)
    a = g(td.zeros(5))
    assert a.get().tolist() == [1] * 5
    b = g(td.ones(5))
    assert a.get().tolist() == b.get().tolist() == [2] * 5
    twice = a * 2  # recorded, not computed, when the next call fills a
    g(td.full(5, 6.0))
    assert twice.get().tolist() == [4] * 5
    a[0] = 9
    g(td.full(5, 6.0))
    assert a.get().tolist() == b.get().tolist() == [7] * 5
    a += 1
    assert g(td.zeros(5)).get().tolist() == a.get().tolist() == [1] * 5
    assert g.recordings == 1


def test_each_kind_of_input_is_recorded_once(dev):
    calls = []

    @td.graph
    def f(x, scale=1, *, shift=None):
        calls.append(x.shape)
        return x * scale if shift is None else x * scale + shift

    for _ in range(2):
        assert f(td.ones(3)).get().tolist() == [1] * 3
        assert f(td.ones(4)).get().tolist() == [1] * 4
        assert f(td.ones(4, "float32")).dtype == "float32"
        assert f(td.ones(3), 2).get().tolist() == [2] * 3
        assert f(td.ones(3), scale=3, shift=td.ones(3)).get().tolist() == [4] * 3
        assert f(td.ones((3, 3))[:, 1]).get().tolist() == [1] * 3  # other strides
        assert f(np.ones(3), 2).get().tolist() == [2] * 3
    assert len(calls) == f.recordings == 6
    f.clear()
    assert f.recordings == f.kernels == 0
    assert f(td.ones(3)).get().tolist() == [1] * 3


def test_inputs_may_be_one_array_or_share_memory(dev, rng):
    def f(x, y):
        return x - y * 2, y + 0

    g = td.graph(f)
    base = td.asarray(rng.standard_normal(20))
    x, y = td.asarray(rng.standard_normal(10)), td.asarray(rng.standard_normal(10))
    for pair in [(x, y), (x, x), (y, x), (base[:10], base[:10]), (base[:10], base[2:12])]:
        check(g(*pair), f(*pair))
    a, _ = g(x, y)
    check(g(a, a), f(a, a))  # a result as an input


def test_reversed_and_broadcast_inputs(dev, rng):
    g = td.graph(lambda x: x * 2 + x.sum())
    for make in (lambda a: a[::-1], lambda a: td.broadcast_to(a[:1], (8,)), lambda a: a[1:9], lambda a: a[::2]):
        for _ in range(2):
            a = td.asarray(rng.standard_normal(16))
            check(g(make(a)), make(a) * 2 + make(a).sum())


def test_empty_arrays(dev):
    g = td.graph(lambda x: (x + 1, x.sum()))
    for _ in range(2):
        a, b = g(td.zeros(0))
        assert a.shape == (0,)
        assert float(b) == 0


def test_an_outer_array_is_read_as_it_is_now(dev):
    w = td.arange(5.0)
    g = td.graph(lambda x: x * w)
    one = td.ones(5)
    assert g(one).get().tolist() == [0, 1, 2, 3, 4]
    w[1:3] = 9
    assert g(one).get().tolist() == [0, 9, 9, 3, 4]
    w += 1
    assert g(one).get().tolist() == [1, 10, 10, 4, 5]
    old = w.copy()
    w[...] = 0
    assert g(one).get().tolist() == [0] * 5
    assert old.get().tolist() == [1, 10, 10, 4, 5]
    assert g.recordings == 1


def test_an_outer_array_stays_alive(dev):
    w = td.arange(5.0)
    g = td.graph(lambda x, w=w: x + w)
    g(td.ones(5))
    del w
    gc.collect()
    for _ in range(3):
        td.zeros(5).get()
        assert g(td.ones(5)).get().tolist() == [1, 2, 3, 4, 5]


def test_an_outer_array_that_was_pending(dev):
    w = td.ones(5) * 2
    g = td.graph(lambda x: x + w)
    assert g(td.ones(5)).get().tolist() == [3] * 5
    assert w.get().tolist() == [2] * 5


@pytest.mark.parametrize("how", ["whole", "part", "assigned", "several"])
def test_outer_arrays_change_in_place(dev, rng, how):
    def make():
        a, b = td.zeros(6), td.ones(6)

        def f(x):
            nonlocal a
            if how == "whole":
                a += x
            elif how == "part":
                a[1:4] += x[1:4]
            elif how == "assigned":
                a[...] = x * 2
            else:
                old = a.copy()
                a[...] = b * 2
                b[...] = old + x
            return a.sum()

        return f, a, b

    (f, fa, fb), (h, ga, gb) = make(), make()
    g = td.graph(h)
    for i in range(4):
        x = td.asarray(rng.standard_normal(6))
        check(g(x), f(x))
        check((ga, gb), (fa, fb))
        if i == 1:
            fa[2] = ga[2] = 5.0
        if i == 2:
            fb *= 3
            gb *= 3
    assert g.recordings == 1


def test_values_taken_before_stay(dev):
    a = td.zeros(4)
    views = []

    def f(x):
        a[...] = a + x
        return a.sum()

    g = td.graph(f)
    for _ in range(3):
        views.append(a.copy())  # recorded, not computed, when the graph writes to a
        g(td.ones(4))
    assert [v.get()[0] for v in views] == [0, 1, 2]


def test_draws_continue_the_sequence(dev):
    def program(r):
        return lambda x: (x + r.random(9), r.standard_normal((2, 3), "float32"), r.integers(0, 9, 5))

    a, b = td.random.default_rng(5), td.random.default_rng(5)
    f, g = program(a), td.graph(program(b))
    for i in range(4):
        x = td.full(9, i)
        check(g(x), f(x))
        if i == 1:
            assert a.random(3).get().tolist() == b.random(3).get().tolist()
    assert g.recordings == 1


def test_the_module_generator_and_one_made_inside(dev):
    g = td.graph(lambda: td.random.random(4))
    td.random.seed(3)
    first = [td.random.random(4).get().tolist() for _ in range(3)]
    td.random.seed(3)
    assert [g().get().tolist() for _ in range(3)] == first
    h = td.graph(lambda: td.random.default_rng(1).random(4))
    assert h().get().tolist() == h().get().tolist() == td.random.default_rng(1).random(4).get().tolist()


REFUSED = {
    "float": (lambda x: float(x.sum()), "reading a value"),
    "if": (lambda x: x if x.sum() > 0 else -x, "reading a value"),
    "print": (lambda x: str(x), "cannot be captured"),
    "get": (lambda x: x.get(), "cannot be captured"),
    "later": (lambda x: x.get(blocking=False).result(), "cannot be captured"),
    "mask": (lambda x: x[x > 0.5], "reading"),
    "sort": (lambda x: td.sort(x), "cannot be captured"),
    "host array": (lambda x: x + np.ones(5), "copying from the host"),
    "list": (lambda x: x + td.array([1, 2, 3, 4, 5]), "copying from the host"),
    "synchronize": (lambda x: td.synchronize(), "waiting for the device"),
    "event": (lambda x: td.Event().record(), "recording an event"),
    "input written": (lambda x: x.__iadd__(1), "read-only"),
    "part of input written": (lambda x: x.__setitem__(0, 1.0), "read-only"),
    "graph": (lambda x: td.graph(lambda y: y)(x), "another graph"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_recorded_is_named(dev, name):
    f, text = REFUSED[name]
    x = td.arange(5.0)
    g = td.graph(f)
    for _ in range(2):
        with pytest.raises(ValueError, match=text) as e:
            g(x)
    if "cannot be captured" in str(e.value):
        assert "test_graph.py:" in str(e.value)
    assert g.recordings == 0
    assert (x + 1).get().tolist() == [1, 2, 3, 4, 5]  # nothing is left half recorded
    assert td.graph(lambda y: y * 2)(x).get().tolist() == [0, 2, 4, 6, 8]


def test_an_error_undoes_everything(dev):
    r = td.random.default_rng(2)
    want = td.random.default_rng(2).random(3).get().tolist()
    a, kept = td.zeros(5), []

    @td.graph
    def f(x):
        nonlocal a
        a += x
        a[1] = 3
        kept.append(x + a)
        r.random(3)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        f(td.ones(5))
    assert a.get().tolist() == [0] * 5
    assert r.random(3).get().tolist() == want
    td.evaluate()
    kept[0].get()  # without meaning, but harmless


def test_arguments_that_cannot_be_constants(dev):
    with pytest.raises(TypeError, match="bytearray is neither an array nor hashable"):
        td.graph(lambda x: x)(bytearray(3))
    with pytest.raises(TypeError, match="not a function"):
        td.graph(3)


def test_two_devices_are_one_error():
    x, y = td.ones(3, device="cpu"), td.ones(3, device="null")
    with pytest.raises(ValueError, match="inputs are on"):
        td.graph(lambda a, b: a)(x, y)
    with pytest.raises(ValueError, match=r"on cpu and on"):
        td.graph(lambda a: a + y)(x)


def test_methods_have_a_graph_for_each_object(dev):
    class Layer:
        def __init__(self, w):
            self.w = w

        @td.graph
        def forward(self, x):
            """Doc."""
            return x * self.w

    a, b = Layer(td.full(3, 2.0)), Layer(td.full(3, 5.0))
    for _ in range(2):
        assert a.forward(td.ones(3)).get().tolist() == [2] * 3
        assert b.forward(td.ones(3)).get().tolist() == [5] * 3
    assert Layer.forward.__doc__ == "Doc."


def test_memory_goes_with_the_graph(dev):
    def used():
        gc.collect()
        return td.memory.stats()["used"]

    x = td.ones(50000)
    td.evaluate(x)
    g = td.graph(chain)
    y = x.reshape(100, 500)
    before = used()
    for _ in range(3):
        g(y)
    assert used() > before
    ref = weakref.ref(g)
    del g
    assert ref() is None
    assert used() == before


def test_other_threads_work_meanwhile(dev):
    """What another thread records is not recorded into the graph, nor the other way round."""
    go, done, wrong = threading.Event(), threading.Event(), []

    def other():
        with td.device(dev):
            go.wait()
            for i in range(20):
                if (td.full(10, i) + 1).sum().item() != 10 * (i + 1):
                    wrong.append(i)
            td.evaluate()
            done.set()

    t = threading.Thread(target=other)
    t.start()

    def f(x):
        y = x + 1
        go.set()
        done.wait()
        return y * 2

    assert td.graph(f)(td.ones(4)).get().tolist() == [4] * 4
    t.join()
    assert not wrong


def test_threads_replay_one_graph(dev):
    g = td.graph(chain)
    x = [td.full((3, 50), i + 1.0) for i in range(4)]
    want = [chain(y).get() for y in x]
    g(x[0])
    wrong = []

    def work(i):
        with td.device(dev):
            for _ in range(5):
                if not np.array_equal(g(x[i]).get(), want[i]):
                    wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_index_out_of_range_takes_the_nearest(dev):
    g = td.graph(lambda x, i: x[i])
    x = td.arange(5.0)
    assert g(x, td.asarray(np.array([0, -1, 4]))).get().tolist() == [0, 4, 4]
    assert g(x, td.asarray(np.array([9, -9, 2]))).get().tolist() == [4, 0, 2]


OPS = {
    "add": lambda a, b, r: a + b,
    "mul": lambda a, b, r: a * b * 0.5,
    "sin": lambda a, b, r: td.sin(a) + b,
    "sum": lambda a, b, r: a - b.sum(axis=0),
    "max": lambda a, b, r: td.maximum(a, b.max(axis=1, keepdims=True)),
    "rand": lambda a, b, r: a + r.random((4, 5)),
    "flip": lambda a, b, r: a[::-1] + b,
    "scan": lambda a, b, r: td.cumsum(a, axis=1) * 0.1 + b,
    "write": lambda a, b, r: write(a, b),
    "where": lambda a, b, r: td.where(a > b, a, b * 0.5),
}


def write(a, b):
    c = a + 0
    c[1:3] = b[:2]
    return c


@given(st.lists(st.tuples(st.sampled_from(sorted(OPS)), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9))
@pytest.mark.parametrize("device", DEVICES)
def test_small_programs(device, program):
    def f(x, y, r):
        values = [x, y]
        for op, i, k in program:
            values.append(OPS[op](values[-1 - i % len(values)], values[k % len(values)], r))
        return tuple(values[2:])

    with td.device(device):
        ra, rb = td.random.default_rng(1), td.random.default_rng(1)
        g = td.graph(lambda x, y: f(x, y, rb))
        for seed in range(3):
            host = np.random.default_rng(seed)
            x, y = td.asarray(host.standard_normal((4, 5))), td.asarray(host.standard_normal((4, 5)))
            check(g(x, y), f(x, y, ra))


def test_recordings_are_bounded(dev):
    g = td.graph(lambda x, k: x + k)
    for k in range(40):
        assert g(td.zeros(2), k).get().tolist() == [k, k]
    for n in range(1, 12):
        assert g(td.zeros(n), 1).get().tolist() == [1] * n
    assert g.recordings <= 32 + 8
