"""torch.futures: results that may still be under way."""

import threading

from ..._public import dir_of as _dir_of

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A result that set_result() or set_exception() gives, and that wait() waits for."""

    def __init__(self, *, devices=None):
        self._ready, self._lock = threading.Event(), threading.Lock()
        self._result = self._error = None
        self._calls = []

    def done(self):
        """Is the result or an exception there?"""
        return self._ready.is_set()

    def wait(self):
        """The result. Raises the exception that was set."""
        self._ready.wait()
        if self._error is not None:
            raise self._error
        return self._result

    def value(self):
        """The result. RuntimeError: it is not there yet."""
        if not self.done():
            raise RuntimeError("Future.value: it is not completed: wait() waits for it")
        return self.wait()

    def _end(self, result, error):
        with self._lock:
            if self.done():
                raise RuntimeError("Attempting to mark a completed Future as complete again.")
            self._result, self._error = result, error
            self._ready.set()
            calls, self._calls = self._calls, []
        for call in calls:
            call(self)

    def set_result(self, result):
        """Gives the result. RuntimeError: it is given already."""
        self._end(result, None)

    def set_exception(self, result):
        """Gives an exception that wait() raises."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._end(None, result)

    def add_done_callback(self, callback):
        """callback(self) when the result is there; at once where it is."""
        with self._lock:
            if not self.done():
                self._calls.append(callback)
                return
        callback(self)

    def then(self, callback):
        """A Future of callback(self)."""
        made = Future()

        def follow(done):
            try:
                result = callback(done)
            except Exception as error:
                made.set_exception(error)
            else:
                made.set_result(result)

        self.add_done_callback(follow)
        return made


def collect_all(futures):
    """A Future of the list of futures, when all are done."""
    futures, made = list(futures), Future()
    left, lock = [len(futures)], threading.Lock()

    def one(_):
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            made.set_result(futures)

    if not futures:
        made.set_result(futures)
    for f in futures:
        f.add_done_callback(one)
    return made


def wait_all(futures):
    """The results of all, in a list. Raises the first exception."""
    return [f.wait() for f in list(futures)]


__dir__ = _dir_of(__name__)
