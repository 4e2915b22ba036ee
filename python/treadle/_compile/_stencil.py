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


_ARITHMETIC = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Name, ast.Load)


class _Known:
    """The numbers that the text of a function leads to: literals, its globals and free variables, and variables that it
    sets once, to a literal."""

    def __init__(self, fn, body):
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        self._fn, self._cells, self.asked, self._set = fn, cells, {}, {}
        self._params = fn.__code__.co_varnames[: fn.__code__.co_argcount]
        for node in ast.walk(body):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self._set[node.id] = None if node.id in self._set else ast.Name("")
        for node in getattr(body, "body", []) if isinstance(body, ast.FunctionDef) else []:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and len(node.targets) == 1:
                if self._set[node.targets[0].id] is not None:
                    self._set[node.targets[0].id] = node.value

    def outside(self, name):
        """The value of a global or free name now. None: it has none, or no integer."""
        try:
            value = self._cells[name].cell_contents if name in self._cells else self._fn.__globals__.get(name)
        except ValueError:  # the enclosing function has not set it yet
            return None
        return value if type(value) is int else None

    def holds(self):
        """Whether the names that were asked for have the values that they had then."""
        return all(self.outside(name) == value for name, value in self.asked.items())

    def value(self, node):
        """The value of an expression. Raises ValueError where the text does not tell it."""
        if not all(isinstance(n, _ARITHMETIC) for n in ast.walk(node)):
            raise ValueError
        space = {}
        for n in ast.walk(node):
            if isinstance(n, ast.Name):
                space[n.id] = self._named(n.id)
        return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "", "eval"), {"__builtins__": {}}, space)

    def _named(self, name):
        if name in self._set:
            if self._set[name] is None or name in self._params:
                raise ValueError
            return ast.literal_eval(self._set[name])
        found = self.outside(name)
        if found is None or name in self._fn.__code__.co_varnames:
            raise ValueError
        self.asked[name] = found
        return found


class _Relative(ast.NodeTransformer):
    """Rewrites a[1, 0] as a[i + 1, j + 0], and a[-1:2] as a[i - 1:i + 2]. offsets collects the smallest and the largest
    offset on each axis."""

    def __init__(self, names, fn, known):
        self.names, self.fn, self.known, self.offsets, self.computed = names, fn, known, {}, False

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id not in self.names:
            return node
        if not isinstance(node.ctx, ast.Load):
            where = f"stencil {self.fn.__name__}: {ast.unparse(node)}"
            raise ValueError(f"{where} is assigned: a stencil returns its value")
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        moved = [self._moved(node, k, item) for k, item in enumerate(items[: len(_PLACE)])]
        index = moved[0] if len(moved) == 1 else ast.Tuple(moved, ast.Load())
        return ast.copy_location(ast.Subscript(node.value, index, node.ctx), node)

    def _moved(self, node, k, item):
        if isinstance(item, ast.Slice):
            if item.lower is None or item.upper is None:
                where = f"stencil {self.fn.__name__}: {ast.unparse(node)}"
                raise ValueError(f"{where}: a slice of neighbours has a beginning and an end")
            self._note(node, k, item.lower, 0)
            self._note(node, k, item.upper, -1)
            return ast.Slice(self._shifted(k, item.lower), self._shifted(k, item.upper), item.step)
        self._note(node, k, item, 0)
        return self._shifted(k, item)

    @staticmethod
    def _shifted(k, item):
        return ast.BinOp(ast.Name(_PLACE[k], ast.Load()), ast.Add(), item)

    def _note(self, node, k, item, more):
        try:
            offset = self.known.value(item)
        except ValueError:
            self.computed = True
            return
        if type(offset) is not int:
            where = f"stencil {self.fn.__name__}: {ast.unparse(node)}"
            raise ValueError(f"{where}: an offset is an integer, not {offset!r}")
        low, high = self.offsets.get(k, (offset + more, offset + more))
        self.offsets[k] = min(low, offset + more), max(high, offset + more)


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
        """(what it depends on, (the function for one element, the function for all elements, the offset pairs))."""
        relative = [p for p, a in zip(self._params, arrays, strict=True) if a and p not in self._standard]
        node = ast.parse(ast.unparse(find(self.py_func).node)).body[0]
        known = _Known(self.py_func, node)
        moved = _Relative(relative, self.py_func, known)
        node = moved.visit(node)
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
        for k, (low, high) in moved.offsets.items():
            if low < min(pairs[k][0], 0) or high > max(pairs[k][1], 0):
                where = f"offsets {low} to {high} lie outside of the neighborhood {pairs[k]}"
                raise ValueError(f"stencil {self.__name__}: {where}")
        place = _placed(self.py_func, [*_PLACE[:ndim], *self._params], lines)
        ranges = [f"{-min(low, 0)}, out.shape[{k}] - {max(high, 0)}" for k, (low, high) in enumerate(pairs)]
        names = [f"x{k}" for k in range(len(self._params))]
        body = nest(ranges, [f"out[{index(ndim)}] = place({index(ndim)}, {', '.join(names)})"])
        text = "\n".join([f"def stencil(out, {', '.join(names)}):", *body, ""])
        every = define(text, "stencil", place=place)
        return known, (jit(place, **self._rules), jit(every, **self._rules), pairs)

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
        edges = pairs if self._edged else ()
        relative = [p not in self._standard and t.ndim > 0 for p, t in zip(self._params, given, strict=False)]
        return over_places(self.__name__, every, given, self._cval, returned, has_out, edges, relative)

    def _made_for(self, arrays, ndim):
        made = self._made.get((arrays, ndim))
        if made is None or not made[0].holds():
            made = self._made[arrays, ndim] = self._make(arrays, ndim)
        return made[1]

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
