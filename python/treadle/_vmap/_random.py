"""Random draws inside of a mapped function: refused, one for each item, or the same for all items.

All draws are methods of treadle.random.Generator. The first vmap replaces these methods, as _dispatch.py replaces the
package's functions.
"""

import functools
import inspect

import numpy

from ._array import Batched, Unbatched, find, running

# The parameters of the core's methods, which have no signature.
CORE = {
    "random": "size dtype out",
    "standard_normal": "size dtype out",
    "normal": "loc scale size",
    "uniform": "low high size",
    "integers": "low high size dtype endpoint",
}
# For these `size` counts vectors, or elements of an array.
VECTORS = ("choice", "dirichlet", "multinomial", "multivariate_normal", "multivariate_hypergeometric")
RANDOMNESS = ("error", "different", "same")


class Randomness(RuntimeError):
    """A mapped function called a random function, and `randomness` does not say what that means."""


def _outside(f, trace, *args, **kwargs):
    """Call f outside of this vmap and of those inside of it."""
    before = running.traces
    running.traces = before[: trace.level]
    try:
        return f(*args, **kwargs)
    finally:
        running.traces = before


def _shape(size, parameters):
    if size is None:
        return numpy.broadcast_shapes(*(numpy.shape(p) if not hasattr(p, "shape") else p.shape for p in parameters))
    return tuple(size) if isinstance(size, (tuple, list)) else (size,)


def _aligned(x, trace, ndim):
    if type(x) is not Batched or x._trace is not trace:
        return x
    v = x._value
    return v.reshape((trace.size, *(1,) * (ndim - x.ndim), *v.shape[1:]))


def _drawing(name, f, parameters):
    """A replacement for the generator's method f. parameters are the names of its parameters."""
    place = parameters.index("size") if "size" in parameters else None

    @functools.wraps(f)
    def draw(g, *args, **kwargs):
        if not running.traces:
            return f(g, *args, **kwargs)
        trace, given = running.traces[-1], find((args, kwargs))
        trace.drawn = True
        if trace.randomness == "error":
            raise Randomness(
                f'vmap: {name} is called in the function; say randomness="different" (every item draws its own '
                'numbers) or randomness="same"'
            )
        if trace.randomness == "same":
            if given is trace:
                raise Randomness(f'vmap: {name} of parameters that differ between items, with randomness="same"')
            return _outside(draw, trace, g, *args, **kwargs)
        if place is None:
            raise Unbatched(f"{name} draws for one item")
        args = list(args)
        size = args.pop(place) if len(args) > place else kwargs.pop("size", None)
        rest, args = args[place:], args[:place]
        kwargs |= dict(zip(parameters[place + 1 :], rest, strict=False))
        own = [*args, *(kwargs[k] for k in parameters[:place] if k in kwargs)]
        shape = _shape(size, own)
        args = [_aligned(a, trace, len(shape)) for a in args]
        kwargs = {k: _aligned(a, trace, len(shape)) for k, a in kwargs.items()}
        return Batched(_outside(draw, trace, g, *args, size=(trace.size, *shape), **kwargs), trace)

    return draw


def install():
    from .. import random

    for name in dir(random.Generator):
        f = getattr(random.Generator, name)
        if name[0] == "_" or not inspect.isroutine(f) or name == "spawn":
            continue
        parameters = CORE[name].split() if name in CORE else list(inspect.signature(f).parameters)[1:]
        setattr(random.Generator, name, _drawing(name, f, [] if name in VECTORS else parameters))
