"""Readers whose elements are awaited: `async def __getitem__`, and Zarr's asynchronous arrays (`async def getitem`).

A box is asked for in several parts at once, so that their latencies pass together.
"""

import asyncio
import functools
import inspect
import threading

_PARTS = 8  # of a box, asked for at once


def awaited(source):
    """source's function that gives something to await for a box; None where source is an ordinary reader."""
    for name in ("__getitem__", "getitem"):
        f = getattr(type(source), name, None)
        if inspect.iscoroutinefunction(f):
            return functools.partial(f, source)
        if f is not None:
            return None
    return None


@functools.cache
def _loop():
    """The event loop of all readers, on a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="treadle-readers", daemon=True).start()
    return loop


def _cut(box):
    """(rows of the box, the box of these rows) for at most _PARTS parts along its first axis."""
    if not box:
        return [(..., ())]
    first, rest = box[0], box[1:]
    n = len(range(first.start, first.stop, first.step))
    edges = [n * k // min(_PARTS, n) for k in range(min(_PARTS, n) + 1)]
    at = [first.start + k * first.step for k in edges]
    return [
        (slice(lo, hi), (slice(start, stop - first.step + 1, first.step), *rest))
        for lo, hi, start, stop in zip(edges, edges[1:], at, at[1:], strict=False)
    ]


def read(get, box):
    """Pairs of rows of the box and what get gives for them."""
    parts = _cut(box)

    async def all_parts():
        return await asyncio.gather(*(get(part) for _, part in parts))

    given = asyncio.run_coroutine_threadsafe(all_parts(), _loop()).result()
    return [(rows, got) for (rows, _), got in zip(parts, given, strict=True)]
