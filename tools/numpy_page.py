"""Write docs/numpy.md: every public name of NumPy and what treadle has for it, read from treadle._numpy._names.

    PYTHONPATH=build/tree python tools/numpy_page.py [--check]

--check changes nothing and exits with 1 if the page is out of date. Needs the NumPy whose names the table lists.
"""

import pathlib
import sys

from treadle._numpy import _names

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "numpy.md"
TITLES = {
    "": "The main namespace",
    "ndarray": "ndarray",
    "linalg": "linalg",
    "fft": "fft",
    "random": "random",
    "random.Generator": "random.Generator",
    "polynomial": "polynomial",
    "lib.stride_tricks": "lib.stride_tricks",
}
STATUSES = ("native", "composed", "host", "numpy")

HEAD = """# NumPy's names

<!-- written by tools/numpy_page.py from python/treadle/_numpy/_names.py -->

Every public name of NumPy 2.4, and how `treadle` has it:

- **native**: kernels of treadle's own or the vendor's library. On the CPU the library is NumPy's where it has one
  (LAPACK, pocketfft, sorting): it works on the array's own memory. Large Fourier transforms are SciPy's where it is
  installed.
- **composed**: made of native functions, so it runs where the arrays are.
- **host**: NumPy computes it on copies on the host, and treadle says so: a `PerformanceWarning`, once for each line of
  the program, and a row of `treadle.fallbacks()`. The result is an array on the arguments' device.
- **numpy**: NumPy's own object: types, constants, questions about dtypes, printing, files, and what works on arrays
  that hold no numbers.
- **left out**: not there, with the reason.

`treadle.config.fallback` says what a function of the host does: `"warn"`, `"allow"` or `"error"`.

```python
import numpy
import treadle as td

p, u = td.array([1.0, 3.0, 2.0]), td.array([1.0, 1.0])
td.config.fallback = "allow"
td.fallbacks(clear=True)
quotient, rest = td.polydiv(p, u)  # x² + 3 x + 2 by x + 1
assert quotient.get().tolist() == [1, 2] and rest.get().tolist() == [0]
name, place, calls, nbytes = td.fallbacks()[0]
assert name == "numpy.polydiv" and calls == 1

td.config.fallback = "error"
try:
    td.polydiv(p, u)
except NotImplementedError as error:
    assert "numpy.polydiv" in str(error)
td.config.fallback = "warn"
```

## Arrays that hold no numbers

Treadle's arrays hold numbers. Text, objects, dates, records, long doubles and bytes in the other order are NumPy's: a
function that is asked for such an array, or handed one, is computed by NumPy. So are functions of masked arrays and
matrices, whose classes treadle would lose. `treadle.fallbacks()` counts these calls; a `PerformanceWarning` comes only
where values of treadle's arrays move to the host. Results with numbers are treadle's arrays again, so masks and indices
made of text serve arrays of treadle's.

```python
labels = td.array(["oak", "ash", "oak"])  # a numpy.ndarray
heights = td.array([21.0, 17.0, 24.0])
assert isinstance(labels, td.ndarray) and heights[labels == "oak"].sum() == 45
assert td.unique(labels, return_counts=True)[1].tolist() == [1, 2]
assert td.where(heights > 20, "tall", "small").tolist() == ["tall", "small", "tall"]
```

A class derived from `td.ndarray` is derived from `numpy.ndarray`, and the work on its objects is NumPy's.
`x.view(td.ndarray)` of such an object is treadle's array over the same memory. `isinstance(x, td.ndarray)` is true of
them and of NumPy's arrays without numbers. Of those with numbers, such as SciPy returns, and of masked arrays and
matrices it is true in files that call treadle `np` or `numpy`; others, as programs for CuPy, tell the two apart.
`import cupy` under `python -m treadle`, the other faces, and arrays on GPUs that are asked for by `device=` refuse what
holds no numbers, with a TypeError. An operand that is no array and no number (a `Decimal`, a `Fraction`) makes an array
of objects, as in NumPy.
"""


def joined(names):
    return " ".join(f"`{n}`" for n in sorted(names, key=str.lower))


def section(module):
    rows = {name: _names.status(name, module) for name in _names.numpys(module)}
    of = {s: [n for n, row in rows.items() if row[0] == s] for s in (*STATUSES, "left out", None)}
    lines = [f"## {TITLES[module]}", "", "| | |", "| --- | --- |"]
    lines += [f"| {s} ({len(of[s])}) | {joined(of[s])} |" for s in STATUSES if of[s]]
    for status, head in (("host", "computed by NumPy"), ("left out", "left out")):
        whys = {}
        for name in of[status]:
            whys.setdefault(rows[name][2], []).append(name)
        if whys:
            lines += ["", f"| {head} | because |", "| --- | --- |"]
            lines += [f"| {joined(names)} | {why} |" for why, names in whys.items()]
    if module in _names.NOTES:
        lines += ["", _names.NOTES[module]]
    if of[None]:
        lines += ["", f"Not there yet: {joined(of[None])}"]
    return "\n".join(lines) + "\n"


def differences():
    numbers = "Results without axes are numbers that may wait to be computed, where NumPy gives scalars. Beside that:"
    lines = ["## What is otherwise", "", numbers, ""]
    lines += ["| | |", "| --- | --- |"]
    lines += [f"| {joined(names.split())} | {text} |" for names, text in _names.DIFFERENT.items()]
    lines += ["", "Parameters that are refused:", "", "| | | because |", "| --- | --- | --- |"]
    for name, refused in _names.PARAMETERS.items():
        lines += [f"| `{name}` | `{parameter}` | {why} |" for parameter, why in refused.items()]
    return "\n".join(lines) + "\n"


def page():
    return "\n".join([HEAD, differences(), *(section(m) for m in TITLES)])


def main(arguments):
    text = page()
    if arguments == ["--check"]:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
