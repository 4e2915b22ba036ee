"""Hot loops of the program's own files, left to compiled code while they run.

_rewrite.py has each loop ask for its pieces (src/python/unchanged/loops.c). The first iterations run in Python and are
timed; they show which types the loop's variables have, too. When what is left would take longer than compiling, it is
compiled for these types and run. Compiled code gives Python's and NumPy's own values (treadle.exact_arrays), or says
that it cannot: then the arrays that it may have written get their values back, and Python goes on where the compiled
code began. So an exception, a warning, an int beyond 64 bits happen as they do in Python, on the same line.
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

COMPILING = 0.03  # seconds that compiling a loop takes, about
ENTERING = 40e-6  # seconds that handing a loop over takes
_TRIALS = 2  # times in a row that compiled code may give up before the loop is left to Python
_SLOW = 3  # times in a row that it may take longer than Python would have
_COPY = 4e9  # bytes a second, of arrays that are kept in case compiled code gives up
_MOST_KEPT = 1 << 31  # bytes of them
_MOST_SPARE = 1 << 26  # bytes of a copy whose memory is kept for the next one
_MOST = 8  # programs of a loop
_ERRORS = numpy.geterr()

# Of these NumPy's own code is called for single numbers: its last places are not the C library's.
_UFUNCS = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt "
    "radians degrees sign arctan2 hypot copysign logaddexp logaddexp2 maximum minimum fmax fmin fmod"
).split()

_sites = {}  # key: _core.LoopSite
ran = {}  # key: [times that compiled code has run the loop, s, times in a row that Python would have taken less]


def exact_arrays(f, *arguments):
    """In compiled functions: f(*arguments), and whether only Python can compute it."""
    raise TypeError("exact_arrays has a meaning in compiled functions only")


exact_arrays._td_name = "treadle.exact_arrays"


class Refused(Exception):
    """Why a loop is left to Python."""


# ---- how a loop's variables go in and out ----


class _Plan:
    """What a loop's names stand for in a namespace where it has begun.

    numbers, arrays: names of the arguments; bools: those of `numbers` that are Python's bools; fresh: variables that
    have no value yet; results: those that the loop may change; objects: functions, modules and the like, by name;
    members: {(name, attribute): argument}, of objects of the program's."""

    def __init__(self, loop, space):
        self.numbers, self.arrays, self.bools, self.fresh = [], [], [], []
        self.objects, self.members, self.values = {}, {}, {}
        for name in dict.fromkeys([*loop.stores, *loop.loads]):
            value = space.get(name, ...)
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
        """The value of an attribute that the loop does not set, where the object itself holds it."""
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
    """Whether it is an object of a class of the program's that looks attributes up as Python does."""
    kind = type(o)
    return kind.__module__ not in ("builtins", "numpy") and kind.__getattribute__ is object.__getattribute__ and not (
        callable(o) or isinstance(o, (types.ModuleType, numpy.ndarray, numpy.generic))
    )  # fmt: skip


class _Same:
    """A key for an object: compares by identity, and keeps the object alive."""

    __slots__ = ("object",)

    def __init__(self, o):
        self.object = o

    def __eq__(self, other):
        return type(other) is _Same and self.object is other.object

    def __hash__(self):
        return id(self.object)


class _Cell(str):
    """The name of a variable of an outer function's that a function reads."""

    __slots__ = ()


def _constants(o, attributes, known):
    """What compiled code treats as constant in an object that it uses. It is a part of the program's key."""
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


# exact.h numbers the kinds.
_TAGS = {1: bool, 2: int, 4: float, 8: lambda v: None, 32: numpy.bool_, 64: numpy.int64, 128: numpy.float64}
_PLAIN = {"int64": int, "float64": float, "bool": bool}


def _maker(t):
    """A function that turns a compiled result of type t into the program's object."""
    if t is None or getattr(t, "kind", None) == "none":
        return lambda value: None
    if t.kind == "tuple":
        return lambda pair: _TAGS[pair[1]](pair[0])
    name = numpy.dtype(t.dtype).name
    return _PLAIN.get(name) or numpy.dtype(t.dtype).type


class _Program:
    """A loop compiled for a plan. gave_up: how often in a row it has said that Python must run it."""

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
        """A copy of an array, in an earlier one's memory where there is some: fresh memory costs more than copying."""
        for i, had in enumerate(self.spare):
            if had.shape == a.shape and had.dtype == a.dtype:
                had = self.spare.pop(i)
                had[...] = a
                return had
        self.spare.clear()
        return a.copy()

    def __call__(self, arguments):
        """(how the loop was left, its variables' values or ... for those that have none); None: Python must run it."""
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
    """Run the rest of a loop for LoopTurns.run(), which the loop's own frame calls."""
    site, begun = turns.site, time.perf_counter()
    try:
        left = _compiled(site, _Space(sys._getframe(1)), turns.rest(), turns.expected)
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
    """The names that a frame sees."""

    def __init__(self, frame):
        self._spaces = (frame.f_locals, frame.f_globals, frame.f_builtins)

    def get(self, name, otherwise=None):
        for space in self._spaces:
            if name in space:
                return space[name]
        return otherwise


def _arguments(rest):
    """(the key of ITEMS, the first arguments) of the compiled loop for the items that are left."""
    if rest is None:
        return None, []
    if type(rest) is not range:
        return "_td_array", [rest]
    if rest.step == 1:
        return "_td_range", [rest.start, rest.stop]
    return "_td_steps", [rest.start, rest.stop, rest.step]


def _warnings_matter():
    """Whether warnings of NumPy's arithmetic must be raised or handled at the operation that causes them."""
    raised = any(f[0] == "error" and issubclass(RuntimeWarning, f[2]) for f in warnings.filters)
    return raised or numpy.geterr() != _ERRORS


def _compiled(site, space, rest, expected):
    """(how the loop was left, values of its variables); None: Python goes on. Refused: it does so for good."""
    loop, (items, lead) = site.loop, _arguments(rest)
    if _warnings_matter() or (items is None and threading.active_count() > 1):  # another thread may end the loop
        return None
    plan = _Plan(loop, space)
    values = [plan.values[n] for n in plan.params]
    arrays = values[len(plan.numbers) :]
    program = _program(site, plan, items, [*(lead if items == "_td_array" else []), *arrays], values)
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


def _program(site, plan, items, arrays, values):
    loop, known = site.loop, set()
    constants = [c for n, o in plan.objects.items() for c in (n, *_constants(o, loop.attributes, known))]
    for n in constants:
        if (type(n) is str and n in loop.outer) or (type(n) is _Cell and n in loop.stores):
            raise Refused(f"it changes {n}, which a function reads that it calls")
    kinds = [type(v) for v in values[: len(plan.numbers)]]
    key = (items, *plan.params, *kinds, *map(_array_key, arrays), *plan.fresh, *constants)
    program = site.programs.get(key)
    if program is None:
        if len(site.programs) >= _MOST:
            raise Refused("its variables are of other types each time")
        program = site.programs[key] = _Program(loop, plan, items)
    return program


# ---- the program's files ----


def compiled(text, file, plainly=None):
    """The code object of a file of the program's own (its text, str or bytes), whose loops are watched. plainly(): that
    of the file as it is written."""
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
    """Pairs (rewritten code object, original) for all functions of a file."""
    own = {(c.co_qualname, c.co_firstlineno): c for c in _codes(plain)}
    for c in _codes(code):
        was = own.get((c.co_qualname, c.co_firstlineno))
        if was is not None and was != c:
            yield c, was


def _codes(code):
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield c
            yield from _codes(c)


_plain_get_code = importlib.machinery.SourceFileLoader.get_code


def _get_code(self, fullname):
    """SourceFileLoader.get_code: the program's own files are compiled here."""
    path = self.get_filename(fullname)
    if not _imports.is_own({"__file__": path}):
        return _plain_get_code(self, fullname)
    text = self.get_data(path)
    if b"numpy" not in text:
        return _plain_get_code(self, fullname)
    return compiled(text, path, lambda: _plain_get_code(self, fullname))


def watch():
    """From now on loops of the program's own files are watched."""
    _core._loops_setup(_sites, _run, COMPILING, ENTERING)
    for name in _UFUNCS:
        _core._take_ufunc(getattr(numpy, name))
    builtins.__dict__[_rewrite.LOOP] = _core._loop
    importlib.machinery.SourceFileLoader.get_code = _get_code


def told():
    """(times, s) of the loops that ran compiled, by "file:line", and why others were left to Python: {place: why}."""
    run = {_place(key): tuple(times[:2]) for key, times in ran.items()}
    left = {_place(k): s.dead for k, s in _sites.items() if s.dead is not None and _place(k) not in run}
    return run, left


def _place(key):
    return key.rpartition(":")[0]
