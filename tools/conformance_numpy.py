"""NumPy's own tests, of the NumPy that is installed, under `python -m treadle`, compared with plain Python.

    conformance_numpy.py BUILD [--known FILE] [FOLDER/FILE.py…]

The tests are copied out of the package, so that their files are the program's own, and run one file at a time with a
crossover of one element: by Python once (kept in BUILD/numpy-tests), by treadle each time.  A test that passes under
Python and not under treadle is a miss.  Those that the file of known misses names are counted by their reasons; any
other makes the exit status 1, and so does a known one that is met no more in a run of all files.

This file is also pytest's plugin in those processes, which writes a line for each test.
"""

import argparse
import collections
import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys

FOLDERS = ("_core", "lib", "linalg", "fft", "ma", "random", "polynomial", "matrixlib")
# Build extension modules with a compiler, or look at NumPy's binary, not at arrays.
LEFT_OUT = {"test_cython.py", "test_limited_api.py", "test_extending.py", "test_simd.py", "test_simd_module.py",
            "test_cpu_features.py", "test_cpu_dispatcher.py", "test__version.py"}  # fmt: skip
OUTCOMES = "CONFORMANCE_OUTCOMES"  # the file that the plugin writes to
LIMIT_S = 900


# ---- in pytest's process ----


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        name = report.nodeid.partition("::")[2]
        with open(os.environ[OUTCOMES], "a") as f:
            f.write(f"{report.outcome}\t{name.encode('unicode_escape').decode()}\n")


# ---- beside it ----


def copied(build):
    """The folder that NumPy's tests were copied to; one for each release."""
    import numpy

    home = build / "numpy-tests" / numpy.__version__
    package = pathlib.Path(numpy.__file__).parent
    for name in FOLDERS:
        if not (home / name).exists():
            shutil.copytree(
                package / name / "tests", home / name / "tests", ignore=shutil.ignore_patterns("__pycache__")
            )
    return home


def outcomes(home, build, file, start):
    """{test: outcome} of a file that `python START -m pytest` runs, and the end of what it printed."""
    kind = "treadle" if start else "python"
    path = home / f"{file.replace('/', '-')}.{kind}"
    text = ""
    if start or not path.exists():
        path.unlink(missing_ok=True)
        env = {**os.environ, OUTCOMES: str(path), "TREADLE_CROSSOVER": "1", "OMP_NUM_THREADS": "2"}
        env["PYTHONPATH"] = os.pathsep.join([str(build / "tree"), str(pathlib.Path(__file__).parent)])
        plugins = ("numpy.conftest", "conformance_numpy", "no:cacheprovider", "no:xdist")
        options = [f"-p{name}" for name in plugins] + ["-m", "not slow", "--tb=short", "--rootdir", str(home)]
        command = [sys.executable, *start, "-m", "pytest", "-q", *options, file]
        try:
            done = subprocess.run(
                command, cwd=home, env=env, capture_output=True, text=True, errors="replace", timeout=LIMIT_S
            )
            text = done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            text = f"not done after {LIMIT_S} s"
        (home / f"{file.replace('/', '-')}.{kind}.log").write_text(text)
    lines = path.read_text().splitlines() if path.exists() else []
    found = {}
    for outcome, name in (line.split("\t", 1) for line in lines):
        found[name] = outcome if found.get(name, "passed") == "passed" else found[name]
    return found, text[-1500:]


def read_known(path):
    """{pattern: reason} of lines `FOLDER/FILE.py::TEST: reason`; `*` stands for any text."""
    known = {}
    for line in pathlib.Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, apart, reason = line.partition(": ")
            if not apart:
                sys.exit(f"{path}: expected `FOLDER/FILE.py::TEST: reason`, found {line!r}")
            known[pattern] = reason
    return known


def named(known, test):
    """The pattern that names a test, None: none does."""
    return next((p for p in known if fnmatch.fnmatchcase(test, p.replace("[", "[[]"))), None)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--known")
    p.add_argument("--device", default="cpu")
    p.add_argument("files", nargs="*")
    args = p.parse_intermixed_args()
    build = args.build.resolve()
    known, home = read_known(args.known) if args.known else {}, copied(build)
    every = [str(f.relative_to(home)) for d in FOLDERS for f in sorted((home / d / "tests").glob("test_*.py"))]
    every = [f for f in every if pathlib.Path(f).name not in LEFT_OUT]
    total, met, strange, reasons = collections.Counter(), set(), 0, collections.Counter()
    for file in args.files or every:
        python, _ = outcomes(home, build, file, [])
        treadle, text = outcomes(home, build, file, ["-m", "treadle", "--device", args.device])
        passed = [t for t, o in python.items() if o == "passed"]
        missed = [t for t in passed if treadle.get(t) != "passed"]
        total.update(python=len(passed), treadle=len(passed) - len(missed))
        print(f"{file}: {len(passed) - len(missed)} of {len(passed)}", flush=True)
        if passed and not treadle:
            print(text)
        for test in missed:
            pattern = named(known, f"{file}::{test}")
            met.add(pattern)
            if pattern:
                reasons[known[pattern]] += 1
            else:
                strange += 1
                print(f"  {file}::{test}: {treadle.get(test, 'not run')}")
    share = 100 * total["treadle"] / max(total["python"], 1)
    print(f"{total['treadle']} of the {total['python']} tests that pass under Python ({share:.2f} %)")
    for reason, n in reasons.most_common():
        print(f"  {n} {reason}")
    gone = [] if args.files else sorted(set(known) - met)
    for pattern in gone:
        print(f"{pattern}: in the file of known misses, but met no more")
    sys.exit(bool(strange or gone))


if __name__ == "__main__":
    main()
