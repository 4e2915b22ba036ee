"""The array API standard: what programs ask of a library (devices, dtypes, limits), and functions of the standard that
NumPy lacks.
"""

import numpy

from .. import _core
from .._core import ndarray
from .._exchange._host import store
from .._exchange._place import own as _own
from ._join import concatenate

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


class Info:
    """The object that __array_namespace_info__() gives; the standard says what its methods tell."""

    def capabilities(self):
        """Masks and shapes that depend on data are there; axes are at most 16."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self):
        """The device of arrays that are made without device=."""
        return _core.device()

    def default_dtypes(self, *, device=None):
        """The dtypes of numbers without one."""
        names = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}
        return {kind: numpy.dtype(name) for kind, name in names.items()}

    def devices(self):
        """All devices, GPUs first, and the default one."""
        return [*dict.fromkeys([*_core.devices(), _core.device()])]

    def dtypes(self, *, device=None, kind=None):
        """The dtypes of the standard by name: of a kind, of several, or all."""
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        unknown = [k for k in kinds if k not in _KINDS]
        if unknown:
            raise ValueError(f"dtypes: kind {unknown[0]!r} is none of {', '.join(map(repr, _KINDS))}")
        return {name: numpy.dtype(name) for k in kinds for name in _KINDS[k]}


def __array_namespace_info__():
    """What there is, for programs of the array API standard.

    Returns
    -------
    Info
        Its methods are capabilities, default_device, default_dtypes, devices and dtypes.

    Examples
    --------
    >>> np.__array_namespace_info__().capabilities()["boolean indexing"]
    True
    """
    return Info()


def astype(x, dtype, /, *, copy=True, device=None):
    """The elements in another dtype.

    Parameters
    ----------
    x : ndarray
        The array.
    dtype : dtype
        The dtype.
    copy : bool, default True
        False returns x itself where nothing changes.
    device : device or str, optional
        Another device; None means x's.

    Returns
    -------
    ndarray
        Of x's shape.

    Examples
    --------
    >>> np.astype(np.asarray([1, 2]), float)
    array([1., 2.])
    """
    x = x if device is None else x.to_device(device)
    return x.astype(dtype, copy=copy)


# ---- limits of floating dtypes ----


class _Limit(float):
    """A limit of a narrow dtype.

    It is a Python float, so it changes no array's dtype. Beside numbers it is the scalar that NumPy's is: it prints and
    computes so, and isinstance says so."""

    __slots__ = ("_scalar",)

    def __new__(cls, scalar):
        self = float.__new__(cls, scalar)
        self._scalar = scalar
        return self

    __class__ = property(lambda self: type(self._scalar))

    def __getattr__(self, name):
        if name.startswith("_"):  # NumPy asks floats for its protocols: these are a scalar's
            raise AttributeError(f"{self._scalar!r} has no attribute {name!r}")
        return getattr(self._scalar, name)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):  # beside arrays of NumPy's
        return getattr(ufunc, method)(*(x._scalar if type(x) is _Limit else x for x in inputs), **kwargs)

    def __repr__(self):
        return repr(self._scalar)

    def __str__(self):
        return str(self._scalar)

    def __reduce__(self):
        return _Limit, (self._scalar,)


def _beside_numbers(name):
    """An operator of _Limit: the scalar's beside a number; beside an array the array's, which sees a Python float."""

    def operate(self, *other):
        if not all(isinstance(x, (int, float, complex, numpy.number)) for x in other):
            return NotImplemented
        if any(isinstance(x, ndarray) for x in other):
            return NotImplemented
        return getattr(self._scalar, name)(*(x._scalar if type(x) is _Limit else x for x in other))

    return operate


for _name in "add sub mul truediv floordiv mod pow".split():
    for _operator in (f"__{_name}__", f"__r{_name}__"):
        setattr(_Limit, _operator, _beside_numbers(_operator))
for _operator in ("__neg__", "__abs__"):
    setattr(_Limit, _operator, _beside_numbers(_operator))


# bfloat16, which NumPy lacks: 8 bits of exponent as in float32, 7 of fraction.
_BFLOAT16 = {
    "bits": 16, "eps": 2.0**-7, "epsneg": 2.0**-8, "max": 3.3895313892515355e38, "min": -3.3895313892515355e38,
    "smallest_normal": 2.0**-126, "tiny": 2.0**-126, "smallest_subnormal": 2.0**-133, "resolution": 0.01,
    "precision": 2, "nmant": 7, "nexp": 8, "iexp": 8, "machep": -7, "negep": -8, "minexp": -126, "maxexp": 128,
}  # fmt: skip


class finfo:
    """The limits of a floating or complex dtype.

    The attributes are numpy.finfo's; values are Python floats, which change no array's dtype.

    Parameters
    ----------
    dtype : dtype or ndarray
        The dtype, or an array of it.

    Raises
    ------
    ValueError
        The dtype is no floating one.

    Examples
    --------
    >>> np.finfo(np.float32).bits
    32
    """

    def __init__(self, dtype):
        dtype = dtype.dtype if isinstance(dtype, (ndarray, numpy.ndarray)) else dtype
        if _is_bfloat16(dtype):
            self.dtype, self._all = _core._bfloat16(), _BFLOAT16
            return
        limits = numpy.finfo(dtype)
        self.dtype, self._all = limits.dtype, limits

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"finfo has no attribute {name!r}")
        value = self._all[name] if self._all is _BFLOAT16 and name in _BFLOAT16 else getattr(self._all, name)
        if isinstance(value, numpy.floating) and not isinstance(value, float):
            value = _Limit(value)
        return value

    def __repr__(self):
        limits = ", ".join(f"{name}={getattr(self, name)}" for name in ("resolution", "min", "max"))
        return f"finfo({limits}, dtype={self.dtype})"

    def __str__(self):
        return repr(self) if self._all is _BFLOAT16 else str(self._all)


def _is_bfloat16(dtype):
    try:
        return (type(dtype) is str and dtype == "bfloat16") or numpy.dtype(dtype) == _core._bfloat16()
    except TypeError:
        return False


# ---- cumulative operations by the standard's names ----


def _cumulative(cumulate, first, x, axis, dtype, out, include_initial):
    x = _own(x)
    x = x.reshape(1) if x.ndim == 0 else x
    if axis is None and x.ndim > 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    axis = 0 if axis is None else axis
    r = cumulate(x, axis, dtype)
    if include_initial:
        shape = [1 if k == axis % x.ndim else n for k, n in enumerate(x.shape)]
        r = concatenate([_core.full(shape, first, dtype=r.dtype, device=x.device), r], axis)
    return r if out is None else store(f"cumulative_{cumulate.__name__[3:]}", out, r)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Sums of the elements up to each.

    Parameters
    ----------
    x : array_like
        The numbers.
    axis : int, optional
        Axis to work along; arrays of one axis need none.
    dtype : dtype, optional
        Dtype of the result; None widens small integers to int64.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    include_initial : bool, default False
        A 0 comes first.

    Returns
    -------
    ndarray
        Of x's shape, or one longer along the axis.

    Raises
    ------
    ValueError
        x has other than one axis and none is given.

    Examples
    --------
    >>> np.cumulative_sum([1, 2, 3])
    array([1, 3, 6])
    """
    return _cumulative(_core._cumsum, 0, x, axis, dtype, out, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Products of the elements up to each.

    Parameters
    ----------
    x : array_like
        The numbers.
    axis : int, optional
        Axis to work along; arrays of one axis need none.
    dtype : dtype, optional
        Dtype of the result; None widens small integers to int64.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    include_initial : bool, default False
        A 1 comes first.

    Returns
    -------
    ndarray
        Of x's shape, or one longer along the axis.

    Raises
    ------
    ValueError
        x has other than one axis and none is given.

    Examples
    --------
    >>> np.cumulative_prod([1, 2, 3])
    array([1, 2, 6])
    """
    return _cumulative(_core._cumprod, 1, x, axis, dtype, out, include_initial)
