"""The first call of the vector sum in a process that has made its arrays: prints its seconds.

    python first_call.py DEVICE LIBRARY MODULE FORM [cached]

MODULE is what programs/first.py imports from. FORM is "kernel", "loop", "raw" (programs/add.cu
by CuPy) or "source" (the same by SourceModule, or by NVRTC itself). The context, the arrays and a
wait for the device come before; the wait after the call is counted. Of "source" what is timed is
compiling and loading, up to the function. "cached" lets the library keep the kernel on disk,
where it asks to be told so.
"""

import sys
import time

import kernels
import numpy
import rows as table


def library_of(device, name, module):
    if device == table.GPU:
        import gpu_libraries

        known = gpu_libraries.GPU
    else:
        import libraries

        known = libraries.CPU
    return known[name](module) if name == "treadle" else known[name]()


def form_of(library, module, form, cached):
    """A function of three arrays that has compiled nothing yet."""
    if form == "raw":
        source = (kernels.PROGRAMS / "add.cu").read_text(encoding="utf-8")
        add = library.m.RawKernel(source, "add")
        return lambda a, b, out: add((4,), (256,), (a, b, out, out.size))
    if form == "source":
        return library.from_source()
    first = kernels.load("first", module, CACHE=cached)
    return first.kernel[4, 256] if form == "kernel" else first.loop


def main(device, name, module, form, cached=""):
    library = library_of(device, name, module)
    call = form_of(library, module, form, bool(cached))
    host = numpy.arange(1000, dtype="f4"), numpy.ones(1000, "f4"), numpy.zeros(1000, "f4")
    arrays = host if form == "loop" else [library.array(x) for x in host]
    library.sync()
    start = time.perf_counter()
    launch = call(*arrays)
    library.sync()
    seconds = time.perf_counter() - start
    if form == "source":
        launch()
        library.sync()
    numpy.testing.assert_array_equal(library.host(arrays[2]), host[0] + host[1])
    print(seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
