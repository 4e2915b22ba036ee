"""What an engine's workers run: a slice of a map, on the device that the worker has."""

import traceback

from .. import _core
from ._choice import chosen
from ._columns import columns
from ._mapper import Refused


class RemoteTraceback(Exception):
    """The cause of an exception that was raised in another process: its traceback as text."""

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


def run(fn, parts):
    """(the results of fn over zip(*parts), or of those before the one that failed; None, or that one's exception and
    its traceback as text, which a pickled exception loses)."""
    try:
        values, error = _compiled(fn, parts)
    except Refused:
        values, error = _plain(fn, parts)
    failed = None if error is None else (error, "".join(traceback.format_exception(error)))
    return values, failed


def raised(error, text):
    """The exception of another process, with its traceback as the cause."""
    error.__cause__ = RemoteTraceback(text)
    return error
