"""What a ShardedArray answers to: operators, methods, subscripts, and NumPy's protocols."""

from .. import _core
from .._vmap._array import ARITHMETIC, COMPARISONS, METHODS, UNARY, function, numpy_name
from ._array import ShardedArray
from ._calls import apply, call
from ._expression import piecewise, settle
from ._reading import slid
from ._writing import assign_terms


class Methods:
    """They are ShardedArray's; that class stands below the rules that they ask for."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        ufunc = _core.ufuncs().get(ufunc.__name__, ufunc)
        if method == "__call__":
            # the core names where's row select; NumPy's select is another function
            name = "where" if ufunc.__name__ == "select" else ufunc.__name__
            return call(name, ufunc, inputs, kwargs)
        return call(f"ufunc.{method}", getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, func, types, args, kwargs):
        name = numpy_name(func)
        try:
            ours = function(name)
        except AttributeError:  # NumPy computes it on the host
            return func(*(a.get() if type(a) is ShardedArray else a for a in args), **kwargs)
        return call(name, ours, args, kwargs)

    def __getitem__(self, key):
        r = slid(self, key)
        return call("getitem", None, (self, key), {}) if r is None else r

    def __setitem__(self, key, value):
        if type(value) is ShardedArray and value._pieces is None:
            to = slid(self, key)
            if to is not None and value.shape == to.shape and value.axis == to.axis:
                settle(value)
                assign_terms(to, value)
                return
        call("setitem", None, (self, key, value), {})

    def reshape(self, *shape, order="C", copy=None):
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return apply("reshape", self, shape, order)

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return apply("transpose", self, axes or None)

    def flatten(self, order="C"):
        return apply("ravel", self, order).copy()

    def conj(self):
        return apply("conjugate", self)

    conjugate = conj

    def fill(self, value):
        self[...] = value

    def sort(self, axis=-1, **kwargs):
        self[...] = apply("sort", self, axis, **kwargs)

    def clip(self, min=None, max=None, **kwargs):
        return apply("clip", self, min, max, **kwargs)

    def __divmod__(self, other):
        return apply("divmod", self, other)

    def __rdivmod__(self, other):
        return apply("divmod", other, self)

    def __matmul__(self, other):
        return apply("matmul", self, other)

    def __rmatmul__(self, other):
        return apply("matmul", other, self)

    def __contains__(self, x):
        return bool((self == x).any())

    T = property(lambda self: apply("transpose", self))
    mT = property(lambda self: apply("matrix_transpose", self))
    real = property(lambda self: apply("real", self))
    imag = property(lambda self: apply("imag", self))


def _method(name):
    def method(self, *args, **kwargs):
        return apply(name, self, *args, **kwargs)

    method.__name__ = name
    return method


def _operators(name, row):
    f = _core.ufuncs()[row]

    def forward(self, other):
        r = piecewise(f, self, other)
        return apply(row, self, other) if r is None else r

    def reflected(self, other):
        r = piecewise(f, self, other, True)
        return apply(row, other, self) if r is None else r

    def in_place(self, other):
        return apply(row, self, other, out=self)

    setattr(ShardedArray, f"__{name}__", forward)
    if name not in COMPARISONS:
        setattr(ShardedArray, f"__r{name}__", reflected)
        setattr(ShardedArray, f"__i{name}__", in_place)


for _name, _row in (COMPARISONS | ARITHMETIC).items():
    _operators(_name, _row)
for _name, _row in ({name: name for name in METHODS.split()} | {f"__{k}__": row for k, row in UNARY.items()}).items():
    setattr(ShardedArray, _name, _method(_row))
for _name, _value in vars(Methods).items():
    if callable(_value) or isinstance(_value, property):
        setattr(ShardedArray, _name, _value)
