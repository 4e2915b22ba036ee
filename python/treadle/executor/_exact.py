"""Compiles a function of numbers so that it gives CPython's own results, or reports which items CPython must compute.

In compiled code ``exact(f, *numbers)`` returns a pair: the value of f, and whether only Python can compute it. Where f
returns different kinds of numbers, the value is itself a pair of a number and its kind.
"""

import functools
import math
import sys
import threading
import types as _types

import numpy

from .. import _core, types
from .._compile._generate import define
from .._compile._jit import jit
from .._compile._ufunc import REFUSALS as _REFUSALS
from ._columns import BOOL, COMPLEX, DTYPES, FLOAT, INT

REFUSALS = (*_REFUSALS, IndexError)
_KINDS = {d.char: k for k, d in DTYPES.items()}


def exact(f, *numbers):
    """In compiled code: the value of f(*numbers), and whether only Python can compute it."""
    raise TypeError("exact has a meaning in compiled functions only")


exact._td_name = "treadle.exact"


# ---- which compilations are of one function ----


def _value(x):
    """The part of a key that stands for a constant. Equal numbers of one type compile to the same code."""
    return (type(x), repr(x)) if type(x) in (bool, int, float, complex, str, type(None)) else id(x)


def _cells(f):
    cells = []
    for c in f.__closure__ or ():
        try:
            cells.append(_value(c.cell_contents))
        except ValueError:  # the cell has no value yet
            cells.append(None)
    return tuple(cells)


def _named(values):
    return tuple((name, _value(v)) for name, v in (values or {}).items())


def _key(f):
    """A key that is equal for functions that compile to the same code.

    Values that the function reads from globals and modules are not part of it; Program.holds() checks them at each
    call."""
    if type(f) is functools.partial:
        return _key(f.func), tuple(map(_value, f.args)), _named(f.keywords)
    if type(f) is not _types.FunctionType:
        return id(f)
    return f.__code__, id(f.__globals__), _cells(f), tuple(map(_value, f.__defaults__ or ())), _named(f.__kwdefaults__)


# Lists of programs, the latest first, by (key, kinds, device, recursion limit). The least recently used key is first.
_programs = {}
_MADE = {BOOL: bool, INT: int, FLOAT: float}
_MOST, _LAYOUTS = 256, 4  # keys that are kept; programs of one key, for functions whose return types vary
_lock = threading.Lock()


class Changed(TypeError):
    """A function was compiled before, but now reads a value that cannot be compiled."""


def _was_compiled(f):
    """Whether this function's code was compiled before, with whatever defaults and cells."""
    code = getattr(f.func if isinstance(f, functools.partial) else f, "__code__", None)
    return any(getattr(p[0].function, "__code__", p) is code for p in list(_programs.values()))


def program(f, kinds, device):
    """The Program of a function for these kinds of numbers and for the globals, cells and modules that it reads now.

    Raises one of REFUSALS, with the reason, where the function cannot be compiled."""
    key = (_key(f), kinds, device.name, sys.getrecursionlimit())
    known = [p for p in _programs.get(key, ()) if _key(p.function) == key[0]]
    try:
        found = next((p for p in known if p.holds()), None) or Program(f, kinds, device)
    except REFUSALS as error:
        raise (Changed(str(error)) if known or _was_compiled(f) else error) from None
    with _lock:
        _programs.pop(key, None)
        _programs[key] = [found, *(p for p in known if p is not found)][:_LAYOUTS]
        if len(_programs) > _MOST:
            del _programs[next(iter(_programs))]
    return found


def _plain(f):
    """A factory that takes a number of arguments and returns a function of just these, all positional.

    The arguments that a functools.partial holds become constants."""
    if isinstance(f, functools.partial):
        given = {f"_k{i}": v for i, v in enumerate([*f.args, *f.keywords.values()])}
        names = list(given)
        first = names[: len(f.args)]
        later = [f"{k}={n}" for k, n in zip(f.keywords, names[len(f.args) :], strict=True)]

        def of(n):
            args = [f"x{i}" for i in range(n)]
            text = f"def partial({', '.join(args)}):\n    return _f({', '.join([*first, *args, *later])})\n"
            return define(text, "partial", _f=f.func, **given)

        return of
    return lambda n: f


# ---- the layout of results ----


LONGEST = 64  # items of a list that compiled code may return; Python makes longer ones


def _layout(t):
    """The layout that a compiled value's type stands for: ("number", kind), ("mixed", kind), ("none",), ("list", kind
    of its items), ("mixed list", kind) or ("tuple", layouts).

    In the mixed ones a second array has the kind of each number."""
    if t is None or getattr(t, "kind", None) == "none":
        return ("none",)
    if t.kind == "tuple":
        if len(t.items) == 2 and getattr(t.items[1], "dtype", None) == numpy.dtype("uint8"):
            kind = _KINDS[numpy.dtype(t.items[0].dtype).char]
            return ("mixed list" if t.items[0].kind == "array" else "mixed", kind)
        return ("tuple", [_layout(i) for i in t.items])
    kind = _KINDS[numpy.dtype(t.dtype).char]
    return ("list", kind) if t.kind == "array" else ("number", kind)


_ONE = """
        {out}[i] = {text}
"""
_MANY = """
        {out}n[i] = 0
        if not b:
            if len({text}) > {longest}:
                bad[i] = True
            else:
                {out}n[i] = len({text})
                for k in range(len({text})):
                    {out}[i, k] = {text}[k]
"""


def _places(layout, text, found):
    """Append a row for each array of results: (name, dtype, statements that fill it or "", shape of one item's part).
    """

    def leaf(text, kind):
        out = f"r{len(found)}"
        found.append((out, DTYPES.get(kind, numpy.dtype("uint8")), _ONE.format(out=out, text=text), ()))

    def many(text, dtype):
        out = f"r{len(found)}"
        found.append((out, dtype, _MANY.format(out=out, text=text, longest=LONGEST), (LONGEST,)))
        found.append((out + "n", DTYPES[INT], "", ()))

    if layout[0] == "list":
        many(text, DTYPES[layout[1]])
    elif layout[0] == "mixed list":
        many(text + "[0]", DTYPES[layout[1]])
        many(text + "[1]", numpy.dtype("uint8"))
    elif layout[0] == "number":
        leaf(text, layout[1])
    elif layout[0] == "mixed":
        leaf(text + "[0]", layout[1])
        leaf(text + "[1]", None)
    elif layout[0] == "tuple":
        for i, part in enumerate(layout[1]):
            _places(part, f"{text}[{i}]", found)
    return found


class Program:
    """A function compiled for arguments of given kinds on a device."""

    def __init__(self, f, kinds, device):
        self.function, self._device = f, device
        self._f = _plain(f)(len(kinds))
        names = [f"x{i}" for i in range(len(kinds))]
        self._types = tuple(types.from_dtype(DTYPES[k]) for k in kinds)
        with _core.device("cpu"):
            self.layout = self._probed(names)
        self._outs = _places(self.layout, "v", [])
        self.words = sum(math.prod(shape) for *_, shape in self._outs)  # numbers that one item's result takes
        outs = [out for out, *_ in self._outs]
        lines = [
            f"def mapped({', '.join([*names, 'bad', *outs])}):",
            "    for i in range(bad.shape[0]):",
            f"        v, b = _exact(_f, {', '.join(n + '[i]' for n in names)})",
            "        bad[i] = b",
            *(text for _, _, text, _ in self._outs),
        ]
        self._run = jit(define("\n".join([*lines, ""]), "mapped", _exact=exact, _f=self._f), nogil=True)

    def _probed(self, names):
        text = f"def probe({', '.join(names)}):\n    return _exact(_f, {', '.join(names)})\n"
        self._probe = jit(define(text, "probe", _exact=exact, _f=self._f), parallel=False)
        self._returns = self._probe._returns(self._types)
        return _layout(types.parse(self._returns).items[0])

    def holds(self):
        """Whether the function still returns results of this layout. A global that it reads may have changed its type
        since.

        Raises one of REFUSALS where the function can no longer be compiled."""
        with _core.device("cpu"):
            return self._probe._returns(self._types) == self._returns

    def __call__(self, values, n):
        """Compute n items. Return the arrays of results, and a NumPy array that is True for each item that Python must
        compute.

        If another thread changes what the function reads while it runs, Python must compute all of them."""
        try:
            outs, bad = self._called(values, n)
            if self.holds():
                return outs, bad
        except REFUSALS:
            pass
        return [numpy.zeros((n, *s), d) for _, d, _, s in self._outs], numpy.ones(n, bool)

    def _called(self, values, n):
        if self._device.host:
            values = [v.get() if isinstance(v, _core.ndarray) else numpy.ascontiguousarray(v) for v in values]
            bad, outs = numpy.empty(n, bool), [numpy.empty((n, *s), d) for _, d, _, s in self._outs]
            self._run(*values, bad, *outs)
            return outs, bad
        values = [_core.asarray(v, device=self._device) for v in values]
        bad = _core.empty((n,), bool, device=self._device)
        outs = [_core.empty((n, *s), d, device=self._device) for _, d, _, s in self._outs]
        self._run(*values, bad, *outs)
        return outs, bad.get()

    def as_list(self, outs, n):
        """The results as a list of Python objects: numbers, None, lists, or tuples of these."""
        host = iter([a.get() if isinstance(a, _core.ndarray) else a for a in outs])
        return _listed(self.layout, host, n)

    def as_array(self, outs, n):
        """The results as one array. None where they are not numbers of one kind."""
        if self.layout[0] == "number":
            return outs[0]
        if self.layout[0] == "tuple" and self.layout[1] and all(part[0] == "number" for part in self.layout[1]):
            from .. import stack

            return (numpy.stack if type(outs[0]) is numpy.ndarray else stack)(outs, axis=1)
        return None


def _complexes(words, kinds):
    values = words.tolist()
    for i in () if kinds is None else numpy.flatnonzero(kinds != COMPLEX).tolist():
        kind = int(kinds[i])
        values[i] = _MADE[kind](values[i].real) if kind in _MADE else None
    return values


def _listed(layout, arrays, n):
    if layout[0] == "none":
        return [None] * n
    if layout[0] == "tuple":
        parts = [_listed(part, arrays, n) for part in layout[1]]
        return list(zip(*parts, strict=True)) if parts else [()] * n
    words = next(arrays)
    if "list" in layout[0]:
        lengths = next(arrays).tolist()
        if layout[0] == "list":
            return [row[:m].tolist() for row, m in zip(words, lengths, strict=True)]
        rows = zip(words, next(arrays), next(arrays).tolist(), strict=True)
        return [_core._items_out(row[:m], layout[1], kinds[:m]) for row, kinds, m in rows]
    if layout[1] == COMPLEX:
        return _complexes(words, next(arrays) if layout[0] == "mixed" else None)
    return _core._items_out(words, layout[1], next(arrays) if layout[0] == "mixed" else None)


__all__ = ["BOOL", "COMPLEX", "FLOAT", "INT", "REFUSALS", "Changed", "Program", "program"]
