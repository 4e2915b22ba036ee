"""Random kernels without races, and CPython's account of what they do.

A kernel's threads meet at barriers and warp operations at uniform places only, and between two barriers each memory is
used in one way: elements of the thread's own, or of all to read, or one place a thread to write. So every engine has to
give the same numbers. The model runs the text itself, threads as generators that yield where they meet.

python tests/python/kernel_generator.py [--seed S] [--seconds N] compares engines for that long and prints what differs.
"""

import argparse
import math
import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from small_kernels import made

import treadle as td
from treadle import cuda

RECORD = np.dtype([("x", np.int32), ("y", np.float64)], align=True)
NAMES = ("a", "b", "c", "r", "o", "p", "q", "w", "cnt", "u", "n")
FULL = 0xFFFFFFFF
INT_OPS = ("({} + {})", "({} - {})", "(({} * {}) % 1009)", "({} // (1 + abs({})))", "({} % (1 + abs({})))", "({} & {})", "({} | {})",
           "({} ^ {})", "min({}, {})", "max({}, {})", "(abs({}) % 50 << abs({}) % 6)", "({} >> abs({}) % 7)", "({} // -(1 + abs({})))")
SHAPES = {1: ((1,), (2,), (31,), (32,), (33,), (70,)), 2: ((5, 3), (8, 4), (33, 2), (1, 7)), 3: ((3, 5, 2), (4, 4, 2), (2, 1, 17))}
GRIDS = {1: ((1,), (3,)), 2: ((1, 1), (2, 2)), 3: ((1, 1, 1), (2, 1, 2))}


def indented(lines):
    return ["    " + line for line in lines]


class Kernel:
    """text; block and grid; args(): its arguments, made anew."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.seed, self.ndim = seed, rng.randint(1, 3)
        self.block, self.grid = rng.choice(SHAPES[self.ndim]), rng.choice(GRIDS[self.ndim])
        self.threads, self.blocks = math.prod(self.block), math.prod(self.grid)
        self.warps, self.returns = rng.random() < 0.5, rng.random() < 0.4
        self.meets = rng.random() < 0.8  # barriers and warp operations
        self.counter = 0
        self.phase()
        body = self.prologue()
        for _ in range(rng.randint(2, 4)):
            body += self.statements(rng.choice((1, 2, 2, 3)), uniform=True, loop=None)
        body += self.barrier() if self.meets else []
        self.mode["s"] = "own"
        body += ["o[g, 0] = i0; o[g, 1] = i1", "o[g, 2] = v; q[g, 0] = h", "p[g].y = f0", "o[g, 3] += loc[0] + loc[3] + s[t]"]
        self.body = body

    def text(self, model=False):
        head = f"def f({'cuda, ' if model else ''}{', '.join(NAMES)}):"
        lines = [s.replace("MEET ", "yield " if model else "cuda.") for s in self.body]
        return "\n".join([head, *indented(lines)]) + "\n"

    def args(self):
        rng = np.random.default_rng(self.seed)
        total = self.threads * self.blocks
        r = np.zeros(8, RECORD)
        r["x"], r["y"] = rng.integers(-50, 50, 8), rng.integers(-50, 50, 8) / 4
        return (rng.integers(-(2**31), 2**31, 16).astype(np.int32), rng.integers(-64, 64, 16) / 8, rng.integers(0, 256, 16).astype(np.uint8),
                r, np.zeros((total, 4), np.int64), np.zeros(total, RECORD), np.zeros((total, 2), np.int32),
                np.zeros((self.blocks, self.threads), np.int64), np.zeros(8, np.int64), np.zeros((self.blocks, 3), np.int64), 5)

    # ---- what may be done with memory until the next barrier ----

    def phase(self):
        self.mode = {m: self.rng.choice(("own", "own", "all", "shift")) for m in ("s", "w")}
        self.u_read = self.u_closed = False

    def prologue(self):
        dims, place = "xyz"[: self.ndim], {"threadIdx": "0", "blockIdx": "0"}
        for index, size in (("threadIdx", "blockDim"), ("blockIdx", "gridDim")):
            for axis in reversed(dims):
                place[index] = f"({place[index]} * cuda.{size}.{axis} + cuda.{index}.{axis})"
        lines = [f"t = {place['threadIdx']}", f"blk = {place['blockIdx']}", f"g = blk * {self.threads} + t",
                 f"s = cuda.shared.array({self.threads}, np.int64)", "loc = cuda.local.array(4, np.int64)",
                 "for m in range(4):", "    loc[m] = m - t", "s[t] = t * 3", "i0 = t; i1 = 3; v = n; f0 = 0.5; h = a[t % 16]", "k = 0"]
        self.mode = {"s": "own", "w": "own"}
        if self.meets and self.rng.random() < 0.7:
            lines += self.barrier()
        return lines

    def barrier(self):
        kind, test = self.rng.randint(0, 5), self.condition(False)  # which is of the phase that ends
        self.phase()
        if kind == 0:
            return [f"i1 = MEET syncthreads_count({test})"]
        if kind == 1:
            return [f"i1 = MEET {self.rng.choice(('syncthreads_and', 'syncthreads_or'))}({test})"]
        return ["MEET syncthreads()"]

    # ---- expressions ----

    def load(self, uniform):
        rng = self.rng
        if uniform:
            if self.u_closed or rng.random() < 0.4:
                return rng.choice(("n", "v", "blk", f"int(a[{rng.randint(0, 15)}] % 50)", "int(c[v % 16])"))
            self.u_read = True
            return f"u[blk, {rng.randint(0, 2)}]"
        kind = rng.randint(0, 8)
        if kind == 0:
            return rng.choice((f"int(a[{self.integer(0)} % 16] % 1000)", f"int(c[{self.integer(0)} % 16])"))
        if kind == 1:
            return f"o[g, {rng.randint(0, 3)}]"
        if kind == 2:
            return f"loc[{self.integer(0)} % 4]"
        if kind in (3, 4):
            m = rng.choice("sw")
            if self.mode[m] in ("own", "all"):
                at = "t" if self.mode[m] == "own" else rng.choice((f"({self.integer(0)} % {self.threads})", "0", f"((t + 1) % {self.threads})"))
                return f"s[{at}]" if m == "s" else f"w[blk, {at}]"
        if kind == 5:
            return rng.choice((f"int(r[{self.integer(0)} % 8].x)", "int(p[g].x)", f"int(r['x'][{self.integer(0)} % 8])"))
        if kind == 6:
            return self.load(True)
        return rng.choice(("i0", "i1", "t", "g", "k"))

    def integer(self, depth=2, uniform=False):
        kind = self.rng.randint(0, 5 if depth else 1)
        if kind == 0:
            return str(self.rng.randint(-20, 100))
        if kind <= 2:
            if not depth and not uniform:
                return self.rng.choice(("i0", "i1", "t", "g", "k", "v"))
            return self.load(uniform)
        if kind == 3 and not uniform:
            return f"({self.integer(depth - 1)} if {self.condition(False, depth - 1)} else {self.integer(depth - 1)})"
        return self.rng.choice(INT_OPS).format(self.integer(depth - 1, uniform), self.integer(depth - 1, uniform))

    def condition(self, uniform, depth=1):
        rng = self.rng
        if not uniform and rng.random() < 0.25:
            return rng.choice((f"f0 > {rng.randint(-8, 8) / 4}", "b[i0 % 16] < f0", f"t < {rng.randint(0, self.threads)}", "h > 0"))
        sign = rng.choice(("<", ">=", "==", "!="))
        one = f"{self.integer(depth, uniform)} {sign} {self.integer(0, uniform)}" if sign in "<>=" else \
            f"{self.integer(depth, uniform)} & {rng.choice((1, 3, 5))} {sign} {rng.randint(0, 1)}"
        if depth and rng.random() < 0.2:
            return f"({one} {rng.choice(('and', 'or'))} {self.condition(uniform, 0)})"
        return one

    # ---- statements ----

    def statements(self, depth, uniform, loop):
        """loop: None, "free", "even" (the block's threads all take its turns), or "meets": these begin with a barrier."""
        lines = []
        for _ in range(self.rng.randint(1, 3)):
            lines += self.statement(depth, uniform, loop)
        return lines

    def statement(self, depth, uniform, loop):
        rng = self.rng
        kind = rng.randint(0, 19 if depth else 9)
        if uniform and self.meets and loop in (None, "meets") and rng.random() < 0.25:
            return self.meeting()
        if uniform and rng.random() < 0.2:
            return self.uniform_statement(loop)
        if kind <= 1:
            return [f"{rng.choice(('i0', 'i1'))} = {self.integer()} % 99991"]
        if kind == 2:
            return [f"f0 = math.floor(({rng.choice(('f0', 'b[i0 % 16]', 'r[i1 % 8].y', 'p[g].y'))} * 0.5 + {self.integer(1)} % 64) * 4) * 0.25"]
        if kind == 3:
            return [rng.choice(("h = h * h + a[{} % 16]", "h += a[{} % 16]", "h = a[{} % 16] >> np.int32(3)", "h ^= a[{} % 16]")).format(self.integer(1))]
        if kind in (4, 5):
            return self.store()
        if kind == 6:
            return [rng.choice((f"loc[{self.integer(0)} % 4] = {self.integer()} % 99991", "loc[t % 4] += 1", "i0, i1 = i1, i0"))]
        if kind in (7, 8):
            name = rng.choice(("add", "max", "min", "xor", "or_", "and_", "sub"))
            # each counter knows one operation: several would not commute
            return [f"cuda.atomic.{name}(cnt, {('add', 'max', 'min', 'xor', 'or_', 'and_', 'sub').index(name)}, {self.integer()} % 1000)"]
        if kind == 9:
            if loop == "free" or (loop and uniform):
                return [f"if {self.condition(loop != 'free')}: {rng.choice(('break', 'continue'))}"]
            return [f"i0 = (i0 + {self.integer(1)}) % 1000003"]
        if kind == 10 and self.returns:
            return [f"if {self.condition(False)}: return"]
        if kind <= 14:
            return self.branch(depth, uniform and rng.random() < 0.5, loop)
        return self.loop(depth, uniform and rng.random() < 0.5, loop)

    def meeting(self):
        rng, lane = self.rng, self.rng.randint(0, 31)
        if not self.warps or rng.random() < 0.5:
            return self.barrier()
        x, x_, f = rng.choice(("i0", "i1")), rng.choice(("i0", "i1")), rng.choice(("i0", "f0", "h"))
        return [rng.choice((
            f"{f} = MEET shfl_sync({FULL}, {f}, {rng.choice((str(lane), 't % 32', '(t * 7 + 3) % 32', 'v % 32'))})",
            f"{f} = MEET shfl_{rng.choice(('up', 'down', 'xor'))}_sync({FULL}, {f}, {rng.choice((1, 2, 5, 16, lane))})",
            f"{x} = int(MEET ballot_sync({FULL}, {self.condition(False)})) % 99991", f"{x} = int(MEET match_any_sync({FULL}, {x_} % 3)) % 99991",
            f"{x} = MEET {rng.choice(('any', 'all'))}_sync({FULL}, {self.condition(False)}) + {x}", "MEET syncwarp()"))]

    def uniform_statement(self, loop):
        rng = self.rng
        if loop in (None, "meets") and not self.u_closed and not self.u_read and rng.random() < 0.7:
            value = f"{self.integer(1, True)} % 997" if rng.random() < 0.3 else f"({rng.choice(('v', 'n', 'blk'))} * {rng.randint(1, 9)} + {rng.randint(0, 99)}) % 997"
            if self.u_read:  # the value reads it: no write after that
                return [f"v = {value}"]
            self.u_read = True  # below
            at = f"u[blk, {rng.randint(0, 2)}]"
            lines = rng.choice(([f"{at} = {value}"], [f"if v & 1 == {rng.randint(0, 1)}:", f"    {at} = {value}"],
                                [f"if v % 3 == {rng.randint(0, 2)}:", f"    {at} = {value}", "else:", f"    {at} = n"],
                                [f"for m in range({rng.randint(1, 3)}):", f"    {at} = {value}"]))
            return [*lines, f"{rng.choice(('i0', 'i1', 'v'))} = u[blk, {rng.randint(0, 2)}]"]
        if loop in (None, "meets") and self.meets and not self.u_read and not self.u_closed and rng.random() < 0.5:
            self.u_closed = True
            return ["if t == 0:", f"    u[blk, {rng.randint(0, 2)}] = {self.integer(1)} % 97"]
        return [f"v = {self.integer(1, True)} % 97"]

    def store(self):
        rng = self.rng
        m = rng.choice("swopq")
        value = f"{self.integer()} % 99991"
        if m == "o":
            return [rng.choice((f"o[g, {rng.randint(0, 3)}] = {value}", f"o[g, {rng.randint(0, 3)}] += i0", f"o[g, i0 % 4] = {value}"))]
        if m == "p":
            return [rng.choice((f"p[g].x = {value}", "p[g]['y'] = f0", "p[g].y += 0.25"))]
        if m == "q":
            return [rng.choice(("q[g, 1] = h", "q[g, i0 % 2] += h", f"q[g, 0] = {value}"))]
        at = {"own": "t", "shift": f"(t + {rng.randint(1, 3)}) % {self.threads}"}.get(self.mode[m])
        if self.mode[m] == "shift":
            self.mode[m] = "closed"
        if at is None:
            return [f"i1 = {value}"]
        return [f"s[{at}] = {value}" if m == "s" else f"w[blk, {at}] = {value}"]

    def inside(self, depth, uniform, loop):
        return indented(self.statements(depth - 1, uniform, loop))

    def branch(self, depth, uniform, loop):
        words = ["if"] + ["elif"] * (self.rng.random() < 0.4) + ["else"] * (self.rng.random() < 0.5)
        tests = [self.condition(uniform) for word in words]
        before, after, lines = (self.mode, self.u_read, self.u_closed), [], []
        for word, test in zip(words, tests):
            if uniform:  # all threads of the block take this one, from where they were before
                self.mode, self.u_read, self.u_closed = dict(before[0]), *before[1:]
            lines += ["else:" if word == "else" else f"{word} {test}:", *self.inside(depth, uniform, loop)]
            after.append((self.mode, self.u_read, self.u_closed))
        if uniform and any("MEET" in line for line in lines):
            return lines + self.barrier()
        self.mode = {m: "closed" if any(x[0][m] == "closed" for x in after) else before[0][m] for m in "sw"}
        self.u_read, self.u_closed = before[1] or any(x[1] for x in after), any(x[2] for x in after)
        return lines

    def loop(self, depth, uniform, loop):
        rng = self.rng
        self.counter += 1
        meets = uniform and self.meets and loop in (None, "meets") and rng.random() < 0.6
        kind = "meets" if meets else "even" if uniform else "free"
        end = f"{self.integer(1, True)} % 4" if uniform else f"{self.integer(1)} % 5"
        begin = self.barrier() if meets else []
        name = f"m{self.counter}"
        if rng.random() < 0.6:
            over = rng.choice((f"range({end})", f"range({rng.randint(0, 3)}, {end})", f"range({end}, 0, -1)", f"range({rng.randint(1, 4)})"))
            lines = [f"for {name} in {over}:", *indented(begin), f"    k = {name}" if rng.random() < 0.5 and not uniform else "    k = 1"]
        else:
            lines = [f"{name} = {end}", f"while {name} > 0:", *indented(begin), f"    {name} -= 1"]
        lines += self.inside(depth, uniform, kind)
        return lines + (self.barrier() if meets else [])


# ---- CPython's account ----


class Place:
    def __init__(self, *xyz):
        self.x, self.y, self.z = (*xyz, 0, 0)[:3]


class Shared:
    def __init__(self, arrays):
        self.arrays, self.n = arrays, 0

    def array(self, shape, dtype):
        self.n += 1
        if self.n > len(self.arrays):
            self.arrays.append(np.zeros(shape, dtype))
        return self.arrays[self.n - 1]


class Atomic:
    def __getattr__(self, name):
        one = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "max": max, "min": min, "xor": lambda x, y: x ^ y,
               "or_": lambda x, y: x | y, "and_": lambda x, y: x & y}[name]

        def change(array, at, value):
            array[at] = one(array[at], value)

        return change


class Local:
    array = staticmethod(np.zeros)


class Model:
    """cuda for one thread; a meeting is what it yields."""

    local, atomic = Local, Atomic()

    def __init__(self, kernel, block, thread, arrays):
        self.blockDim, self.gridDim = Place(*kernel.block), Place(*kernel.grid)
        self.threadIdx, self.blockIdx = Place(*thread), Place(*block)
        self.shared = Shared(arrays)


class Meeting:
    def __getattr__(self, name):
        return lambda *args: (name, args)


def places(size):
    return [tuple(reversed(at)) for at in np.ndindex(*reversed(size))]


def met(requests):
    """What the threads of a block get, by number, of what they asked for: {thread: (name, args)}."""
    (name,) = {r[0] for r in requests.values()}
    if name.startswith("syncthreads"):
        values = [bool(r[1][0]) for r in requests.values()] if name != "syncthreads" else []
        got = {"syncthreads": None, "syncthreads_count": sum(values), "syncthreads_and": int(all(values)), "syncthreads_or": int(any(values))}
        return dict.fromkeys(requests, got[name])
    out = {}
    for t, (_, args) in requests.items():
        warp = {o % 32: r[1] for o, r in requests.items() if o // 32 == t // 32}
        out[t] = in_warp(name, t % 32, args, warp)
    return out


def in_warp(name, lane, args, warp):
    if name == "syncwarp":
        return None
    if name.startswith("shfl"):
        _, value, by = args
        by = int(by)
        of = {"shfl_sync": by, "shfl_up_sync": lane - by, "shfl_down_sync": lane + by, "shfl_xor_sync": lane ^ by}[name]
        return warp[of][1] if of in warp else value
    if name == "match_any_sync":
        return sum(1 << i for i, a in warp.items() if a[1] == args[1])
    votes = {i: bool(a[1]) for i, a in warp.items()}
    return {"ballot_sync": sum(1 << i for i, v in votes.items() if v), "any_sync": any(votes.values()),
            "all_sync": all(votes.values())}[name]


def account(kernel):
    """The arguments as the kernel leaves them."""
    text = kernel.text(model=True).replace("yield ", "yield MEET.")
    lines = []
    for line in text.splitlines():  # a yield within an expression needs brackets
        if "yield " in line and "=" in line.split("yield ")[0]:
            line = bracketed(line)
        lines.append(line)
    f = made("\n".join(lines) + "\n    yield\n", np=np, math=math, MEET=Meeting())
    args = [a.view(np.recarray) if getattr(a, "dtype", None) == RECORD else a for a in kernel.args()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for b in places(kernel.grid):
            one_block(f, kernel, b, args)
    return args


def bracketed(line):
    """x = yield f(…) + y as x = (yield f(…)) + y."""
    at = line.index("yield ")
    depth, end = 0, line.index("(", at)
    while True:
        depth += {"(": 1, ")": -1}.get(line[end], 0)
        end += 1
        if not depth:
            return f"{line[:at]}({line[at:end]}){line[end:]}"


def one_block(f, kernel, block, args):
    arrays, answers = [], {}
    threads = {i: f(Model(kernel, block, t, arrays), *args) for i, t in enumerate(places(kernel.block))}
    answers = dict.fromkeys(threads)
    while threads:
        requests = {}
        for i, thread in list(threads.items()):
            try:
                requests[i] = thread.send(answers[i])
            except StopIteration:
                requests[i] = None
            if requests[i] is None:
                del threads[i], requests[i]
        if requests:
            answers = met(requests)


# ---- treadle ----


def launched(kernel, device):
    args = kernel.args()
    f = made(kernel.text(), np=np, math=math, cuda=cuda)
    with td.device(device):
        here = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in args]
        cuda.jit(f, fastmath=False)[kernel.grid, kernel.block](*here)
        cuda.synchronize()
        return [a.copy_to_host() if hasattr(a, "copy_to_host") else a for a in here]


def difference(got, want):
    """The name of the first argument that differs, with where; None: they are the same."""
    for name, a, b in zip(NAMES, got, want):
        if not np.array_equal(a, b):
            at = np.argwhere(np.asarray(a) != np.asarray(b))[0].tolist()
            return f"{name}{at}: {np.asarray(a)[tuple(at)]} for {np.asarray(b)[tuple(at)]}"
    return None


def results(seeds, device):
    out = {}
    for seed in seeds:
        try:
            out[seed] = launched(Kernel(seed), device)
        except Exception as e:
            out[seed] = f"{type(e).__name__}: {e}"
    return out


def in_process(seeds, engine):
    """results() of a process with that engine, whose setting is read once."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results"
        env = {**os.environ, "TREADLE_KERNELS": engine}
        subprocess.run([sys.executable, __file__, "--seeds", ",".join(map(str, seeds)), "--to", path], env=env, check=True)
        return pickle.loads(path.read_bytes())


def gpus():
    """The names of the first GPU, if there is one."""
    return [d.name for d in td.devices() if d.kind == "cuda"][:1]


def is_defined(seed):
    """Is what CUDA gives defined? A shuffle may ask lanes that have returned, or that the block's last warp has not."""
    text, threads = Kernel(seed).text(), Kernel(seed).threads
    return "shfl" not in text or (threads % 32 == 0 and "return" not in text)


def compared(seeds):
    """A text for each seed and engine that is not as CPython tells."""
    want = {seed: account(Kernel(seed)) for seed in seeds}
    got = {"cpu": results(seeds, "cpu"), "null": results(seeds, "null"), "switch": in_process(seeds, "switch"),
           "interpret": in_process(seeds, "interpret"), **{name: results(filter(is_defined, seeds), name) for name in gpus()}}
    told = []
    for engine, all_ in got.items():
        for seed, r in all_.items():
            what = r if isinstance(r, str) else difference(r, want[seed])
            if what:
                told.append(f"seed {seed} on {engine}: {what}")
    return told


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--show", type=int)
    p.add_argument("--seeds")
    p.add_argument("--to")
    a = p.parse_args()
    if a.show is not None:
        k = Kernel(a.show)
        print(k.text(), k.grid, k.block)
        return
    if a.seeds:
        pathlib.Path(a.to).write_bytes(pickle.dumps(results([int(s) for s in a.seeds.split(",")], "cpu")))
        return
    print("seed", a.seed)
    end, n, wrong = time.monotonic() + a.seconds, 0, 0
    while time.monotonic() < end:
        told = compared(range(a.seed + n, a.seed + n + 50))
        n, wrong = n + 50, wrong + len(told)
        for line in told:
            print(line)
    print(f"{n} kernels on {4 + len(gpus())} engines, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
