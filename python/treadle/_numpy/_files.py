"""NumPy's functions that read and write files, buffers and iterators, with treadle's arrays as results."""

import contextlib
import functools

import numpy

from .._core import asarray, asnumpy, ndarray

_READING = "fromfile fromiter fromstring fromregex genfromtxt loadtxt"


def _down(x):
    """x with NumPy's arrays in place of treadle's."""
    if isinstance(x, ndarray):
        return asnumpy(x)
    return type(x)(map(_down, x)) if type(x) in (list, tuple) else x


def _up(x):
    """NumPy's arrays as treadle's where treadle has the dtype. Others (text, structures) stay."""
    if type(x) in (list, tuple):
        return type(x)(map(_up, x))
    return asarray(x) if isinstance(x, numpy.ndarray) and x.dtype.kind in "biufc" and x.dtype.itemsize <= 16 else x


def _reader(theirs):
    @functools.wraps(theirs)
    def fn(*args, like=None, **kwargs):
        return _up(theirs(*args, **kwargs))

    fn.__module__ = __name__
    return fn


def _writer(theirs):
    @functools.wraps(theirs)
    def fn(*args, **kwargs):
        return theirs(*map(_down, args), **{k: _down(v) for k, v in kwargs.items()})

    fn.__module__ = __name__
    return fn


@functools.wraps(numpy.frombuffer)
def frombuffer(*args, like=None, **kwargs):
    host = numpy.frombuffer(*args, **kwargs)
    if host.flags.writeable:
        with contextlib.suppress(ValueError):  # another device's array, or a dtype that only NumPy has: a copy
            return asarray(host, copy=False)
    return _up(host)


frombuffer.__module__ = __name__
globals().update((name, _reader(getattr(numpy, name))) for name in _READING.split())
# fromstring is the only one of them whose signature inspect cannot find.
fromstring.__wrapped__ = lambda string, dtype=float, count=-1, *, sep, like=None: None  # noqa: F821  (the line above makes it)
save, savez, savez_compressed, savetxt = map(_writer, (numpy.save, numpy.savez, numpy.savez_compressed, numpy.savetxt))


@contextlib.contextmanager
def _headers():
    """Turn the errors of NumPy's readers for damaged headers into EOFError and ValueError.

    Python 3.12's parser raises SystemError for some of them."""
    try:
        yield
    except EOFError as error:
        raise EOFError(str(error) or "load: the file ends before its array does") from error
    except SystemError as error:
        raise ValueError(f"load: the file's header is none of NumPy's: {error}") from error


class _Archive:
    """An .npz file whose members are treadle's arrays: a mapping, to be closed or used in a with statement."""

    def __init__(self, theirs):
        self._theirs = theirs

    def __getitem__(self, key):
        with _headers():
            theirs = self._theirs[key]
        return _up(theirs)

    def get(self, key, default=None, /):
        return self[key] if key in self else default

    def items(self):
        return ((k, self[k]) for k in self)

    def values(self):
        return (self[k] for k in self)

    def keys(self):
        return self._theirs.keys()

    def __iter__(self):
        return iter(self._theirs)

    def __len__(self):
        return len(self._theirs)

    def __contains__(self, key):
        return key in self._theirs

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._theirs.close()

    def __getattr__(self, name):  # files, f, zip, fid, close, …
        return getattr(self._theirs, name)

    def __repr__(self):
        return repr(self._theirs)


@functools.wraps(numpy.load, assigned=("__doc__", "__name__", "__qualname__"))
def load(*args, **kwargs):
    with _headers():
        theirs = numpy.load(*args, **kwargs)
    return _Archive(theirs) if isinstance(theirs, numpy.lib.npyio.NpzFile) else _up(theirs)
