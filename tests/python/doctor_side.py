"""Runs programs of doctor_programs.py under the adviser, in one process: DEVICE NAME…; JSON of what it found."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile

import doctor_programs

import treadle as td

UNCHANGED = ("import numpy as np", "import torch", "from numba")


def run(name, text, folder):
    """The findings of a program, whose lines are those of its text."""
    path = pathlib.Path(folder) / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    space = {"__name__": "__main__", "__file__": str(path)}
    with contextlib.redirect_stdout(io.StringIO()), td.doctor() as d:
        try:
            exec(compile(text, str(path), "exec"), space)
        except td.MissingLibraryError:  # a compiler of CUDA C++
            return None
    return [f.facts() for f in d.findings], d.text()


def main(device, names):
    td.use(device)
    td.config.fallback = "allow"
    td.config.crossover = 20000
    texts = {n: text for n, _, text in doctor_programs.FAULTS + doctor_programs.CLEAN}
    found = {}
    for name in sorted(names, key=lambda n: any(u in texts[n] for u in UNCHANGED)):  # NumPy's face comes last
        if any(u in texts[name] for u in UNCHANGED):
            td.install()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            found[name] = run(name, texts[name], folder)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
