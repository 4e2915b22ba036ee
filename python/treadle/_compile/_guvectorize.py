"""``guvectorize``: a function of small arrays that takes larger ones."""

import functools
import operator
import re

import numpy

from .. import types
from ._called import Called, generalised, operands
from ._function import Function
from ._generate import Home, define, device_of, index, nest
from ._jit import UFUNC_OPTIONS, check_options, jit

_SIDE = r"\((?:\s*\w+\s*(?:,\s*\w+\s*)*)?\)"
_SIDES = rf"\s*{_SIDE}(?:\s*,\s*{_SIDE})*\s*"
_LAYOUT = re.compile(rf"{_SIDES}(?:->{_SIDES})?")


def _sides(layout):
    """The axes of inputs and outputs in a layout: '(n,m),(m)->(n)' gives ([('n', 'm'), ('m',)], [('n',)]). '(n),(k)'
    has no outputs."""
    if not isinstance(layout, str) or not _LAYOUT.fullmatch(layout):
        raise ValueError(f"guvectorize: {layout!r} is not a layout, as '(m,n),(n)->(m)' is")
    return [
        [tuple(x.strip() for x in part.split(",") if x.strip()) for part in re.findall(r"\(([^)]*)\)", side)]
        for side in (layout if "->" in layout else f"{layout}->").split("->")
    ]


def _fits(number, want):
    """Whether a number of Python's, which has no dtype, can be one of that dtype."""
    if isinstance(number, int) and want.kind in "iu":
        limits = numpy.iinfo(want)
        return limits.min <= number <= limits.max
    return want.kind in ("fc" if isinstance(number, (int, float)) else "c")


class GUFunc(Called):
    """A function that writes its results into its last arguments, called with arrays of which it takes the last axes.

    nin, nout, signature and types are a numpy.ufunc's. Results are NumPy arrays where all operands are NumPy's, else
    treadle's on the operands' device."""

    def __init__(self, fn, signatures, layout, target="cpu", options=None):
        if isinstance(fn, Function):
            fn = fn.py_func
        functools.update_wrapper(self, fn)
        self.py_func, self.signature, self._target = fn, layout, target
        self._inputs, self._outputs = _sides(layout)
        self.nin, self.nout = len(self._inputs), len(self._outputs)
        self.nargs = self.nin + self.nout
        options = dict(options or {})
        self._writable = self._places_of(options.pop("writable_args", ()))
        self.identity = options.pop("identity", None)
        check_options("guvectorize", options, target)
        self._options = UFUNC_OPTIONS | {k: v for k, v in options.items() if k != "nopython"}
        self._rows = []
        if fn.__code__.co_argcount != self.nargs:
            raise TypeError(f"{fn.__name__} takes {fn.__code__.co_argcount} arguments, {layout} has {self.nargs}")
        unknown = {n for o in self._outputs for n in o} - {n for i in self._inputs for n in i}
        if unknown:
            raise ValueError(f"guvectorize: {', '.join(sorted(unknown))} of the results is no axis of the operands")
        device_of(target)
        for s in signatures:
            self.add(s)

    def __repr__(self):
        return f"<gufunc '{self.__name__}'>"

    def _places_of(self, writable):
        """The numbers of the operands that writable_args names by number or by the parameter's name."""
        names = self.py_func.__code__.co_varnames[: self.nargs]
        places = [names.index(w) if w in names else w for w in writable]
        wrong = [p for p in places if not isinstance(p, int) or not 0 <= p < self.nargs]
        if wrong:
            raise ValueError(f"{self.__name__}: writable_args={writable!r}: {wrong[0]!r} is no parameter")
        return [p for p in places if p < self.nin]

    def add(self, sig):
        """Add a signature. Its function must return nothing."""
        args, returns = types.normalize(sig)
        if returns is not None and getattr(returns, "kind", None) != "none":
            raise TypeError(f"{self.__name__}: the signature {sig} returns {returns}: results go to the last arguments")
        if len(args) != self.nargs:
            have = f"the signature {sig} has {len(args)} types"
            raise TypeError(f"{self.__name__}: {have}, {self.signature} {self.nargs}")
        items = [t.items[0] if t.kind == "array" else t for t in args]
        boxed = tuple(t.kind == "array" and not core for t, core in zip(args, self._inputs, strict=False))
        self._rows.append((tuple(numpy.dtype(t.dtype) for t in items), boxed))
        return self

    def build_ufunc(self):
        """Return self. Numba's GUFunc has this method."""
        return self

    @property
    def types(self):
        """The dtypes of each signature as text, 'dd->d'."""
        return ["".join(d.char for d in row[: self.nin]) + "->" + "".join(d.char for d in row[self.nin :])
                for row, _ in self._rows]  # fmt: skip

    def _resolve(self, values, outs, given=()):
        """(the dtypes of a call, which operands are single elements that the function takes as arrays).

        given are the operands before they became arrays: Python's numbers among them take the dtype of the row."""
        weak = [type(a) in (int, float, complex) for a in given] or [False] * len(values)
        have = [numpy.dtype(v.dtype) for v in values]
        have = [d.newbyteorder("=") if d.kind in "biufc" else d for d in have]
        if not self._rows:
            # bfloat16 has no common dtype with others, so outputs of known dtype skip the promotion
            known = all(hasattr(o, "dtype") for o in outs)
            result = None if known else functools.reduce(numpy.promote_types, have)
            return (*have, *(numpy.dtype(getattr(o, "dtype", result)) for o in outs)), (False,) * self.nin
        for exact in (True, False):
            for row, boxed in self._rows:
                if all(
                    _fits(given[k], row[k]) if weak[k] else d == row[k] if exact else numpy.can_cast(d, row[k], "safe")
                    for k, d in enumerate(have)
                ):
                    return row, boxed
        raise TypeError(
            f"gufunc '{self.__name__}' not supported for the input types {', '.join(map(str, have))}: it has "
            f"{', '.join(self.types)}"
        )

    def __call__(self, *args, out=None, axis=None, axes=None, keepdims=False, stream=0):
        """Results of the operands; they may follow as arguments, or come as out= (an array or a tuple).

        axis, axes and keepdims are those of NumPy's generalized ufuncs: axes has a tuple of axes for each operand and
        result in place of its last ones; axis stands for the single axis that all operands share; with keepdims the
        axes that a reduction takes stay, with one element."""
        if axis is not None or axes is not None or keepdims:
            return self._along(args, out, self._places(axis, axes), keepdims, stream)
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(f"{self.__name__}() takes {self.nin} or {self.nargs} arguments, not {len(args)}")
        if len(args) == self.nargs and out is not None:
            raise TypeError(f"{self.__name__}(): results are given as arguments and as out=")
        outs = list(args[self.nin :] or (out if isinstance(out, tuple) else (out,) * (self.nout if out is None else 1)))
        values = [a if hasattr(a, "shape") else numpy.asarray(a) for a in args[: self.nin]]
        row, boxed = self._resolve(values, outs, args[: self.nin])
        if not self.nout:
            return self._in_place(values, row)
        home = Home([*values, *outs], device_of(self._target))
        loops, sizes = self._shapes(values)
        within = loops or (1,)  # without leading axes: a loop of one iteration
        operands = []
        for v, d, core, box in zip(values, row, self._inputs, boxed, strict=False):
            shape = tuple(sizes[n] for n in core)
            operands.append(home.bring(v, d, within + shape))
            if box:
                operands[-1] = operands[-1].reshape((*within, 1))
        results, inputs = [], operands[:]
        for o, d, core in zip(outs, row[self.nin :], self._outputs, strict=True):
            shape = tuple(sizes[n] for n in core)
            mine = o if home.takes(o, loops + shape, d, values) else home.empty(loops + shape, d)
            results.append(mine)
            operands.append(mine.reshape(within + (shape or (1,))))
        _loop(self, len(within))(*operands)
        for k in self._writable:
            self._write_back(values[k], inputs[k], home)
        if home.device is not None:  # on a device reshape copies, so the operands hold the results
            results = [a.reshape(r.shape) for a, r in zip(operands[self.nin :], results, strict=True)]
        if stream:
            stream.synchronize()
        given = tuple(_numpy_scalar(home.give(r, o)) for r, o in zip(results, outs, strict=True))
        return given[0] if self.nout == 1 else given

    def _write_back(self, given, mine, home):
        """Give an operand what the function wrote into its copy."""
        if home.device is not None or numpy.dtype(given.dtype) != mine.dtype:
            given[...] = home.give(mine.reshape(given.shape))

    def _places(self, axis, axes):
        """The named axes of each operand and result, as tuples."""
        cores = [*self._inputs, *self._outputs]
        if axis is not None:
            if axes is not None:
                raise TypeError(f"{self.__name__}(): axis and axes are both given")
            if len({n for core in cores for n in core}) != 1 or any(len(core) > 1 for core in cores):
                raise TypeError(f"{self.__name__}(): axis is for one axis that all share, not {self.signature}")
            return [(operator.index(axis),) * len(core) for core in cores]
        if axes is None:
            return [tuple(range(-len(core), 0)) for core in cores]
        given = [a if isinstance(a, tuple) else (operator.index(a),) for a in axes]
        if len(given) == self.nin and not any(self._outputs):
            given += [()] * self.nout
        if [len(a) for a in given] != [len(core) for core in cores]:
            raise ValueError(f"{self.__name__}(): axes={axes} does not name the axes of {self.signature}")
        return given

    def _along(self, args, out, places, keepdims, stream):
        """Call with the named axes moved to the end, and move those of the results back."""
        if keepdims and (any(self._outputs) or len({len(core) for core in self._inputs}) != 1):
            raise TypeError(f"{self.__name__}(): keepdims is for results without axes, of operands with as many each")
        ends = [tuple(range(-len(p), 0)) for p in places]
        outs = args[self.nin :] or (out if isinstance(out, tuple) else (out,) * self.nout)
        moved = [
            numpy.moveaxis(a if hasattr(a, "shape") else numpy.asarray(a), p, e) if p else a
            for a, p, e in zip(args[: self.nin], places, ends, strict=False)
        ]
        targets = []
        for o, p, e in zip(outs, places[self.nin :], ends[self.nin :], strict=True):
            if o is not None and keepdims:
                o = numpy.squeeze(o, places[0])
            targets.append(numpy.moveaxis(o, p, e) if p and o is not None else o)
        results = self(*moved, out=tuple(targets), stream=stream)
        results = [results] if self.nout == 1 else list(results)
        for k, (o, p, e) in enumerate(zip(outs, places[self.nin :], ends[self.nin :], strict=True)):
            if o is not None:
                results[k] = o
            elif keepdims:
                results[k] = numpy.expand_dims(results[k], places[0])
            elif p:
                results[k] = numpy.moveaxis(results[k], e, p)
        return results[0] if self.nout == 1 else tuple(results)

    def _called(self, given):
        if len(given) not in (self.nin, self.nargs):
            raise TypeError(f"{self.__name__} takes {self.nin} or {self.nargs} arguments, not {len(given)}")
        values = operands(given)
        row, boxed = self._resolve(values[: self.nin], values[self.nin :] or [None] * self.nout)
        f = jit(self.py_func, **self._options)
        return generalised(self.__name__, f, self._inputs, self._outputs, given, row, boxed)

    def _in_place(self, values, row):
        """Run a function without outputs: it writes into its operands."""
        home = Home(values, device_of(self._target))
        loops, sizes = self._shapes(values)
        operands = []
        for v, d, core in zip(values, row, self._inputs, strict=True):
            mine = home.bring(v, d)
            if v.shape[: len(v.shape) - len(core)] != loops:
                mine = home.bring(mine, d, loops + tuple(sizes[n] for n in core))
            operands.append(mine if loops else mine.reshape((1, *mine.shape)))
        _loop(self, len(loops or (1,)))(*operands)
        for v, mine in zip(values, operands, strict=True):
            self._write_back(v, mine, home)
        return ()

    def _shapes(self, values):
        """The shape of the loops, and the length of each named axis."""
        sizes, loops = {}, []
        for k, (v, core) in enumerate(zip(values, self._inputs, strict=True)):
            n = len(v.shape) - len(core)
            if n < 0:
                asked = f"{self.signature} asks for {len(core)}"
                raise ValueError(f"{self.__name__}: operand {k} has {len(v.shape)} dims, {asked}")
            loops.append(tuple(v.shape[:n]))
            for name, size in zip(core, v.shape[n:], strict=True):
                if sizes.setdefault(name, size) != size:
                    have = f"axis {name} of operand {k} has {size} elements"
                    raise ValueError(f"{self.__name__}: {have}, not {sizes[name]}")
        return numpy.broadcast_shapes(*loops), sizes


def _numpy_scalar(x):
    return x[()] if isinstance(x, numpy.ndarray) and x.ndim == 0 else x


@functools.lru_cache(maxsize=1024)
def _loop(g, ndim):
    names, at = [f"x{k}" for k in range(g.nargs)], index(ndim)
    body = nest([f"x0.shape[{k}]" for k in range(ndim)], [f"_f({', '.join(f'{n}[{at}]' for n in names)})"])
    name = g.__name__ if g.__name__.isidentifier() else "function"
    return jit(define("\n".join([f"def {name}({', '.join(names)}):", *body, ""]), name, _f=g.py_func), **g._options)


def guvectorize(ftylist, signature=None, target="cpu", **options):
    """Make a function of parts of arrays a generalised ufunc.

    Parameters
    ----------
    ftylist : str, signature, list of them or None
        Types of the parameters; None, or the layout itself, compiles for what it meets.
    signature : str, optional
        The layout: the axes that the function itself works on, as "(n),()->(n)".
    target : {"cpu", "parallel", "cuda"}, default 'cpu'
        As vectorize's.
    **options : any
        As jit's.

    Returns
    -------
    callable
        A decorator that gives a GUFunc.

    Raises
    ------
    ValueError
        There is no layout.
    TypeError
        The signatures do not fit the layout.

    Examples
    --------
    >>> @np.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    ... def total(x, r):
    ...     r[0] = 0.0
    ...     for i in range(x.shape[0]):
    ...         r[0] += x[i]
    >>> total(numpy.ones((2, 3)))
    array([3., 3.])
    """
    options.pop("cache", None)
    if signature is None:
        ftylist, signature = (), ftylist
    given = ftylist if isinstance(ftylist, list) else [ftylist] if ftylist else []
    return lambda fn: GUFunc(fn, given, signature, target, options)
