"""The names that kernels know, from the compiler's own tables; and kernels made of text."""

import linecache
import re
import shutil
import subprocess

import numpy as np
import pytest

import treadle as td
from treadle import _core, cuda

LETTERS = {"b": "bool", "c": "int8", "C": "uint8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32", "l": "int64",
           "L": "uint64", "e": "float16", "g": "bfloat16", "f": "float32", "d": "float64"}  # fmt: skip


def cuda_names():
    """treadle.cuda's names that kernels know, without those whose types are fixed."""
    found = [names for names, _, signature in _core.intrinsics() if signature is None]
    return sorted({n for names in found for n in names.split() if n.startswith("cuda.")})


def typed_names():
    """Name → signature."""
    return {n: signature for names, _, signature in _core.intrinsics() if signature for n in names.split()}


_made = 0


def function(text, **names):
    """The last function defined in text, where `names` are globals; inspect finds its source."""
    global _made
    _made += 1
    file = f"<kernel {_made}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = dict(names)
    exec(compile(text, file, "exec"), space)
    return space[re.findall(r"^def (\w+)", text, re.M)[-1]]


def assemble(ptx, arch="sm_80"):
    """Assembles PTX where ptxas is installed."""
    tool = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
    if not tool:
        pytest.skip("ptxas is not installed")
    r = subprocess.run([tool, f"-arch={arch}", "-o", "/dev/null", "-"], input=ptx, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr + ptx


def run(kernel, grid, block, *args, shared=0, debug=False):
    """Launches over copies of NumPy arrays; returns what they hold then."""
    given = [td.asarray(a) if isinstance(a, np.ndarray) and a.dtype.names is None else a for a in args]
    cuda.jit(kernel, debug=debug)[grid, block, 0, shared](*given)
    td.synchronize()
    return [np.asarray(g) for g, a in zip(given, args) if isinstance(a, np.ndarray)]
