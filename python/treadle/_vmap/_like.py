"""ArrayLike: what objects that stand for arrays have of an ndarray: operators, and methods that are functions of the
same name. Both pass on to a function of the class, `_apply(name, self, *args, **kwargs)`.
"""

COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
ARITHMETIC = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
UNARY = {"neg": "negative", "pos": "positive", "invert": "invert", "abs": "absolute"}
METHODS = (
    "all any argmax argmin argpartition argsort compress choose count_nonzero cumprod cumsum diagonal dot max mean min "
    "nonzero prod ptp ravel repeat round searchsorted squeeze std sum swapaxes take trace var"
)


class ArrayLike:
    """The base of such a class, which has shape, dtype, subscripts, copy and _apply."""

    __slots__ = ()
    __array_priority__ = 1000.0
    __hash__ = None

    ndim = property(lambda self: len(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    T = property(lambda self: self._apply("transpose", self))
    mT = property(lambda self: self._apply("matrix_transpose", self))
    real = property(lambda self: self._apply("real", self))
    imag = property(lambda self: self._apply("imag", self))

    @property
    def size(self):
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    # ---- methods whose parameters are not those of the function of the same name ----

    def reshape(self, *shape, **kwargs):
        return self._apply("reshape", self, shape[0] if len(shape) == 1 else shape, **kwargs)

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return self._apply("transpose", self, axes or None)

    def flatten(self, order="C"):
        return self._apply("ravel", self, order).copy()

    def conj(self):
        return self._apply("conjugate", self)

    conjugate = conj

    def fill(self, value):
        self[...] = value

    def sort(self, axis=-1, **kwargs):
        self[...] = self._apply("sort", self, axis, **kwargs)

    def clip(self, min=None, max=None, **kwargs):
        return self._apply("clip", self, min, max, **kwargs)

    def __divmod__(self, other):
        return self._apply("divmod", self, other)

    def __rdivmod__(self, other):
        return self._apply("divmod", other, self)

    def __matmul__(self, other):
        return self._apply("matmul", self, other)

    def __rmatmul__(self, other):
        return self._apply("matmul", other, self)


def _method(name):
    def method(self, *args, **kwargs):
        return self._apply(name, self, *args, **kwargs)

    method.__name__ = name
    return method


def _operators(name, row):
    def forward(self, other):
        return self._apply(row, self, other)

    def reflected(self, other):
        return self._apply(row, other, self)

    def in_place(self, other):
        self[...] = self._apply(row, self, other)
        return self

    setattr(ArrayLike, f"__{name}__", forward)
    if name not in COMPARISONS:
        setattr(ArrayLike, f"__r{name}__", reflected)
        setattr(ArrayLike, f"__i{name}__", in_place)


for _name, _row in (COMPARISONS | ARITHMETIC).items():
    _operators(_name, _row)
for _name, _row in ({name: name for name in METHODS.split()} | {f"__{k}__": row for k, row in UNARY.items()}).items():
    setattr(ArrayLike, _name, _method(_row))


def of_ufunc(ufunc, method):
    """(name in the tables of rules, function) for what __array_ufunc__ is told."""
    if method == "__call__":
        # the core names where's row select; NumPy's select is another function
        return ("where" if ufunc.__name__ == "select" else ufunc.__name__), ufunc
    return f"ufunc.{method}", getattr(ufunc, method)
