"""Coroutines that await futures, arrays, streams and events."""

import asyncio
import time

import numpy as np
import pytest
from conftest import DEVICES

import treadle as td
from treadle import cuda
from treadle.executor import DeviceExecutor

DEVICES = [pytest.param(d, id=d) for d in DEVICES]


def test_a_future():
    async def main():
        with DeviceExecutor("cpu") as ex:
            assert await ex.submit(pow, 2, 5) == 32
            assert await asyncio.gather(*[ex.submit(abs, -k) for k in range(5)]) == list(range(5))
            with pytest.raises(ZeroDivisionError):
                await ex.submit(divmod, 1, 0)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(ex.submit(time.sleep, 0.5), 0.05)

    asyncio.run(main())


def test_the_loop_goes_on():
    """Other coroutines run while one waits."""

    async def main():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        other = asyncio.create_task(tick())
        with DeviceExecutor("cpu") as ex:
            await ex.submit(time.sleep, 0.3)
        other.cancel()
        return ticks

    assert asyncio.run(main()) >= 5


@pytest.mark.parametrize("device", DEVICES)
def test_an_array(device):
    async def main():
        a = td.arange(10000.0, device=device) * 2 + 1
        got = await a
        assert got is a and float(a[-1]) == 19999
        assert (await a.sum()).get() == a.get().sum()
        assert (await td.zeros((0, 3), device=device)).shape == (0, 3)

    asyncio.run(main())


@pytest.mark.parametrize("device", DEVICES)
def test_an_arrays_failure(device):
    """What the array's evaluation raises, the coroutine raises."""

    async def main():
        index = td.asarray(np.array([1, 99]), device=device)
        with pytest.raises(IndexError):
            await td.arange(10.0, device=device)[index]

    asyncio.run(main())


@pytest.mark.parametrize("device", DEVICES)
def test_streams_and_events(device):
    @cuda.jit
    def add(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += 1

    async def main():
        s = td.Stream(device)
        x = td.zeros(100, "f4", device=device)
        add[1, 128, s](x)
        assert await s is s
        e = td.Event(device).record(s)
        assert await e is e and e.done
        assert float(x.sum()) == 100

    asyncio.run(main())
