"""Batched: what a function sees in the place of one item while it runs once for all items (`_vmap.py`).

It looks like an array of the item's shape. Its value has one more axis, the first, over which the items stand; the
value is an array, or a Batched of a vmap that runs outside of this one. Every operation goes through `call`, which
asks the table of rules (`_rules.py`, `_shapes.py`) what the function of items is as a function of values.
What has no rule runs item by item, told and counted (treadle.fallbacks); what a Batched cannot answer because the
items would answer differently (`bool`, `float`, `.get()`) raises Unbatched, and the whole function runs item by item.
"""

import threading

import numpy

from .. import ALIASES, _core
from .._core import ndarray
from .._exchange import _host
from ._like import ArrayLike, of_ufunc


class Unbatched(TypeError):
    """Raised, with the reason, where the function cannot run once for all items."""


class Trace:
    """A vmap that is running: the number of items, the mapped values, its nesting level, and its options."""

    __slots__ = ("size", "given", "level", "outer", "loop", "randomness", "drawn", "kept")

    def __init__(self, size, given, loop, randomness):
        self.size, self.given, self.loop, self.randomness = size, given, loop, randomness
        self.level = len(running.traces)
        self.outer = running.traces[-1] if running.traces else None
        self.drawn, self.kept = False, {}

    @property
    def device(self):
        """The device of the first argument."""
        return memory(self.given[0]).device

    def keep(self, x):
        """Save the arguments that share x's memory. Called before x is written, since the function may have to start
        again."""
        x = memory(x)
        for k, value in enumerate(map(memory, self.given)):
            if k not in self.kept and _core._same_storage(value, x):
                self.kept[k] = value, value.copy()
        if self.outer is not None:
            self.outer.keep(x)

    def restore(self):
        """Restore the arguments' values from before the call."""
        for value, before in self.kept.values():
            value[...] = before
        self.kept.clear()


def memory(x):
    """The array that holds the elements of x, which is a tensor or a Batched, possibly a nested one."""
    while hasattr(x, "_value"):
        x = x._value
    return x if isinstance(x, ndarray) else x._array


class _Running(threading.local):
    traces, depth = (), 0


# This thread's running vmaps. traces: those around the current code, the outermost first, without those whose rule is
# being computed. depth: how many are running.
running = _Running()


class Batched(ArrayLike):
    """Stands for one item in the mapped function, and holds the values of all items."""

    __slots__ = ("_value", "_trace", "__weakref__")

    def __init__(self, value, trace):
        self._value, self._trace = value, trace

    __class__ = property(lambda self: ndarray)  # so that isinstance(x, ndarray) is true

    # ---- what is known of every item ----

    shape = property(lambda self: self._value.shape[1:])
    ndim = property(lambda self: self._value.ndim - 1)
    dtype = property(lambda self: self._value.dtype)
    device = property(lambda self: self._value.device)
    itemsize = property(lambda self: self._value.itemsize)
    flags = property(lambda self: self._value.flags)
    flat = property(lambda self: self._refuse(".flat"))
    strides = property(lambda self: self._value.strides[1:])

    def __repr__(self):
        return f"<one of {self._trace.size} arrays of shape {self.shape}, {self.dtype}>"

    # ---- what each item answers differently ----

    def _refuse(self, what):
        raise Unbatched(f"{what} of an array has another value for every item")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc_call(ufunc, method, inputs, kwargs)

    def __array_function__(self, func, types, args, kwargs):
        return call(numpy_name(func), func, args, kwargs)

    # Without this property NumPy would make an object array of a Batched without axes. NumPy asks for it first.
    __array_struct__ = property(lambda self: self._refuse("conversion to NumPy"))

    def __getitem__(self, key):
        return apply("getitem", self, key)

    def __setitem__(self, key, value):
        apply("setitem", self, key, value)

    def _subscript(self, name, a, *args):
        """Compute a[key] where the key holds this Batched. _indexing.py calls it."""
        return apply(name, a, *args)

    # ---- methods ----

    def copy(self, order="C"):
        return Batched(self._value.copy(), self._trace)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True, **kwargs):
        return Batched(self._value.astype(dtype, casting=casting, copy=copy, **kwargs), self._trace)

    def view(self, *args, **kwargs):
        if self.ndim == 0 or kwargs or len(args) != 1:
            self._refuse("a view")
        return Batched(self._value.view(*args), self._trace)

    def to_device(self, *args, **kwargs):
        return Batched(self._value.to_device(*args, **kwargs), self._trace)

    def put(self, indices, values, mode="raise"):
        self._refuse("put")


def _refusal(name, text):
    def method(self, *args, **kwargs):
        self._refuse(text)

    method.__name__ = name
    return method


_REFUSED = {
    "__bool__": "the truth value", "__float__": "float()", "__int__": "int()", "__complex__": "complex()",
    "__contains__": "`in`", "get": ".get()", "item": ".item()",
    "tolist": ".tolist()", "tobytes": ".tobytes()", "__reduce__": "pickling", "__imatmul__": "@= in place",
}  # fmt: skip
for _name, _text in _REFUSED.items():
    setattr(Batched, _name, _refusal(_name, _text))


# ---- calls ----


def numpy_name(func):
    """The name in the table of a function of NumPy's: "sum", "linalg.norm"."""
    home = getattr(func, "__module__", None) or ""
    return f"{home.partition('.')[2]}.{func.__name__}" if home.startswith("numpy.") else func.__name__


def function(name):
    """treadle's function of that name."""
    import treadle

    found = treadle
    for part in name.split("."):
        found = getattr(found, part)
    return found


def apply(name, *args, **kwargs):
    """Call treadle's function of that name, or the subscript under the names getitem and setitem."""
    return call(name, SUBSCRIPTS.get(name) or function(name), args, kwargs)


Batched._apply = staticmethod(apply)


def _get(a, key):
    return a[key]


def _set(a, key, value):
    a[key] = value


SUBSCRIPTS = {"getitem": _get, "setitem": _set}


def ufunc_call(ufunc, method, inputs, kwargs):
    name, f = of_ufunc(ufunc, method)
    return call(name, f, inputs, kwargs)


def boxed(value):
    """Wrap a value whose first axes belong to the running vmaps, the outermost first."""
    for trace in running.traces:
        value = Batched(value, trace)
    return value


ITEMS = {Batched}  # the classes that stand for one item


def find(x, best=None):
    """The innermost vmap among the Batched in x, also inside of tuples, lists, dicts and slices."""
    if type(x) in ITEMS:
        return x._trace if best is None or x._trace.level > best.level else best
    if type(x) in (tuple, list):
        for item in x:
            best = find(item, best)
    elif type(x) is dict:
        for item in x.values():
            best = find(item, best)
    elif type(x) is slice:
        best = find((x.start, x.stop, x.step), best)
    return best


def over(f, x):
    """Apply f to the leaves of x: everything but tuples, lists, dicts and slices."""
    if type(x) in (tuple, list):
        return type(x)(over(f, item) for item in x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(over(f, item) for item in x))
    if type(x) is dict:
        return {k: over(f, item) for k, item in x.items()}
    if type(x) is slice:
        return slice(over(f, x.start), over(f, x.stop), over(f, x.step))
    return f(x)


def as_array(x, device=None):
    """x as an array. Raises TypeError for what holds no numbers."""
    r = x if isinstance(x, ndarray) else function("asarray")(x, device=device)
    if isinstance(r, numpy.ndarray):
        raise TypeError(f"vmap: the function must return arrays and numbers, not {type(x).__name__}")
    return r


def _joined(results, box):
    device = next((r.device for r in results if isinstance(r, ndarray)), None)
    return box(function("stack")([as_array(r, device) for r in results]))


class Call:
    """One call of a function under one vmap. Rules ask it about the arguments."""

    __slots__ = ("trace", "name", "fn", "n")
    joined = staticmethod(_joined)

    def __init__(self, trace, name, fn):
        self.trace, self.name, self.fn, self.n = trace, name, fn, trace.size

    def has(self, x):
        """Whether x, or something inside of it, differs between items."""
        return find(x) is self.trace

    def own(self, x):
        """Whether x itself is a Batched of this vmap."""
        return type(x) in ITEMS and x._trace is self.trace

    def box(self, value):
        """A value as a Batched; anything but an array is returned as it is."""
        return Batched(value, self.trace) if isinstance(value, (ndarray, numpy.ndarray, numpy.generic)) else value

    def plain(self, x):
        """x as an array of treadle's, unless it is a Batched."""
        return x if isinstance(x, ndarray) else function("asarray")(x, device=self.trace.device)

    def front(self, x):
        """x's value with the items' axis first. Anything but a Batched of this vmap is repeated for all items."""
        if self.own(x):
            return x._value
        x = self.plain(x)
        return function("broadcast_to")(x, (self.n, *x.shape))

    def aligned(self, x, ndim):
        """x's value with axes of extent 1 after the items' axis, so that items broadcast as if they had ndim axes.

        Anything but a Batched of this vmap is returned unchanged."""
        if not self.own(x):
            return x
        v, more = x._value, ndim - x.ndim
        return v.reshape((self.n, *(1,) * more, *v.shape[1:])) if more > 0 else v

    # ---- item by item ----

    def item(self, args, i):
        """The arguments of item i."""
        return over(lambda x: x._value[i] if self.own(x) else x, args)

    def each(self, args, kwargs, why):
        """Call the function for each item and stack the results."""
        if not self.trace.loop:
            raise Unbatched(f"{self.name} runs item by item: {why}")
        if not self.n:
            raise Unbatched(f"{self.name} has no items, and without a rule their results' shape is not known")
        nbytes = sum(x.nbytes for x in _leaves((args, kwargs)))
        _host.note(f"vmap of {self.name}", nbytes * self.n, why, "runs item by item")
        results = [self.fn(*self.item(args, i), **self.item(kwargs, i)) for i in range(self.n)]
        return stacked(results, self.box, self.joined)

    def outside(self, f, *args, **kwargs):
        """Call f on values, outside of this vmap."""
        before = running.traces
        running.traces = before[: self.trace.level]
        try:
            return f(*args, **kwargs)
        finally:
            running.traces = before


def _leaves(x):
    found = []
    over(lambda leaf: found.append(leaf) if type(leaf) in ITEMS else None, x)
    return found


def stacked(results, box, joined=_joined):
    """Stack the results' leaves along a new first axis and wrap them by box. Raises ValueError where their shapes
    differ."""
    first = results[0]
    if all(r is None for r in results):
        return None
    if isinstance(first, (tuple, list)):
        parts = [stacked(list(part), box, joined) for part in zip(*results, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if isinstance(first, dict):
        return type(first)((k, stacked([r[k] for r in results], box, joined)) for k in first)
    return joined(results, box)


RULES = {}  # name: (rule, whether it returns values that become Batched)


def call(name, fn, args, kwargs):
    """Call fn with Batched among the arguments, by the rule of that name."""
    trace = find((args, kwargs))
    if trace is None:
        return fn(*args, **kwargs)
    out = kwargs.get("out")
    if out is not None:
        own = ("out", "where") if hasattr(fn, "nin") else ("out",)  # a ufunc's mask only says where out is written
        rest = {k: v for k, v in kwargs.items() if k not in own}
        return _into(out, call(name, fn, args, rest), kwargs.get("where", True) if len(own) > 1 else True)
    c = Call(trace, name, fn)
    return c.outside(ruled, c, RULES.get(ALIASES.get(name, name), (None, False)), args, kwargs)


def ruled(c, rule, args, kwargs):
    """Call by a rule (function, whether it returns values), or item by item where there is none or it declines."""
    f, boxed = rule
    if f is None:
        return c.each(args, kwargs, "there is no rule for it")
    try:
        r = f(c, *args, **kwargs)
    except Unbatched:
        raise
    # its message would show shapes of all items: let the first item raise the function's own error
    except Exception as error:
        if not c.n:
            raise
        c.fn(*c.item(args, 0), **c.item(kwargs, 0))
        return c.each(args, kwargs, f"its rule failed: {type(error).__name__}: {error}")
    if r is NotImplemented:
        return c.each(args, kwargs, "its rule does not take these arguments")
    return over(c.box, r) if boxed else r


def _into(out, result, where=True):
    """Write results into the arrays out where the mask is true. Return out, with the result in place of each None."""
    if isinstance(out, tuple):
        results = result if isinstance(result, tuple) else (result,)
        given = tuple(r if o is None else _into(o, r, where) for o, r in zip(out, results, strict=True))
        return given if len(given) > 1 else given[0]
    out[...] = result if where is True else apply("where", where, result, out)
    return out


def entering(rules):
    """A decorator factory for a table of rules: rule(names)(f).

    f(c, *args, **kwargs) returns values, which become Batched. With boxed=False it works on Batched and returns them.
    NotImplemented means item by item."""

    def rule(names, boxed=True):
        def put(f):
            rules.update(dict.fromkeys(names.split(), (f, boxed)))
            return f

        return put

    return rule


rule = entering(RULES)
