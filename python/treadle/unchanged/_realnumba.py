"""Hands functions that treadle cannot compile to the real Numba, where it is installed.

The program's functions refer to what the import hook gave them: treadle's modules, types and compiled functions. Numba
therefore gets a copy of the function, with the real objects in its globals and closure.
"""

import functools
import importlib.util
import sys
import types

import numpy

from treadle import typed
from treadle._compile import _source
from treadle._compile._function import Function
from treadle.types import Signature, Type

from . import _faces, _imports

# Numba's name of a type, by treadle's kind
_CLASSES = {"typedlist": "ListType", "typeddict": "DictType", "optional": "Optional", "pointer": "CPointer"}
_made = {}  # id of a function of the program's: (the function, Numba's dispatcher or the copy for Numba)
_ours = {}  # Numba's name: the object that the program has under it
_later = []  # functions that extend Numba, called before its first use


def is_there():
    """Is Numba installed?"""
    return "numba" in sys.modules or importlib.util.find_spec("numba") is not None


def numba(name="numba"):
    """The real module of that name. None where Numba is not installed or has no such module."""
    if not is_there():
        return None
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def extend(extension):
    """Call extension() before Numba compiles anything for the program."""
    _later.append(extension)


def dispatcher(fn, options, signatures=()):
    """Numba's dispatcher for a function of the program's. The options are those that the program gave to jit."""
    known = _made.get(id(fn))
    if known is None:
        while _later:
            _later.pop(0)()
        options = {"nopython": not options.get("forceobj")} | {k: real(v) for k, v in options.items() if k != "_numba"}
        made = numba().jit(copy(fn), **options)
        known = _made[id(fn)] = fn, made
        _fill(made.py_func, fn)
        compile(made, signatures)
    return known[1]


def caller(made):
    """A function that calls a dispatcher of Numba's, with Numba's own functions in place of the program's."""

    @functools.wraps(made)
    def call(*args, **kwargs):
        return made(*map(_argument, args), **{k: _argument(v) for k, v in kwargs.items()})

    return call


def _argument(value):
    if isinstance(value, Function):
        return real(value)
    return tuple(map(_argument, value)) if type(value) is tuple else value


def compile(made, signatures):
    """Compile a dispatcher of Numba's for tuples of argument types. The function may be recursive."""
    with numba("numba.core.typeinfer").register_dispatcher(made):
        for s in signatures:
            made.compile(tuple(real(t) for t in s))


class _Globals(dict):
    """The globals of a copied function. A name that its module defines later is looked up when Numba asks for it."""

    def __init__(self, fn):
        super().__init__(__name__=fn.__module__)
        self._theirs = fn.__globals__

    def __missing__(self, name):
        self[name] = value = real(self._theirs[name])
        return value


def copy(fn):
    """A copy of a function with globals and a closure of its own, both still empty."""
    cells = tuple(types.CellType() for _ in fn.__closure__ or ())
    code = _source.rewritten.get(fn.__code__, fn.__code__)
    made = types.FunctionType(code, _Globals(fn), fn.__name__, None, cells or None)
    made.__defaults__ = fn.__defaults__ and tuple(real(d) for d in fn.__defaults__)
    made.__kwdefaults__ = fn.__kwdefaults__ and {k: real(d) for k, d in fn.__kwdefaults__.items()}
    made.__qualname__, made.__module__, made.__doc__ = fn.__qualname__, fn.__module__, fn.__doc__
    return made


def whole_copy(fn):
    """A copy of a function for Numba, with globals and closure filled."""
    known = _made.get(id(fn))
    if known is None:
        known = _made[id(fn)] = fn, copy(fn)
        _fill(known[1], fn)
    return known[1]


def _fill(made, fn):
    for name in _names(fn.__code__):
        if name in fn.__globals__:
            made.__globals__[name] = real(fn.__globals__[name])
    made.__globals__.setdefault("__builtins__", fn.__globals__.get("__builtins__"))
    for cell, own in zip(made.__closure__ or (), fn.__closure__ or (), strict=True):
        try:
            cell.cell_contents = real(own.cell_contents)
        except ValueError:  # the enclosing function has not set this variable yet
            continue


def _names(code):
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def register(names):
    """Register objects of the program's as stand-ins for Numba's: {Numba's name: object}."""
    _ours.update(names)


def _known():
    """What each stand-in stands for, by its id."""
    found = {}
    for module in _faces.made():
        found |= {id(face): plain for face, plain in module._td_plain.values()}
    for name, value in _ours.items():
        found.setdefault(id(value), getattr(numba(), name, None))
    for name in typed.__all__:
        found[id(getattr(typed, name))] = getattr(numba("numba.typed"), name)
    return found


def real(value):
    """The object that Numba must see in place of one of the program's."""
    if isinstance(value, types.ModuleType):
        return _module(value)
    if isinstance(value, Function):
        return dispatcher(value.py_func, value.targetoptions)
    if isinstance(value, Type):
        return _type(value)
    if isinstance(value, Signature):
        return real(value.return_type)(*map(real, value.args))
    if hasattr(type(value), "_td_real"):
        return value._td_real
    if type(value) is tuple:
        return tuple(real(v) for v in value)
    if type(value) is dict:
        return {k: real(v) for k, v in value.items()}
    if isinstance(value, numba().types.WrapperAddressProtocol):
        return _address(value)
    found = _known().get(id(value))
    if found is None and isinstance(value, types.FunctionType) and _is_others(value.__module__ or ""):
        return whole_copy(value)
    return value if found is None else found


def _is_others(module):
    """Whether a module is neither Python's nor Numba's, so that its functions may refer to stand-ins."""
    top = module.partition(".")[0]
    return top != "numba" and module not in sys.stdlib_module_names


def _address(value):
    """A wrapper for an object of the program's that provides the address of compiled code: its signature gets Numba's
    types."""

    class Address(numba().types.WrapperAddressProtocol):
        def __wrapper_address__(self):
            return value.__wrapper_address__()

        def signature(self):
            sig = value.signature()
            return real(sig.return_type)(*(real(t) for t in sig.args))

    return Address()


def _module(module):
    name = module.__name__
    if isinstance(module, _faces.Module):
        return numpy if name == "numpy" else importlib.import_module(name)
    if name.partition(".")[0] == "numba":
        return numba(name) or module
    return _Program(module) if _imports.is_own(vars(module)) else module


class _Program(types.ModuleType):
    """A module of the program's own, with real objects in place of stand-ins."""

    def __init__(self, module):
        super().__init__(module.__name__)
        self.__dict__["_td_theirs"] = module

    def __getattr__(self, name):
        value = self.__dict__[name] = real(getattr(self.__dict__["_td_theirs"], name))
        return value


def _type(t):
    """The type of Numba's that has the same text."""
    items = [real(i) for i in t.items or ()]
    if t.kind in _CLASSES:
        return getattr(numba().types, _CLASSES[t.kind])(*items)
    if t.kind == "function":
        return numba().types.FunctionType(items[0](*items[1:]))
    try:
        return eval(repr(t), dict(vars(numba().types)))
    except Exception:  # Numba lacks the type; let it raise its own error
        return t
