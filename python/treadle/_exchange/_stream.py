"""td.stream: functions of arrays on the host, in chunks of their rows."""

import operator

from .. import _core
from ._chunked import in_chunks
from ._source_host import from_host, into


def stream(f, source, out=None, chunk=None, rows=False):
    """Compute a function of arrays on the host in chunks of their rows, which are copied while kernels run.

    Parameters
    ----------
    f : callable
        Takes arrays and returns one, or a tuple or dict of them.
    source : as from_host's, or a tuple of such
        One for each parameter of f.
    out : numpy.ndarray, numpy.memmap or object that takes slices, optional
        Takes the result and is returned. Without it the result stays on the device if it fits, else in the host's
        memory.
    chunk : int, optional
        Rows that go at once; None means as many as do well.
    rows : bool, default False
        Say that each row of what f returns depends on the same row of the sources alone: f is called with one chunk of
        rows after the other, and may do anything with them.

    Returns
    -------
    ndarray, out, or a tuple or dict of them
        What f returns, of all rows.

    Raises
    ------
    OSError
        There is no room for out on its disk.
    ValueError
        With rows=True: the sources have different numbers of rows, or f gives another number of rows than it gets.

    Examples
    --------
    >>> np.stream(lambda x: x * 2, numpy.arange(4), chunk=2)
    array([0, 2, 4, 6])
    """
    many = 0 if chunk is None else operator.index(chunk)
    if many < 0:
        raise ValueError(f"stream: chunk={chunk} rows")
    sources = source if isinstance(source, tuple) else (source,)
    if rows:
        return in_chunks(f, sources, out, many)
    return _each(f(*map(from_host, sources)), out, many)


def _each(made, out, rows):
    if isinstance(made, (tuple, list)):
        outs = (None,) * len(made) if out is None else out
        return type(made)(_each(a, o, rows) for a, o in zip(made, outs, strict=True))
    if isinstance(made, dict):
        return {k: _each(a, None if out is None else out[k], rows) for k, a in made.items()}
    if not isinstance(made, _core.ndarray):
        return made
    if out is None:
        return _core._stream(made, rows)
    into(made, out, rows)
    return out
