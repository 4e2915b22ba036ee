"""Work that NumPy or SciPy does on the host for treadle's arrays. All of it is counted: where, how often, how many
bytes.

A *fallback* is a function that no device computes. A *library* call is one for which NumPy is the CPU's own library
(factorisations, transforms, sorting). On the CPU such a call works on the array's memory and is no fallback; for
arrays on a GPU it is one. ``treadle.config.fallback`` says what happens at a fallback: "warn" (PerformanceWarning,
once for each line of the program), "allow", or "error" (NotImplementedError). ``treadle.fallbacks()`` lists them.
"""

import collections
import copy
import functools
import threading
import time
import warnings

from .. import _core
from .._callers import site

MODES = ("warn", "allow", "error")
_DTYPES = "?bBhHiIlLqQefdFD"  # NumPy's characters of the dtypes that treadle has

mode = "warn"
_sites = {}  # (name, file, line): [calls, bytes, nanoseconds]
_warned = set()
_lock = threading.Lock()  # guards _sites and _warned against counting from several threads


def note(name, nbytes, why=None, how="is computed by NumPy on the host", quiet=False):
    """Count a fallback of the function called name for nbytes, and warn or raise as config.fallback says. quiet: do not
    warn.

    Returns the entry; a caller that times the function adds nanoseconds to it."""
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
        new = mode == "warn" and not quiet and (name, at) not in _warned
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
    """Raise TypeError unless out is an array of treadle's or NumPy's."""
    import numpy

    if not isinstance(out, (_core.ndarray, numpy.ndarray)):
        raise TypeError(f"{name}: out must be a treadle array, or NumPy's, not {type(out).__name__}")


def store(name, out, value, where=True, casting="unsafe"):
    """Write value into out where the mask is true, and return out.

    If out is NumPy's array, the copy to the host is counted as a fallback of name. Raises TypeError where the casting
    rule forbids the cast, ValueError where shapes do not fit or out is read-only."""
    import numpy

    if isinstance(out, _core.ndarray):
        if where is not True or casting != "unsafe":
            import treadle

            treadle.copyto(out, value, casting, where)
        else:  # a view: results are cast, where numbers that a program assigns must fit
            out[...] = value[...] if isinstance(value, _core.ndarray) else value
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
    """Moves one call's arrays to the host and its results back.

    It counts the bytes and remembers the device for the results. Arrays on the CPU are read in their own memory. out=
    arrays get a copy that is written back afterwards, because several arrays may share a value until one of them is
    written."""

    def __init__(self, name="call"):
        self.name, self.nbytes, self.first, self.outs = name, 0, None, []

    @property
    def device(self):
        """The arrays' device. None where there are no arrays."""
        return None if self.first is None else self.first.device

    def _meet(self, x):
        if self.first is None:
            self.first = x
        elif x.device != self.first.device:
            _core._beside(self.name, self.first, x)  # raises ValueError that names both devices
        self.nbytes += x.nbytes

    def down(self, x):
        """x with treadle's arrays converted to NumPy's, also inside of tuples, lists and dicts. bfloat16 becomes
        float32."""
        if isinstance(x, _core.ndarray):
            self._meet(x)
            x = x.astype("float32") if x.dtype.kind == "V" else x
            if x._is_number():  # a scalar of NumPy's, which lists of objects hold as it is
                return x.get()[()]
            return _core._host_view(x) if x.device.host else x.get()
        if type(x) in (tuple, list):
            return type(x)(map(self.down, x))
        return {k: self.down(v) for k, v in x.items()} if type(x) is dict else x

    def out(self, x):
        """A copy on the host for an array, or a tuple of arrays, that the function writes."""
        if isinstance(x, _core.ndarray):
            self._meet(x)
            if not x.flags.writeable:
                raise ValueError(f"{self.name}: output array is read-only")
            host = x.astype("float32").get() if x.dtype.kind == "V" else x.get()
            self.outs.append((host, x))
            return host
        return tuple(map(self.out, x)) if type(x) is tuple else x

    def back(self):
        """Copy what the function has written back into the out= arrays."""
        for host, x in self.outs:
            x[...] = host

    def up(self, x):
        """x with NumPy's arrays converted to treadle's on the arguments' device, if treadle has the dtype.

        NumPy's scalars become numbers. Other objects stay."""
        import numpy

        given = next((a for host, a in self.outs if host is x), None)
        if given is not None:
            return given
        # not subclasses, which hold more than their values
        if type(x) is numpy.ndarray or isinstance(x, numpy.generic):
            if x.dtype.char not in _DTYPES or not x.dtype.isnative:
                return x
            r = _core.asarray(x, device=self.device)
            return r if isinstance(x, numpy.ndarray) else r[()]
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return _named(x, self.up)
        if isinstance(x, dict):
            r = copy.copy(x)  # SciPy's results are instances of a subclass of dict
            r.update((k, self.up(v)) for k, v in x.items())
            return r
        return type(x)(map(self.up, x)) if type(x) in (tuple, list) else x


def _named(x, of):
    """The named tuple x with of() applied to each field.

    It keeps its class. Where the class takes more than the fields (SciPy's results), it becomes a plain named tuple
    with the other attributes attached.
    """
    if type(x).__mro__[1] is tuple:
        return type(x)(*map(of, x))
    base = collections.namedtuple(type(x).__name__, x._fields)
    r = type(base.__name__, (base,), {})(*map(of, x))
    r.__dict__.update((k, of(v)) for k, v in vars(x).items() if not k.startswith("_"))
    return r


def fallback(name, f, args, kwargs, why=None, quiet=False):
    """Call f with NumPy arrays in place of treadle's, and count it as a fallback of name. quiet: warn only if values of
    arrays come to the host."""
    return _run(name, f, args, kwargs, why, False, quiet)


def library(name, f, args, kwargs, why=None):
    """Call f with NumPy arrays in place of treadle's. It counts as a fallback only if some array is on a GPU."""
    return _run(name, f, args, kwargs, why, True)


def few(theirs, times=16, axes=None):
    """A decorator for a function that is composed of others: over few elements in the CPU's memory, NumPy's function
    `theirs` computes the value, which takes a microsecond. Few are `times` config.eager: fewer where the function's own
    work counts, and treadle's several threads do it faster. With axes, first operands of more axes are treadle's. NumPy
    before 2 has other rules for numbers of Python's."""

    def decorate(f):
        import numpy

        if int(numpy.__version__.partition(".")[0]) < 2:
            return f

        @functools.wraps(f)
        def fn(*args, **kwargs):
            if axes is None or (args and getattr(args[0], "ndim", 0) <= axes):
                r = _core._few(theirs, args, kwargs, times)
                if r is not NotImplemented:
                    return r
            return f(*args, **kwargs)

        return fn

    return decorate


def _run(name, f, args, kwargs, why, serves_cpu, quiet=False):
    trip = _Trip(name)
    args, out = trip.down(args), kwargs.get("out")
    kwargs = {k: trip.down(v) for k, v in kwargs.items() if k != "out"}
    if out is not None:
        kwargs["out"] = trip.out(out)
    counts = not serves_cpu or (trip.device is not None and not trip.device.host)
    entry = note(name, trip.nbytes, why, quiet=quiet and not trip.nbytes) if counts else None
    begin = time.perf_counter_ns()
    r = f(*args, **kwargs)
    trip.back()
    if entry:
        entry[2] += time.perf_counter_ns() - begin
    return trip.up(r)
