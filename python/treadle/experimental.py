"""Classes whose instances compiled functions and Python share: ``jitclass``.

    from treadle import types
    from treadle.experimental import jitclass

    @jitclass([("value", types.int32), ("array", types.float32[:])])
    class Bag:
        def __init__(self, value):
            self.value = value
            self.array = np.zeros(value, dtype=np.float32)

The spec names all fields and their types; annotations of the class may stand in its place.
"""

import types as _python
import typing as _typing

from . import _core
from . import types as _types
from ._compile._jit import jit as _jit
from ._public import dir_of as _dir_of

__all__ = ["jitclass"]

_KEPT = {"__dict__", "__weakref__", "__annotations__", "__annotate_func__", "__annotate__", "__slots__"}


class JitClassType(type):
    """The class of jitclass's classes. class_type: what is known of one, with its instances' type."""

    def __new__(mcs, name, bases, members):
        if any(isinstance(b, JitClassType) for b in bases):
            raise TypeError("cannot subclass from a jitclass")
        return super().__new__(mcs, name, bases, members)


class _Instance(_core.Instance):
    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        self = _core.Instance.__new__(cls)
        self._begin()
        return self


class ClassType:
    """What is known of a class: class_name, instance_type, struct (its fields' types), methods, static_methods and
    jit_methods (functions by name), jit_props ({name: {"get": …, "set": …}})."""

    def __init__(self, cls, struct, methods, static_methods, props):
        self.class_name, self.struct = cls.__name__, struct
        self.methods = {n: f.py_func for n, f in methods.items()}
        self.static_methods = {n: f.py_func for n, f in static_methods.items()}
        self.jit_methods, self.jit_static_methods, self.jit_props = methods, static_methods, props
        self.instance_type = _types.ClassInstanceType(cls)


def _field(i, name):
    def read(self):
        return self._field(i)

    def write(self, value):
        self._set_field(i, value)

    return property(read, write, doc=f"the field {name}")


def _of_annotation(a):
    """The type that an annotation means."""
    origin, args = _typing.get_origin(a), _typing.get_args(a)
    if origin in (_typing.Union, getattr(_python, "UnionType", None)):
        some = [x for x in args if x is not type(None)]
        if len(some) == 1:
            return _types.Optional(_of_annotation(some[0]))
    if origin is list:
        return _types.ListType(_of_annotation(args[0]))
    if origin is dict:
        return _types.DictType(*map(_of_annotation, args))
    if origin is tuple:
        return _types.Tuple([_of_annotation(x) for x in args])
    return _types.parse(a)


def _spec_of(cls, spec):
    pairs = list(spec.items() if hasattr(spec, "items") else spec or ())
    for name, t in pairs:
        if not isinstance(name, str):
            raise TypeError(f"spec keys should be strings, got {name!r}")
        if not isinstance(t, _types.Type) and not hasattr(t, "class_type"):
            raise TypeError(f"spec values should be types of treadle.types or jitclass's classes, got {t!r}")
    fields = {}
    for name, t in pairs:
        if name in fields:
            raise TypeError(f"the field {name} stands twice in the spec")
        fields[name] = _types.parse(t)
    for base in reversed(cls.__mro__):
        if "__annotations__" in base.__dict__ or "__annotate_func__" in base.__dict__:
            for name, a in _typing.get_type_hints(base).items():
                fields.setdefault(name, None)
                fields[name] = fields[name] or _of_annotation(a)
    return {_private(cls, n): t for n, t in fields.items()}


def _private(cls, name):
    return f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") and not name.endswith("__") else name


def _compiled(f):
    return f if isinstance(f, _core.Dispatcher) else _jit(f)


def _make(cls, spec):
    if not isinstance(cls, type):
        raise TypeError(f"jitclass: {cls!r} is no class")
    fields = _spec_of(cls, spec)
    members = {}
    for base in reversed(cls.__mro__[:-1]):
        members |= base.__dict__
    methods, statics, props, made = {}, {}, {}, {"__slots__": ()}
    shadowed = sorted(set(fields) & set(members))
    if shadowed:
        raise NameError(f"name shadowing: {', '.join(shadowed)}")
    for name, m in members.items():
        if isinstance(m, (_python.FunctionType, _core.Dispatcher)):
            made[name] = methods[name] = _compiled(m)
        elif isinstance(m, staticmethod):
            statics[name] = _compiled(m.__func__)
            made[name] = staticmethod(statics[name])
        elif isinstance(m, property):
            if m.fdel:
                raise TypeError(f"deleter is not supported: {name}")
            props[name] = {k: _compiled(f) for k, f in (("get", m.fget), ("set", m.fset)) if f}
            made[name] = property(props[name].get("get"), props[name].get("set"), doc=m.__doc__)
        elif isinstance(m, classmethod):
            raise TypeError(f"class members are not yet supported: {name} is a classmethod")
        elif name not in _KEPT:
            made[name] = m
    for i, name in enumerate(fields):
        made[name] = _field(i, name)
    for where, functions in (
        ("_td_methods", methods),
        ("_td_statics", statics),
        ("_td_getters", {n: p["get"] for n, p in props.items() if "get" in p}),
        ("_td_setters", {n: p["set"] for n, p in props.items() if "set" in p}),
    ):
        made |= {f"{where}.{name}": f for name, f in functions.items()}  # as src/front/box/object.c asks for them
    made["_td_fields"] = tuple(fields.items())
    out = JitClassType(cls.__name__, (_Instance,), made)
    out.class_type = ClassType(out, fields, methods, statics, props)
    return out


def jitclass(cls_or_spec=None, spec=None):
    """Makes a class whose instances compiled functions and Python share; methods, properties and static methods are
    compiled as treadle.jit's functions are.

    cls_or_spec: the class (``@jitclass``), or the spec; spec: pairs (name, type of treadle.types) of all fields, or a
    dict of them, in place of or besides annotations of the class. Field types: numbers, arrays (``float64[:]``),
    strings, tuples, typed lists and dicts, other such classes, and ``optional`` of those. A field that was not set
    is 0, an array of no elements, or None. TypeError: a spec that is none, a classmethod, a class made
    of another such one; NameError: a field has a method's name."""
    if cls_or_spec is not None and spec is None and not isinstance(cls_or_spec, type):
        return lambda cls: _make(cls, cls_or_spec)
    if cls_or_spec is None:
        return lambda cls: _make(cls, spec)
    return _make(cls_or_spec, spec)


__dir__ = _dir_of(__name__)
