"""What is computed by NumPy or SciPy on the host: where, how often and with how many bytes, and never in silence.

Two cases. A *fallback* is a function that no device computes. A *library* call is one for which NumPy is the CPU's own
library (factorisations, transforms, sorting): on the CPU it works on the array's memory and is no fallback; from a GPU
it is one. ``treadle.config.fallback`` says what a fallback does: "warn" (PerformanceWarning, once for each line of the
program), "allow", or "error" (NotImplementedError). ``treadle.fallbacks()`` lists them.
"""

import collections
import warnings

from . import _core
from ._implicit import _site

MODES = ("warn", "allow", "error")
_DTYPES = "?bBhHiIlLqQefdFD"  # NumPy's characters of the dtypes that arrays here have

mode = "warn"
_sites = {}  # (name, file, line): [calls, bytes]
_warned = set()


def note(name, nbytes, why=None):
    """Counts a fallback of the function called name that moves nbytes, and tells of it as config.fallback says."""
    site = _site()
    reason = f": {why}" if why else ""
    if mode == "error":
        raise NotImplementedError(
            f"{name} is computed by NumPy on the host{reason} ({nbytes} bytes), and treadle.config.fallback is 'error'"
        )
    entry = _sites.setdefault((name, *site), [0, 0])
    entry[0] += 1
    entry[1] += nbytes
    if mode == "warn" and (name, site) not in _warned:
        _warned.add((name, site))
        text = f"{name} is computed by NumPy on the host{reason}; treadle.fallbacks() lists such calls"
        warnings.warn_explicit(text, _core.PerformanceWarning, *site)


def fallbacks(clear=False):
    """A list of (name, "file:line", calls, bytes) of what NumPy computed on the host, most bytes first; with clear
    counting and warning start anew."""
    rows = [(name, f"{file}:{line}", *entry) for (name, file, line), entry in _sites.items()]
    if clear:
        _sites.clear()
        _warned.clear()
    return sorted(rows, key=lambda row: (-row[3], -row[2], row[0]))


class _Trip:
    """The way of a call's arrays to the host and back: the bytes moved, the device that results go to."""

    def __init__(self):
        self.nbytes, self.device = 0, None

    def down(self, x):
        """x with treadle's arrays as NumPy's, in tuples, lists and dicts too."""
        if isinstance(x, _core.ndarray):
            self.device = self.device or x.device
            self.nbytes += x.nbytes
            return _core._host_view(x) if x.device.kind == "cpu" else x.get()
        if type(x) in (tuple, list):
            return type(x)(map(self.down, x))
        return {k: self.down(v) for k, v in x.items()} if type(x) is dict else x

    def up(self, x):
        """x with NumPy's arrays of dtypes that treadle has as its own, on the arguments' device; NumPy scalars become
        arrays of no axes, other objects stay."""
        import numpy

        if isinstance(x, (numpy.ndarray, numpy.generic)):
            return _core.asarray(x, device=self.device) if x.dtype.char in _DTYPES else x
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return _named(x, self.up)
        return type(x)(map(self.up, x)) if type(x) in (tuple, list) else x


def _named(x, of):
    """The named tuple x with of(each): of its class, or, where that asks for more than its fields (SciPy's results), a
    plain one that has the other attributes too.
    """
    if type(x).__mro__[1] is tuple:
        return type(x)(*map(of, x))
    base = collections.namedtuple(type(x).__name__, x._fields)
    r = type(base.__name__, (base,), {})(*map(of, x))
    r.__dict__.update((k, of(v)) for k, v in vars(x).items() if not k.startswith("_"))
    return r


def fallback(name, f, args, kwargs, why=None):
    """f(*args, **kwargs) with NumPy arrays in the place of treadle's, noted as a fallback of name."""
    trip = _Trip()
    args, kwargs = trip.down(args), trip.down(kwargs)
    note(name, trip.nbytes, why)
    return trip.up(f(*args, **kwargs))


def library(name, f, args, kwargs, why=None):
    """f(*args, **kwargs) with NumPy arrays in the place of treadle's: no fallback where all of them are on the CPU."""
    trip = _Trip()
    args, kwargs = trip.down(args), trip.down(kwargs)
    if trip.device is not None and trip.device.kind != "cpu":
        note(name, trip.nbytes, why)
    return trip.up(f(*args, **kwargs))
