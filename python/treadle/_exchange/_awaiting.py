"""`await` on what a device does: the event loop goes on while a thread of its own waits.

Whoever stops waiting (a cancelled task, a time limit) does not stop the device's work."""

import asyncio
import concurrent.futures

from .. import _core


def _iterator(wait, result):
    """What __await__ returns. wait() blocks a thread; what it raises, the awaiting coroutine raises."""

    async def waiting():
        await asyncio.get_running_loop().run_in_executor(None, wait)
        return result

    return waiting().__await__()


def array(a):
    """Of an array: its value is computed, and it is the result."""

    def wait():
        _core.evaluate(a)
        if not a.device.host:
            _core.Event(a.device, timing=False).record(_core.Stream(a.device, null=True)).synchronize()

    return _iterator(wait, a)


def event(e):
    """Of an event: it has passed, and it is the result."""
    return _iterator(e.synchronize, e)


def stream(s):
    """Of a stream: what it was given so far is done, and it is the result."""
    return _iterator(_core.Event(s.device, timing=False).record(s).synchronize, s)


class Future(concurrent.futures.Future):
    """A future of concurrent.futures that a coroutine can await."""

    def __await__(self):
        return asyncio.wrap_future(self).__await__()
