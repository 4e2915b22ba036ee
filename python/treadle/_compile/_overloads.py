"""Functions whose implementation is chosen by the types of their arguments: ``numba.extending.overload``."""

from .. import types
from ._types._text import spelled

FACTORIES = {}  # function: its factories, the latest first
_chosen = {}  # (function, types of arguments): the implementation


def register(function, factory):
    """Add a factory: factory(*types, **types) returns the Python function to compile for arguments of these types, or
    None."""
    FACTORIES.setdefault(function, []).insert(0, factory)
    _chosen.clear()


def implementation(function, args, names):
    """The Python function to compile for a call of a function in FACTORIES.

    args: for each argument the text of its type, or (the object,) of a constant. names: those of the last arguments,
    which are passed by keyword.

    Raises
    ------
    TypeError
        No factory takes these types.
    """
    factories = FACTORIES[function]
    key = function, tuple(args), tuple(names)
    if key not in _chosen:
        types_of = [_type(a) for a in args]
        at = len(types_of) - len(names)
        _chosen[key] = _choose(function, factories, types_of[:at], dict(zip(names, types_of[at:], strict=True)))
    return _chosen[key]


def _type(a):
    if isinstance(a, str):
        return types.parse(spelled(a))
    try:
        return types.typeof(a[0])
    except (TypeError, ValueError):
        return types.Opaque(type(a[0]).__name__)


def _choose(function, factories, args, kwargs):
    for factory in factories:
        made = factory(*args, **kwargs)
        if made is not None:
            return _for_types(function, getattr(made, "py_func", made))
    given = ", ".join(map(str, [*args, *kwargs.values()]))
    raise TypeError(f"{function.__name__}: no overload takes ({given})")


def _for_types(function, made):
    """Return an implementation. Raise TypeError where it asks for another one, for the values of the arguments."""
    if "literally" in made.__code__.co_names + made.__code__.co_freevars:
        raise TypeError(f"{function.__name__}: its overload calls numba.literally: treadle chooses overloads by types")
    return made
