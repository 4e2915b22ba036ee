"""Random kernels in CUDA C++ without races: barriers in uniform control flow, shared and local arrays, divergent
branches and loops, early returns, strided loops, guards, shuffles, votes, atomics.

Numbers are unsigned, so nothing overflows. A phase reads one shared array (now) and each thread writes its own place
of the other one; phases end at barriers.
"""

import random

THREADS = 128  # at most
HEAD = """
__device__ unsigned mix(unsigned a, unsigned &b) { b = b * 5u + a; return a ^ (b >> 3); }
__device__ unsigned loop(unsigned a, int n) { for (int k = 0; k < n; k++) { if (a & 1u) a = a * 3u + 1u; else a >>= 1; } return a; }
template <class T> __device__ T larger(T a, T b) { return a > b ? a : b; }
#define STEP(x) ((x) * 7u + 3u)
"""


class Kernel:
    def __init__(self, rng):
        self.rng, self.locals, self.uniform, self.n, self.read, self.alive = (
            rng,
            ["v0", "v1"],
            ["n", "T", "gridDim.x"],
            0,
            "A",
            True,
        )

    def pick(self, *texts):
        return self.rng.choice(texts)

    def name(self, letter):
        self.n += 1
        return f"{letter}{self.n}"

    # ---- expressions ----

    def alike(self, depth=2):
        """A value that all threads of the block share."""
        if depth == 0 or self.rng.random() < 0.4:
            return self.pick(*self.uniform, "2u", "5u", "blockIdx.x", "blockDim.x")
        return self.pick("({0} + {1})", "({0} * {1})", "({0} ^ {1})", "({0} & 7u)").format(
            self.alike(depth - 1), self.alike(depth - 1)
        )

    def value(self, depth=3):
        if depth == 0 or self.rng.random() < 0.25:
            return self.pick(*self.locals, "t", "i", "threadIdx.x", "1u", "9u", self.alike(0))
        forms = ("({0} + {1})", "({0} * {1})", "({0} - {1})", "({0} ^ {1})", "({0} >> 2)", "STEP({0})", "larger<unsigned>({0}, {1})",
                 "({2} ? {0} : {1})", "q[({0}) & 3u]", "x[({0}) % 64u]", f"{self.read}[({{0}}) % T]", "loop({0}, t & 3)")  # fmt: skip
        return self.pick(*forms).format(self.value(depth - 1), self.value(depth - 1), self.test(depth - 1))

    def test(self, depth=2):
        if depth == 0 or self.rng.random() < 0.5:
            return self.pick("t < {0}", "i + 3 < {0}", "({1} & 1u)", "{1} > {0}", "t % 3u == 1u", "threadIdx.x >= {0}", "t > 2 && t < T - 3",
                             "{1} != {0}").format(self.alike(1), self.value(depth))  # fmt: skip
        return f"({self.test(depth - 1)} {self.pick('&&', '||')} {self.test(depth - 1)})"

    # ---- statements that do not wait ----

    def body(self, depth, loop=False):
        known = len(self.locals)
        text = " ".join(self.statement(depth, loop) for _ in range(self.rng.randint(1, 3)))
        del self.locals[known:]
        return f"{{ {text} }}"

    def statement(self, depth, loop=False):
        write = "B" if self.read == "A" else "A"
        plain = ["{v} = {e};", "{v} += {e};", "{v}++;", "q[({e}) & 3u] = {v};", "{w}[t] = {e};", "out[i] += {e};", "{v} ^= mix({e}, {u});",
                 "atomicAdd(&count, ({e}) & 15u);", "declare", "{v} = {v} > 9u ? {v} >> 1 : {v} + 2u, {u} += 3u;"]  # fmt: skip
        deep = ["if ({c}) {b}", "if ({c}) {b} else {d}", "for (int {k} = 0; {k} < {m}; {k}++) {L}", "strided",
                "switch ({e} % 4u) {{ case 0: {v} += 2u; break; case 1: {b} default: {u} ^= 5u; }}",
                "for (unsigned {k} = t & 3u; {k}; {k}--) {L}", "do {{ {v} >>= 1; }} while ({v} % 5u);", "{b}"]  # fmt: skip
        if loop:
            plain += ["if ({c}) break;", "if ({c}) continue;"]
        form = self.pick(*plain, *(deep * 2 if depth else ()))
        if form == "declare":
            name, text = self.name("w"), self.value()
            self.locals.append(name)
            return f"unsigned {name} = {text};"
        if form == "strided":
            k = self.name("k")
            return (
                f"for (int {k} = t; {k} < n; {k} += T) {{ {self.pick(*self.locals)} += x[{k} % 64]; out[i] ^= {k}; }}"
            )
        fields = {"v": self.pick(*self.locals), "u": self.pick(*self.locals), "w": write, "k": self.name("k")}
        for key, make in (("e", self.value), ("c", self.test), ("m", lambda: self.pick("3", "int(t & 3u)", "n % 5"))):
            if f"{{{key}}}" in form:
                fields[key] = make()
        for key, inside in (("b", loop), ("d", loop), ("L", True)):
            if f"{{{key}}}" in form:
                fields[key] = self.body(depth - 1, inside and "switch" not in form)
        return form.format(**fields)

    # ---- statements in uniform control flow, which may wait ----

    def phase(self):
        text = " ".join(self.statement(2) for _ in range(self.rng.randint(1, 3)))
        self.read = "B" if self.read == "A" else "A"
        return f"{text} __syncthreads();"

    def waiting(self, depth):
        forms = (
            ["phase"] * 3
            + ["count", "vote", "shuffle", "uniform"]
            + (["loop", "halving", "if", "while"] * 2 if depth else [])
        )
        forms += ["return"] * (depth == 2)  # lanes that have returned in an earlier iteration take part in no shuffle
        form, u = self.pick(*forms), self.name("u")
        if form == "phase":
            return self.phase()
        if form == "count":
            return f"__syncthreads(); if (t == 0) count = 0; __syncthreads(); {self.phase()} {self.pick(*self.locals)} += count; __syncthreads();"
        if form == "vote":
            return f"{self.pick(*self.locals)} += {self.pick('__syncthreads_count', '__syncthreads_or', '__syncthreads_and')}({self.test()});"
        if form == "shuffle":
            v = self.pick(*self.locals)
            how = self.pick(
                "__shfl_xor_sync(~0u, {0}, 3)",
                "__shfl_down_sync(~0u, {0}, 1)",
                "__ballot_sync(~0u, {0} & 1u)",
                "__shfl_sync(~0u, {0}, t + 5)",
            )
            return f"{v} ^= {how.format(self.pick(*self.locals))};" if self.alive else self.phase()
        if form == "uniform":
            text = self.alike()
            self.uniform.append(u)
            return f"unsigned {u} = {text};"
        if form == "return":
            if self.rng.random() < 0.5:
                return self.phase()
            self.alive = False
            return f"if ({self.test()}) {self.pick('return;', '{ out[i] += v0; return; }')} {self.phase()}"
        known, local, alive = len(self.uniform), len(self.locals), self.alive
        inside = " ".join(self.waiting(depth - 1) for _ in range(self.rng.randint(1, 2)))
        if self.read == "B":  # the next round, and what comes behind, reads what this began with
            inside += " " + self.phase()
        del self.uniform[known:], self.locals[local:]
        if form == "loop":
            inside = f"for (int {u} = 0; {u} < {self.pick('2', 'n % 3', '3')}; {u}++) {{ {inside} }}"
        elif form == "halving":
            inside = (
                f"for (unsigned {u} = T / 2; {u} > 0; {u} /= 2) {{ if (t < {u}) v0 += {u}; __syncthreads(); {inside} }}"
            )
        elif form == "if":
            inside = f"if ({self.alike()} & 1u) {{ {inside} }}"
        else:
            inside = f"unsigned {u} = n & 3; while ({u}) {{ {inside} {u}--; }}"
        self.alive = self.alive and alive
        return inside

    def text(self, name):
        if self.rng.random() < 0.2:
            body = " ".join(self.statement(3) for _ in range(4))
        else:

            def even(text):
                return text + (" " + self.phase() if self.read == "B" else "")

            body = " ".join(even(self.waiting(2)) for _ in range(self.rng.randint(2, 4)))
        return (f'extern "C" __global__ void {name}(const unsigned *x, unsigned *out, int n) {{\n'
                f"    __shared__ unsigned A[{THREADS}], B[{THREADS}], count;\n"
                "    const unsigned T = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x;\n"
                "    unsigned i = blockIdx.x * T + t, v0 = x[i % 64u], v1 = t * 3u + 1u, q[4] = {t, 1u, 2u, 3u};\n"
                "    A[t] = v0; B[t] = v1; if (t == 0) count = 0; __syncthreads();\n"
                f"    {body}\n    out[i] += v0 * 3u + v1 + q[t & 3u] + A[t] + B[t];\n}}\n")  # fmt: skip


def text(seed, n):
    """A text of n kernels f0, f1, …"""
    rng = random.Random(seed)
    return HEAD + "\n".join(Kernel(rng).text(f"f{k}") for k in range(n))


BLOCKS = [(128, 1), (32, 2), (16, 4), (96, 1)]
GRID = 3


def results(seed, n):
    """out of each kernel, block shape and argument, computed by a CPU in the way that the environment asks for."""
    import numpy as np

    import treadle as td
    from treadle import _core

    program = _core.program(text(seed, n), device="cpu", file="random.cu")
    x = td.asarray(np.random.default_rng(seed).integers(0, 1000, 64).astype("u4"), device="cpu")
    out = {}
    for k in range(n):
        for block in BLOCKS:
            for number in (1, 40, 200):
                y = td.zeros(GRID * THREADS, "u4", device="cpu")
                program.kernel(f"f{k}")(GRID, (*block, 1), (x, y, number))
                out[f"f{k} {block} {number}"] = np.array(y.get())
    return out


def in_turns(seed, n, folder):
    """The same by threads that take turns, in a process of its own."""
    import os
    import subprocess
    import sys

    import numpy as np

    path = os.path.join(folder, f"{seed}.npz")
    env = dict(os.environ, TREADLE_KERNELS="switch", TREADLE_CACHE_DIR=os.path.join(folder, "cache"))
    subprocess.run(
        [sys.executable, __file__, "--seed", str(seed), "--kernels", str(n), "--to", path],
        env=env,
        check=True,
        timeout=600,
    )
    return dict(np.load(path))


def differing(seed, n, folder):
    """The launches whose results differ."""
    here, there = results(seed, n), in_turns(seed, n, folder)
    assert set(here) == set(there)
    return [name for name in here if (here[name] != there[name]).any()]


def main():
    import argparse
    import tempfile
    import time

    import numpy as np

    p = argparse.ArgumentParser(description="Random CUDA C++ kernels: cut at their barriers beside threads in turns.")
    p.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--kernels", type=int, default=20, help="in a text")
    p.add_argument("--to", help="write the results there and compare nothing")
    a = p.parse_args()
    if a.to:
        np.savez(a.to, **results(a.seed, a.kernels))
        return
    print("seed", a.seed)
    end, texts, wrong = time.monotonic() + a.seconds, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            names = differing(a.seed + texts, a.kernels, folder)
            if names:
                print(f"seed {a.seed + texts}: {names}", flush=True)
            texts, wrong = texts + 1, wrong + len(names)
    print(f"{texts * a.kernels} kernels in CUDA C++, {wrong} launches wrong")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
