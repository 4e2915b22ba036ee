"""Registers the names of the package. Decorators enter functions and methods where these are defined.

@both("absolute")   torch.f and Tensor.f, under their own name and those given
@function()         torch.f alone
@method()           Tensor.f alone
inplace(...)        Tensor.f_ for each name, which writes what f gives into the tensor

A function of the namespace also takes `out=` and `input=`. A method does not.
"""

import functools
import inspect
import sys

from .._core import Tensor
from ._device import MAKERS, NoValues
from ._lacking import check, guarded
from ._override import _ACTIVE, asked, built_in, target
from ._tensor._dtypes import can_cast

FUNCTIONS, METHODS = {}, {}
_PLAIN = set()
# Functions whose operands, given by position, have to be tensors: PyTorch refuses numbers there.
_TENSORS = {
    **dict.fromkeys("atan2 arctan2 complex fmax fmin gcd heaviside hypot igamma igammac lcm logaddexp".split(), 2),
    **dict.fromkeys("logaddexp2 isclose logical_and logical_or logical_xor maximum minimum nextafter polar".split(), 2),
    **dict.fromkeys("clamp_max clamp_min copysign eq fmod ge gt ldexp le lt max min ne rsub".split(), 1),
}
# The dtype of `out=` has to be the result's.
_SAME = set("amax amin aminmax bmm complex dot gather matmul mm multinomial mv".split())
_BY_OUT = {"cumsum", "cumprod"}  # computed in the dtype of `out=`
_OF_NUMBERS = set("add sub subtract mul multiply div divide true_divide floor_divide".split())  # of numbers, too


def _names(f, others):
    own = f.__name__.rstrip("_") if f.__name__ in _CLASHES else f.__name__
    return others if own.startswith("_") and not own.startswith("__") else (own, *others)


def both(*others):
    """Enters a function as torch's and as a method."""

    def enter(f):
        for name in _names(f, others):
            FUNCTIONS[name] = METHODS[name] = f
        return f

    return enter


def function(*others, out=True):
    """Enters a function of torch's alone; out=False: it takes no `out=`, or takes it itself."""

    def enter(f):
        f = _until_meta(f) if f.__name__ in MAKERS else f
        for name in _names(f, others):
            FUNCTIONS[name] = f
            if not out:
                _PLAIN.add(name)
        return f

    return enter


def _until_meta(f):
    """f, which makes tensors, until a program names the device "meta" for the first time: then `_meta` puts another in
    f's place."""

    @functools.wraps(f)
    def made(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        except NoValues:
            other = getattr(sys.modules[__package__], f.__name__)
            if target(other) is made:
                raise
            return other(*args, **kwargs)

    return made


def factors_first(*keywords):
    """Let a function of tensors also take factors before tensors, as PyTorch 0.4 did: add(x, 2, y)."""

    def enter(f):
        most = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in inspect.signature(f).parameters.values())

        @functools.wraps(f)
        def taken(*args, **kwargs):
            if len(args) <= most:
                return f(*args, **kwargs)
            numbers = [a for a in args if not isinstance(a, Tensor)]
            tensors = [a for a in args if isinstance(a, Tensor)]
            if len(tensors) != most or len(numbers) > len(keywords):
                return f(*args, **kwargs)  # f itself says what is wrong with the arguments
            return f(*tensors, **dict(zip(keywords, numbers, strict=False)), **kwargs)

        return taken

    return enter


def method(*others):
    """Enters a method of tensors alone."""

    def enter(f):
        for name in _names(f, others):
            METHODS[name] = f
        return f

    return enter


# Python functions that end in an underscore because Python has the plain name already.
_CLASHES = set("abs_ all_ any_ bool_ complex_ float_ int_ max_ min_ pow_ range_ round_ sum_ type_".split())


def inplace(*names):
    """Register Tensor.name_ for each name. It gives self the method's result, and at once if other objects look at
    self's memory."""
    for name in names:
        METHODS[name + "_"] = _written(name)


def _written(name):
    def change(self, *args, **kwargs):
        r = METHODS[name](self.clone(), *args, **kwargs)
        _want_cast(r, self)
        return self.copy_(r)

    change.__name__ = change.__qualname__ = name + "_"
    change.__doc__ = f"{name}, written into the tensor itself."
    return change


def with_out(f, name):
    """f as a function of torch's: it writes its result to `out=`, and `input=` may name the first operand."""
    return guarded(f, name) if name in _PLAIN else _called_with_out(f, name)


def with_input(f):
    """The method f as a function of torch's, whose first operand `input=` may name."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        return f(kwargs.pop("input"), *args, **kwargs) if "input" in kwargs else f(*args, **kwargs)

    call._plain = f  # for vmap, which asks whether it is a method of the core's
    return call


def all_with_out(names, scope):
    """The functions of a namespace by those names take `out=` and `input=`."""
    for name in names:
        f = scope[name]
        if callable(f) and not isinstance(f, type):
            scope[name] = _called_with_out(f, name)
            scope[name]._watched = f  # what modules of this package call
    built_in(scope, names, scope["__name__"])


def _first_apart(kwargs):
    """(positional arguments, the others) of a call without positional ones: the first may have a name of NumPy's."""
    first = next((k for k in _NUMPYS_FIRST if isinstance(kwargs.get(k), Tensor)), None)
    return ((), kwargs) if first is None else ((kwargs[first],), {k: v for k, v in kwargs.items() if k != first})


def _want_tensors(name, args):
    for i, x in enumerate(args[: _TENSORS[name]]):
        if isinstance(x, (bool, int, float, complex)):
            raise TypeError(f"{name}(): argument {i + 1} must be Tensor, not {type(x).__name__}")


# NumPy's names of parameters, which PyTorch's own functions take too.
_NUMPYS = {"axis": "dim", "keepdims": "keepdim", "axis0": "dim0", "axis1": "dim1", "x2": "other"}
_NUMPYS_FIRST = ("x", "a", "x1")


# Names by which a function takes a parameter that has another name here, because PyTorch has several forms of it.
_OTHER_FORMS = {
    **dict.fromkeys(
        ("tensor_split", "hsplit", "vsplit", "dsplit"),
        dict.fromkeys(("indices", "sections", "tensor_indices_or_sections"), "indices_or_sections"),
    ),
    **dict.fromkeys(("split", "unsafe_split"), {"split_size": "split_size_or_sections", "tensor": "x"}),
    "isin": {"element": "elements", "test_element": "test_elements"},
    "cholesky_solve": {"input2": "L"},
    "orgqr": {"input2": "tau"},
    "ormqr": {"input2": "tau", "input3": "other"},
}


def _other_names(f, name):
    """{name: f's own} of the names by which f, the function of that name, takes parameters too: NumPy's and those of
    other forms. None: it takes no others."""
    others = _OTHER_FORMS.get(name, {})
    code = getattr(f, "__code__", None)
    if code is None:
        return _NUMPYS | others
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    passes_on = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return {k: v for k, v in _NUMPYS.items() if k not in own and (v in own or passes_on)} | others or None


def with_other_names(f, name):
    """f, the method of that name, which takes other names of its parameters besides its own."""
    names = _other_names(f, name)
    f = guarded(f, name)
    if names is None or not inspect.isfunction(f):
        return f

    @functools.wraps(f)
    def called(*args, **kwargs):
        if kwargs:
            kwargs = {names.get(k, k): v for k, v in kwargs.items()}
        return f(*args, **kwargs)

    return called


def _called_with_out(f, name):
    names = _other_names(f, name) or {}
    code = getattr(f, "__code__", None)
    own_input = code is not None and "input" in code.co_varnames[1 : code.co_argcount]
    look = check(name)
    of_tensors = name in _TENSORS

    def call(*args, **kwargs):
        if _ACTIVE and (r := asked(call, args, kwargs, Tensor)) is not NotImplemented:
            return r
        try:
            if of_tensors:
                _want_tensors(name, args)
            if look is not None:
                look(args, kwargs)
            if not kwargs:
                return f(*args)
            out = kwargs.pop("out", None)
            if out is not None and name in _BY_OUT:
                kwargs.setdefault("dtype", out.dtype)
            if not names.keys().isdisjoint(kwargs):
                kwargs = {names.get(k, k): v for k, v in kwargs.items()}
            if "input" in kwargs and not own_input:
                args = (kwargs.pop("input"), *args)
            elif not args and "self" in kwargs:  # of forms whose first operand is a number
                args = (kwargs.pop("self"),)
            elif not args and kwargs:
                args, kwargs = _first_apart(kwargs)
            r = f(*args, **kwargs)
            return r if out is None else fill(out, r, name in _SAME)
        except (TypeError, AttributeError, NotImplementedError) as problem:
            if name in _OF_NUMBERS and len(args) == 2 and all(type(a) in (bool, int, float, complex) for a in args):
                return call(FUNCTIONS["tensor"](args[0]), args[1], **kwargs)
            r = NotImplemented if _ACTIVE else asked(call, args, kwargs, Tensor)  # asks an operand that is no tensor
            if r is NotImplemented:
                if isinstance(problem, AttributeError) and args and isinstance(args[0], (bool, int, float, complex)):
                    raise TypeError(f"{name}(): argument 1 must be Tensor, not {type(args[0]).__name__}") from None
                raise
            return r

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f.__doc__
    call.__wrapped__ = f
    call.__signature__ = _Signature(f)
    return call


class _Signature(inspect.Signature):
    """The parameters of a function, with `input` and `out`. They are found at the first use, because there are 400
    functions."""

    __slots__ = ("_f",)

    def __init__(self, f):
        super().__init__()
        self._f = f

    @property
    def parameters(self):
        P = inspect.Parameter
        every = [*inspect.signature(self._f).parameters.values()]
        first, rest = every[:1], every[1:]
        if first and first[0].name in ("x", "self"):
            first = [first[0].replace(name="input", kind=P.POSITIONAL_OR_KEYWORD)]
        names = {p.name for p in rest}
        rest = [p.replace(kind=P.POSITIONAL_OR_KEYWORD) if p.kind == P.POSITIONAL_ONLY else p for p in rest]
        out = [] if "out" in names else [P("out", P.KEYWORD_ONLY, default=None)]
        last = len(rest) - bool(rest and rest[-1].kind == P.VAR_KEYWORD)
        return {p.name: p for p in (*first, *rest[:last], *out, *rest[last:])}


def _want_cast(r, into):
    if not can_cast(r.dtype, into.dtype):
        raise RuntimeError(f"result type {r.dtype._word} can't be cast to the desired output type {into.dtype._word}")


def fill(out, r, same=False):
    """Write r into out and return out; both may be tuples. out takes r's shape. same=True refuses another dtype."""
    if isinstance(out, (tuple, list)):
        for one, other in zip(out, r, strict=True):
            fill(one, other, same)
        return out
    if same and out.dtype is not r.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {r.dtype}, but got {out.dtype} instead")
    _want_cast(r, out)
    if any(step == 0 and n > 1 for step, n in zip(out.stride(), out.shape, strict=True)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    if out.requires_grad or r.requires_grad:
        raise RuntimeError(
            "functions with out=... arguments don't support automatic differentiation, but one of the arguments "
            "requires grad."
        )
    if out.shape != r.shape:
        out.resize_(r.shape)
    return out.copy_(r)
