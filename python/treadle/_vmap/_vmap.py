"""``vmap`` runs a function of one item once for all items; ``map`` does so over the first axes of arrays.

The function is called once, with Batched in place of items (_vmap/_array.py). Some functions cannot run so: they
branch on an item's value, convert it to a Python number, or return results of different shapes. Then the function runs
item by item and its results are stacked. Results and exceptions are always those of a loop. That fallback is reported
once (PerformanceWarning) and counted (treadle.fallbacks).
"""

import functools

from .. import _core
from .._exchange import _host
from . import _dispatch as _vmap_dispatch
from ._array import Batched, Trace, Unbatched, as_array, function, running, stacked
from ._random import RANDOMNESS, Randomness

# ---- trees of tuples, lists and dicts ----


def _children(x):
    """The parts of a tuple, list or dict, and a function that rebuilds it. None where x is a leaf."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return list(x), lambda parts: type(x)(*parts)
    if type(x) in (tuple, list):
        return list(x), type(x)
    if isinstance(x, dict):
        return list(x.values()), lambda parts: type(x)(zip(x, parts, strict=True))
    return None


def _each(f, tree, axes, what):
    """The tree with f(leaf, axis) in place of each leaf.

    axes is a prefix of the tree: an axis in it holds for all leaves below."""
    if tree is None:
        return None
    inner = _children(tree)
    if inner is None:
        if axes is not None and not isinstance(axes, int):
            raise ValueError(f"vmap: {what} is {axes!r} where the argument is no tuple, list or dict")
        return f(tree, axes)
    parts, make = inner
    if axes is None or isinstance(axes, int):
        return make([_each(f, part, axes, what) for part in parts])
    given = [axes[k] for k in tree] if isinstance(tree, dict) and isinstance(axes, dict) else _children(axes)[0]
    if len(given) != len(parts):
        raise ValueError(f"vmap: {what} has {len(given)} entries for {len(parts)} values: {axes!r}")
    return make([_each(f, part, axis, what) for part, axis in zip(parts, given, strict=True)])


def zipped(f, trees, axes):
    """Merge trees of one shape into one with f(leaves, axis) in place of their leaves. axes as in _each."""
    leaves = [[] for _ in trees]
    for found, tree in zip(leaves, trees, strict=True):
        _each(lambda leaf, _: found.append(leaf), tree, None, "")  # noqa: B023  (called before the next iteration)
    columns = iter(zip(*leaves, strict=True))
    return _each(lambda _, axis: f(list(next(columns)), axis), trees[0], axes, "out_axes")


# ---- what goes in and what comes out ----


class Arrays:
    """What vmap needs to know of treadle's arrays. torch's vmap has a class of its own for tensors."""

    item, array, stacked = Batched, staticmethod(as_array), staticmethod(stacked)

    @staticmethod
    def result(leaf):
        """A result of the function as an array. Raises TypeError where it cannot be one."""
        if not hasattr(leaf, "dtype") and not isinstance(leaf, (bool, int, float, complex)):
            raise TypeError(f"vmap: the function must return arrays and numbers, not {type(leaf).__name__}")
        return as_array(leaf)

    @staticmethod
    def moved(a, source, destination):
        return function("moveaxis")(a, source, destination)

    @staticmethod
    def spread(a, n):
        """a repeated for each of n items."""
        return function("broadcast_to")(a, (n, *a.shape))


def _mapped_sizes(args, in_axes, face):
    """The arguments with a _Mapped for each mapped one, and the number of items."""
    found = {}

    def take(leaf, axis):
        if axis is None:
            return leaf
        a = face.array(leaf)
        if not -a.ndim <= axis < a.ndim:
            raise ValueError(
                f"vmap: in_axes has axis {axis} for an argument of shape {a.shape}; None passes it as it is"
            )
        found.setdefault(a.shape[axis], a.shape)
        return _Mapped(face.moved(a, axis, 0) if axis % a.ndim else a, axis)

    taken = _each(take, args, in_axes, "in_axes")
    if not found:
        raise ValueError("vmap: no argument is mapped: one axis at least must not be None in in_axes")
    if len(found) > 1:
        shapes = ", ".join(f"{n} (shape {shape})" for n, shape in found.items())
        raise ValueError(f"vmap: the mapped axes have different sizes: {shapes}")
    return taken, next(iter(found))


class _Mapped:
    """An argument with a value of its own for every item."""

    __slots__ = ("value", "axis")

    def __init__(self, value, axis=0):
        self.value, self.axis = value, axis  # the values with the items' axis first; the axis where it was


def _given(taken, of):
    """The arguments with of(value) in place of the mapped ones."""
    return _each(lambda leaf, _: of(leaf.value) if isinstance(leaf, _Mapped) else leaf, taken, None, "")


def _out(trace, face):
    def give(leaf, axis):
        own = type(leaf) is face.item and leaf._trace is trace
        if axis is None:
            if own:
                raise ValueError("vmap: out_axes is None for a result that is another for every item")
            return leaf
        value = leaf._value if own else face.spread(face.result(leaf), trace.size)
        return face.moved(value, 0, axis) if axis else value

    return give


# ---- the function ----


def _traced(f, taken, trace, face):
    args, kwargs = _given(taken, lambda value: face.item(value, trace))
    before = running.traces
    running.traces = (*before, trace)
    running.depth += 1
    try:
        return f(*args, **kwargs)
    finally:
        running.traces = before
        running.depth -= 1


def _looped(f, taken, n, out_axes, face=Arrays):
    """Run f item by item and stack the results."""
    results = []
    for i in range(n):
        args, kwargs = _given(taken, lambda value: value[i])  # noqa: B023  (called at once)
        results.append(f(*args, **kwargs))
    first = results[0]
    trees = face.stacked(results, lambda value: value)

    def give(leaf, axis):
        return face.moved(leaf, 0, axis) if axis else leaf if axis is not None else leaf[0]

    return _each(give, trees, out_axes, "out_axes") if first is not None else None


def _told(f, why, nbytes):
    name = getattr(f, "__name__", type(f).__name__)
    _host.note(f"vmap of {name}", nbytes, why, "runs item by item")


def _reason(error):
    """A text that says what the function did that cannot be done for all items at once, and on which of its lines."""
    trace, line = error.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.split(".")[0] not in ("treadle", "numpy"):
            line = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}: "
        trace = trace.tb_next
    kind = "" if isinstance(error, Unbatched) else f"{type(error).__name__}: "
    return f"{line}{kind}{error}"


def batched(f, in_axes=0, out_axes=0, *, loop=True, randomness="error", face=Arrays):
    """What vmap returns.

    With loop=False it raises Unbatched, with the reason, where f or an operation in it would run item by item."""
    if randomness not in RANDOMNESS:
        raise ValueError(f"vmap: randomness is one of {', '.join(repr(r) for r in RANDOMNESS)}, not {randomness!r}")
    if not callable(f):
        raise TypeError(f"vmap: {f!r} is not a function")
    in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    _vmap_dispatch.install()
    _vmap_dispatch.adopt(f)

    def mapped(*args, **kwargs):
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(f"vmap: in_axes has {len(in_axes)} entries for {len(args)} arguments")
        axes = (in_axes, 0)
        taken, n = _mapped_sizes((args, kwargs), axes, face)
        trace = Trace(n, _values(taken), loop, randomness)
        try:
            result = _traced(f, taken, trace, face)
        except Randomness:
            trace.restore()
            raise
        except Exception as error:
            trace.restore()
            if not loop:
                raise error if isinstance(error, Unbatched) else Unbatched(_reason(error)) from error
            if not n:
                raise
            if randomness == "same" and trace.drawn:
                raise Randomness(
                    f'vmap: randomness="same", and the function runs item by item: {_reason(error)}'
                ) from error
            why = error
        else:
            return _each(_out(trace, face), result, out_axes, "out_axes")
        return _again(f, taken, n, out_axes, why, face)

    try:
        functools.update_wrapper(mapped, f)
    except (AttributeError, TypeError):
        pass
    return mapped


def _again(f, taken, n, out_axes, error, face):
    """Run f item by item after an error. If the first item raises too, the error is the function's own."""
    nbytes, why = _bytes(taken), _reason(error)
    error.__traceback__ = None  # the traceback's frames would keep the first attempt's arrays alive
    results = _looped(f, taken, n, out_axes, face)
    _told(f, why, nbytes)
    return results


def _values(taken):
    """The mapped arguments' values."""
    found = []
    _each(lambda leaf, _: found.append(leaf.value) if isinstance(leaf, _Mapped) else None, taken, None, "")
    return found


def _bytes(taken):
    return sum(value.nbytes for value in _values(taken))


def vmap(fun, in_axes=0, out_axes=0, *, randomness="error"):
    """Make a function of one item a function of many, as JAX's vmap: it runs once for all of them.

    Results and exceptions are those of a loop over the items. Operations without a rule, and functions that look at an
    item's value (``if x > 0:``), run item by item with one PerformanceWarning; fallbacks() lists them. Keyword
    arguments are mapped over axis 0.

    Parameters
    ----------
    fun : callable
        Written for one item; its arrays are treadle's, NumPy's or what becomes one.
    in_axes : int, None or tuple, default 0
        The axis of each argument that items stand along; None means that all items share it. A tuple has an entry for
        each argument, and tuples, lists and dicts entries for their parts.
    out_axes : int, None or tuple, default 0
        Where the items' axis stands in the results; None means that the result is one for all.
    randomness : {"error", "different", "same"}, default 'error'
        What draws in fun do: raise RuntimeError, differ from item to item, or not.

    Returns
    -------
    callable
        The function of many items.

    Raises
    ------
    ValueError
        The sizes differ, or in_axes does not fit.

    Examples
    --------
    >>> np.vmap(np.dot)(np.ones((2, 3)), np.ones((2, 3)))
    array([3., 3.])
    """
    return batched(fun, in_axes, out_axes, randomness=randomness)


# ---- map ----


def _fixed(f):
    """A key of f and of the globals and closure variables that its kernel takes as constants."""
    code = f.__code__
    cells = [c.cell_contents for c in f.__closure__ or ()]
    names = [f.__globals__.get(n) for n in code.co_names]
    return (code, *((type(v), v) if isinstance(v, (bool, int, float, complex)) else id(v) for v in cells + names))


_kernels = {}  # key of a function with its constants: (its UFunc, the function)
KERNELS = 256  # functions kept


def _kernel(f):
    from .._compile._ufunc import REFUSALS, UFunc

    try:
        key = _fixed(f)
        if key not in _kernels:
            if len(_kernels) >= KERNELS:
                _kernels.clear()
            _kernels[key] = UFunc(f), f  # f is kept alive, so that its id in the key stays unique
        return _kernels[key][0]
    except (AttributeError, ValueError, *REFUSALS):
        return None


def _elements(f, arrays):
    """Apply f to every element, compiled. None where f cannot be compiled."""
    from .._compile._ufunc import REFUSALS

    u = _kernel(f)
    if u is None or u.nin != len(arrays):
        return None
    try:
        u.resolve(arrays)
        return u(*_core._beside("map", *arrays))
    except REFUSALS:
        return None


def map(f, *arrays):
    """A function of the items along the first axes of arrays; results are stacked.

    A function of numbers is compiled, and runs as one kernel over all items. A function of arrays runs once for all of
    them, as by vmap. What can be neither runs item by item, with one PerformanceWarning. A function of numbers that is
    given arrays of several axes is called for every element.

    Parameters
    ----------
    f : callable
        A function of one item of each array.
    *arrays : array_like, shape (N, ...)
        The items.

    Returns
    -------
    ndarray, shape (N, ...), or tuple of ndarrays
        What f returns, stacked.

    Raises
    ------
    ValueError
        The arrays' first axes differ.

    Examples
    --------
    >>> np.map(lambda x: x * x, np.asarray([1.0, 2.0, 3.0]))
    array([1., 4., 9.])
    """
    if not arrays:
        raise TypeError("map needs a function and one array at least")
    arrays = [as_array(a) for a in arrays]
    sizes = {a.shape[0] if a.ndim else None for a in arrays}
    if len(sizes) > 1 or None in sizes:
        raise ValueError(f"map: the arrays' first axes differ: shapes {', '.join(str(a.shape) for a in arrays)}")
    flat = all(a.ndim == 1 for a in arrays)
    r = _elements(f, arrays) if flat and arrays[0].size else None
    if r is not None:
        return r
    try:
        return batched(f, loop=False, randomness="different")(*arrays)
    except Unbatched as error:
        why = error
    if not flat and len({a.shape for a in arrays}) == 1 and arrays[0].size:
        r = _elements(f, arrays)
        if r is not None:
            return r
    if not arrays[0].shape[0]:
        raise why
    results = [f(*(a[i] for a in arrays)) for i in range(arrays[0].shape[0])]
    _told(f, _reason(why), sum(a.nbytes for a in arrays))
    return stacked(results, lambda value: value)
