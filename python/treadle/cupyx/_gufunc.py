"""cupyx.GeneralizedUFunc: a function of small arrays, called along all other axes."""

import re

import numpy

import treadle

_NAMES = re.compile(r"\(([^()]*)\)")


def _cores(text):
    """The names of the last axes of each operand in one side of a signature."""
    return [tuple(filter(None, part.split(","))) for part in _NAMES.findall(text)]


class GeneralizedUFunc:
    """GeneralizedUFunc(func, signature, *, name=None, doc=None, supports_batched=False, supports_out=False).

    signature: "(m,n),(n,k)->(m,k)": names of the last axes of operands and results; axes before them broadcast. func is
    called once where supports_batched says that it takes the other axes too, else once for each of their places.
    supports_out: func writes into out= itself. ValueError: a signature that cannot be read, operands of another count,
    or axes of one name that differ."""

    def __init__(self, func, signature, *, name=None, doc=None, supports_batched=False, supports_out=False):
        left, arrow, right = signature.replace(" ", "").partition("->")
        self._in, self._out = (
            [tuple(filter(None, part.split(","))) for part in _NAMES.findall(s)] for s in (left, right)
        )
        if not arrow or not self._out:
            raise ValueError(f"GeneralizedUFunc: {signature!r} is no signature such as '(m,n),(n)->(m)'")
        self._func, self.signature = func, signature
        self._batched, self._writes = supports_batched, supports_out
        self.__name__ = getattr(func, "__name__", "gufunc") if name is None else name
        self.__doc__ = func.__doc__ if doc is None else doc

    nin = property(lambda self: len(self._in))
    nout = property(lambda self: len(self._out))

    def __call__(self, *args, axes=None, axis=None, keepdims=False, out=None, dtype=None):
        """The results for operands args. axes: for each operand and result a list of its named axes; axis: the one
        axis of each; keepdims: results of no axes keep those of the operands, of length 1; out: arrays to fill."""
        if len(args) != self.nin:
            raise ValueError(f"{self.__name__}: {self.nin} operands are expected, {len(args)} given")
        arrays = [treadle.asarray(a, dtype=dtype) for a in args]
        axes = self._axes(axes, axis, keepdims)
        arrays = [
            treadle.moveaxis(a, axes[k], list(range(-len(core), 0))) if core else a
            for k, (a, core) in enumerate(zip(arrays, self._in, strict=True))
        ]
        arrays, loop = self._broadcast(arrays)
        results = self._results(arrays, loop, out)
        ordered = []
        for k, (r, core) in enumerate(zip(results, self._out, strict=True)):
            if keepdims and not core:
                for place in sorted(a % (len(loop) + len(axes[0])) for a in axes[0]):
                    r = treadle.expand_dims(r, place)
            elif core:
                r = treadle.moveaxis(r, list(range(-len(core), 0)), axes[self.nin + k])
            ordered.append(r)
        return self._stored(ordered, out)

    def _axes(self, axes, axis, keepdims):
        """For each operand and result, the positions of its named axes."""
        every = [*self._in, *self._out]
        if axis is not None:
            if axes is not None or any(len(core) > 1 for core in every):
                raise TypeError(f"{self.__name__}: axis is for operands of one named axis, and not beside axes")
            return [[axis] if core else [] for core in every]
        if axes is None:
            return [list(range(-len(core), 0)) for core in every]
        given = [list(a) if hasattr(a, "__iter__") else [a] for a in axes]
        given += [[] for core in every[len(given) :] if not core]
        if [len(a) for a in given] != [len(core) for core in every]:
            raise ValueError(f"{self.__name__}: axes {axes} do not fit the signature {self.signature}")
        return given

    def _broadcast(self, arrays):
        """(the operands with their other axes broadcast, the shape of these)."""
        known = {}
        for a, core in zip(arrays, self._in, strict=True):
            if a.ndim < len(core):
                raise ValueError(f"{self.__name__}: an operand of shape {a.shape} has not the axes {core}")
            for name, n in zip(core, a.shape[a.ndim - len(core) :], strict=True):
                if known.setdefault(name, n) != n:
                    raise ValueError(f"{self.__name__}: the axis {name} has {known[name]} places, and {n} elsewhere")
        loop = numpy.broadcast_shapes(*(a.shape[: a.ndim - len(c)] for a, c in zip(arrays, self._in, strict=True)))
        return [
            treadle.broadcast_to(a, loop + a.shape[a.ndim - len(core) :])
            for a, core in zip(arrays, self._in, strict=True)
        ], loop

    def _results(self, arrays, loop, out):
        """The function's results, with the loop's axes first."""
        if self._batched or not loop:
            given = {"out": out} if self._writes and out is not None else {}
            return self._listed(self._func(*arrays, **given))
        rows = [self._listed(self._func(*(a[place] for a in arrays))) for place in numpy.ndindex(*loop)]
        if not rows:
            raise ValueError(f"{self.__name__}: there is no place to call it at: the other axes are {loop}")
        stacked = [treadle.stack([treadle.asarray(row[k]) for row in rows]) for k in range(self.nout)]
        return [s.reshape(loop + s.shape[1:]) for s in stacked]

    def _listed(self, made):
        return [made] if self.nout == 1 and not isinstance(made, (tuple, list)) else list(made)

    def _stored(self, results, out):
        if out is not None:
            into = out if isinstance(out, (tuple, list)) else (out,)
            for k, (target, r) in enumerate(zip(into, results, strict=True)):
                if target is not r:
                    target[...] = r
                results[k] = target
        return results[0] if self.nout == 1 else tuple(results)
