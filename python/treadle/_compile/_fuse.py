"""``fuse``: CuPy's name for what treadle does with every expression."""

import functools


class Fusion:
    """A function that was given to fuse. Calls run it: its operations are recorded and fused as all are."""

    def __init__(self, fn, kernel_name):
        functools.update_wrapper(self, fn)
        self.func, self.kernel_name = fn, kernel_name

    def __call__(self, *args, **kwargs):
        return self.func(*args, **kwargs)

    def __get__(self, obj, kind=None):
        return self if obj is None else functools.partial(self, obj)

    def clear_cache(self):
        """Does nothing: kernels are kept by what they compute."""

    def __repr__(self):
        return f"<Fusion {self.kernel_name}>"


def fuse(*args, **kwargs):
    """CuPy's decorator of functions whose operations fuse; here it is the function itself.

    Operations on treadle's arrays fuse in whatever function they stand. What CuPy refuses in a fused function works
    too: conditions on values, indexing, several reductions.

    Parameters
    ----------
    *args : callable
        The function; none where ``@fuse(kernel_name=...)`` is written.
    **kwargs : any
        kernel_name, which is kept and not shown: profiles name the operations.

    Returns
    -------
    callable
        The function, or a decorator.

    Examples
    --------
    >>> np.fuse(lambda x: x * 2 + 1)(np.ones(2))
    array([3., 3.])
    """
    kernel_name = kwargs.pop("kernel_name", None)
    if kwargs or len(args) > 1:
        raise TypeError("fuse takes a function, or kernel_name=")
    if not args:
        return functools.partial(fuse, kernel_name=kernel_name)
    if not callable(args[0]):
        raise TypeError(f"fuse: {args[0]!r} is not a function")
    return Fusion(args[0], kernel_name or getattr(args[0], "__name__", "fused"))
