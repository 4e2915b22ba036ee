"""The ufunc that ``vectorize`` makes of a function of numbers."""

import functools

import numpy

from .. import _core, types
from .._exchange import _host
from ._called import Called, elementwise, operands
from ._function import Function
from ._generate import Home, define, device_of, index, is_array, nest, scalar
from ._jit import UFUNC_OPTIONS, check_options, jit

_WEAK = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}  # kinds of dtypes that a Python number adapts to

# The exceptions with which the compiler refuses a function.
REFUSALS = (TypeError, ValueError, NameError, NotImplementedError, OSError, _core.CompileError)
WHY = "it calls a Python function that is not compiled"


def _dtype(t):
    parsed = types.parse(t)
    d = None if isinstance(parsed, types.BaseTuple) else parsed.dtype  # a tuple of equal types has their dtype
    if d is None or parsed.ndim:
        raise TypeError(f"vectorize: {t} is no number's type: the function takes and returns numbers")
    return numpy.dtype(d)


def _natural(values):
    """The dtypes of operands: an array's own. A Python float or complex takes the arrays' precision, as in NumPy."""
    found = [getattr(v, "dtype", None) for v in values]
    inexact = [d for d in found if d is not None and d.kind in "fc"]
    wide = functools.reduce(numpy.promote_types, inexact) if inexact else numpy.dtype(float)
    for k, v in enumerate(values):
        if found[k] is None and type(v) is float:
            found[k] = wide if wide.kind == "f" else numpy.empty(0, wide).real.dtype
        elif found[k] is None and type(v) is complex:
            found[k] = numpy.promote_types(wide, numpy.complex64)
        elif found[k] is None:
            found[k] = numpy.asarray(v).dtype
    return tuple(numpy.dtype(d) for d in found)


class UFunc(Called):
    """A function of numbers, called with arrays that broadcast, as a numpy.ufunc is; it has one result.

    nin, nout, nargs, types, ntypes and identity are a ufunc's. Without signatures it is compiled for the dtypes that it
    is called with. Results are NumPy arrays where all operands are NumPy's, else treadle's on the operands' device."""

    nout = 1

    def __init__(self, fn, signatures=(), target="cpu", identity=None, options=None):
        if isinstance(fn, Function):
            fn = fn.py_func
        functools.update_wrapper(self, fn)
        check_options("vectorize", options or {}, target)
        options = UFUNC_OPTIONS | {k: v for k, v in (options or {}).items() if k != "nopython"}
        self.py_func, self.identity, self._target, self._options = fn, identity, target, options
        self.nin = fn.__code__.co_argcount
        self._names = fn.__code__.co_varnames[: self.nin]
        self.nargs, self.signature = self.nin + 1, None
        self._one = jit(fn, **options)
        self._rows, self._returned = [], {}  # (dtypes of operands, dtype of the result); text of a type: its dtype
        self._fixed = bool(signatures)
        self._open = set()  # rows whose signature leaves the result's type open
        device_of(target)
        for s in signatures:
            self.add(s)

    def __repr__(self):
        return f"<ufunc '{self.__name__}'>"

    def add(self, sig):
        """Compiles for a signature: its text, a types.Signature, a tuple of argument types."""
        args, returns = types.normalize(sig)
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__} takes {self.nin} numbers, the signature {sig} has {len(args)}")
        row = tuple(map(_dtype, args))
        if returns is None:
            self._open.add(row)
        self._rows.append((row, _dtype(returns) if returns is not None else self._result(row)))
        return self

    def build_ufunc(self):
        """Itself: what numba's DUFunc has for the same."""
        return self

    def _compile_for_argtys(self, argtys, return_type=None):
        """Numba's own name of add for a tuple of types, which libraries call."""
        self.add(argtys if return_type is None else return_type(*argtys))

    def disable_compile(self):
        """Change nothing: operands are fitted to declared signatures in any case."""

    @property
    def pyfunc(self):
        """The Python function: NumPy's name for it."""
        return self.py_func

    @property
    def types(self):
        """As of a ufunc: 'dd->d' for each signature, and for each row of dtypes that it was compiled for."""
        return ["".join(d.char for d in row) + "->" + out.char for row, out in self._rows]

    @property
    def ntypes(self):
        return len(self._rows)

    # ---- dtypes ----

    def _result(self, row):
        """The dtype that the function returns now. It may read a global whose type has changed."""
        returned = self._one._returns(tuple(map(types.from_dtype, row)))
        if returned not in self._returned:
            self._returned[returned] = _dtype(returned or "none")
        return self._returned[returned]

    def resolve(self, values):
        """The dtypes that operands are cast to, and the result's."""
        row = _natural(values)
        given = _with_numbers(values) if self._fixed else row
        # like a ufunc, take the first row to which all operands cast safely
        for k, (known, out) in enumerate(self._rows):
            if known == row if not self._fixed else all(map(_goes, given, known)):
                return self._now(k, known, out)
        if self._fixed:
            raise TypeError(
                f"ufunc '{self.__name__}' not supported for the input types {', '.join(map(str, row))}: it has "
                f"{', '.join(self.types)}"
            )
        self._rows.append((row, self._result(row)))
        return self._rows[-1]

    def _now(self, k, row, out):
        """Row k with the dtype that its results have now."""
        if self._fixed and row not in self._open:
            return row, out
        now = self._result(row)
        if now != out:
            self._rows[k] = row, now
        return row, now

    # ---- calls ----

    def __call__(self, *args, out=None, dtype=None, stream=0, **named):
        """The function of each element; out: an array, or a tuple of one; dtype: of the result; named: operands by the
        function's own names of them."""
        args = (*args, *(named.pop(n) for n in self._names[len(args) :] if n in named))
        if named:
            raise TypeError(f"{self.__name__}() got an unexpected keyword argument '{next(iter(named))}'")
        if len(args) == self.nargs and out is None:
            *args, out = args
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments")
        out = out[0] if isinstance(out, tuple) else out
        values = [a if isinstance(a, (bool, int, float, complex)) or hasattr(a, "dtype") else numpy.asarray(a)
                  for a in args]  # fmt: skip
        try:
            row, returned = self.resolve(values)
        except REFUSALS:
            if self._fixed or out is not None:
                raise
            return on_host(self.py_func, args)
        home = Home([*values, out], device_of(self._target))
        shape = numpy.broadcast_shapes(*(getattr(v, "shape", ()) for v in values))
        operands = [
            home.bring(v, d, shape) if is_array(v) else _number(v, d) for v, d in zip(values, row, strict=True)
        ]
        if out is not None and dtype is None and home.takes(out, shape, returned, values):
            result = out
        else:
            result = home.empty(shape, returned)
        self._run(operands, result)
        if stream:
            stream.synchronize()
        result = result if dtype is None else result.astype(dtype)
        return scalar(home.give(result, out))

    def _run(self, operands, result):
        arrays = [a for a in (*operands, result) if is_array(a)]
        flat = all(a.shape == result.shape and _is_plain(a) for a in arrays)
        ndim = 1 if flat or not result.ndim else result.ndim
        if flat or not result.ndim:
            operands = [a.reshape(-1) if is_array(a) else a for a in operands]
            result = result.reshape(-1)
        _loop(self, tuple(is_array(a) for a in operands), ndim)(*operands, result)

    def _called(self, given):
        has_out = len(given) == self.nargs
        if len(given) != self.nin and not has_out:
            raise TypeError(f"{self.__name__} takes {self.nin} numbers or arrays, not {len(given)}")
        row, returned = self.resolve(operands(given[: self.nin]))
        return elementwise(self.__name__, self._one, given, row, returned, has_out)

    def outer(self, a, b, **kw):
        """The function of all pairs of elements."""
        self._binary("outer")
        a, b = (x if hasattr(x, "shape") else numpy.asarray(x) for x in (a, b))
        return self(a.reshape(a.shape + (1,) * b.ndim), b, **kw)

    def _binary(self, what):
        if self.nin != 2:
            raise ValueError(f"{what} is for functions of two numbers; {self.__name__} has {self.nin}")

    def _along(self, a, axis, dtype):
        """The elements of a as rows along the axis. Also the place where the call computes, the shape of the other
        axes and the result's dtype."""
        a = a if hasattr(a, "shape") else numpy.asarray(a)
        home = Home([a], device_of(self._target))
        d = numpy.dtype(dtype or a.dtype)
        row, returned = self.resolve([numpy.empty((), d)] * 2)
        if row[0] != returned:
            row, returned = self.resolve([numpy.empty((), returned)] * 2)
        if not -a.ndim <= axis < a.ndim:
            raise ValueError(f"axis {axis} is out of bounds for an array of {a.ndim} dims")
        last = numpy.moveaxis(a, axis, -1) if isinstance(a, numpy.ndarray) else _last(a, axis)
        shape = last.shape[:-1]
        rows = home.bring(last, returned).reshape((_count(shape), last.shape[-1]))
        return rows, home, shape, returned

    def reduce(self, a, axis=0, dtype=None, out=None, keepdims=False, initial=None, stream=0):
        """The elements along an axis, combined from the first on; axis None: all. On a GPU all elements of one axis are
        combined as a tree: the function must be associative and commutative."""
        self._binary("reduce")
        if axis is None:
            a = a.reshape(-1) if hasattr(a, "reshape") else numpy.asarray(a).reshape(-1)
            axis = 0
        rows, home, shape, returned = self._along(a, axis, dtype)
        start = self.identity if initial is None else initial
        if not rows.shape[1] and start is None:
            raise ValueError(f"zero-size array to reduction operation {self.__name__} which has no identity")
        if home.device is not None and not home.device.host and not shape and rows.size:
            from ..cuda._reduce import Reduce

            result = home.empty((1,), returned)
            Reduce(self.py_func)(rows.reshape(-1), res=result, **({"init": start} if start is not None else {}))
        elif start is None:
            result = rows[:, 0].copy()
            _along_loop(self, False)(rows[:, 1:], result)
        else:
            result = home.full((rows.shape[0],), start, returned)
            _along_loop(self, False)(rows, result)
        result = result.reshape(_kept(shape, axis) if keepdims else shape)
        return scalar(home.give(result, out))

    def accumulate(self, a, axis=0, dtype=None, out=None):
        """As reduce, with the result after each element."""
        self._binary("accumulate")
        rows, home, shape, returned = self._along(a, axis, dtype)
        result = home.empty(rows.shape, returned)
        if rows.size:
            _along_loop(self, True)(rows, result)
        result = result.reshape((*shape, rows.shape[1]))
        return home.give(numpy.moveaxis(result, -1, axis) if home.device is None else _last(result, axis, True), out)

    def reduceat(self, *args, **kw):
        raise NotImplementedError(f"{self.__name__}.reduceat: use reduce of slices")

    def at(self, a, indices, b=None):
        """a[indices] = self(a[indices], b) for each index in turn; a: a NumPy array."""
        places = numpy.broadcast_arrays(indices, *([] if b is None else [b]))
        for k in numpy.ndindex(places[0].shape):
            a[places[0][k]] = self(a[places[0][k]], *([] if b is None else [places[1][k]]))


def _with_numbers(values):
    """The dtypes of operands, for choosing a signature.

    A Python number beside arrays gives the kinds of dtypes that it adapts to, or the dtype that NumPy promotes it to.
    """
    own = [getattr(v, "dtype", None) for v in values]
    arrays = [numpy.dtype(d) for d in own if d is not None]
    meeting = numpy.result_type(*arrays) if arrays else None
    found = []
    for v, d in zip(values, own, strict=True):
        if d is not None:
            found.append(numpy.dtype(d))
        elif meeting is None or meeting.kind not in _WEAK.get(type(v), ""):
            found.append(numpy.asarray(v).dtype if meeting is None else numpy.result_type(meeting, v))
        else:  # the number adapts to the arrays' dtype
            found.append(numpy.result_type(meeting, v) if meeting.kind in "iu" else _WEAK[type(v)])
    return found


def _goes(have, want):
    return want.kind in have if isinstance(have, str) else numpy.can_cast(have, want, "safe")


def _number(v, dtype):
    """A scalar operand as a NumPy scalar of dtype."""
    return numpy.asarray(v.get() if hasattr(v, "get") else v).astype(dtype)[()]


def _is_plain(a):
    return a.flags.c_contiguous if isinstance(a, numpy.ndarray) else True


def _count(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


def _kept(shape, axis):
    axis %= len(shape) + 1
    return shape[:axis] + (1,) + shape[axis:]


def _last(a, axis, back=False):
    from .. import moveaxis

    return moveaxis(a, -1, axis) if back else moveaxis(a, axis, -1)


@functools.lru_cache(maxsize=1024)
def _loop(u, arrays, ndim):
    """A compiled loop that applies u to operands, arrays or numbers, and writes a result of ndim axes."""
    names = [f"x{k}" for k in range(len(arrays))]
    at = index(ndim)
    args = [f"{n}[{at}]" if a else n for n, a in zip(names, arrays, strict=True)]
    head = f"def {_plain(u)}({', '.join(names)}, out):"
    lines = nest([f"out.shape[{k}]" for k in range(ndim)], [f"out[{at}] = _f({', '.join(args)})"])
    return jit(define("\n".join([head, *lines, ""]), _plain(u), _f=u.py_func), **u._options)


@functools.lru_cache(maxsize=1024)
def _along_loop(u, keep):
    """A compiled loop that combines each row into one result, or with keep into all partial results."""
    start = ["x = rows[i, 0]", "out[i, 0] = x"] if keep else ["x = out[i]"]
    step = ["    x = _f(x, rows[i, k])", *(["    out[i, k] = x"] if keep else [])]
    body = [*start, f"for k in range({int(keep)}, rows.shape[1]):", *step, *([] if keep else ["out[i] = x"])]
    lines = [f"def {_plain(u)}(rows, out):", *nest(["out.shape[0]"], body), ""]
    return jit(define("\n".join(lines), _plain(u), _f=u.py_func), **u._options)


def _plain(u):
    return u.__name__ if u.__name__.isidentifier() else "function"


def on_host(fn, args):
    """Apply fn to each element of arrays on the host."""
    return _host.fallback("numpy.vectorize", numpy.vectorize(fn), args, {}, WHY)
