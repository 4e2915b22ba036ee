"""What is computed by NumPy or SciPy on the host: where, how often and with how many bytes, and never in silence.

Two cases. A *fallback* is a function that no device computes. A *library* call is one for which NumPy is the CPU's own
library (factorisations, transforms, sorting): on the CPU it works on the array's memory and is no fallback; from a GPU
it is one. ``treadle.config.fallback`` says what a fallback does: "warn" (PerformanceWarning, once for each line of the
program), "allow", or "error" (NotImplementedError). ``treadle.fallbacks()`` lists them.
"""

import collections
import copy
import threading
import time
import warnings

from .. import _core
from .._callers import site

MODES = ("warn", "allow", "error")
_DTYPES = "?bBhHiIlLqQefdFD"  # NumPy's characters of the dtypes that arrays here have

mode = "warn"
_sites = {}  # (name, file, line): [calls, bytes, nanoseconds]
_warned = set()
_lock = threading.Lock()  # guards both tables: several threads count


def note(name, nbytes, why=None, how="is computed by NumPy on the host"):
    """Counts a fallback of the function called name that moves nbytes, and tells of it as config.fallback says; its
    entry, to which who times the function adds the nanoseconds."""
    at = site()
    reason = f": {why}" if why else ""
    if mode == "error":
        raise NotImplementedError(
            f"{name} {how}{reason} ({nbytes} bytes), and treadle.config.fallback is 'error'"
        )
    with _lock:
        entry = _sites.setdefault((name, *at), [0, 0, 0])
        entry[0] += 1
        entry[1] += nbytes
        new = mode == "warn" and (name, at) not in _warned
        if new:
            _warned.add((name, at))
    if new:
        text = f"{name} {how}{reason}; treadle.fallbacks() lists such calls"
        warnings.warn_explicit(text, _core.PerformanceWarning, *at)
    return entry


def timed():
    """{(name, file, line): (calls, bytes, nanoseconds)} of all that NumPy computed on the host."""
    with _lock:
        return {key: tuple(entry) for key, entry in _sites.items()}


def fallbacks(clear=False):
    """What NumPy computed on the host for treadle's arrays.

    Parameters
    ----------
    clear : bool, default False
        Start counting and warning anew.

    Returns
    -------
    list of tuples: name, "file:line", calls, bytes
        Most bytes first.

    Examples
    --------
    >>> np.fallbacks(clear=True) is not None
    True
    """
    with _lock:
        rows = [(name, f"{file}:{line}", *entry[:2]) for (name, file, line), entry in _sites.items()]
        if clear:
            _sites.clear()
            _warned.clear()
    return sorted(rows, key=lambda row: (-row[3], -row[2], row[0]))


def check_out(name, out):
    """TypeError unless out is treadle's array or NumPy's."""
    import numpy

    if not isinstance(out, (_core.ndarray, numpy.ndarray)):
        raise TypeError(f"{name}: out must be a treadle array, or NumPy's, not {type(out).__name__}")


def store(name, out, value, where=True, casting="unsafe"):
    """out, which has taken value where the mask is true. NumPy's array is written in the host's memory: the way there
    is counted as a fallback of name. TypeError: the casting rule forbids it; ValueError: the shapes do not fit, or out
    is read-only."""
    import numpy

    if isinstance(out, _core.ndarray):
        if where is not True or casting != "unsafe":
            import treadle

            treadle.copyto(out, value, casting, where)
        else:
            out[...] = value
        return out
    check_out(name, out)
    if not out.flags.writeable:
        raise ValueError(f"{name}: output array is read-only")
    if isinstance(where, _core.ndarray):
        where = where.get()
    if isinstance(value, _core.ndarray):
        note(name, value.nbytes, "out= is NumPy's array", "writes to the host's memory")
        value = (value.astype("float32") if value.dtype.kind == "V" else value).get()
    numpy.copyto(out, value, casting=casting, where=where)
    return out


class _Trip:
    """The way of a call's arrays to the host and back: the bytes moved, the device that results go to, the arrays that
    are out=. What an array of the CPU has in memory is read there; out= is written by way of a copy, since several
    arrays may share a value until one of them is written."""

    def __init__(self, name="call"):
        self.name, self.nbytes, self.first, self.outs = name, 0, None, []

    @property
    def device(self):
        """The arrays' device, None where there are none."""
        return None if self.first is None else self.first.device

    def _meet(self, x):
        if self.first is None:
            self.first = x
        elif x.device != self.first.device:
            _core._beside(self.name, self.first, x)  # ValueError with both
        self.nbytes += x.nbytes

    def down(self, x):
        """x with treadle's arrays as NumPy's, in tuples, lists and dicts too; bfloat16 as float32."""
        if isinstance(x, _core.ndarray):
            self._meet(x)
            x = x.astype("float32") if x.dtype.kind == "V" else x
            return _core._host_view(x) if x.device.host else x.get()
        if type(x) in (tuple, list):
            return type(x)(map(self.down, x))
        return {k: self.down(v) for k, v in x.items()} if type(x) is dict else x

    def out(self, x):
        """The host's copy of an array that the function is to write, or of a tuple of them."""
        if isinstance(x, _core.ndarray):
            self._meet(x)
            if not x.flags.writeable:
                raise ValueError(f"{self.name}: output array is read-only")
            host = x.astype("float32").get() if x.dtype.kind == "V" else x.get()
            self.outs.append((host, x))
            return host
        return tuple(map(self.out, x)) if type(x) is tuple else x

    def back(self):
        """Write what the function has written back into the arrays."""
        for host, x in self.outs:
            x[...] = host

    def up(self, x):
        """x with NumPy's arrays of dtypes that treadle has as its own, on the arguments' device; NumPy scalars become
        arrays of no axes, other objects stay."""
        import numpy

        given = next((a for host, a in self.outs if host is x), None)
        if given is not None:
            return given
        if type(x) is numpy.ndarray or isinstance(x, numpy.generic):  # a subclass holds more than its values
            return _core.asarray(x, device=self.device) if x.dtype.char in _DTYPES else x
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return _named(x, self.up)
        if isinstance(x, dict):
            r = copy.copy(x)  # SciPy's results are dicts of a class of its own
            r.update((k, self.up(v)) for k, v in x.items())
            return r
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
    return _run(name, f, args, kwargs, why, False)


def library(name, f, args, kwargs, why=None):
    """f(*args, **kwargs) with NumPy arrays in the place of treadle's: no fallback where all of them are on the CPU."""
    return _run(name, f, args, kwargs, why, True)


def _run(name, f, args, kwargs, why, serves_cpu):
    trip = _Trip(name)
    args, out = trip.down(args), kwargs.get("out")
    kwargs = {k: trip.down(v) for k, v in kwargs.items() if k != "out"}
    if out is not None:
        kwargs["out"] = trip.out(out)
    counts = not serves_cpu or (trip.device is not None and not trip.device.host)
    entry = note(name, trip.nbytes, why) if counts else None
    begin = time.perf_counter_ns()
    r = f(*args, **kwargs)
    trip.back()
    if entry:
        entry[2] += time.perf_counter_ns() - begin
    return trip.up(r)
