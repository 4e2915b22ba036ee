"""What a ShardedArray answers to beside what all array-like objects do: subscripts, operators that may wait, NumPy's
protocols."""

from .. import _core
from .._vmap._array import function, numpy_name
from .._vmap._like import ARITHMETIC, COMPARISONS, of_ufunc
from ._array import ShardedArray
from ._calls import apply, call
from ._expression import piecewise, settle
from ._reading import slid
from ._writing import assign_terms


class Methods:
    """They are ShardedArray's; that class stands below the rules that they ask for."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        name, f = of_ufunc(_core.ufuncs().get(ufunc.__name__, ufunc), method)
        return call(name, f, inputs, kwargs)

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

    def __contains__(self, x):
        return bool((self == x).any())


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
for _name, _value in vars(Methods).items():
    if callable(_value) or isinstance(_value, property):
        setattr(ShardedArray, _name, _value)
ShardedArray._apply = staticmethod(apply)
