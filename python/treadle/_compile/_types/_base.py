"""Type and Signature, and parse, by which every class takes each spelling of the types that it is made of.

This module knows no other class of types. parse finds who reads a spelling in a table, by the spelling's class;
_spellings.py fills it.
"""

import builtins
from functools import singledispatch

import numpy

MAKERS = {}  # by name, what makes a type of others; _names.py fills it


def _is_type(x):
    """Whether x is a type, where another value would be allowed too."""
    scalar = isinstance(x, type) and (x in (builtins.bool, int, float, complex) or issubclass(x, numpy.generic))
    return scalar or isinstance(x, (Type, Signature))


class Type:
    """What every type is. name: its text; the rest is told at the head of this module."""

    __slots__ = ("kind", "name", "items", "ndim", "layout", "_dtype", "_key", "__weakref__")

    def __init__(self, kind="opaque", name="", dtype=None, items=(), ndim=0, layout=None, key=()):
        _set(self, kind=kind, name=name, _dtype=dtype, items=tuple(items), ndim=ndim, layout=layout)
        _set(self, _key=(type(self).__name__, kind, name, self.items, ndim, layout, *key))

    @property
    def dtype(self):
        return self._dtype

    def __setattr__(self, name, value):
        raise AttributeError(f"{self}: a type cannot be changed")

    def __delattr__(self, name):
        raise AttributeError(f"{self}: a type cannot be changed")

    def __eq__(self, other):
        return self._key == other._key if isinstance(other, Type) else NotImplemented

    def __hash__(self):
        return hash(self._key)

    def __repr__(self):
        return self.name

    def __str__(self):
        return self.name

    def __reduce__(self):
        raise TypeError(f"{self!r} cannot be pickled")

    def __getitem__(self, key):
        """An array type of these elements: one slice an axis, ``::1`` where neighbours lie side by side."""
        axes = key if isinstance(key, tuple) else (key,)
        if not axes or not all(isinstance(a, slice) and a.start is a.stop is None for a in axes):
            raise TypeError(f"{self}[…]: one slice for each axis, as in {self}[:, ::1], not {key!r}")
        steps = [a.step for a in axes]
        if any(s not in (None, 1) for s in steps) or steps.count(1) > 1 or 1 in steps[1:-1]:
            raise TypeError(f"{self}[…]: at most one ::1, on the first axis or the last")
        layout = "C" if steps[-1] == 1 else "F" if steps[0] == 1 else "A"
        return MAKERS["Array"](self, len(axes), layout)

    def __call__(self, *args):
        """A signature that returns this type, of argument types."""
        return Signature(self, args)

    @property
    def key(self):
        return self._key

    def unliteral(self):
        """The type of values that need not be constant."""
        return self


def _set(o, **values):
    for name, value in values.items():
        object.__setattr__(o, name, value)


class Signature:
    """A function's types. return_type: a Type, None: to be found out; args: a tuple of Types. Immutable."""

    __slots__ = ("return_type", "args")
    kind = "signature"

    def __init__(self, return_type, args):
        object.__setattr__(self, "return_type", None if return_type is None else parse(return_type))
        object.__setattr__(self, "args", tuple(parse(a) for a in args))

    def __setattr__(self, name, value):
        raise AttributeError("a signature cannot be changed")

    def __eq__(self, other):
        same = isinstance(other, Signature)
        return self.return_type == other.return_type and self.args == other.args if same else NotImplemented

    def __hash__(self):
        return hash((self.return_type, self.args))

    def __repr__(self):
        args = repr(self.args) if len(self.args) != 1 else f"({self.args[0]!r},)"
        return f"{args} -> {self.return_type!r}"

    def __reduce__(self):
        return Signature, (self.return_type, self.args)


def parse(spelling):
    """The Type or Signature that spelling means.

    spelling: either of them; a numpy.dtype or scalar type; bool, int, float, complex, str or None; a tuple of spellings
    (a tuple of values); text such as "float32", "f4[:, ::1]", "void(int32, UniTuple(float64, 2))".
    TypeError: nothing of these, with what was found."""
    return read(spelling)


@singledispatch
def read(spelling):
    """What parse returns. Readers of classes of spellings register here; this one gets all others."""
    if getattr(spelling, "__name__", None) == "bfloat16":  # what stands for it is of several classes
        return read("bfloat16")
    raise TypeError(f"{spelling!r} is not a type; there are names as in treadle.types, NumPy's dtypes and text")


@read.register
def _(spelling: Type | Signature):
    return spelling
