"""Examples of names of the NumPy face whose docstrings have none: cases of the tests' tables, run.
"""

import functools
import inspect
import warnings

import numpy
import numpy_cases
import numpy_cases_members as members

SHOWN, LINES = 2, 7  # examples of a name, lines of a result
INPUTS = """import treadle as np

x = np.array([[0.5, 2.0, -1.0, 3.0], [1.0, 4.0, 0.0, -2.5], [2.0, 1.5, 3.5, 1.0]])
y = np.array([[2.0, 1.0, 3.0, 2.0], [0.5, 2.0, 1.0, 4.0], [1.0, 3.0, 2.0, 0.5]])
v = np.array([3.0, 1.0, 2.0, 1.0])
m = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
k = y.T
i = np.array([2, 0, 1])
b = np.array([[1, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0]], dtype=bool)
q = np.array([True, False, True, True])
s = np.array([0.5, 1.0, 2.25, 4.0])
d = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 5.0]])
"""
# Ufuncs have no row in the tables; the first that gives finite numbers is shown.
UFUNC = {1: ("x", "s / 4", "s", "i", "q", "b"), 2: ("x, y", "i, i[::-1]", "x, i[0]", "q, q[::-1]", "b, b[::-1]")}
TABLES = {
    "treadle": ("np", numpy_cases.ROWS),
    "treadle.linalg": ("np.linalg", members.LINALG),
    "treadle.fft": ("np.fft", members.FFT),
    "treadle.ndarray": ("x", members.NDARRAY),
}


@functools.cache
def cases(prefix):
    """{name: texts}"""
    found = {}
    for names, texts in TABLES[prefix][1].items():
        for name in names.split():
            found.setdefault(name, [t.strip() for t in texts.split(" | ")])
    return found


def expression(prefix, name, text):
    place = TABLES[prefix][0]
    if prefix == "treadle.ndarray":
        text = text.replace("{}", name)
        return text if f".{name}" in text else f"x.{name}({'' if text == '-' else text})"
    return text if text.startswith("np.") or f"{place}.{name}" in text else f"{place}.{name}({text})"


def texts(prefix, name):
    import treadle as td

    found = cases(prefix).get(name)
    value = getattr(td, name, None) if prefix == "treadle" else None
    if not found and isinstance(value, td.ufunc):
        found = UFUNC.get(value.nin)
    return [expression(prefix, name, t) for t in found or ()]


def scope():
    names = {}
    exec(INPUTS, names)
    return names


def finite(result):
    parts = result if isinstance(result, (tuple, list)) else [result]
    arrays = [numpy.asarray(p) for p in parts if hasattr(p, "dtype")]
    return all(numpy.isfinite(a).all() for a in arrays if a.dtype.kind in "fc")


@functools.cache
def shown(prefix, name):
    """[(expression, repr of its result)]"""
    found = []
    for text in texts(prefix, name):
        if len(found) == SHOWN or (found and name not in cases(prefix)):
            break
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a trip to the host, and what NumPy warns of, is no example
            try:
                result = eval(text, scope())
                told = repr(result)
                good = finite(result) and result is not None
            except Exception:  # the tables have errors, too
                continue
        if good and " object at 0x" not in told and len(told.splitlines()) <= LINES and len(told) < 700:
            found.append((text, told))
    return found


def of(prefix, name):
    """Lines of Markdown."""
    import treadle as td

    place = td if prefix == "treadle" else functools.reduce(getattr, prefix.split(".")[1:], td)
    own = inspect.getdoc(getattr(place, name, None)) or ""
    found = shown(prefix, name) if prefix in TABLES and "\nExamples\n---" not in own else []
    if not found:
        return []
    return ["```pycon", *(line for text, told in found for line in (f">>> {text}", told)), "```", ""]
