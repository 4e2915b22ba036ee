"""Vector addition, a thread for each element

The first kernel of every book. `forall` chooses a grid for as many threads as there are elements.
A kernel takes arrays of the device as they are. A NumPy array travels to the device and back:
`In` and `Out` say which way is needed. A list becomes an array first.
"""

import numpy
from treadle import cuda

SIZES = {"cpu": {"size": 1_000_000}, "cuda": {"size": 10_000_000}, "small": {"size": 1000}}
TOLERANCE = 0.0
WHY = "one float32 addition each: the same bits everywhere"


@cuda.jit
def add(x, y, total):
    i = cuda.grid(1)
    if i < total.size:
        total[i] = x[i] + y[i]


def setup(size):
    rng = numpy.random.default_rng(2)
    return rng.random(size, dtype=numpy.float32), rng.random(size, dtype=numpy.float32)


def main(x, y):
    n = x.size

    # Arrays of the device stay there from kernel to kernel.
    dx, dy = cuda.to_device(x), cuda.to_device(y)
    on_device = cuda.device_array(n, dtype=numpy.float32)
    add.forall(n)(dx, dy, on_device)

    # NumPy's arrays are copied for the one launch.
    on_host = numpy.empty(n, dtype=numpy.float32)
    add.forall(n)(cuda.In(x), cuda.In(y), cuda.Out(on_host))

    # Two lists of three numbers, in one block of 32 threads.
    short = numpy.empty(3)
    add[1, 32](cuda.In(numpy.array([1.0, 2.0, 3.0])), cuda.In(numpy.array([10.0, 20.0, 30.0])),
               cuda.Out(short))
    return {"device": on_device.copy_to_host(), "numpy": on_host, "lists": short}


def reference(x, y):
    return {"device": x + y, "numpy": x + y, "lists": numpy.array([11.0, 22.0, 33.0])}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
