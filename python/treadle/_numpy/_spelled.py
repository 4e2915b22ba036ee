"""Spelled: functions composed of other operations, with the parameters of NumPy's ufuncs.

These are out, where, casting and dtype, and if the signature names axes also axis, axes and keepdims.
"""

import functools

import numpy

from .. import _core, _describe
from .._core import asarray, empty, ndarray
from .._exchange import _host
from .._exchange._place import castable
from ._shape import broadcast_to, moveaxis


def kind_of(a):
    """The kind of a's dtype: b, i, u, f or c. NumPy gives bfloat16 the kind V, which counts as f here."""
    return "f" if a.dtype.kind == "V" else a.dtype.kind


def into(name, out, value, where=True, rule="same_kind"):
    """Write value into out where the mask is true, and return out.

    Raises TypeError where the rule does not allow the cast, ValueError where the shapes do not fit."""
    _host.check_out(name, out)
    if not castable(value.dtype, out.dtype, rule):
        raise TypeError(f"Cannot cast ufunc '{name}' output from {value.dtype} to {out.dtype} with rule '{rule}'")
    if numpy.broadcast_shapes(value.shape, out.shape) != out.shape:
        raise ValueError(f"{name}: out has shape {out.shape}, the result {value.shape}")
    if where is True:
        _host.store(name, out, value)
    elif not isinstance(out, ndarray):
        _host.store(name, out, value, _core.asnumpy(where))
    else:
        mask = _core._beside(name, out, where)[1]
        if mask.dtype.kind != "b":
            raise TypeError(f"{name}: where must be bool, not {mask.dtype}")
        _core._assign_where(out, broadcast_to(mask, out.shape), broadcast_to(value, out.shape))
    return out


def placed(name, value, out, where=True, rule="same_kind"):
    """The result of a call with out= and where=. Without out it is zero where the mask is false."""
    if out is not None:
        return into(name, out, value, where, rule)
    return value if where is True else _core.ufuncs()["select"](where, value, False)


def parameters(nin, nout):
    """The inspect.Signature of a ufunc's call, with NumPy's parameters."""
    from inspect import Parameter, Signature

    names = ["x"] if nin == 1 else [f"x{k + 1}" for k in range(nin)]
    kinds = {"out": Parameter.POSITIONAL_OR_KEYWORD}
    defaults = {"out": None if nout == 1 else (None,) * nout, "where": True, "casting": "same_kind", "order": "K"}
    defaults |= {"dtype": None, "subok": True, "signature": None}
    given = [Parameter(n, Parameter.POSITIONAL_ONLY) for n in names]
    return Signature(
        given + [Parameter(k, kinds.get(k, Parameter.KEYWORD_ONLY), default=v) for k, v in defaults.items()]
    )


def _loop(name, nin, dtype, signature, sig):
    """The dtypes to which dtype= or signature= casts the operands. None: the operand keeps its own."""
    if signature is not None and sig is not None:
        raise TypeError("cannot specify both 'sig' and 'signature'")
    signature = sig if signature is None else signature
    if signature is None:
        return [dtype] * nin
    if dtype is not None:
        raise TypeError("cannot specify both 'signature' and 'dtype'")
    if not isinstance(signature, (str, tuple)):
        raise TypeError("the signature object to ufunc must be a string or a tuple.")
    entries = list(signature.replace("->", "")) if isinstance(signature, str) else list(signature)
    if len(entries) == 1:
        entries *= nin
    if len(entries) < nin:
        raise ValueError(f"{name}: a signature has an entry for each of {nin} operands, not {len(entries)}")
    return entries[:nin]


def _cast(name, args, loop, rule):
    """The operands cast to the loop's dtypes. Raises TypeError where the rule does not allow it."""
    made = []
    for a, dtype in zip(args, loop, strict=True):
        if dtype is not None:
            dtype = empty(0, dtype).dtype
            a = a if isinstance(a, ndarray) else asarray(a)
            if not castable(a.dtype, dtype, rule):
                raise TypeError(f"Cannot cast ufunc '{name}' input from {a.dtype} to {dtype} by '{rule}'")
            a = a.astype(dtype, copy=False)
        made.append(a)
    return made


class Spelled:
    # A function of nin arrays that is a ufunc in NumPy. dtypes: the dtypes that dtype= may name; None allows every
    # dtype to which the operands can be cast. The docstring is made when it is read, from f's.

    __doc__ = property(lambda self: _describe.spelled(self.__name__, self.nin, self.nout, self._sentence, self))

    def __init__(self, f, nin, nout=1, dtypes=None, typed=None):
        functools.update_wrapper(self, f, [a for a in functools.WRAPPER_ASSIGNMENTS if a != "__doc__"])
        self._sentence = " ".join(f.__doc__.split())
        self._f, self._dtypes, self._typed = f, dtypes, nin if typed is None else typed
        self._door = _core.door(self.__name__, self._call)
        self.nin, self.nout, self.nargs, self.signature, self.identity = nin, nout, nin + nout, None, None

    __signature__ = property(lambda self: parameters(self.nin, self.nout))

    def __repr__(self):
        return f"<ufunc '{self.__name__}'>"

    def __call__(self, *args, **kwargs):
        return self._door(*args, **kwargs)

    def _call(self, *args, out=None, where=True, casting="same_kind", order="K", dtype=None, subok=True,
                 signature=None, sig=None):  # fmt: skip
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(
                f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments, not {len(args)}"
            )
        args, more = args[: self.nin], args[self.nin :]
        if more and out is not None:
            raise TypeError("cannot specify 'out' as both a positional and keyword argument")
        outs = (more or (out if isinstance(out, tuple) else (out,))) + (None,) * self.nout
        if dtype is not None or signature is not None or sig is not None:
            args = self._typed_operands(args, _loop(self.__name__, self.nin, dtype, signature, sig), casting)
        made = self._f(*args)
        where = False if where is None else where  # NumPy treats None as False
        if out is None and not more and where is True:
            return made
        made = made if self.nout > 1 else (made,)
        results = tuple(placed(self.__name__, r, o, where, casting) for r, o in zip(made, outs))
        return results if self.nout > 1 else results[0]

    def _typed_operands(self, args, loop, rule):
        for dtype in loop:
            if self._dtypes is not None and dtype is not None and empty(0, dtype).dtype.name not in self._dtypes:
                raise TypeError(
                    f"No loop matching the specified signature and casting was found for ufunc {self.__name__}"
                )
        return _cast(self.__name__, args[: self._typed], loop[: self._typed], rule) + list(args[self._typed :])

    def outer(self, a, b, **kwargs):
        """The function of all pairs of elements."""
        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        a, b = (x if isinstance(x, ndarray) else asarray(x) for x in (a, b))
        return self(a.reshape(a.shape + (1,) * b.ndim), b, **kwargs)

    def _numpys(self, method):
        """A method of NumPy's ufunc that runs on the host."""
        name = f"numpy.{self.__name__}.{method}"
        theirs = getattr(getattr(numpy, self.__name__), method)
        return lambda *args, **kwargs: _host.fallback(name, theirs, args, kwargs, "its elements go one after another")

    reduce = property(lambda self: self._numpys("reduce"))
    accumulate = property(lambda self: self._numpys("accumulate"))
    reduceat = property(lambda self: self._numpys("reduceat"))

    def at(self, a, indices, *b):
        """a[indices] = the function of a[indices] (and b), in place and for each index in turn."""
        host = a.get()
        _host.fallback(f"numpy.{self.__name__}.at", getattr(numpy, self.__name__).at, (host, indices, *b), {})
        a[...] = host


def spelled(nin, nout=1, dtypes=None, typed=None):
    """A decorator that makes a Spelled of a function."""
    return lambda f: Spelled(f, nin, nout, dtypes, typed)


# ---- functions of vectors and matrices ----


def _core_axes(name, counts, axes, axis, keepdims):
    """For each operand and the result, the axes that the signature names."""
    if axes is not None and axis is not None:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    if axis is not None:
        if set(counts[:-1]) != {1}:
            raise TypeError(f"{name}: axis can only be used with a single shared core dimension")
        return [(axis,)] * (len(counts) - 1) + [(axis,) if counts[-1] or keepdims else ()]
    axes = [tuple(a) if isinstance(a, (tuple, list)) else (a,) for a in axes]
    if len(axes) == len(counts) - 1 and (counts[-1] == 0 or keepdims):
        axes.append(axes[0] if keepdims else ())
    if len(axes) != len(counts):
        raise ValueError(f"{name}: axes should be a list with an entry for all {len(counts)} inputs and outputs")
    for a, n in zip(axes, counts):
        if len(a) != n and not (keepdims and a is axes[-1]):
            raise ValueError(f"{name}: axes item {a} should be a tuple with {n} elements")
    return axes


def generalised(layout):
    """A decorator that gives a function of two arrays the parameters of NumPy's generalised ufuncs.

    layout names the last axes of operands and result, as "(n),(n)->()"."""
    counts = [len([n for n in part.strip(" ()").split(",") if n]) for part in layout.replace("->", "),").split("),")]

    def decorate(f):
        name = f.__name__

        @functools.wraps(f)
        def fn(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True, axes=None, axis=None,
               keepdims=False, signature=None, sig=None):  # fmt: skip
            given = _core._beside(name, x1, x2)
            castable(given[0].dtype, given[0].dtype, casting)  # raises ValueError for an unknown rule
            given = _cast(name, given, _loop(name, 2, dtype, signature, sig), casting)
            if keepdims and (counts[-1] or len(set(counts[:-1])) > 1):
                raise TypeError(f"{name} does not support keepdims: its signature does not allow it")
            at = None if axes is None and axis is None else _core_axes(name, counts, axes, axis, keepdims)
            for k, (a, n) in enumerate(zip(given, counts)):
                if a.ndim < n:
                    raise ValueError(
                        f"{name}: Input operand {k} does not have enough dimensions (has {a.ndim}, gufunc core with "
                        f"signature {fn.signature} requires {n})"
                    )
            if at is not None:
                given = [moveaxis(a, k, tuple(range(-n, 0))) for a, k, n in zip(given, at, counts) if n]
            r = f(*given)
            if keepdims:
                r = r[..., None]
            if at is not None and at[-1]:
                r = moveaxis(r, tuple(range(-len(at[-1]), 0)), at[-1])
            out = out[0] if isinstance(out, tuple) else out
            core = counts[-1] if at is None and not keepdims else r.ndim
            return r if out is None else _whole(name, out, r, casting, core)

        del fn.__wrapped__  # so that inspect.signature shows fn's own parameters
        fn.signature, fn.nin, fn.nout, fn.nargs = layout, 2, 1, 3
        return fn

    return decorate


def _whole(name, out, r, rule, core):
    """Write r into out. Their last `core` axes must be equal; r is repeated along the others."""
    if out.ndim < r.ndim or out.shape[out.ndim - core :] != r.shape[r.ndim - core :]:
        raise ValueError(f"{name}: out has shape {out.shape}, the result {r.shape}")
    return into(name, out, r, True, rule)
