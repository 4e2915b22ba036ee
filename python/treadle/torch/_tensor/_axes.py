"""Dimension arguments as PyTorch takes them. Negative ones count from the end. Several come as a tuple or as separate
arguments."""

from operator import index


def one(dim, ndim):
    """dim as 0 <= dim < ndim. IndexError: it is out of range."""
    dim = index(dim)
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def several(dim, ndim):
    """A tuple of dims from an int, a sequence, or None. None and an empty sequence mean all dims."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    dims = tuple(one(d, ndim) for d in dim) if isinstance(dim, (tuple, list)) else (one(dim, ndim),)
    if len(set(dims)) != len(dims):
        raise RuntimeError(
            f"dim {next(d for d in dims if dims.count(d) > 1)} appears multiple times in the list of dims"
        )
    return dims


def given(args, named=None):
    """The ints of f(2, 3), f((2, 3)) or f(name=(2, 3)) as a tuple."""
    if named is not None:
        args = (*args, named)
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    return tuple(index(a) for a in args)
