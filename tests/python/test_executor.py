"""treadle.executor: maps of functions that are compiled, and of those that are not; what goes wrong in them."""

import concurrent.futures as cf
import functools
import math
import operator
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import warnings
from ast import literal_eval

import numpy as np
import pytest
from conftest import DEVICES

import treadle as td
from treadle.executor import DeviceExecutor
from treadle.executor._columns import columns
from treadle.executor._mapper import Mapper

K = 7


@pytest.fixture
def ex():
    with DeviceExecutor(max_workers=2) as made:
        yield made


def escape(cr, ci, limit=60, bound=4.0):
    """How many steps z = z * z + c takes to leave the circle: loops, several variables, two ways out."""
    zr = 0.0
    zi = 0.0
    steps = 0
    period_r, period_i = zr, zi
    since = 0
    while steps < limit:
        zr2 = zr * zr
        zi2 = zi * zi
        if zr2 + zi2 > bound:
            break
        zi = 2.0 * zr * zi + ci
        zr = zr2 - zi2 + cr
        steps += 1
        since += 1
        if zr == period_r and zi == period_i:
            return limit
        if since > 20:
            since = 0
            period_r = zr
            period_i = zi
    else:
        return limit
    if steps == 0:
        return 0
    size = math.sqrt(zr * zr + zi * zi)
    smooth = steps + 1 - math.log(math.log(size)) / math.log(2)
    if smooth < 0:
        smooth = 0
    whole = int(smooth)
    part = smooth - whole
    if part > 0.5:
        whole += 1
    for digit in (1, 10, 100):
        if whole // digit % 10 == 9:
            whole += digit
    return whole if whole < limit else limit


def names_and_defaults(x, y=3, *, z=2.5):
    return x * K + y - z


def maybe_none(x):
    if x > 2:
        return x


def sometimes_unbound(x):
    if x > 2:
        y = x
    return y


def behind_loop(n):
    for i in range(n):
        j = i * 2
    return i, j


def newton(a):
    x = 1
    for _ in range(30):
        x = x - (x * x - a) / (2 * x)
    return x


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def picky(x):
    if x == 5:
        raise KeyError(x)
    return x


def escape_z0(c):
    z = 0
    for n in range(50):
        if abs(z) > 2:
            return n
        z = z * z + c
    return z


def escape_square(c):
    z = 0
    for n in range(50):  # noqa: B007 - it is returned
        z = z**2 + c
        if abs(z) > 2:
            break
    return z, n


def either(x, c):
    z = x if c.real > 0 else c
    return -z, z.real, z.imag, abs(z), z == 1, 2 * z - 1, bool(z)


def digits(x):
    return round(x * 1.005, 2)


def several(x):
    return (x, (x / 2, x > 1))


def closure(k):
    return lambda x: x + k


PLANE = [complex(-2 + i * 0.07, 0.1 * j) for i in range(40) for j in range(4)]
MAPS = {
    "z = 0": (escape_z0, [*PLANE, 0.25, -1, 1, 3]),
    "z = 0, z ** 2": (escape_square, PLANE),
    "int, float or complex": (either, [1, 2.5, True, -3, 0, -0.0] * 20, PLANE),
    "square": (lambda x: x * x, range(10)),
    "kinds": (lambda x: x * x, [2**40, 2**31, 3, True, 2.5, 1j, -7, 2**70]),
    "minus quotient": (lambda a, b: -b / a, [1, 2, 3, 0, 4], [5, 6, 7, 8, 9, 10]),
    "escape": (escape, [i * 0.11 - 2 for i in range(40)], [i * 0.05 - 1 for i in range(40)]),
    "defaults": (names_and_defaults, range(5)),
    "None": (maybe_none, range(6)),
    "unbound": (sometimes_unbound, [5, 6, 1, 7]),
    "behind a loop": (behind_loop, [3, 4, 0]),
    "int and float": (newton, [2.0, 3, 9, 0.5]),
    "collatz": (collatz, range(1, 60)),
    "raises": (picky, range(10)),
    "closure": (closure(0.5), range(4)),
    "partial": (functools.partial(names_and_defaults, y=4.5), range(4)),
    "partial of a builtin": (functools.partial(operator.sub, 4), range(4)),
    "sqrt": (math.sqrt, [1, 2.5, -1]),
    "pow": (pow, [2, 3, 2, 10], [10, 2, -2, 40]),
    "abs": (abs, [-1, 2.5, -3j, True, -(2**63)]),
    "int": (int, [2.5, True, 3, 1e300]),
    "branch's kind": (lambda x: x if x > 0 else 0.5, range(-3, 3)),
    "round": (digits, [i * 0.37 for i in range(100)] + [0.125, 2.675, 1e20]),
    "modulo": (lambda x: x % 3.5 // 0.7, [i * 0.31 - 50 for i in range(100)]),
    "math": (lambda x: math.sin(x) ** 2 + math.exp(x) * math.log(abs(x) + 1), [i * 0.31 - 9 for i in range(60)]),
    "complex": (lambda z: (z * z + 1) / (z - 2) ** 3 * 2 - 1j * z, [complex(i * 0.3, -i) for i in range(20)]),
    "min": (lambda x, y: min(x, y, 0.5), [1, 0, True], [2.5, -1, 0]),
    "and or": (lambda x: x and 2.5 or None, [0, 1, 2.0]),
    "tuples": (several, [0, 1, 2.0]),
    "nothing": (lambda x: None, [1, 2]),
    "empty": (lambda x: x, []),
    "generators": (lambda x, y: x + y, (i for i in range(5)), iter([1, 2.5, 3])),
    "arrays": (lambda x, y: x * y, np.arange(5), np.linspace(0, 1, 4)),
    "shifts": (lambda x: (x << 60) >> 3, range(-3, 10)),
    "int to a power": (lambda x, n: x**n, [3, -2, 7, 10, 0], [10, 63, 22, 19, 0]),
    "int beside float": (lambda x, y: x < y, [2**53 + 1, 2**53], [float(2**53)] * 2),
    "quotients of ints": (lambda x: x / 3, [2**62 + 1, 2**53 + 1, 10]),
}


def outcome(results):
    values, iterator = [], iter(results)
    try:
        for v in iterator:
            values.append(v)
    except Exception as error:
        return repr(values), type(error), str(error)
    return repr(values), None, ""


def again(items):
    """Iterators can be gone through once: a fresh one for each side."""
    return list(items) if not isinstance(items, (list, range)) else items


@pytest.mark.parametrize("name", MAPS)
def test_map_is_pythons(name, ex):
    f, *items = MAPS[name]
    one_shot = [iter(x) if hasattr(x, "__next__") else x for x in items]
    plain = [list(x) if hasattr(x, "__next__") else getattr(x, "tolist", lambda x=x: x)() for x in one_shot]
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.PerformanceWarning)  # all of them compile
        got = outcome(ex.map(f, *(iter(p) if hasattr(x, "__next__") else x for p, x in zip(plain, items))))
    assert got == outcome(map(f, *plain))


@pytest.mark.parametrize("device", DEVICES[1:])
@pytest.mark.parametrize("name", ["kinds", "escape", "int and float", "math", "pow", "tuples", "shifts", "behind a loop"])
def test_map_on_devices(name, device):
    f, *items = MAPS[name]
    with DeviceExecutor(device) as ex:
        got, wanted = outcome(ex.map(f, *items)), outcome(map(f, *items))
    if name == "math" and device != "null":  # a GPU's functions differ in the last bits
        np.testing.assert_allclose(literal_eval(got[0]), literal_eval(wanted[0]), rtol=1e-14)
    else:
        assert got == wanted


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_stay_on_the_device(device):
    with DeviceExecutor(device) as ex, td.device(device):
        x = td.arange(100_000)
        y = ex.map(lambda a, b: a * b + 0.5, x, td.linspace(0, 1, 100_000), as_array=True)
        assert y.device == x.device and y.dtype == "float64"
        np.testing.assert_array_equal(y.get(), np.arange(100_000) * np.linspace(0, 1, 100_000) + 0.5)


def test_only_what_must_is_run_again():
    xs = [*range(1000), 2**40, 0]
    for f, again_ in ((lambda x: x * x, 1), (lambda x: 1 / (x + 1), 0), (lambda x: 6 // x if x else 0, 0)):
        found, n = columns([xs])
        mapper = Mapper(f, found, n, td.device("cpu"), False)
        values, error = mapper.run(0, n)
        assert error is None and values == [f(x) for x in xs]
        assert mapper.again == again_
    for f in (escape_z0, escape_square):
        found, n = columns([PLANE[4:]])  # the first is 2 away from 0, which is told from more by hypot only
        mapper = Mapper(f, found, n, td.device("cpu"), False)
        mapper.run(0, n)
        assert mapper.again == 0


def test_a_map_that_is_mostly_pythons_is_told(ex):
    with pytest.warns(td.PerformanceWarning, match="Python ran 2000 of 2000 items"):
        assert list(ex.map(lambda x: x**3, [2**40] * 2000)) == [2**120] * 2000


def test_constants_change(ex):
    global K
    assert list(ex.map(names_and_defaults, [1, 2])) == [7.5, 14.5]
    K = 8
    try:
        assert list(ex.map(names_and_defaults, [1, 2])) == [8.5, 16.5]
    finally:
        K = 7
    for k in (1, 2.5, True, 1.0, -0.0):
        assert repr(list(ex.map(closure(k), [1, 2]))) == repr([1 + k, 2 + k])
    k = 1
    f = lambda x: x * k  # noqa: E731
    assert list(ex.map(f, [3])) == [3]
    k = 1.5
    assert list(ex.map(f, [3])) == [4.5]


def test_many_items_of_mixed_kinds(ex):
    xs = [i if i % 3 else i * 0.5 for i in range(20000)]
    assert repr(list(ex.map(lambda x: x * x - 1, xs))) == repr([x * x - 1 for x in xs])


def test_as_array(ex):
    a = ex.map(lambda x: x * 0.5, range(20000), as_array=True)
    assert type(a) is td.ndarray and a.dtype == "float64"
    np.testing.assert_array_equal(a.get(), np.arange(20000) * 0.5)
    pairs = ex.map(lambda x: (x, x * x), td.arange(5), as_array=True)
    np.testing.assert_array_equal(pairs.get(), [[x, x * x] for x in range(5)])
    with pytest.raises(OverflowError, match="as a list"):
        ex.map(lambda x: x * x, [2**40, 1], as_array=True)
    with pytest.raises(TypeError, match="as a list"):
        ex.map(lambda x: x if x else None, [0, 1], as_array=True)
    with pytest.raises(ZeroDivisionError):
        ex.map(lambda x: 1 / x, [0, 1], as_array=True)


def test_inputs_are_taken_at_once(ex):
    xs = list(range(50000))
    results = ex.map(lambda x: x + 1, xs)
    xs[:] = [0] * len(xs)
    assert sum(results) == sum(range(50001))
    longer = iter(range(10))
    assert list(ex.map(lambda a, b: a + b, [1, 2], longer)) == [1, 3]
    assert next(longer) == 2  # as zip leaves it
    with pytest.raises(ZeroDivisionError):
        ex.map(lambda x: x, (1 // (3 - i) for i in range(5)))


# ---- exceptions ----


def test_tracebacks_begin_in_the_function(ex):
    try:
        list(ex.map(picky, range(8)))
    except KeyError as error:
        frames = traceback.extract_tb(error.__traceback__)
        assert frames[-1].name == "picky" and "raise KeyError(x)" in frames[-1].line
        assert error.__cause__ is None and error.__context__ is None
    else:
        pytest.fail("nothing was raised")


def test_values_before_an_exception_come(ex):
    results = ex.map(picky, range(8))
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(KeyError):
        next(results)
    assert list(results) == []
    assert list(ex.map(picky, [1, 2])) == [1, 2]


# ---- cancelling, timeouts, the end ----


def slow(n):
    total = 0
    for i in range(n):
        total = (total * 31 + i) % 1000003
    return total


def maps_end():
    """The maps' threads end, long before they would have done all that they were given."""
    end = time.monotonic() + 60
    while left := [t for t in threading.enumerate() if t.name == "treadle-map"]:
        if time.monotonic() > end:
            return False
        left[0].join(0.1)
    return True


def test_a_map_that_nobody_wants_stops(ex):
    results = ex.map(slow, [50_000] * 100_000)
    next(results)
    results.close()
    assert maps_end()
    assert list(ex.map(slow, [3])) == [slow(3)]


def test_timeout(ex):
    results = ex.map(slow, [400_000] * 3000, timeout=0.05)
    with pytest.raises(cf.TimeoutError):
        list(results)
    assert list(ex.map(slow, [3], timeout=60)) == [slow(3)]


def test_shutdown():
    ex = DeviceExecutor()
    results = ex.map(slow, [10] * 5)
    ex.shutdown()
    assert list(results) == [slow(10)] * 5
    for call in (lambda: ex.submit(slow, 1), lambda: ex.map(slow, [1])):
        with pytest.raises(RuntimeError, match="after shutdown"):
            call()


def test_interrupted_map():
    """Ctrl-C while a map computes: KeyboardInterrupt, and the next map works."""
    program = textwrap.dedent("""
        import os, signal, threading
        from treadle.executor import DeviceExecutor

        def slow(n):
            total = 0
            for i in range(n):
                total = (total * 31 + i) % 1000003
            return total

        ex = DeviceExecutor()
        list(ex.map(slow, [5]))
        results = ex.map(slow, [400_000] * 20_000)
        next(results)  # it computes
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            list(results)
        except KeyboardInterrupt:
            print("interrupted")
        print(list(ex.map(slow, [5])) == [slow(5)])
        ex.shutdown()
    """)
    file = __file__ + ".interrupted.py"
    try:
        with open(file, "w") as f:
            f.write(program)
        done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=120)
    finally:
        os.unlink(file)
    assert done.stdout.split() == ["interrupted", "True"], done.stderr


def test_interrupted_while_a_map_begins(ex, monkeypatch):
    """Its thread has begun, and nobody has its results: it is not left to run to its end."""
    start = threading.Thread.start

    def interrupted(thread):
        start(thread)
        if thread.name == "treadle-map":
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ex.map(slow, [1_000_000] * 100_000)
    monkeypatch.undo()
    assert maps_end()


# ---- what is not compiled ----


def spell(x):
    return f"{x:04d}"


def die(x):
    if x == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return [x]


def fail(x):
    if x == 2:
        raise ValueError("no 2", x)
    return {x}


def test_worker_processes(ex):
    with pytest.warns(td.PerformanceWarning, match=r"spell runs in worker processes(?s:.*)f\"{x:04d}\"") as told:
        assert list(ex.map(spell, range(20))) == [spell(x) for x in range(20)]
        assert list(ex.map(spell, range(3))) == ["0000", "0001", "0002"]
    assert len(told) == 1
    with pytest.warns(td.PerformanceWarning), pytest.raises(ValueError, match="no 2") as failed:
        list(ex.map(fail, range(4)))
    assert "in fail" in "".join(traceback.format_exception(failed.value))
    with pytest.raises(ValueError, match="no 2") as failed:
        list(DeviceExecutor("cpu", initializer=abs, initargs=(1,)).map(fail, range(4)))
    assert "in fail" in str(failed.value.__cause__)  # the worker's own traceback
    with pytest.warns(td.PerformanceWarning), pytest.raises(cf.process.BrokenProcessPool):
        list(ex.map(die, range(6)))
    assert list(ex.map(spell, range(3))) == ["0000", "0001", "0002"]


def long_spell(x):
    time.sleep(0.002)
    return f"{x}", threading.current_thread() is threading.main_thread()


def test_first_items_run_here_and_the_rest_in_workers(ex):
    with pytest.warns(td.PerformanceWarning):
        got = list(ex.map(long_spell, range(100)))
    assert [g[0] for g in got] == [str(x) for x in range(100)]
    assert not got[0][1] and got[-1][1]  # a worker process runs items on its main thread
    with pytest.warns(td.PerformanceWarning), pytest.raises(ValueError):
        list(ex.map(lambda x: f"{x}" if x else "".index("a"), [1] * 50 + [0]))


def test_long_items_run_side_by_side():
    """None ends before all four have begun."""
    begun = threading.Barrier(4, timeout=60)

    def wait(x):
        time.sleep(0.05)
        begun.wait()
        return [str(x)]

    with pytest.warns(td.PerformanceWarning):
        assert list(DeviceExecutor("cpu", 4).map(wait, range(4))) == [["0"], ["1"], ["2"], ["3"]]


def test_all_threads_busy():
    with DeviceExecutor("cpu", 1) as ex, pytest.warns(td.PerformanceWarning):
        assert ex.submit(lambda: list(ex.map(spell, range(5)))).result(60) == [spell(x) for x in range(5)]


def test_small_maps_cost_as_little_as_threads(ex):
    """200 items that are not compiled, from the second map on; a thread pool hands each of them over."""
    pool, best = cf.ThreadPoolExecutor(), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, by in (("executor", ex), ("threads", pool)) * 15:
            began = time.perf_counter()
            assert list(by.map(spell, range(200))) == [spell(x) for x in range(200)]
            best[name] = min(time.perf_counter() - began, best.get(name, 9))
    assert best["executor"] < 1.2 * best["threads"]


def test_functions_that_workers_do_not_find():
    assert program("""
        import warnings
        from treadle.executor import DeviceExecutor

        if __name__ == "__main__":
            def exclaim(x):
                return f"{x}!"

            class Point:
                def __init__(self, x):
                    self.x = x

            warnings.simplefilter("ignore")
            with DeviceExecutor(initializer=abs, initargs=(1,)) as ex:
                print(list(ex.map(exclaim, range(3))), list(ex.map(exclaim, range(3))))
                print([p.x for p in ex.map(Point, range(3))], list(map(exclaim, [1])))
    """) == ["['0!', '1!', '2!'] ['0!', '1!', '2!']", "[0, 1, 2] ['1!']"]


def test_messages_have_the_programs_places_alone(ex):
    for f in (spell, lambda x: f"{x}!", lambda x: {x: 1}):
        with pytest.warns(td.PerformanceWarning) as told:
            list(DeviceExecutor("cpu").map(f, [1, 2]))
        assert "probe" not in str(told[0].message) and "<treadle" not in str(told[0].message)


def test_threads_where_processes_cannot(ex):
    seen = []
    with pytest.warns(td.PerformanceWarning, match="runs in threads"):
        assert list(ex.map(lambda x: seen.append(x) or len(str(x)), [1, 22])) == [1, 2]
    assert sorted(seen) == [1, 22]
    with pytest.warns(td.PerformanceWarning, match="but strs"):
        assert list(ex.map(lambda s: s.upper(), ["a", "b"])) == ["A", "B"]


def test_submit(ex):
    futures = [ex.submit(pow, 2, k) for k in range(5)]
    assert [f.result() for f in cf.as_completed(futures)].sort() == [1, 2, 4, 8, 16].sort()
    done, left = cf.wait(futures)
    assert len(done) == 5 and not left
    assert ex.submit(names_and_defaults, 1, z=0).result() == 10
    called = []
    ex.submit(abs, -3).add_done_callback(lambda f: called.append(f.result()))
    ex.submit(abs, -3).result()
    with pytest.raises(KeyError):
        ex.submit(picky, 5).result()
    with DeviceExecutor("null") as on_null:
        assert on_null.submit(lambda: str(td.zeros(2).device)).result().startswith("null")


def test_progress(ex, capsys):
    pytest.importorskip("tqdm")
    assert sum(ex.map(lambda x: x * 2, range(10000), progress=True)) == 99990000
    shown = capsys.readouterr().err
    assert "10.0k/10.0k" in shown and "B/s" in shown and "items/s" in shown


# ---- engines ----


def test_engine():
    """Any object with submit: slices go to its workers."""
    with cf.ThreadPoolExecutor(2) as engine:
        ex = DeviceExecutor(engine=engine)
        assert list(ex.map(lambda x: x * x, range(1000))) == [x * x for x in range(1000)]
        assert list(ex.map(lambda x: x * x, range(1000), chunksize=7)) == [x * x for x in range(1000)]
        assert list(ex.map(spell, range(5))) == [spell(x) for x in range(5)]
        assert ex.submit(pow, 2, 3).result() == 8
        results = ex.map(picky, range(8))
        assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
        with pytest.raises(KeyError) as failed:
            next(results)
        assert "picky" in str(failed.value.__cause__)
        ex.shutdown()
        assert engine.submit(pow, 2, 3).result() == 8  # the engine is its owner's to shut down


def test_arguments():
    with pytest.raises(ValueError):
        DeviceExecutor(max_workers=0)
    with DeviceExecutor(3) as ex:
        assert ex.submit(abs, -1).result() == 1
        with pytest.raises(ValueError, match="chunksize"):
            ex.map(abs, [1], chunksize=0)
        assert list(ex.map(abs)) == []


# ---- array work ----

MATRICES = np.random.default_rng(3).normal(size=(70, 4, 4))
VECTORS = np.random.default_rng(4).normal(size=(70, 4))


def products(m, v):
    return m @ v, np.sum(v * v)


def appends(v, seen=[]):  # noqa: B006
    seen.append(1)
    return len(seen)


@pytest.mark.parametrize("made", [lambda a: a, list, lambda a: td.asarray(a)], ids=["array", "list", "treadle"])
def test_array_work_is_batched(made, ex):
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.PerformanceWarning)
        got = list(ex.map(products, made(MATRICES), made(VECTORS)))
    assert len(got) == 70 and type(got[0]) is tuple
    kind = td.ndarray if made(VECTORS[:1]).__class__ is td.ndarray else np.ndarray
    assert type(got[0][0]) is kind
    for (y, s), m, v in zip(got, MATRICES, VECTORS):
        np.testing.assert_allclose(np.asarray(y.get() if kind is td.ndarray else y), m @ v, rtol=1e-12)
        np.testing.assert_allclose(float(s), v @ v, rtol=1e-12)
    whole = ex.map(lambda m: m @ m, made(MATRICES), as_array=True)
    np.testing.assert_allclose(whole.get(), MATRICES @ MATRICES, rtol=1e-12)


def test_array_work_with_effects_runs_once(ex):
    """What may do more than compute is not tried with stand-ins first."""
    with pytest.warns(td.PerformanceWarning, match="items are arrays"):
        assert sorted(ex.map(lambda v: appends(v), VECTORS[:5])) == [1, 2, 3, 4, 5]


def test_array_work_that_fails(ex):
    def first_row(m):
        return np.linalg.inv(m)[0]

    broken = MATRICES[:3].copy()
    broken[1] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.PerformanceWarning)
        results = ex.map(first_row, broken)
        np.testing.assert_allclose(next(results), first_row(broken[0]))
        with pytest.raises(np.linalg.LinAlgError):
            list(results)


# ---- programs ----


def program(text, *options, **environment):
    """What a program prints; its file lies beside this one, so it is its own code."""
    file = f"{__file__}.{os.getpid()}.py"
    try:
        with open(file, "w") as f:
            f.write(textwrap.dedent(text))
        done = subprocess.run([sys.executable, *options, file], capture_output=True, text=True, timeout=120,
                              env={**os.environ, **environment})  # fmt: skip
    finally:
        os.unlink(file)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_maps_under_way_end_with_the_program():
    assert program("""
        import atexit, time
        from treadle.executor import DeviceExecutor

        def wait_and_print(x):
            time.sleep(0.3)
            print("through")

        ex = DeviceExecutor()
        ex.submit(wait_and_print, 1)

        @atexit.register
        def late():
            try:
                ex.submit(abs, 1)
            except RuntimeError:
                print("too late")
    """) == ["through", "too late"]


POOLS = """
    import concurrent.futures
    import concurrent.futures as cf
    from concurrent.futures import ProcessPoolExecutor, as_completed
    import cupy
    import os

    def cube(x):
        return x ** 3

    def spell(x):
        return f"{x} {cupy.ones(2).sum()}", os.getpid()

    if %s:
        with ProcessPoolExecutor(2) as ex:
            print(type(ex).__module__, sum(ex.map(cube, range(1000))))
            told = list(ex.map(spell, range(3)))
            print([t[0] for t in told], os.getpid() in [t[1] for t in told])
            futures = [ex.submit(cube, i) for i in range(3)]
            print(sorted(f.result() for f in as_completed(futures)), isinstance(futures[0], cf.Future))
        print(cf.ThreadPoolExecutor.__module__, concurrent.futures.process.BrokenProcessPool.__name__)
"""


@pytest.mark.parametrize("guard, in_program", [('__name__ == "__main__"', False), ("True", True)])
def test_unchanged_programs(guard, in_program):
    """The class is found by all ways of importing it; workers run the program on treadle too. A program that each worker
    would run whole has threads."""
    assert program(POOLS % guard, "-m", "treadle") == [
        "treadle.unchanged._futures 249500250000",
        f"['0 2.0', '1 2.0', '2 2.0'] {in_program}",
        "[0, 1, 8] True",
        "concurrent.futures.thread BrokenProcessPool",
    ]


def test_torch_is_treadles():
    text = "import torch; import torch.nn as nn; print(torch.ones(3).sum().item(), nn.Linear.__module__.split('.')[0])"
    assert program(text, "-m", "treadle") == ["3.0 treadle"]


def test_modules_that_are_kept():
    text = "import concurrent.futures as cf; print(cf.ProcessPoolExecutor.__module__)"
    for options, environment in ((["--keep", "concurrent"], {}), ([], {"TREADLE_KEEP": "torch,concurrent"})):
        assert program(text, "-m", "treadle", *options, **environment) == ["concurrent.futures.process"]


def emptied(items):
    """Changes what it is given."""
    total = sum(len(str(x)) for x in items)
    items.clear()
    return total


def test_arguments_are_the_callers():
    """Whether this process or a worker runs an item, fn changes a copy of it."""
    lists = [["a", "bc", k] for k in range(40)]
    with warnings.catch_warnings(), DeviceExecutor("cpu") as ex:
        warnings.simplefilter("ignore")
        totals = list(ex.map(emptied, lists))
    assert totals == [3 + len(str(k)) for k in range(40)]
    assert lists == [["a", "bc", k] for k in range(40)]
