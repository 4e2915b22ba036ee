"""Hot loops of unchanged programs: what compiled code takes over ends as it does in Python."""

import json
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def run(*args, plain=False, **env):
    command = [sys.executable, *([] if plain else ["-m", "treadle"]), *map(str, args)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "TREADLE_CROSSOVER": "1e18", **env}, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


def test_random_loops():
    """Values, types, arrays and exceptions of random loops are Python's."""
    seed = random.randrange(10**6)
    status, out, err = run(HERE / "loops_fuzz.py", seed, 60, plain=True)
    print(out)
    assert status == 0, out + err


HEAD = """
import math, sys, warnings
if "treadle" in sys.modules:  # loops are handed over at once
    from treadle.unchanged import _loops
    _loops.COMPILING = _loops.ENTERING = 0
    _loops.watch()
import numpy as np
n = 20000
rng = np.random.RandomState(3)
a, b, c = rng.rand(n), rng.rand(n), np.zeros(n)
k = rng.randint(0, 100, n)
m = rng.rand(200, 150)
def show(*values):
    print(*(f"{type(v).__name__} {v!r}" for v in values))
"""

# name: (program, how many of its loops must run compiled)
CASES = {
    "sum": ("for i in range(n):\n    c[i] = a[i] + b[i]\nshow(i, c.sum(), c[-1])", 1),
    "types": (
        """
        s, t, u, v = 0, 0.0, 1, True
        for i in range(n):
            s += a[i]
            t += i
            u = u * 3 % 1000003
            v = a[i] > 0.5
            w, x = bool(k[i]), not a[i]
        show(s, t, u, v, w, x, i)
        best = -1
        for i in range(n):
            if a[i] > best:
                best, where = a[i], i
        show(best, where)
        half = np.float32(0.5)
        for i in range(n):
            c[i] = (i if a[i] > 0.5 else half) / 3.0 + (half and i) / 3.0 + max(half, i) / 3.0
        print(c.tobytes().hex()[::97])
        small, one = np.float32(0), rng.rand(n).astype("f4")
        for i in range(n):
            small += one[i]
        show(small)
        """,
        3,
    ),
    "nest": (
        """
        def product(x, y):
            out = np.empty((x.shape[0], y.shape[1]))
            for i in range(x.shape[0]):
                for j in range(y.shape[1]):
                    s = 0
                    for l in range(x.shape[1]):
                        s += x[i, l] * y[l, j]
                    out[i, j] = s
            return out
        r = product(m[:60], m.T[:, :60])
        show(r.sum(), r[3, 4])
        """,
        1,
    ),
    "left": (
        """
        def first(x, what):
            for i in range(len(x)):
                if x[i] == what:
                    return i, x[i]
            else:
                print("nothing")
        def until(x, most):
            s = 0
            for v in x:
                s += v
                if s > most:
                    break
            else:
                print("all")
            return s, v
        def check(x):
            for i in range(len(x)):
                if x[i] == 100:
                    raise ValueError(f"{x[i]} at {i}")
        x = k.copy()
        x[15000] = 100
        print(first(x, 100), first(k, 100), until(a, 5000), until(a, 1e9))
        try:
            check(x)
        except ValueError as e:
            print(e, e.__traceback__.tb_next.tb_lineno)
        """,
        3,
    ),
    "while": (
        """
        i, s = 0, 0.0
        while i < n and s < 9000:
            s += a[i]
            i += 1
        show(i, s)
        def collatz(x):
            steps = 0
            while x != 1:
                x = x // 2 if x % 2 == 0 else 3 * x + 1
                steps += 1
            return steps
        most = 0
        for i in range(1, 30000):
            steps = collatz(i)
            if steps > most:
                most, at = steps, i
        show(most, at)
        """,
        2,
    ),
    "index error": (
        """
        try:
            for i in range(n):
                c[i] = a[i] + a[i + 1]
        except IndexError as e:
            show(i, c[-2], c[-1], e, e.__traceback__.tb_lineno)
        """,
        0,
    ),
    "big ints": (
        """
        s = 1
        for i in range(5000):
            s = s * 3 + k[i % 7].item()
        print(s.bit_length(), s % 10**9)
        f = 1
        for i in range(1, 3000):
            f *= i
        print(f % (10**9 + 7), f.bit_length())
        """,
        0,
    ),
    "warnings": (
        """
        x = np.arange(n, dtype=np.int32)
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            s = np.int32(0)
            for i in range(n):
                s = s + x[i] * x[i]
            print(s, len(w) > 0, w[0].message)
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            for i in range(n):
                c[i] = 1 / (a[i] - a[n - 5])
            print(c[n - 5], [str(x.message) for x in w])
        with np.errstate(all="raise"):
            try:
                for i in range(n):
                    c[i] = a[i] * 1e300 * 1e300
            except FloatingPointError as e:
                show(i, e)
        """,
        0,
    ),
    "functions": (
        """
        scale = 2
        def f(x):
            return x * scale + offset()
        def offset():
            return 0.5
        def total():
            s = 0.0
            for i in range(n):
                s += f(a[i])
            return s
        show(total())
        scale = 3
        show(total())
        def offset():
            return 0.25
        show(total())
        for i in range(n):
            scale = i % 5
            c[i] = f(a[i])
        show(c.sum(), scale)
        def inner():
            w, s = 0, 0.0
            def g(x):
                return x * w
            for i in range(n):
                w = i % 3
                s += g(a[i])
            return s
        show(inner())
        """,
        1,
    ),
    "attributes": (
        """
        class Config:
            step = 0.5
        def walk():
            x = 0.0
            for i in range(n):
                x += Config.step * a[i] - math.pi * 0.001
            return x
        show(walk())
        Config.step = 0.25
        show(walk())
        """,
        1,
    ),
    "views": (
        """
        def rows(x):
            s = 0.0
            for i in range(x.shape[0]):
                row = x[i]
                for j in range(x.shape[1]):
                    row[j] = row[j] * 2
                    s += row[j]
            return s
        show(rows(m), m.sum())
        x = np.zeros(n + 1)
        y, z = x[:-1], x[1:]
        for i in range(n):
            z[i] = y[i] + 1
        show(x[-1], x.sum())
        for i in range(200):
            last = m[i]
            for j in range(150):
                last[j] += i
        show(last.sum(), last.base is m)
        """,
        2,
    ),
    "stores": (
        """
        i8, u8, f4 = np.zeros(n, "i1"), np.zeros(n, "u1"), np.zeros(n, "f4")
        flag = np.zeros(n, bool)
        for i in range(n):
            i8[i] = a[i] * 100
            u8[i] = k[i]
            f4[i] = a[i]
            flag[i] = k[i] % 3
        show(i8.sum(), u8.sum(), f4.sum(), flag.sum())
        try:
            for i in range(n):
                u8[i] = k[i].item() + i // 80
        except OverflowError as e:
            show(i, e, u8[i - 1], u8[i])
        x = k.copy()
        x.flags.writeable = False
        try:
            for i in range(n):
                x[i] = 1
        except ValueError as e:
            show(i, e)
        """,
        1,
    ),
    "not arrays": (
        """
        class Sub(np.ndarray):
            def __getitem__(self, key):
                return 7
        x, s = a.view(Sub), 0
        for i in range(n):
            s += x[i]
        show(s)
        o = np.array([1, 2.5, "x"] * (n // 3), object)
        s = 0
        for i in range(len(o)):
            if o[i] != "x":
                s += o[i]
        show(s)
        d = {i: i * 2 for i in range(100)}
        for i in range(n):
            d[i % 100] += 1
        show(sum(d.values()))
        z, s = a + 1j * b, 0
        for i in range(n):
            s += z[i] * z[i]
        show(s)
        """,
        0,
    ),
    "members": (
        """
        class Wave:
            dt = 0.25
            def __init__(self, n):
                self.x, self.v, self.c = np.linspace(0, 1, n), np.zeros(n), 0.5
            def push(self):
                for i in range(1, len(self.x) - 1):
                    self.v[i] += self.c * (self.x[i - 1] - 2 * self.x[i] + self.x[i + 1])
            def drift(self):
                for i in range(len(self.x)):
                    self.x[i] += self.dt * self.v[i]
        class Odd(Wave):
            @property
            def c(self):
                return 2.0
            @c.setter
            def c(self, value):
                pass
        for kind in (Wave, Odd):
            w = kind(n)
            for _ in range(3):
                w.push()
                w.drift()
            show(math.fsum(w.x), math.fsum(w.v))
        """,
        1,
    ),
    "unpacked": (
        """
        image = rng.randint(0, 256, (100, 120, 3)).astype(np.uint8)
        def grey(image):
            h, w, _ = image.shape
            out = np.zeros((h, w), np.uint8)
            for i in range(h):
                for j in range(w):
                    r, g, b = image[i, j]
                    out[i, j] = int(0.299 * r + 0.587 * g + 0.114 * b)
            return out
        print(grey(image).tolist()[::17], grey(image).sum())
        try:
            for i in range(200):
                p, q = m[i % 7, : 2 + i // 150]
        except ValueError as e:
            show(i, e)
        try:
            for i in range(100):
                p, q = image[i, i]
        except ValueError as e:
            show(i, e)
        """,
        1,
    ),
    "ufuncs": (
        """
        for i in range(n):
            c[i] = np.exp(-a[i]) + np.sin(b[i]) * np.log(a[i] + 1) + np.arctan2(a[i], b[i]) - np.maximum(a[i], 0.5)
            if np.isnan(c[i]) or np.sign(c[i]) < 0:
                c[i] = np.tanh(i * 1e-3) + np.floor(c[i]) + np.power(2.0, 3)
        print(c.tobytes().hex()[::37])
        for i in range(n):
            c[i] = np.exp(-a[i]) + np.sin(b[i]) * np.cosh(a[i] + 1) + np.arctan2(a[i], b[i]) - np.minimum(a[i], i)
        print(c.tobytes().hex()[::37])
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for i in range(n):
                c[i] = np.log(a[i] - 1e-4)
        print([str(w.message) for w in told], c.tobytes().hex()[::37])
        """,
        1,
    ),
    "kinds": (
        """
        def kinds(x, k, stop):
            p = q = r = s = t = u = v = None
            for i in range(stop):
                p = np.sign(k[i] - i)
            for i in range(stop):
                q = np.maximum(i, min(-i, x[i]))
            for i in range(stop):
                r = np.maximum(x[i], i if x[i] > 0.5 else x[i])
            for i in range(stop):
                s = np.sqrt(i if x[i] > 0.5 else x[i])
            for i in range(stop):
                t = np.sign(min(i, x[i] * 30 - 1))
            for i in range(stop):
                u = np.fmin(k[i], 3 if x[i] > 0.5 else x[i])
            for i in range(stop):
                v = np.minimum(x[i], i) + np.arctan2(k[i], i)
            show(p, q, r, s, t, u, v)
        for stop in range(1, 30):
            kinds(a, k, stop)
        def bools(x, stop):
            s, t = None, x[0] > 2
            for i in range(stop):
                s = (x[i] if x[i] < 0.9 else t) + (x[i + 1] if i % 2 else t)
            show(s)
            for i in range(stop):
                s = np.sin(i if x[i] < 0.9 else i > 3)
            show(s)
            for i in range(stop):
                s = -(x[i] if x[i] < 0.9 else t)
            show(s)
        for stop in range(1, 30):
            try:
                bools(a, stop)
            except TypeError as e:
                print(stop, e)
        """,
        6,
    ),
    "scopes": (
        """
        class Walker:
            def __init__(self):
                self.total = 0
            def run(self, x):
                s = 0.0
                for i in range(len(x)):
                    s += x[i]
                self.total += s
                return self
        show(Walker().run(a).run(b).total)
        def pieces(x):
            s = 0.0
            for i in range(len(x)):
                s += x[i]
            yield s
        show(*pieces(a))
        total = 0
        def add(x):
            global total
            for i in range(len(x)):
                total += x[i]
        add(a)
        show(total)
        def seen():
            for i in range(n):
                c[i] = i
            return sorted(locals())
        print(seen(), [name for name in globals() if name.startswith("_.")])
        """,
        2,
    ),
    "compiled too": (
        """
        from numba import njit
        from concurrent.futures import ProcessPoolExecutor
        def loop(x):
            s = 0.0
            for i in range(len(x)):
                s += x[i]
            return s
        show(njit(loop)(a), loop(a))
        def steps(x):
            n = 0
            while x > 1:
                x = x // 2
                n += 1
            return n
        if __name__ == "__main__":
            with ProcessPoolExecutor(1) as ex:
                print(sum(ex.map(steps, range(1000))))
        """,
        1,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_loops(name, tmp_path):
    """A program prints what it prints under Python, and compiled code has run so many of its loops."""
    text, expected = CASES[name]
    file, report = tmp_path / "program.py", tmp_path / "report.json"
    file.write_text(HEAD + textwrap.dedent(text))
    status, want, err = run(file, plain=True) if name != "compiled too" else run(file, TREADLE_KEEP="loops")
    assert status == 0, err
    status, out, err = run(f"--explain={report}", file)
    assert (status, out) == (0, want), err
    tables = {t["title"]: t["rows"] for t in json.loads(report.read_text())["tables"]}
    assert len(tables.get("loops that ran compiled", ())) >= expected, tables


def test_traceback(tmp_path):
    """An exception that nobody catches is told as by Python."""
    file = tmp_path / "program.py"
    file.write_text(HEAD + "def f(x):\n    s = 0\n    for i in range(n + 1):\n        s += x[i]\n    return s\nf(a)\n")
    status, _, err = run(file)
    assert status == 1 and err == run(file, plain=True)[2]


def test_imported_files(tmp_path):
    """Loops of modules of the program's own are watched, too; a function that is pickled by value runs without treadle."""
    (tmp_path / "own.py").write_text(
        "import numpy\ndef total(x):\n    s = 0\n    for i in range(len(x)):\n        s += x[i]\n    return s\n"
    )
    file, report = tmp_path / "program.py", tmp_path / "report.json"
    file.write_text(
        "import marshal, subprocess, sys\nimport numpy as np\nimport own\n"
        "print(own.total(np.arange(30000.0)))\n"
        "code = marshal.dumps(own.total.__code__)\n"
        "text = f'import marshal, types; print(types.FunctionType(marshal.loads({code!r}), globals())(range(100)))'\n"
        "print(subprocess.run([sys.executable, '-c', text], capture_output=True, text=True).stdout)\n"
    )
    status, out, err = run(f"--explain={report}", file)
    assert (status, out.split()) == (0, ["449985000.0", "4950"]), err
    assert any("own.py:4" in row[0] for t in json.loads(report.read_text())["tables"] for row in t["rows"])


def test_waits():
    """A loop that waits for another thread, or for a signal's handler, sees what they do."""
    text = """
import signal, threading, time
import numpy as np
flag, x = np.zeros(1), np.zeros(10)
def later():
    time.sleep(0.5)
    flag[0] = 1
thread = threading.Thread(target=later)
thread.start()
n = 0
while flag[0] == 0:
    n += 1
thread.join()
running = True
def handler(*args):
    global running
    running = False
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.5)
while running:
    n += 1
print("done")
"""
    status, out, err = run("-c", text)
    assert (status, out) == (0, "done\n"), err


def test_switched_off(tmp_path):
    file, report = tmp_path / "program.py", tmp_path / "report.json"
    file.write_text("s = 0\nfor i in range(10**6):\n    s += i * 0.5\nprint(s)\n")
    assert run("--keep", "loops", f"--explain={report}", file)[:2] == (0, "249999750000.0\n")
    assert "loops" not in report.read_text()
