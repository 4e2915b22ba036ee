"""The functions that an engine's workers run: they compute a slice of a map on the worker's own device."""

import traceback

from .. import _core
from ._choice import chosen
from ._columns import columns
from ._mapper import Refused

_LARGE = 1 << 16  # bytes of a pickled function from which on it is sent once for a whole map


class RemoteTraceback(Exception):
    """The cause of an exception that another process raised. It holds that process's traceback as text."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text

    def __str__(self):
        return "\n" + self.text


def _compiled(fn, parts):
    found, n = columns(parts)
    return chosen(fn, found, n, [_core.device()], False)[0].run(0, n)


def _plain(fn, parts):
    values = []
    for row in zip(*parts, strict=False):
        try:
            values.append(fn(*row))
        except Exception as error:
            return values, error
    return values, None


def held(fn):
    """A task that returns its argument, the function of a map, for the other tasks."""
    return fn


def sent_once(client, fn):
    """fn itself, or where its pickle is large a Dask future of it: each task would carry a copy of its own.

    A task gives it, not scatter(), whose data are lost with the worker that has them."""
    from distributed.protocol.pickle import dumps

    if len(dumps(fn)) <= _LARGE:
        return fn
    return client.submit(held, fn, pure=False)


def run(fn, parts):
    """Compute fn over zip(*parts) and return (results, failure).

    The failure is None, or the exception and its traceback as text, because pickling loses an exception's traceback.
    The results are then those of the rows before it."""
    try:
        values, error = _compiled(fn, parts)
    except Refused:
        values, error = _plain(fn, parts)
    failed = None if error is None else (error, "".join(traceback.format_exception(error)))
    return values, failed


def raised(error, text):
    """The exception of another process, with that process's traceback as its cause."""
    error.__cause__ = RemoteTraceback(text)
    return error
