"""Subclasses of Tensor. An operation on a subclass first asks its __torch_function__, and the result is of the
subclass.

Functions look at the classes of their operands only after a program has defined such a subclass. Methods of plain
tensors never look: a subclass gets wrapped methods of its own. An object that is no tensor but has a __torch_function__
is asked when a function of torch's does not know it.
"""

import functools
import threading
import types

from .._core import Builtin

_state = threading.local()
_ACTIVE = []  # not empty once a program has defined a class that must be asked

# Methods that subclasses inherit without a wrapper: creation, copies, comparison, introspection.
_PLAIN = set(
    "__new__ __init__ __init_subclass__ __torch_function__ __class__ __getattribute__ __getattr__ __setattr__ "
    "__delattr__ __dict__ __doc__ __hash__ __module__ __reduce__ __reduce_ex__ __setstate__ __deepcopy__ "
    "__copy__ __subclasshook__ __sizeof__ __dir__ __weakref__ as_subclass _make_subclass __array__ "
    "__array_priority__ __dlpack__ __dlpack_device__ requires_grad_".split()
)
# The names of the functions that operators stand for.
_SPELLED = {"__truediv__": "div", "__itruediv__": "div_", "__mod__": "remainder", "__ifloordiv__": "floor_divide_"}
_SPELLED |= {f"__{k}__": k for k in "add sub mul matmul pow neg abs ne lt le gt ge".split()}
_SPELLED |= {f"__i{k}__": k + "_" for k in "add sub mul pow".split()} | {f"__r{k}__": k for k in ("add", "mul")}
_VIEWS = "T H mT mH real imag data".split()


def disabled(cls, func, types, args=(), kwargs=None):
    """The __torch_function__ of classes whose operations give plain tensors, such as Parameter."""
    return NotImplemented


class _Off:
    """A context manager inside of which no class is asked."""

    def __enter__(self):
        self._was = getattr(_state, "off", False)
        _state.off = True

    def __exit__(self, *_):
        _state.off = self._was


def _asks(kind):
    f = getattr(kind, "__torch_function__", None)
    return f is not None and getattr(f, "__func__", f) is not disabled


def _overriding(args, kwargs, base):
    """The operands to ask, one of each class, subclasses before their bases. Operands in lists and tuples count."""
    found = []
    for a in (*args, *kwargs.values()):
        for one in a if isinstance(a, (list, tuple)) else (a,):
            kind = type(one)
            if kind is base or not _asks(kind) or any(type(f) is kind for f in found):
                continue
            at = next((i for i, f in enumerate(found) if issubclass(kind, type(f))), len(found))
            found.insert(at, one)
    return found


def asked(func, args, kwargs, base):
    """The result of the operands' __torch_function__. NotImplemented: none of them has one. Raises TypeError if all
    decline."""
    if getattr(_state, "off", False):
        return NotImplemented
    found = _overriding(args, kwargs, base)
    func = getattr(func, "_shown", func)
    kinds = tuple(map(type, found))
    for kind in kinds:
        r = kind.__torch_function__(func, kinds, args, kwargs)
        if r is not NotImplemented:
            return r
    if found:
        raise TypeError(
            f"no implementation found for {func!r} on types that implement __torch_function__: {list(kinds)}"
        )
    return NotImplemented


def shown_as(f, other):
    """Give classes the function `other` where they are asked about f. autocast and vmap replace f by wrappers that
    programs see."""
    while isinstance(f, types.FunctionType):
        if type(getattr(f, "_shown", None)) is not Builtin:  # that one stays what programs see
            f._shown = other
        f = getattr(f, "__wrapped__", None)


def target(f):
    """The function that f calls, if f is a Builtin, else f."""
    return f._target if type(f) is Builtin else f


def put(space, name, f):
    """Give a name of a module or class another function. A Builtin stays, and calls the new one from now on."""
    held = vars(space).get(name)
    if type(held) is Builtin:
        held._target = f
    else:
        setattr(space, name, f)


def built_in(scope, names, home):
    """Make Builtins of the functions of those names: what is a built-in function in PyTorch does not become a method
    where a program makes it an attribute of a class. home: the module that has them."""
    for name in names:
        f = scope.get(name)
        if isinstance(f, types.FunctionType) and type(f) is not Builtin:
            if target(getattr(f, "_shown", None)) is not f:
                f._shown = Builtin(f, name, home)
            scope[name] = f._shown


def of_class(cls, r, base):
    """A result with its plain tensors turned into instances of cls."""
    if type(r) is base:
        r.__class__ = cls
    elif isinstance(r, tuple) and hasattr(r, "_fields"):
        return type(r)(*(of_class(cls, t, base) for t in r))
    elif isinstance(r, (tuple, list)):
        return type(r)(of_class(cls, t, base) for t in r)
    return r


def watched(f, base, look=None):
    """A wrapper of f, a function of tensors, that asks its operands' classes first, and shows look the arguments."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        if _ACTIVE and (r := asked(call, args, kwargs, base)) is not NotImplemented:
            return r
        try:
            if look is not None:
                look(args, kwargs)
            return f(*args, **kwargs)
        except (TypeError, AttributeError, NotImplementedError):
            r = NotImplemented if _ACTIVE else asked(call, args, kwargs, base)  # an operand that is no tensor
            if r is NotImplemented:
                raise
            return r

    call._watched = f
    vars(call).pop("_shown", None)  # what classes are asked about is this function, whatever f is
    return call


def watch(names, scope, base, check):
    """Wrap the functions of those names in a module's namespace. check(name) is None or looks at the arguments."""
    for name in names:
        f = scope[name]
        look = check(name)
        if callable(f) and not isinstance(f, type) and (look is not None or type(f) is not Builtin):
            scope[name] = watched(f, base, look)
            scope[name].__module__ = scope["__name__"]  # where pickle finds it


def _method(name, base):
    """A method for subclasses that asks them first. The reflected form of an operator asks about the operator itself.
    """
    own = getattr(base, name)
    f = getattr(base, _SPELLED.get(name, name))
    left = f"__{name[3:]}" if name.startswith("__r") else ""
    left = getattr(base, _SPELLED.get(left, left)) if hasattr(base, left) else None

    @functools.wraps(own)
    def call(self, *args, **kwargs):
        if left is not None and isinstance(args[0], base):
            r = asked(left, (args[0], self), kwargs, base)
        else:
            r = asked(f, (self, *args), kwargs, base)
        return own(self, *args, **kwargs) if r is NotImplemented else r

    return call


def _view(name, descriptor, base):
    def get(self):
        r = asked(descriptor.__get__, (self,), {}, base)
        return descriptor.__get__(self) if r is NotImplemented else r

    return property(get, getattr(descriptor, "__set__", None), doc=name)


def attach(base):
    """Give Tensor its __torch_function__, and subclasses wrapped methods from now on."""

    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Call func, and give its results this class. A subclass may override this to treat functions of torch's
        differently."""
        if cls is base or not all(issubclass(cls, kind) for kind in types):  # a library asks about Tensor itself
            return NotImplemented
        with _Off():
            r = func(*args, **(kwargs or {}))
        kept = {id(a) for a in args}
        return r if id(r) in kept else of_class(cls, r, base)

    def __init_subclass__(cls, **kwargs):
        super(base, cls).__init_subclass__(**kwargs)
        if not _asks(cls):
            return
        _ACTIVE.append(cls)
        between = [k for k in cls.__mro__ if k is not base and issubclass(k, base)]
        own = {name for k in between for name in vars(k)}
        for name, f in list(vars(base).items()):
            if name in _VIEWS and name not in own:
                setattr(cls, name, _view(name, f, base))
            elif name not in _PLAIN and name not in own and callable(f) and not isinstance(f, (staticmethod, type)):
                setattr(cls, name, _method(name, base))

    base.__torch_function__ = classmethod(__torch_function__)
    base.__init_subclass__ = classmethod(__init_subclass__)
