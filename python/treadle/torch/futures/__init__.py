"""torch.futures: results that may not exist yet."""

import threading

from ..._public import dir_of as _dir_of

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A result that set_result() or set_exception() provides and wait() waits for."""

    def __init__(self, *, devices=None):
        self._ready, self._lock = threading.Event(), threading.Lock()
        self._result = self._error = None
        self._calls = []

    def done(self):
        """Is there a result or an exception?"""
        return self._ready.is_set()

    def wait(self):
        """The result. Raises the exception that was set."""
        self._ready.wait()
        if self._error is not None:
            raise self._error
        return self._result

    def value(self):
        """The result. Raises RuntimeError if it does not exist yet."""
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
        """Provide the result. Raises RuntimeError if there is one already."""
        self._end(result, None)

    def set_exception(self, result):
        """Provide an exception, which wait() raises."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._end(None, result)

    def add_done_callback(self, callback):
        """Call callback(self) when the result exists, or at once if it does."""
        with self._lock:
            if not self.done():
                self._calls.append(callback)
                return
        callback(self)

    def then(self, callback):
        """A Future of callback(self), which runs when the result exists."""
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
    """A Future of the list of futures. It is done when all of them are."""
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
    """The results of all futures, in a list. Raises the first exception."""
    return [f.wait() for f in list(futures)]


__dir__ = _dir_of(__name__)
