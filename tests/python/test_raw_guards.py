"""Tests of indices in CUDA C++ on a CPU: rows of threads for which they come out alike run without them.

The judge of a kernel is the same text with a number from memory in each test, which keeps tests where they are.
"""

import random

import numpy as np
import pytest

import treadle as td

TYPES = ("int", "unsigned", "long long", "size_t", "short", "unsigned char", "signed char", "const int", "auto")
COMPARE = ("<", "<=", ">", ">=", "==", "!=")


class Text:
    """Random kernels: variables of the thread's index, tests of them, and what they guard."""

    def __init__(self, rng):
        self.rng, self.names = rng, ["threadIdx.x", "blockIdx.x", "n", "threadIdx.y", "k"]

    def value(self, depth=2):
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return rng.choice(self.names) if rng.random() < 0.75 else rng.choice(["3", "5u", "17", "1L", "200", "EDGE"])
        a, b = self.value(depth - 1), self.value(depth - 1)
        return f"({a} {rng.choice('+-')} {b})" if rng.random() < 0.7 else f"{rng.choice(['2', '3u', 'k'])} * ({a})"

    def test(self, depth=2):
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            named = [n for n in self.names if n.startswith("yes")]
            if named and rng.random() < 0.2:
                return rng.choice(["", "!"]) + rng.choice(named)
            return f"{self.value()} {rng.choice(COMPARE)} {self.value(1)}"
        joined = f" {rng.choice(['&&', '||'])} ".join(self.test(depth - 1) for _ in range(rng.randint(1, 3)))
        return f"({joined})" if rng.random() < 0.8 else f"!({joined})"

    def declarations(self, n):
        lines = []
        for _ in range(n):
            if self.rng.random() < 0.15:
                name, line = f"yes{len(self.names)}", "bool {} = " + self.test(1)
            else:
                name, line = f"v{len(self.names)}", self.rng.choice(TYPES) + " {} = " + self.value()
            lines.append(line.format(name) + ";")
            self.names.append(name)
        return " ".join(lines)

    def guarded(self, depth):
        """Statements with tests; `TEST(…)` is replaced by what keeps or hides them."""
        rng, mark = self.rng, rng_mark(self.rng)
        if depth == 0:
            return mark
        form, known = rng.randrange(5), len(self.names)
        declared = self.declarations(rng.randint(0, 2))
        test = f"TEST({self.test()})"
        if form == 0:
            text = f"{declared} if ({test}) return; {mark} {self.guarded(depth - 1)}"
        elif form == 1:
            text = f"{declared} if ({test}) {{ {self.guarded(depth - 1)} }}"
        elif form == 2:
            text = f"{declared} if ({test}) {{ {self.guarded(depth - 1)} }} else {{ {mark} }}"
        elif form == 3:
            text = f"{declared} n += 1; if ({test}) {{ {mark} return; }} {self.guarded(depth - 1)}"
        else:
            text = f"{declared} for ({rng.choice(('int', 'long long'))} i = {self.value(1)}; TEST(i < n); i += 3 * blockDim.x) {{ {mark} }} {mark}"
        del self.names[known:]
        return text

    def kernel(self, name):
        body = f"int at = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; {self.declarations(3)} {self.guarded(3)}"
        return f'extern "C" __global__ void {name}(int *out, int n, int k, const int *zero) {{ {body} }}'


def rng_mark(rng):
    return f"out[at] = out[at] * 7 + {rng.randint(1, 9)};"


def of_test(text, replaced):
    """The text with each TEST(…) replaced, whose brackets are matched."""
    out, i = "", 0
    while (begin := text.find("TEST(", i)) >= 0:
        depth, end = 1, begin + 5
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        out, i = out + text[i:begin] + replaced.format(text[begin + 5 : end - 1]), end
    return out + text[i:]


@pytest.mark.parametrize("block", [(7, 2), (32, 4), (100, 1)])
def test_guards_change_nothing(block):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    kernels = [Text(rng).kernel(f"f{i}") for i in range(16)]
    head = "#define EDGE 40\n"
    plain = td.RawModule(head + "\n".join(of_test(k, "{}") for k in kernels))
    judge = td.RawModule(head + "\n".join(of_test(k, "({}) && zero[0] == 0") for k in kernels))
    with td.device("cpu"):
        zero = td.zeros(1, "int32")
        for i, text in enumerate(kernels):
            for n, k in ((90, 1), (rng.randint(-30, 120), rng.randint(-3, 3))):
                got, want = (td.zeros((5, block[0] * block[1]), "int32") for _ in range(2))
                for module, out in ((plain, got), (judge, want)):
                    module.get_function(f"f{i}")((5,), block, (out, np.int32(n), np.int32(k), zero))
                np.testing.assert_array_equal(got.get(), want.get(), f"seed {seed}, n {n}, k {k}: {text}")


WRAPPING = {  # a test of the thread's number i that wraps between the ends of the row
    "threadIdx.x - 5 > 3": lambda i: (i - 5) % 2**32 > 3,
    "5 - threadIdx.x < 200": lambda i: (5 - i) % 2**32 < 200,
    "(signed char)threadIdx.x < 100": lambda i: i.astype("int8") < 100,
    "narrow < 100": lambda i: i.astype("int8") < 100,
    "0x10000000u * threadIdx.x < 5": lambda i: i * 2**28 % 2**32 < 5,
}


@pytest.mark.parametrize("test", WRAPPING)
@pytest.mark.parametrize("form", ["if (TEST) out[threadIdx.x] = 1;", "if (TEST) return; out[threadIdx.x] = 1;"])
def test_tests_that_wrap(test, form):
    body = f"signed char narrow = threadIdx.x; {form.replace('TEST', test)}"
    text = f'extern "C" __global__ void f(int *out) {{ {body} }}'
    with td.device("cpu"):
        out = td.zeros(256, "int32")
        td.RawKernel(text, "f")((1,), (256,), (out,))
        want = WRAPPING[test](np.arange(256)) ^ ("return" in form)
        np.testing.assert_array_equal(out.get(), want)
