"""``stencil``: a function of one element and its neighbours, applied to every element of an array."""

import ast
import functools
from types import FunctionType

import numpy

from .. import types
from ._called import Called, operands, over_places
from ._function import Function
from ._generate import Home, define, index, is_array, nest
from ._jit import jit
from ._source import find

_PLACE = [f"_at{k}" for k in range(8)]  # names of an element's indices, which no function of the program has


def _constants(node):
    """The offsets of a relative index. None where they are computed at run time."""
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    try:
        return [ast.literal_eval(i) for i in items]
    except ValueError:
        return None


class _Relative(ast.NodeTransformer):
    """Rewrites a[1, 0] as a[i + 1, j + 0]. offsets collects the smallest and the largest offset on each axis."""

    def __init__(self, names, fn):
        self.names, self.fn, self.offsets, self.computed = names, fn, {}, False

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id not in self.names:
            return node
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        known = _constants(node.slice)
        self.computed |= known is None
        for k, offset in enumerate(known or ()):
            if type(offset) is not int:
                where = f"stencil {self.fn.__name__}: {ast.unparse(node)}"
                raise ValueError(f"{where}: an offset is an integer, not {offset!r}")
            low, high = self.offsets.get(k, (0, 0))
            self.offsets[k] = min(low, offset), max(high, offset)
        moved = [ast.BinOp(ast.Name(n, ast.Load()), ast.Add(), i) for n, i in zip(_PLACE, items, strict=False)]
        index = moved[0] if len(moved) == 1 else ast.Tuple(moved, ast.Load())
        return ast.copy_location(ast.Subscript(node.value, index, node.ctx), node)


def _edges(pairs, shape):
    """Indices of an array where a neighbour lies outside."""
    for k, (low, high) in enumerate(pairs):
        if low < 0:
            yield (slice(None),) * k + (slice(0, -low),)
        if high > 0:
            yield (slice(None),) * k + (slice(max(shape[k] - high, 0), None),)


def _placed(fn, params, lines):
    """A function made of these lines. It shares fn's globals and closure cells, so it sees when they change."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    free = [f"    {name} = None" for name in cells]
    head = ["def outer():", *free, f"    def place({', '.join(params)}):"]
    place = define("\n".join([*head, *(f"        {x}" for x in lines), "    return place", ""]), "outer")().__code__
    return FunctionType(place, fn.__globals__, "place", None, tuple(cells[name] for name in place.co_freevars))


class StencilFunc(Called):
    """Called with arrays of one shape (and numbers): an array of what the function gives at each place.

    In the function a[0, 1] is the neighbour one further on axis 1. Where a neighbour would lie outside, the result is
    cval. Results are NumPy arrays where all operands are NumPy's, else treadle's on the operands' device."""

    def __init__(self, fn, mode="constant", cval=None, neighborhood=None, standard_indexing=(), _numba=False):
        if mode != "constant":
            raise ValueError(f"stencil: mode is 'constant', not {mode!r}")
        if isinstance(fn, Function):
            fn = fn.py_func
        functools.update_wrapper(self, fn)
        self.py_func, self._given, self._standard = fn, neighborhood, standard_indexing
        if isinstance(cval, float) and cval.is_integer():
            cval = int(cval)  # it goes into integers, too
        self._cval, self._edged = (0, False) if cval is None else (cval, True)
        self._params = fn.__code__.co_varnames[: fn.__code__.co_argcount]
        self._made, self._rules = {}, {"_numba": _numba}
        if not self._params or self._params[0] in standard_indexing:
            raise ValueError("stencil: the first argument is an array with relative indices")
        if set(standard_indexing) - set(self._params):
            raise ValueError(f"stencil: standard_indexing names arguments, not {standard_indexing!r}")

    def __repr__(self):
        return f"<stencil '{self.__name__}'>"

    @property
    def neighborhood(self):
        """The (smallest, largest) offset on each axis, as given. None: found in the function's text."""
        return self._given

    def _make(self, arrays, ndim):
        """(the function for one element, the function for all elements, the offset pairs)."""
        relative = [p for p, a in zip(self._params, arrays, strict=True) if a and p not in self._standard]
        moved = _Relative(relative, self.py_func)
        node = moved.visit(ast.parse(ast.unparse(find(self.py_func).node)).body[0])
        if isinstance(node, ast.Expr):  # find() returns a lambda as an expression
            lines = [f"return {ast.unparse(node.value.body)}"]
        else:
            lines = ast.unparse(ast.Module(node.body, [])).splitlines()
        if self._given is None and moved.computed:
            raise ValueError(f"stencil {self.__name__}: offsets are computed: give the neighborhood=")
        pairs = self._given or [moved.offsets.get(k, (0, 0)) for k in range(ndim)]
        if len(pairs) != ndim or (moved.offsets and max(moved.offsets) >= ndim):
            what = f"the array has {ndim} dims, the function or neighborhood another number"
            raise ValueError(f"stencil {self.__name__}: {what}")
        place = _placed(self.py_func, [*_PLACE[:ndim], *self._params], lines)
        ranges = [f"{-min(low, 0)}, out.shape[{k}] - {max(high, 0)}" for k, (low, high) in enumerate(pairs)]
        names = [f"x{k}" for k in range(len(self._params))]
        body = nest(ranges, [f"out[{index(ndim)}] = place({index(ndim)}, {', '.join(names)})"])
        text = "\n".join([f"def stencil(out, {', '.join(names)}):", *body, ""])
        every = define(text, "stencil", place=place)
        return jit(place, **self._rules), jit(every, **self._rules), pairs

    def __call__(self, *args, out=None):
        """Of arrays and numbers; out: an array that takes the result. Its borders get cval, if one was given, and stay
        as they are, if none was.

        ValueError: arrays that are smaller than the first."""
        if len(args) != len(self._params):
            raise TypeError(f"{self.__name__}() takes {len(self._params)} arguments, not {len(args)}")
        args = [
            a if isinstance(a, (bool, int, float, complex)) or hasattr(a, "dtype") else numpy.asarray(a) for a in args
        ]
        if not is_array(args[0]):
            raise TypeError(f"{self.__name__}: the first argument is an array, not {type(args[0]).__name__}")
        home, shape = Home([*args, out]), args[0].shape
        for p, a in zip(self._params, args, strict=True):
            if is_array(a) and p not in self._standard and (
                len(a.shape) != len(shape) or any(m < n for m, n in zip(a.shape, shape, strict=True))
            ):  # fmt: skip
                raise ValueError(f"{self.__name__}: {p} has the shape {a.shape}, the first array {shape}")
        place, every, pairs = self._made_for(tuple(map(is_array, args)), len(shape))
        operands = [home.bring(a, a.dtype) if is_array(a) else a for a in args]
        dtype = self._dtype(place, operands, len(shape))
        self._check_cval(dtype)
        result = out if home.takes(out, shape, dtype, args) else self._border(home, shape, dtype, out)
        every(result, *operands)
        if out is not None and self._edged:
            for edge in _edges(pairs, shape):
                result[edge] = self._cval
        return home.give(result, out)

    def _called(self, given):
        has_out = len(given) == len(self._params) + 1
        values = operands(given)[: len(self._params)]
        if len(values) != len(self._params) or not given[0].ndim:
            raise TypeError(f"{self.__name__} takes {len(self._params)} arguments, of which the first is an array")
        place, every, pairs = self._made_for(tuple(map(is_array, values)), given[0].ndim)
        returned = self._dtype(place, values, given[0].ndim)
        self._check_cval(returned)
        return over_places(self.__name__, every, given, self._cval, returned, has_out, pairs if self._edged else ())

    def _made_for(self, arrays, ndim):
        if (arrays, ndim) not in self._made:
            self._made[arrays, ndim] = self._make(arrays, ndim)
        return self._made[arrays, ndim]

    def _border(self, home, shape, dtype, out):
        if out is not None:
            return home.bring(out, dtype).copy()
        return home.full(shape, self._cval, dtype)

    def _check_cval(self, dtype):
        if numpy.iscomplexobj(self._cval) and dtype.kind != "c":  # real numbers are cut to the dtype, as Numba does
            raise ValueError(f"{self.__name__}: cval {self._cval!r} does not go into {dtype}")

    def _dtype(self, place, operands, ndim):
        row = tuple(types.parse(t) for t in place._types(*(0,) * ndim, *operands))
        return numpy.dtype(types.parse(place._returns(row)).dtype)


def stencil(func_or_mode="constant", **options):
    """Make a function of an element's neighbourhood a function of arrays, as Numba's stencil.

    Parameters
    ----------
    func_or_mode : callable or str, default 'constant'
        The function (``@stencil``), whose array parameters are indexed relative to the element; or "constant".
    **options : any
        cval: what stands at the borders, 0; neighborhood: pairs of offsets, one an axis, where the function computes
        them; standard_indexing: names of arguments that are indexed as usual.

    Returns
    -------
    StencilFunc
        Called with arrays; or a decorator.

    Raises
    ------
    TypeError
        The function indexes by numbers that are not constants, and no neighborhood is given.

    Examples
    --------
    >>> smooth = np.stencil(lambda a: a[-1] + a[0] + a[1])
    >>> smooth(numpy.asarray([1.0, 2.0, 3.0, 4.0]))
    array([0., 6., 9., 0.])
    """
    if isinstance(func_or_mode, str):
        return lambda fn: StencilFunc(fn, func_or_mode, **options)
    return StencilFunc(func_or_mode, **options)
