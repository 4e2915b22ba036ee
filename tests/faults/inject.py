"""Let each request of the C code for memory, a thread or a file fail once, under small programs through every face.

    inject.py [--kind memory|threads|files|all] [--each 30] [--seed S] [--only NAME,...] [--at N]

A process is forked for each fault. It runs a program in which the n-th request fails, or that one and all that follow
it until the program ends. What is right: the program raises MemoryError, OSError, RuntimeError or treadle's own error,
or its result is what it is without a fault. Then it runs again without one, and has to give the right result; the C code
has lost no block of memory. A process that ends otherwise, or not within a minute, has failed.

A program makes up to a thousand requests of a kind; `--each` of them are drawn. Prints a line a program and what failed,
with the arguments that show it again; ends with 1 if anything did.
"""

import argparse
import collections
import ctypes
import faulthandler
import functools
import gc
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from programs import PROGRAMS

import treadle as td

LIB = ctypes.CDLL(None)
LIB.faults_arm.argtypes = [ctypes.c_int, ctypes.c_longlong, ctypes.c_longlong]
LIB.faults_requests.restype = ctypes.c_longlong
KINDS = {"memory": 1, "threads": 2, "files": 4}
EXPECTED = (MemoryError, OSError, RuntimeError, td.Error)
EVER = 1 << 40


def equal(x, y):
    """Up to rounding: where there is no memory to compile, other code computes."""
    close = 1e-5 if np.asarray(x).dtype.itemsize <= 4 else 1e-11
    return x.shape == y.shape and x.dtype == y.dtype and np.allclose(x, y, close, close, equal_nan=True)


class Wrong(Exception):
    pass


def same(a, b):
    return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))


def differences(a, b):
    return "; ".join(f"{x} is not {y}"[:400] for x, y in zip(a, b, strict=True) if not equal(x, y))


def named(line):
    """A line of faults_show as function and line of the source; of other libraries nothing."""
    at = re.match(r"(.*/treadle/[^/(]*)\((\w*)\+(0x[0-9a-f]+)\)", line)
    if not at:
        return "" if re.match(r"\S+\(.*\[0x[0-9a-f]+\]$", line) else line
    where = at[3]
    if at[2]:
        table = subprocess.run(["nm", at[1]], capture_output=True, text=True, check=True).stdout
        where = hex(int(re.search(rf"^(\w+) . {at[2]}$", table, re.M)[1], 16) + int(at[3], 16))
    r = subprocess.run(["addr2line", "-fse", at[1], where], capture_output=True, text=True, check=True)
    return "    " + " ".join(r.stdout.split())


def lost_blocks(report):
    """Of LeakSanitizer's report: the stacks of the blocks that treadle's C code has asked for."""
    told = re.split(r"\n\n(?=Direct leak|Indirect leak)", report)
    ours = [t.split("\n\n")[0] for t in told if t.startswith("Direct") and re.search(r"#1 .*faults_", t)]
    return "\n".join(re.sub(r"\n    #\d+ \S+ (in )?(\S+) (\S+).*", r"\n    \2 \3", t) for t in ours)


def forked(body, seconds=60):
    """What body() returned in a process of its own, as text, or how that process ended."""
    r, w = os.pipe()
    with tempfile.TemporaryFile("w+") as log:
        pid = os.fork()
        if not pid:
            os.close(r)
            os.dup2(log.fileno(), 2)
            faulthandler.dump_traceback_later(seconds, exit=True, file=log)
            code = 1
            try:
                os.write(w, body().encode())
                code = 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
                LIB.faults_show(2)
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.close(w)
        with os.fdopen(r) as f:
            said = f.read()
        status = os.waitpid(pid, 0)[1]
        log.seek(0)
        told = log.read()
        if status:
            told = "\n".join(filter(None, map(named, told[-8000:].splitlines())))
            return f"ended with {os.waitstatus_to_exitcode(status)}\n{told}"
        lost = lost_blocks(told)
        return "memory is lost:\n" + lost if lost else said


def faulted(name, kind, n, count, want, show=False):
    """Run the program with a fault and then without; the outcome's name, or what is wrong."""
    f = PROGRAMS[name]
    LIB.faults_arm(kind, n, count)
    try:
        result, how = f(), "right"
        LIB.faults_arm(0, 0, 0)
    except EXPECTED as e:
        LIB.faults_arm(0, 0, 0)
        result, how = None, type(e).__name__
        if show:
            print(f"{type(e).__name__}: {e}", file=sys.stderr)
        del e
    if result is not None and not same(result, want):
        raise Wrong("other values after a fault: " + differences(result, want))
    del result
    gc.collect()
    if not same(f(), want):
        raise Wrong("other values in the run after a fault")
    gc.collect()
    LIB.__lsan_do_recoverable_leak_check()
    return how


def requests(name, kind):
    LIB.faults_arm(kind, 0, 0)
    PROGRAMS[name]()
    return str(LIB.faults_requests())


def values(name):
    """The program's result without a fault. It is computed in another process: this one stays as it was imported."""
    with tempfile.TemporaryFile() as f:
        said = forked(lambda: np.savez(f, *PROGRAMS[name]()) or "")
        if said:
            raise SystemExit(f"{name} does not run: {said}")
        f.seek(0)
        with np.load(io.BytesIO(f.read())) as z:
            return [z[k] for k in z.files]


def drawn(name, kind, each, seed):
    """(n, count) of the faults: the n-th request and the count - 1 that follow fail."""
    draw = random.Random(f"{seed} {name} {kind}")
    total = int(forked(functools.partial(requests, name, KINDS[kind])))
    return [(n, draw.choice([1, 1, EVER])) for n in sorted(draw.sample(range(1, total + 1), min(each, total)))]


def injected(name, kind, n, count, want, show):
    """How a process with that fault ended: one word where all is well."""
    if kind == "files":  # compiled code is read, or made and written
        shutil.rmtree(os.environ["TREADLE_CACHE_DIR"], ignore_errors=True)
    for _ in range(3):  # LeakSanitizer cannot stop all threads at every time
        how = forked(functools.partial(faulted, name, KINDS[kind], n, count, want, show))
        if "LeakSanitizer has encountered a fatal error" not in how:
            break
    if how.isidentifier():
        return how, []
    return "WRONG", [f"--only {name} --kind {kind} --at {n}{' and all after it' * (count == EVER)}: {how}"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--kind", default="all", choices=[*KINDS, "all"])
    p.add_argument("--each", type=int, default=30)
    p.add_argument("--seed", default=str(time.time_ns() % 1000000))
    p.add_argument("--only", default=",".join(PROGRAMS))
    p.add_argument("--at", type=int)
    a = p.parse_args()
    total = collections.Counter()
    print("seed", a.seed, flush=True)
    for name in a.only.split(","):
        begin, here, wrong, want = time.monotonic(), collections.Counter(), [], values(name)
        for kind in KINDS if a.kind == "all" else [a.kind]:
            for n, count in [(a.at, 1), (a.at, EVER)] if a.at else drawn(name, kind, a.each, a.seed):
                how, lines = injected(name, kind, n, count, want, bool(a.at))
                here[how] += 1
                wrong += lines
        total.update(here)
        told = ", ".join(f"{n} {how}" for how, n in sorted(here.items()))
        print(f"{name}: {told} in {time.monotonic() - begin:.0f} s", *wrong, sep="\n  ", flush=True)
    print(f"{sum(total.values())} faults:", ", ".join(f"{n} {how}" for how, n in sorted(total.items())))
    return int(bool(total["WRONG"]))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
