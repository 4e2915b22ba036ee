"""Classes of treadle.experimental.jitclass: the same class, compiled and as Python runs it."""

import gc

import numpy as np
import pytest

from treadle import njit, prange, typed, types
from treadle.experimental import jitclass
from treadle.types import float32, float64, int32, int64


class Account:
    """Fields, methods that call each other, properties, static methods, operators."""

    def __init__(self, owner, start=1):
        self.owner = owner
        self.total = start
        self.seen = np.zeros(3, np.float64)

    def add(self, x, times=1):
        for _ in range(times):
            self.total += x
        self.seen[self.total % 3] += x
        return self.both()

    def both(self):
        return self.total, self.seen.sum()

    @property
    def double(self):
        return self.total * 2

    @double.setter
    def double(self, value):
        self.total = value // 2

    @staticmethod
    def rate(x):
        return x * 0.25

    def __len__(self):
        return self.total

    def __getitem__(self, i):
        return self.seen[i]

    def __setitem__(self, i, x):
        self.seen[i] = x

    def __contains__(self, x):
        return x == self.owner

    def __call__(self, x):
        return self.total * x

    def __add__(self, other):
        return self.total + other.total

    def __radd__(self, x):
        return x + self.total

    def __iadd__(self, x):
        self.total += x
        return self

    def __lt__(self, other):
        return self.total < other.total

    def __eq__(self, other):
        return self.owner == other.owner

    def __neg__(self):
        return -self.total

    def __abs__(self):
        return abs(self.total)

    def __int__(self):
        return self.total

    def __float__(self):
        return self.total / 2

    def __bool__(self):
        return self.total > 0

    def __hash__(self):
        return self.owner


SPEC = [("owner", int64), ("total", int64), ("seen", float64[:])]
Compiled = jitclass(SPEC)(Account)


def uses(cls):
    def f(n):
        a, b = cls(n), cls(7, 4)
        first = a.add(3), a.add(2, times=3), b.add(x=1), a.double, cls.rate(3.0), b.rate(2)
        a.double = 31
        a[1] = 2.5
        a.total += 1
        b += 5
        c = a
        c.owner = 9
        return (first, a.both(), b.both(), len(a), a[1], 9 in a, 8 in a, a(3), a + b, 5 + a, a < b, a == b, a != c, -a,
                abs(-3), abs(a), int(a), float(a), bool(a), hash(b), a.owner, a is c, a is b, a is not None)  # fmt: skip

    return f


def test_as_in_python():
    wanted = uses(Account)(5)
    assert njit(uses(Compiled))(5) == wanted
    assert uses(Compiled)(5) == wanted


def test_between_python_and_compiled_functions():
    @njit
    def make(n):
        a = Compiled(n)
        a.add(n)
        return a, a.total

    @njit
    def change(a):
        a.seen = a.seen + 1
        a.owner += 1
        return a

    a, total = make(3)
    assert isinstance(a, Compiled) and total == a.total == 4 and a.double == 8
    assert change(a) is a and a.owner == 4 and a.seen.tolist() == [1, 4, 1]
    a.seen = np.arange(4.0)
    assert change(a).seen.tolist() == [1, 2, 3, 4]
    with pytest.raises(AttributeError):
        a.other = 1
    with pytest.raises(TypeError):
        a.owner = "a"
    assert types.typeof(a) == Compiled.class_type.instance_type
    assert list(a.class_type.struct) == ["owner", "total", "seen"]


@jitclass
class Kinds:
    i: int
    x: float
    z: complex
    flag: bool
    text: str
    small: float32
    pair: tuple[int, float]
    names: dict[str, int]
    items: list[float]
    inner: Compiled

    def __init__(self, n):
        self.i, self.x, self.z, self.flag, self.text = n, n / 2, 1j * n, n > 1, "n" + str(n)
        self.small = 0.1
        self.pair = (n, 2.5)
        self.names = typed.Dict.empty(types.unicode_type, types.int64)
        self.items = typed.List.empty_list(types.float64)
        self.inner = Compiled(n)

    def put(self, name, x):
        self.names[name] = len(self.items)
        self.items.append(x)
        self.inner.add(int(x))
        self.text += name


def test_fields_of_every_kind():
    k = Kinds(3)
    k.put("a", 2.0)
    k.put("b", 5.0)
    assert (k.i, k.x, k.z, k.flag, k.text, k.pair) == (3, 1.5, 3j, True, "n3ab", (3, 2.5))
    assert k.small == np.float32(0.1) and dict(k.names) == {"a": 0, "b": 1} and list(k.items) == [2, 5]
    assert k.inner.total == 8
    k.inner.add(1)
    assert k.inner.total == 9
    k.items.append(7.0)
    assert list(k.items) == [2, 5, 7]


node_type = types.deferred_type()


@jitclass([("data", int32), ("next", types.optional(node_type))])
class Node:
    def __init__(self, data, next):
        self.data = data
        self.next = next


node_type.define(Node.class_type.instance_type)


def test_a_reference_may_be_none():
    @njit
    def build(n):
        head = None
        for i in range(n):
            head = Node(i, head)
        return head

    @njit
    def total(head):
        s = 0
        while head is not None:
            s += head.data
            head = head.next
        return s

    @njit
    def ring():
        a = Node(1, None)
        a.next = Node(2, a)
        return a

    @njit
    def into(head):
        return head.next.next.data

    assert build(0) is None and total(build(1000)) == 499500
    first = Node(5, Node(6, None))
    assert total(first) == 11 and first.next.next is None
    for _ in range(3):
        a = ring()
        assert a.next.next.next.data == 2
    with pytest.raises(Exception, match="Node"):
        into(Node(1, None))


def test_in_lists_and_loops():
    @njit
    def f(n):
        all = [Compiled(i) for i in range(n)]
        best = all[0]
        for a in all:
            a.add(a.owner)
            if best < a:
                best = a
        return best, len(all), {i: a.total for i, a in enumerate(all)}

    best, n, totals = f(6)
    assert (best.owner, n, totals) == (5, 6, {i: 1 + i for i in range(6)})
    kept = typed.List([Compiled(1), Compiled(2)])
    kept[0].add(4)
    assert kept[0].total == 5

    @njit(parallel=True)
    def g(a, out):
        for i in prange(out.size):
            out[i] = a.total * i

    out = np.zeros(5, np.int64)
    g(best, out)
    assert out.tolist() == [6 * i for i in range(5)]


@jitclass([("data", float64[:])])
class Holder:
    def __init__(self, data):
        self.data = data

    def take(self, data):
        self.data = data

    def grow(self):
        self.data = self.data + 1


def overwritten():
    gc.collect()
    return [np.full(5000, 7.0) for _ in range(40)]


def test_arrays_live_as_long_as_what_holds_them():
    h = Holder(np.arange(5000.0))
    all = typed.List.empty_list(types.float64[:])
    boxes = typed.List([Holder(np.zeros(1))])

    @njit
    def put(all, boxes, a, h):
        all.append(a)
        boxes[0].data = a[10:]
        boxes.append(h)

    put(all, boxes, np.arange(5000.0), h)
    inner = boxes[0]
    del h, boxes
    junk = overwritten()
    assert inner.data[0] == 10 and inner.data[4989] == 4999 and all[0][4999] == 4999
    h = Holder(np.arange(5000.0))
    junk = overwritten()
    assert h.data.sum() == 12497500
    view = h.data
    h.take(np.ones(5000))
    junk += overwritten()
    assert view.sum() == 12497500 and h.data.sum() == 5000


def test_arrays_that_are_replaced_are_let_go():
    import tracemalloc

    h = Holder(np.zeros(1))

    def round_(n):
        for _ in range(n):
            h.take(np.zeros(10000))
            h.data = np.zeros(10000)

    round_(20)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        round_(200)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 40 * 80000


@pytest.mark.parametrize(
    ("spec", "members", "error", "says"),
    [
        ([(1, int32)], {}, TypeError, "spec keys should be strings"),
        ([("x", 1)], {}, TypeError, "spec values should be types"),
        ([("x", int32), ("x", int32)], {}, TypeError, "twice"),
        ([("x", int32)], {"x": lambda self: 1}, NameError, "name shadowing: x"),
        ([], {"c": classmethod(lambda cls: 1)}, TypeError, "c is a classmethod"),
    ],
)
def test_specs_that_are_none(spec, members, error, says):
    with pytest.raises(error, match=says):
        jitclass(spec)(type("Some", (), members))


def test_what_is_refused():
    with pytest.raises(TypeError, match="cannot subclass"):
        type("Other", (Compiled,), {})
    for f, says in ((lambda a: a.nothing, "no field or property nothing"), (lambda a: a.none(), "no method none"),
                    (lambda a: a @ a, "no method for this operator")):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=says):
            njit(f)(Compiled(1))


def test_from_bases_and_private_names():
    class Base:
        def twice(self):
            return self.__x * 2

    class Some(Base):
        def __init__(self, x):
            self.__y = x

        def get(self):
            return self.__y + 1

    made = jitclass([("__y", int64)])(Some)
    assert made(3).get() == 4
