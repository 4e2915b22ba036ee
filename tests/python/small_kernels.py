"""Kernels that several tests launch, and functions made of text."""

import itertools
import linecache

from treadle import cuda

numbers = itertools.count()


def made(text, name="f", **space):
    """The function of that name that the text defines, where its globals have those of space, too."""
    file = f"<made {next(numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    return space[name]


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.shape[0]:
        c[i] = a[i] + b[i]


@cuda.jit
def store(out, x):
    out[cuda.grid(1)] = x
