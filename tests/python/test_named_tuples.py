"""Named tuples and enums in compiled functions: fields by name, made, changed, returned, on all devices."""

import collections
import enum
import typing

import numpy as np
import pytest
from kernel_names import function, run

import treadle as td
from treadle import cuda, jit, types

Point = collections.namedtuple("Point", "x y")
Other = collections.namedtuple("Other", "x y")


class Body(typing.NamedTuple):
    at: Point
    mass: float = 2.0
    name: str = "sun"


ORIGIN = Point(0.5, 4)


def test_fields_of_arguments(dev):
    def kernel(p, b, out):
        i = cuda.grid(1)
        x, y = p
        if i < out.size:
            out[i] = p.x[i] + p.y * b.at.x + p[1] + len(p) + x[i] + y + b.mass

    arrays = Point(td.asarray(np.arange(5.0)), 3)
    out = td.zeros(5)
    cuda.jit(kernel)[1, 32](arrays, Body(Point(2, 7)), out)
    assert np.asarray(out).tolist() == [2 * i + 3 * 2 + 3 + 2 + 3 + 2 for i in range(5)]


@pytest.mark.parametrize("parallel", [False, True])
def test_results_are_of_their_class(parallel):
    @jit(parallel=parallel)
    def moved(p, by):
        return Point(p.x + by, y=p.y), p._replace(y=by), Body(p), ORIGIN, (p, 1)

    got = moved(Point(1, np.float32(2)), 0.5)
    want = Point(1.5, 2), Point(1, 0.5), Body(Point(1, 2)), ORIGIN, (Point(1, 2), 1)
    assert got == want
    assert [type(g) for g in got] == [type(w) for w in want]
    assert type(got[4][0]) is Point and type(got[2].at) is Point and got[2].name == "sun"


def test_constants_and_defaults_in_kernels(dev):
    def kernel(out):
        b = Body(mass=1, at=ORIGIN)
        out[0] = b.at.x + b.mass
        out[1] = Body(ORIGIN).mass
        out[2] = isinstance(ORIGIN, Point) + 2 * isinstance(ORIGIN, Other) + 4 * isinstance(ORIGIN, tuple)
        out[3] = len(ORIGIN._fields)
        out[4] = (ORIGIN + (1,))[2]

    assert run(kernel, 1, 1, np.zeros(5))[0].tolist() == [1.5, 2, 5, 2, 1]


def test_where_paths_meet(dev):
    def kernel(a, out):
        p = Point(0.0, a[0])
        for i in range(4):
            if a[i] > 1:
                p = Point(p.x + a[i], i)
        out[0], out[1] = p.x, p.y

    assert run(kernel, 1, 1, np.array([0, 1, 2, 3.0]), np.zeros(2))[1].tolist() == [5, 3]


def test_a_new_class_is_another_type():
    @jit
    def first(p):
        return p.x

    Turned = collections.namedtuple("Point", "y x")
    assert first(Point(1, 2)) == 1 and first(Turned(1, 2)) == 2 and first(Point(3, 2)) == 3


def test_signatures():
    @jit([types.float64(types.NamedTuple((types.float64, types.int64), Point))])
    def f(p):
        return p.x * p.y

    assert f(Point(1.5, 2)) == 3
    for wrong in (Other(1.5, 2), (1.5, 2)):
        with pytest.raises(TypeError, match="signature"):
            f(wrong)


@pytest.mark.parametrize(
    "line, error, match",
    [
        ("p.z", ValueError, "Point.* has no field z"),
        ("Point(1)", TypeError, "field y is missing"),
        ("Point(1, 2, 3)", TypeError, "has 2 fields, 3 values"),
        ("Point(1, x=3)", TypeError, "field x is given twice"),
        ("Point(1, z=3)", TypeError, "has no field z"),
        ("p._replace(3)", TypeError, "by their names"),
        ("p if p.x else Other(1, 2)", TypeError, "Point.* on one path and Other"),
    ],
)
def test_refused(line, error, match):
    f = jit(function(f"def f(p):\n    return {line}\n", Point=Point, Other=Other))
    with pytest.raises(error, match=match):
        f(Point(1, 2))


class Light(enum.Enum):
    RED = 1
    GREEN = 2
    OFF = "off"


class Signal(enum.Enum):
    RED = 1


class Number(enum.IntEnum):
    ONE = 1


def next_lights(x, n):
    seen = [x]
    for _ in range(n):
        x = Light.GREEN if x is Light.RED else Light.RED
        seen.append(x)
    return seen


MEMBERS = [
    (lambda x: x, Light.RED), (lambda x: x, Light.OFF), (lambda x: (x, Light.GREEN), Light.RED), (lambda x: x == Light.RED, Light.RED),
    (lambda x: x is not Light.RED, Light.GREEN), (lambda x: x == 1, Light.RED), (lambda x: 1 != x, Light.RED), (lambda x: x == Signal.RED, Light.RED),
    (lambda x: x in (Light.RED, Light.GREEN), Light.GREEN), (lambda x: x in (1, 2), Light.GREEN), (lambda x: x is None, Light.RED),
    (lambda x: x.value + 1, Light.RED), (lambda x: {x: 5}[Light.RED], Light.RED), (lambda x: Light.RED if x else Light.GREEN, 0),
    (lambda x: 7 if x else 8, Light.RED), (lambda x: [x, Light.RED], Light.GREEN), (lambda x: next_lights(x, 3), Light.RED),
    (lambda x: (Light["RED"], Light["OFF"]), 1), (lambda x: x + 1, Number.ONE), (lambda x: x == Number.ONE, 1), (lambda x: Light(x), 2), (lambda x: x.name, Light.RED), (lambda x: str(x), Light.RED),
    (lambda x: x < Light.GREEN, Light.RED), (lambda x: Light["mro"], 1),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(MEMBERS)))
def test_members_of_enums_are_pythons(case):
    """A member is the member that Python has, or the function is refused: it is no number."""
    f, x = MEMBERS[case]
    try:
        got = jit(f)(x)
    except (TypeError, ValueError, KeyError):
        assert case >= len(MEMBERS) - 5
        return
    want = f(x)
    assert got == want and type(got) is type(want)


def test_members_in_executors():
    from treadle.executor import DeviceExecutor

    with DeviceExecutor("cpu") as ex:
        assert list(ex.map(is_red, [1, 2, 3])) == [is_red(x) for x in (1, 2, 3)]


def is_red(x):
    return (Light.RED == x, Light.RED if x > 1 else Light.GREEN)
