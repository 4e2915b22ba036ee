"""``await`` for arrays, events, streams and futures.

A thread waits for the device while the event loop goes on. Cancelling the await, or its time limit, does not stop the
device's work.
"""

import asyncio
import concurrent.futures

from .. import _core


def _iterator(wait, result):
    """The iterator that __await__ returns. A thread calls wait(); its exception is raised in the coroutine."""

    async def waiting():
        await asyncio.get_running_loop().run_in_executor(None, wait)
        return result

    return waiting().__await__()


def array(a):
    """Await an array: evaluate it, and return it."""

    def wait():
        _core.evaluate(a)
        if not a.device.host:
            _core.Event(a.device, timing=False).record(_core.Stream(a.device, null=True)).synchronize()

    return _iterator(wait, a)


def event(e):
    """Await an event: wait until it has happened, and return it."""
    return _iterator(e.synchronize, e)


def stream(s):
    """Await a stream: wait for the work that it has been given so far, and return it."""
    return _iterator(_core.Event(s.device, timing=False).record(s).synchronize, s)


class Future(concurrent.futures.Future):
    """A future of concurrent.futures that a coroutine can await."""

    def __await__(self):
        return asyncio.wrap_future(self).__await__()
