"""Moves a running loop of the program's own files into compiled code.

_rewrite.py changes each loop so that it asks for pieces of its iterations (src/python/unchanged/loops.c). Python runs
and times the first iterations, which also show the types of the loop's variables. If the remaining iterations would
take longer than compiling does, the loop is compiled for these types. Compiled code gives exactly Python's and NumPy's
values (treadle.exact_arrays), or reports that it cannot. Then the arrays that it may have written are restored, and
Python continues where the compiled code began. Therefore exceptions, warnings and ints beyond 64 bits occur on the
same line as in Python.
"""

import builtins
import importlib.machinery
import importlib.util
import sys
import threading
import time
import types
import warnings

import numpy

from treadle import _core
from treadle._compile import _source
from treadle._compile._generate import define
from treadle._compile._jit import jit
from treadle._compile._ufunc import REFUSALS

from . import _imports, _rewrite

COMPILING = 0.03  # estimated seconds that compiling a loop takes
ENTERING = 40e-6  # seconds that switching from Python to compiled code takes
_TRIALS = 2  # failures of compiled code in a row after which Python keeps the loop
_SLOW = 3  # times in a row that compiled code may be slower than Python
_COPY = 4e9  # bytes per second for copying the arrays that a failure would have to restore
_MOST_KEPT = 1 << 31  # bytes of such copies
_MOST_SPARE = 1 << 26  # bytes of a copy whose memory is reused for the next one
_MOST = 8  # compiled programs of one loop
_ERRORS = numpy.geterr()

# For single numbers these call NumPy's own code, whose last digits differ from the C library's.
_UFUNCS = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt "
    "radians degrees sign arctan2 hypot copysign logaddexp logaddexp2 maximum minimum fmax fmin fmod "
    "sqrt floor ceil trunc rint fabs square"
).split()

_sites = {}  # key: _core.LoopSite
ran = {}  # key: [runs of compiled code, their seconds, runs in a row that were slower than Python]


def exact_arrays(f, *arguments):
    """In compiled code: the value of f(*arguments), and whether only Python can compute it."""
    raise TypeError("exact_arrays has a meaning in compiled functions only")


exact_arrays._td_name = "treadle.exact_arrays"


class Refused(Exception):
    """Python must run the loop; the message is the reason."""


# ---- how a loop's variables go in and out ----


class _Plan:
    """The role of each of a loop's names, by the values in the frame where the loop starts.

    numbers, arrays: names that become arguments. bools: those of `numbers` whose values are Python's bools. fresh:
    variables that have no value yet, or one that is never seen. results: variables that the loop may change. objects:
    functions, modules and other constants by name. members: {(name, attribute): argument} for attributes of the
    program's objects."""

    def __init__(self, loop, space):
        self.numbers, self.arrays, self.bools, self.fresh = [], [], [], []
        self.objects, self.members, self.values = {}, {}, {}
        for name in dict.fromkeys([*loop.stores, *loop.loads]):
            value = space.get(name, ...)
            if name in loop.anew and not (isinstance(value, numpy.generic) and name not in loop.private):
                value = ...  # nobody sees it; but what may be without a value must not be a NumPy scalar
            if name in loop.members and name not in loop.bare and name not in loop.stores and _is_plain_object(value):
                for attribute in loop.members[name]:
                    self._member(name, value, attribute)
            elif value is not ...:
                self._take(name, value, name in loop.stores)
            elif name not in loop.stores:
                raise Refused(f"{name} has no value")
            elif name not in loop.private:
                self.fresh.append(name)
        self.results = [n for n in loop.stores if n not in loop.private]
        for name in self.results:
            if name in self.arrays:
                raise Refused(f"{name}, an array, is set by the loop and used after it")
        self.params = [*self.numbers, *self.arrays]

    def _member(self, name, o, attribute):
        """Take an attribute of an object as an argument.

        The loop must not set it, and the object itself must hold it."""
        known, of_class = getattr(o, "__dict__", {}), getattr(type(o), attribute, None)
        if attribute not in known or hasattr(type(of_class), "__set__"):
            raise Refused(f"{name}.{attribute} is no plain attribute of a {type(o).__name__}")
        argument = self.members[name, attribute] = f"_td_{name}_{attribute}"
        self._take(argument, known[attribute], True)

    def _take(self, name, value, stored):
        kind = type(value)
        self.values[name] = value
        if kind is bool:
            self.bools.append(name)
            self.numbers.append(name)
        elif kind is float or (kind is int and value.bit_length() < 64):
            self.numbers.append(name)
        elif isinstance(value, numpy.generic) and value.dtype.kind in "biuf" and value.dtype.char not in "eg":
            self.numbers.append(name)
        elif kind is numpy.ndarray and value.ndim and value.dtype.kind in "biuf":
            self.arrays.append(name)
        elif not stored and (value is None or callable(value) or isinstance(value, types.ModuleType)):
            self.objects[name] = value
        else:
            raise Refused(f"{name} is {'an array of ' + str(value.dtype) if kind is numpy.ndarray else kind.__name__}")


def _is_plain_object(o):
    """Whether o is an instance of a class of the program's with Python's ordinary attribute lookup."""
    kind = type(o)
    return kind.__module__ not in ("builtins", "numpy") and kind.__getattribute__ is object.__getattribute__ and not (
        callable(o) or isinstance(o, (types.ModuleType, numpy.ndarray, numpy.generic))
    )  # fmt: skip


class _Same:
    """A dictionary key that compares an object by identity and keeps it alive."""

    __slots__ = ("object",)

    def __init__(self, o):
        self.object = o

    def __eq__(self, other):
        return type(other) is _Same and self.object is other.object

    def __hash__(self):
        return id(self.object)


class _Cell(str):
    """The name of a variable that a function reads from an enclosing function."""

    __slots__ = ()


def _constants(o, attributes, known):
    """Everything that compiled code treats as constant in an object that it uses. It becomes part of the program's
    key."""
    if type(o) in (int, float, bool, complex, str, type(None)):
        yield type(o), repr(o)
        return
    yield _Same(o)
    if id(o) in known:
        return
    known.add(id(o))
    if isinstance(o, types.FunctionType):
        yield o.__code__
        yield from (_Cell(name) for name in o.__code__.co_freevars)
        names = _names(o.__code__)
        for name in names:
            if name in o.__globals__:
                yield name
                yield from _constants(o.__globals__[name], names, known)
        for x in (*(o.__defaults__ or ()), *(o.__kwdefaults__ or {}).values(), *_cells(o)):
            yield from _constants(x, names, known)
    elif isinstance(o, (types.ModuleType, type)) and not hasattr(builtins, getattr(o, "__name__", "")):
        for name in attributes:
            value = getattr(o, name, None)
            if type(value) in (int, float, bool, complex) or isinstance(value, types.FunctionType):
                yield name
                yield from _constants(value, attributes, known)


def _cells(f):
    for c in f.__closure__ or ():
        try:
            yield c.cell_contents
        except ValueError:
            yield None


def _names(code):
    return {*code.co_names, *(n for c in code.co_consts if isinstance(c, types.CodeType) for n in _names(c))}


def _array_key(a):
    f = a.flags
    return a.dtype, a.ndim, f.c_contiguous, f.f_contiguous, f.writeable, f.aligned


# The numbers are those of exact.h.
_TAGS = {1: bool, 2: int, 4: float, 8: lambda v: None, 32: numpy.bool_, 64: numpy.int64, 128: numpy.float64}
_PLAIN = {"int64": int, "float64": float, "bool": bool}


def _maker(t):
    """A function that converts a compiled result of type t to a Python object."""
    if t is None or getattr(t, "kind", None) == "none":
        return lambda value: None
    if t.kind == "tuple":
        return lambda pair: _TAGS[pair[1]](pair[0])
    name = numpy.dtype(t.dtype).name
    return _PLAIN.get(name) or numpy.dtype(t.dtype).type


class _Program:
    """A loop compiled for a plan. gave_up counts its failures in a row."""

    def __init__(self, loop, plan, items):
        params = [*_rewrite.LEAD[items], *plan.params]
        text = loop.text(params, plan.fresh, plan.bools, plan.results, items, plan.members)
        hot = define(text, "hot", **plan.objects)
        names = ", ".join(params)
        text = f"def loop({names}):\n    return _exact(_f, {names})\n"
        self._run = jit(define(text, "loop", _exact=exact_arrays, _f=hot), parallel=False, boundscheck=True, nogil=True)
        self._stores, self._fresh, self._results, self._makers = loop.stores, set(plan.fresh), plan.results, None
        self.gave_up, self.spare = 0, []

    def copy(self, a):
        """A copy of an array. It reuses the memory of an earlier copy, because touching fresh memory costs more than
        copying."""
        for i, had in enumerate(self.spare):
            if had.shape == a.shape and had.dtype == a.dtype:
                had = self.spare.pop(i)
                had[...] = a
                return had
        self.spare.clear()
        return a.copy()

    def __call__(self, arguments):
        """Run the loop: (how it was left, the values of its variables, ... for a variable without value). None where
        Python must run it."""
        values, bad = self._run(*arguments)
        if bad:
            return None
        if self._makers is None:
            self._makers = [_maker(t) for t in self._run._compiled()[-1].return_type.items[0].items[1:]]
        made = {n: make(v) for n, v, make in zip(self._results, values[1:], self._makers, strict=True)}
        unset = {n for n in self._fresh if made[n] is None}
        return (values[0], *(... if n in unset else made.get(n, ...) for n in self._stores))


# ---- a loop is handed over ----


def _run(turns):
    """Run the rest of a loop. LoopTurns.run() calls this from the frame of the loop."""
    site, begun = turns.site, time.perf_counter()
    try:
        left = _compiled(site, _Space(sys._getframe(1)), turns.rest(), turns.expected, turns.early)
    except Refused as why:
        site.dead = str(why)
        return None
    if left is not None:
        turns.end()
        took, times = time.perf_counter() - begun, ran.setdefault(site.loop.key, [0, 0.0, 0])
        times[0] += 1
        times[1] += took
        times[2] = times[2] + 1 if took > turns.expected else 0
        if times[2] > _SLOW:
            site.dead = "it is no faster compiled"
    return left


class _Space:
    """The variables that a frame sees: local, global and built-in ones."""

    def __init__(self, frame):
        self._spaces = (frame.f_locals, frame.f_globals, frame.f_builtins)

    def get(self, name, otherwise=None):
        for space in self._spaces:
            if name in space:
                return space[name]
        return otherwise


def _arguments(rest):
    """What the compiled loop iterates over: its key in ITEMS, and its first arguments."""
    if rest is None:
        return None, []
    if type(rest) is not range:
        return "_td_array", [rest]
    if rest.step == 1:
        return "_td_range", [rest.start, rest.stop]
    return "_td_steps", [rest.start, rest.stop, rest.step]


def _warnings_matter():
    """Whether NumPy's floating-point warnings must be raised or handled at the operation that causes them."""
    raised = any(f[0] == "error" and issubclass(RuntimeWarning, f[2]) for f in warnings.filters)
    return raised or numpy.geterr() != _ERRORS


def _compiled(site, space, rest, expected, early):
    """Run the rest of the loop compiled: (how it was left, values of its variables). None where Python continues this
    time. early: Python has run no iteration yet, so nothing new is compiled.

    Raises Refused where Python must keep the loop for good."""
    loop, (items, lead) = site.loop, _arguments(rest)
    # a while loop may wait for another thread, so it stays in Python if there are others
    if _warnings_matter() or (items is None and threading.active_count() > 1):
        return None
    plan = _Plan(loop, space)
    values = [plan.values[n] for n in plan.params]
    arrays = values[len(plan.numbers) :]
    program = _program(site, plan, items, [*(lead if items == "_td_array" else []), *arrays], values, early)
    if program is None:
        return None
    written = [plan.values[n] for n in loop.written(plan.arrays)]
    nbytes = sum(a.nbytes for a in written)
    if program.gave_up >= _TRIALS or nbytes > _MOST_KEPT or nbytes / _COPY > expected / 4:
        return None
    kept = [(a, program.copy(a)) for a in written if a.flags.writeable]
    left = None
    try:
        with _core.device("cpu"):
            left = program([*lead, *(int(v) if type(v) is bool else v for v in values)])
    except (*REFUSALS, IndexError) as why:
        raise Refused(next(iter(str(why).strip().splitlines()), type(why).__name__)) from None
    finally:
        if left is None:
            program.gave_up += 1
            for a, had in kept:
                a[...] = had
        else:
            program.gave_up = 0
        program.spare.extend(had for _, had in kept if had.nbytes <= _MOST_SPARE)
    return left


def _program(site, plan, items, arrays, values, early):
    loop, known = site.loop, set()
    constants = [c for n, o in plan.objects.items() for c in (n, *_constants(o, loop.attributes, known))]
    for n in constants:
        if (type(n) is str and n in loop.outer) or (type(n) is _Cell and n in loop.stores):
            raise Refused(f"it changes {n}, which a function reads that it calls")
    kinds = [type(v) for v in values[: len(plan.numbers)]]
    key = (items, *plan.params, *kinds, *map(_array_key, arrays), *plan.fresh, *constants)
    program = site.programs.get(key)
    if program is None and not early:
        if len(site.programs) >= _MOST:
            raise Refused("its variables are of other types each time")
        program = site.programs[key] = _Program(loop, plan, items)
    return program


# ---- the program's files ----


def compiled(text, file, plainly=None):
    """Compile a file of the program's own (text: str or bytes) so that its loops are watched.

    plainly() returns the code object of the unchanged file."""
    plain = plainly() if plainly else compile(text, file, "exec", dont_inherit=True)
    try:
        made = _rewrite.rewritten(importlib.util.decode_source(text) if isinstance(text, bytes) else text, file)
        if made is None:
            return plain
        tree, loops = made
        code = compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return plain
    _sites.update((key, _core.LoopSite(loop, loop.inner)) for key, loop in loops.items())
    _source.rewritten.update(_pairs(code, plain))
    return code


def _pairs(code, plain):
    """Yield pairs (rewritten code object, original) for all functions of a file.

    A lambda has no loops and stays as it is. Several may share a line and a name, which would pair them wrongly."""
    own = {(c.co_qualname, c.co_firstlineno): c for c in _codes(plain)}
    for c in _codes(code):
        was = own.get((c.co_qualname, c.co_firstlineno))
        if was is not None and was != c and c.co_name != "<lambda>":
            yield c, was


def _codes(code):
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield c
            yield from _codes(c)


_plain_get_code = importlib.machinery.SourceFileLoader.get_code


def _get_code(self, fullname):
    """Replaces SourceFileLoader.get_code: compiles the program's own files with watched loops."""
    path = self.get_filename(fullname)
    if not _imports.is_own({"__file__": path}):
        return _plain_get_code(self, fullname)
    text = self.get_data(path)
    if b"numpy" not in text:
        return _plain_get_code(self, fullname)
    return compiled(text, path, lambda: _plain_get_code(self, fullname))


def watch():
    """Start to watch the loops of the program's own files."""
    _core._loops_setup(_sites, _run, COMPILING, ENTERING)
    for name in _UFUNCS:
        _core._take_ufunc(getattr(numpy, name))
    builtins.__dict__[_rewrite.LOOP] = _core._loop
    importlib.machinery.SourceFileLoader.get_code = _get_code


def told():
    """For the report: (runs, seconds) of loops that ran compiled by "file:line", and why Python kept the others:
    {place: why}."""
    run = {_place(key): tuple(times[:2]) for key, times in ran.items()}
    left = {_place(k): s.dead for k, s in _sites.items() if s.dead is not None and _place(k) not in run}
    return run, left


def _place(key):
    return key.rpartition(":")[0]
