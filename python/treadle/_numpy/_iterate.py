"""Iterating over elements: iterators, functions of slices, functions of Python objects.

Python code that takes one element at a time runs on the host. The elements are brought there once.
"""

import numpy

from .. import _core
from .._core import asarray, ndarray
from .._exchange import _host
from ._flat import flatiter
from ._join import stack
from ._names import HOST
from ._shape import _axis, expand_dims, moveaxis


class broadcast:
    """How arrays broadcast together, and their elements side by side.

    Attributes are shape, size, ndim, numiter, index and iters, as numpy.broadcast's; iteration brings the elements to
    the host.

    Parameters
    ----------
    *args : array_like
        The arrays.

    Raises
    ------
    ValueError
        The shapes do not broadcast.

    Examples
    --------
    >>> np.broadcast([1, 2], [[3], [4]]).shape
    (2, 2)
    """

    def __init__(self, *args):
        self._arrays = [a if isinstance(a, ndarray) else asarray(a) for a in args]
        # Only shapes matter here. Nothing comes to the host before the first element is asked for.
        self._theirs = numpy.broadcast(*(numpy.broadcast_to(numpy.False_, a.shape) for a in self._arrays))
        self._values = None

    shape = property(lambda self: self._theirs.shape)
    size = property(lambda self: self._theirs.size)
    ndim = nd = property(lambda self: self._theirs.ndim)
    numiter = property(lambda self: self._theirs.numiter)
    index = property(lambda self: self._values.index if self._values else 0)

    @property
    def iters(self):
        """An iterator over each array, broadcast."""
        return tuple(iter(_broadcast_flat(a, self.shape)) for a in self._arrays)

    def reset(self):
        """The next element is the first again."""
        self._values = None

    def __iter__(self):
        return self

    def __next__(self):
        if self._values is None:
            made = _host.library(
                "numpy.broadcast", lambda *a: [numpy.broadcast(*a)], tuple(self._arrays), {}, HOST["nditer"]
            )
            self._values = made[0]
        return next(self._values)


def _broadcast_flat(a, shape):
    return flatiter(_core._broadcast_to(a, shape))


class ndenumerate:
    """Pairs of index and element in C order, on the host.

    Parameters
    ----------
    arr : array_like
        The array.

    Examples
    --------
    >>> [(place, int(x)) for place, x in np.ndenumerate([[1, 2]])]
    [((0, 0), 1), ((0, 1), 2)]
    """

    def __init__(self, arr):
        made = _host.library(
            "numpy.ndenumerate", lambda a: [numpy.ndenumerate(a)], (asarray(arr),), {}, HOST["ndenumerate"]
        )
        self.iter = made[0]

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.iter)


class nditer:
    """numpy.nditer over arrays on the host.

    On the CPU it goes over their own memory. What it writes into an array of a GPU is copied back by close(), at the
    end of the with statement and at the end of the iteration.

    Parameters
    ----------
    op : array_like or sequence of them
        The operands.
    flags : sequence of str, optional
        As numpy.nditer's.
    op_flags : sequence of sequences of str, optional
        As numpy.nditer's.
    *args : any
        Further arguments of numpy.nditer.
    **kwargs : any
        Further arguments of numpy.nditer.

    Examples
    --------
    >>> [int(x) for x in np.nditer(np.asarray([1, 2]))]
    [1, 2]
    """

    def __init__(self, op, flags=None, op_flags=None, *args, **kwargs):
        self._given = op if isinstance(op, (tuple, list)) else [op]
        rest = ([op_flags] if op_flags else []) + list(args)

        def make(*ops):
            self._held = ops
            given = list(ops) if isinstance(op, (tuple, list)) else ops[0]
            return [numpy.nditer(given, flags or [], *rest, **kwargs)]

        self._theirs = _host.library("numpy.nditer", make, tuple(self._given), {}, HOST["nditer"])[0]
        self._closed = False

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return next(self._theirs)
        except StopIteration:
            self._back()
            raise

    def _back(self):
        for a, host in zip(self._given, self._held):
            if isinstance(a, ndarray) and not a.device.host and host.flags.writeable and a.flags.writeable:
                a[...] = host

    def close(self):
        """Writes what has changed into the arrays."""
        if not self._closed:
            self._closed = True
            self._theirs.close()
            self._back()

    def __enter__(self):
        self._theirs.__enter__()
        return self

    def __exit__(self, *error):
        self.close()

    @property
    def operands(self):
        """The arrays: those given, and new ones that the iterator made."""
        return tuple(
            a if isinstance(a, ndarray) else asarray(x) for a, x in zip(self._given, self._theirs.operands, strict=True)
        )

    def __getattr__(self, name):
        return getattr(self._theirs, name)

    def __getitem__(self, i):
        return self._theirs[i]

    def __setitem__(self, i, value):
        self._theirs[i] = value

    def __len__(self):
        return len(self._theirs)


# ---- functions of slices ----


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """A function of every slice along an axis, put where the slice was.

    Parameters
    ----------
    func1d : callable
        func1d(slice, *args, **kwargs), a Python function of arrays of one axis; each call records its own operations.
    axis : int
        Axis of the slices.
    arr : array_like
        The array.
    *args : any
        Passed on to func1d.
    **kwargs : any
        Passed on to func1d.

    Returns
    -------
    ndarray
        What func1d returns stands in the axis' place.

    Raises
    ------
    ValueError
        Another axis has extent 0.

    Examples
    --------
    >>> np.apply_along_axis(np.sum, 1, [[1, 2], [3, 4]])
    array([3, 7])
    """
    arr = asarray(arr)
    axis = _axis(axis, arr.ndim, "apply_along_axis")
    slices = moveaxis(arr, axis, -1)
    lead = slices.shape[:-1]
    if 0 in lead:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [func1d(slices[at], *args, **kwargs) for at in numpy.ndindex(lead)]
    results = [r if isinstance(r, ndarray) else asarray(r, device=arr.device) for r in results]
    inner = results[0].ndim
    r = stack(results, dtype=results[0].dtype, casting="unsafe").reshape(lead + results[0].shape)
    return moveaxis(r, tuple(range(len(lead), len(lead) + inner)), tuple(range(axis, axis + inner)))


def apply_over_axes(func, a, axes):
    """A function for one axis after another.

    Parameters
    ----------
    func : callable
        func(a, axis); an axis that it removes stays with extent 1.
    a : array_like
        The array.
    axes : int or sequence of ints
        The axes.

    Returns
    -------
    ndarray
        What the last call gives.

    Raises
    ------
    ValueError
        func gives an array of another number of axes.

    Examples
    --------
    >>> np.apply_over_axes(np.sum, np.ones((2, 2)), 0)
    array([[2., 2.]])
    """
    val = asarray(a)
    n = val.ndim
    for axis in numpy.atleast_1d(_core.asnumpy(axes)):
        axis = int(axis) + n if axis < 0 else int(axis)
        res = func(val, axis)
        if res.ndim != val.ndim:
            res = expand_dims(res, axis)
            if res.ndim != val.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        val = res
    return val


# ---- functions of Python objects ----


class frompyfunc:
    """A Python function of objects over arrays; it runs on the host and gives NumPy arrays of objects.

    treadle.vectorize compiles functions of numbers.

    Parameters
    ----------
    func : callable
        The function of nin objects.
    nin, nout : int
        How many it takes and returns.
    **identity : object
        identity=, as numpy.frompyfunc takes it.

    Examples
    --------
    >>> np.frompyfunc(lambda x: x + 1, 1, 1)([1, 2])
    array([2, 3], dtype=object)
    """

    def __init__(self, func, /, nin, nout, **identity):
        self._theirs = numpy.frompyfunc(func, nin, nout, **identity)

    def _call(self, f, args, kwargs):
        return _host.fallback("numpy.frompyfunc", f, args, kwargs, HOST["frompyfunc"])

    def __call__(self, *args, **kwargs):
        return self._call(self._theirs, args, kwargs)

    def __getattr__(self, name):  # nin, nout, identity; reduce, accumulate, outer, at
        value = getattr(self._theirs, name)
        return (lambda *args, **kwargs: self._call(value, args, kwargs)) if callable(value) else value

    def __repr__(self):
        return repr(self._theirs)
