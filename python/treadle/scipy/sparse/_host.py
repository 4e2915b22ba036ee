"""Conversions between SciPy's sparse matrices and treadle's."""

from ..._core import MissingLibraryError
from ..._exchange import _host
from .. import _table
from ._kinds import CLASSES


def scipy_sparse():
    """The module scipy.sparse. Raises MissingLibraryError if SciPy is not installed."""
    try:
        import scipy.sparse
    except ImportError:
        raise MissingLibraryError("SciPy is not installed: pip install scipy") from None
    return scipy.sparse


def to_scipy(a):
    """SciPy's matrix of a's class."""
    cls = getattr(scipy_sparse(), type(a).__name__)
    if a.format == "dia":
        return cls((a.data.get(), a.offsets.get()), shape=a.shape)
    if a.format == "coo":
        return cls((a.data.get(), tuple(c.get() for c in a.coords)), shape=a.shape)
    return cls((a.data.get(), a.indices.get(), a.indptr.get()), shape=a.shape)


def nbytes(a):
    """The bytes of a's arrays."""
    more = (a.offsets,) if a.format == "dia" else a.coords if a.format == "coo" else (a.indices, a.indptr)
    return sum(x.nbytes for x in (a.data, *more))


def from_scipy(a, device=None):
    """treadle's matrix of the class of SciPy's a, on device. Formats that treadle lacks stay SciPy's."""
    key = a.format, not hasattr(a, "getH")
    return CLASSES[key](a, device=device) if key in CLASSES else a


def converted(a, fmt, options):
    """a as SciPy's matrix of a format that treadle lacks."""
    _host.note(f"scipy.sparse.{type(a).__name__}.to{fmt}", nbytes(a))
    return getattr(to_scipy(a), f"to{fmt}")(**options)


def call(name, *args, **kwargs):
    """Call the function of that name in scipy.sparse.linalg, on the host."""
    scipy_sparse()
    import scipy.sparse.linalg

    return _table.call(f"scipy.sparse.linalg.{name}", getattr(scipy.sparse.linalg, name), args, kwargs)
