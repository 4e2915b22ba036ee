"""ReductionKernel: a reduction whose expressions are written in CUDA C++."""

import math
import re

import numpy

from .. import _core, _old_numpy
from . import _text as _rawtext
from ._params import SUPPORT, check_names, decide, parse, raw_parameter, scalar, shape_bytes, take, typedefs

_ROOM = 64  # bytes, at most, of a reduce_type that NumPy does not have

# CuPy's _in_ind.size() and _out_ind.size(), for expressions that name them: parameters, what stands before a kernel and
# in it.
_COUNTED = re.compile(r"\b_(in|out)_ind\b")
_COUNTS = ["const long long _td_all", "const long long _td_kept"]
_COUNTER = "struct td_counted { ptrdiff_t n; __device__ ptrdiff_t size() const { return n; } };\n"
_COUNTED_HERE = "const td_counted _in_ind = {_td_all}, _out_ind = {_td_kept};"


class ReductionKernel:
    """A reduction that C++ expressions describe.

    Called with arrays and numbers that broadcast, axis= (None: all), keepdims=, out= and stream=. Sums are taken in
    parts whose number depends on sizes and the device only.

    Parameters
    ----------
    in_params, out_params : str
        Declarations, as ElementwiseKernel's.
    map_expr : str
        An expression of the in_params.
    reduce_expr : str
        Joins two values a and b, in any order.
    post_map_expr : str
        Statements that take the result a to the out_params, as "y = sqrt(a)".
    identity : str, number or None
        What an empty reduction gives; None: there is none.
    name : str, default 'reduce_kernel'
        Name of the kernel.
    reduce_type : str, optional
        C++ type of a and b; None means that of the first result.
    reduce_dims : bool, default True
        Axes may be merged.
    preamble : str, default ''
        Stands before the kernel.
    options : tuple of str, default ()
        As RawKernel's.

    Raises
    ------
    TypeError
        The dtypes do not fit, or an argument is an array of NumPy's.
    ValueError
        The shapes do not fit, or there is nothing to reduce and no identity.
    CompileError
        The text has errors.

    Examples
    --------
    >>> np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total").name
    'total'
    """

    def __init__(self, in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name="reduce_kernel",
                 reduce_type=None, reduce_dims=True, preamble="", options=()):  # fmt: skip
        if not name.isidentifier():
            raise ValueError(f"ReductionKernel: name {name!r} is no identifier")
        self.in_params, self.out_params = parse(in_params, True), parse(out_params, False)
        self.params = self.in_params + self.out_params
        check_names(self.params)
        if any(p.raw for p in self.out_params) or not self.out_params:
            raise ValueError("ReductionKernel: there is at least one result, and none is raw")
        self.nin, self.nout, self.nargs = len(self.in_params), len(self.out_params), len(self.params)
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = None if identity is None or str(identity).strip() == "" else str(identity)
        self._counted = bool(_COUNTED.search(f"{map_expr};{post_map_expr}"))
        self.name, self.__name__, self.reduce_type = name, name, reduce_type
        self.reduce_dims, self.preamble, self.options = reduce_dims, preamble, tuple(options)
        self.__doc__ = f"{name}({', '.join(p.name for p in self.params)}): {reduce_expr} of {map_expr}"
        self._args = (in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name, reduce_type,
                      reduce_dims, preamble, options)  # fmt: skip
        self._made = {}

    def __repr__(self):
        return f"<ReductionKernel {self.name}>"

    def __reduce__(self):
        return ReductionKernel, self._args

    def __call__(self, *args, out=None, axis=None, keepdims=False, stream=None):
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"{self.name} takes {self.nin} arguments, or {self.nargs} with those for results, not {len(args)}"
            )
        if out is not None:
            if len(args) == self.nargs or self.nout != 1:
                raise ValueError(f"{self.name}: out= is for one result that is not given otherwise")
            args = (*args, out)
        taken, device = take(args, self.params, self.name)
        if device is None:
            raise ValueError(f"{self.name}: there is no array to reduce")
        ins, outs = taken[: self.nin], taken[self.nin :]
        in_types, out_types, known = decide(self.in_params, self.out_params, ins, outs, self.name)
        space = _Space(self, ins, axis, keepdims)
        for a in outs:
            if a.shape != space.result:
                raise ValueError(f"{self.name}: a result has shape {a.shape}, the reduction gives {space.result}")
        results = [a if a.is_c_contiguous() else None for a in outs] or [None] * self.nout
        results = [_core.empty(space.result, t, device=device) if a is None else a for a, t in zip(results, out_types)]
        if space.nout:
            self._launch(device, space, ins, results, in_types + out_types, known, stream)
        for a, r in zip(outs, results):
            if a is not r:
                a[...] = r
        given = outs or results
        return given[0] if self.nout == 1 else tuple(given)

    def _launch(self, device, space, ins, results, dtypes, known, stream):
        host = _rawtext.is_host(device)
        raws = tuple((a.ndim, a.is_c_contiguous()) for p, a in zip(self.in_params, ins) if p.raw)
        arrays = tuple(isinstance(a, _core.ndarray) for a in ins)
        key = (device, tuple(dtypes), arrays, raws, space.across, space.lies)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._make(key, known, host)
        whole, merge, size = found
        given, moved = [], iter(space.arrays)
        for p, a, d in zip(self.in_params, ins, dtypes):
            if not isinstance(a, _core.ndarray):
                given.append(scalar(a, d))
            elif p.raw:
                given += [a, shape_bytes(a)]
            else:
                given += next(moved)
        counts = [numpy.int64(space.nout * space.nred), numpy.int64(space.nout)] if self._counted else []
        grid, block, w, segments = _rawtext.reduce_dims(space.nout, space.nred, device, space.across)
        part = _rawtext.scratch(segments, space.nout, size, device) if segments > 1 else None
        whole(grid, block, [*given, *counts, *results, part, space.nout, space.nred, w], stream=stream)
        if part is not None:
            grid, block, w, _ = _rawtext.reduce_dims(space.nout, segments, device, True)
            numbers = [scalar(a, d) for a, d in zip(ins, dtypes) if not isinstance(a, _core.ndarray)]
            given = [*numbers, *counts, *results, part, None, space.nout, segments, w]
            merge((grid[0], 1), block, given, stream=stream)

    # ---- text ----

    def _make(self, key, known, host):
        device, dtypes, arrays, raws, across, lies = key
        text, size = self._text(known, dtypes, arrays, raws, across, lies, host)
        program = _rawtext.program(text, device, self.name, self.options)
        return program.kernel(self.name + "_parts"), program.kernel(self.name + "_whole"), size

    def _text(self, known, dtypes, arrays, raws, across, lies, host):
        declared, numbers, load, raws, lies = [], [], [], iter(raws), iter(lies)
        for p, d, array in zip(self.in_params, dtypes, arrays):
            c = _rawtext.ctype(d)
            if p.raw:
                ndim, contiguous = next(raws)
                text, statement = raw_parameter(p, d, ndim)
                declared.append(text)
                load.append(statement(contiguous))
            elif array:
                declared.append(
                    f"const {c} *_raw_{p.name}, const ptrdiff_t _td_o_{p.name}, const ptrdiff_t _td_r_{p.name}"
                )
                kept, reduced = (_along(which, lie, p.name) for which, lie in zip("or", next(lies)))
                load.append(f"const {c} {p.name} = _raw_{p.name}[{kept} + {reduced}];")
            else:
                declared.append(f"const {c} {p.name}")
                numbers.append(f"const {c} {p.name}")
        if self._counted:
            declared += _COUNTS
            numbers += _COUNTS
            load.append(_COUNTED_HERE)
        results = [f"{_rawtext.ctype(d)} *_raw_{p.name}" for p, d in zip(self.out_params, dtypes[self.nin :])]
        store = "".join(
            f"{_rawtext.ctype(d)} &{p.name} = _raw_{p.name}[_o];\n" for p, d in zip(self.out_params, dtypes[self.nin :])
        ) + f"{_COUNTED_HERE if self._counted else ''}\nPOST_MAP(_s);"  # fmt: skip
        kind, size = self._kind(known, dtypes)
        load.append(f"const _type_reduce _a = static_cast<_type_reduce>({self.map_expr});")
        form = {"host": host, "acc": "_type_reduce", "identity": self.identity}
        head = (
            f"{typedefs(known, dtypes)}{SUPPORT}{_COUNTER if self._counted else ''}{self.preamble}\n"
            f"typedef {kind} _type_reduce;\n"
            f'static_assert(sizeof(_type_reduce) <= {size}, "a reduce_type has at most {_ROOM} bytes");\n'
            f"#define REDUCE(a, b) ({self.reduce_expr})\n#define POST_MAP(a) {self.post_map_expr}\n"
        )
        whole = _rawtext.reduce_kernel(
            self.name + "_parts", ", ".join(declared + results), "\n".join(load), store, across=across, **form
        )
        merge = _rawtext.merge_kernel(self.name + "_whole", ", ".join(numbers + results), store, **form)
        return head + whole + merge, size

    def _kind(self, known, dtypes):
        """(C++'s type of the accumulator, its size in bytes, at most)."""
        if self.reduce_type is None:
            d = dtypes[self.nin]
            return _rawtext.ctype(d), getattr(d, "itemsize", 2)
        kind = str(self.reduce_type)
        if kind in known:
            return kind, getattr(known[kind], "itemsize", 2)
        try:
            d = numpy.dtype(self.reduce_type)
            return _rawtext.ctype(d), d.itemsize
        except TypeError:
            return kind, _ROOM


def _along(which, lie, name):
    """The expression for an element's offset along the kept (o) or reduced (r) axes."""
    return {"c": f"_{which}", "0": "0", "s": f"_{which} * _td_{which}_{name}"}[lie]


class _Space:
    """The iteration space of a call: nout results, of nred values each.

    result is the results' shape. arrays holds for each elementwise array (array, stride between results, stride between
    values), in elements. lies and across select the text."""

    def __init__(self, kernel, ins, axis, keepdims):
        arrays = [a for p, a in zip(kernel.in_params, ins) if not p.raw and isinstance(a, _core.ndarray)]
        if not arrays:
            raise ValueError(f"{kernel.name}: there is no array to reduce, raw ones aside")
        shape = arrays[0].shape
        if any(a.shape != shape for a in arrays):
            shape = numpy.broadcast_shapes(*(a.shape for a in arrays))
        reduced = _axes(axis, len(shape))
        kept = [k for k in range(len(shape)) if k not in reduced]
        self.nout, self.nred = math.prod(shape[k] for k in kept), math.prod(shape[k] for k in reduced)
        self.result = tuple(1 if k in reduced else n for k, n in enumerate(shape) if keepdims or k not in reduced)
        if self.nred == 0 and kernel.identity is None:
            raise ValueError(f"{kernel.name}: zero-size array to a reduction without an identity")
        self.arrays = [(a, *self._steps(a, shape, kept, reduced)) for a in arrays]
        for m, (a, o, r) in enumerate(self.arrays):
            if o is None or r is None:
                self.arrays[m] = _laid_out(a, shape, kept, reduced, self.nred)
        self.across = any(o == 1 and abs(r) > 1 for _, o, r in self.arrays) and self.nout > 1
        self.lies = tuple((_lie(o), _lie(r)) for _, o, r in self.arrays)

    def _steps(self, a, shape, kept, reduced):
        """(stride between results, stride between values) of a, in elements. None where it is not constant."""
        size, short = a.dtype.itemsize, len(shape) - a.ndim
        steps = [a.strides[k - short] if k >= short and a.shape[k - short] != 1 else 0 for k in range(len(shape))]
        if any(s % size for s in steps):
            return None, None
        return _even(shape, steps, kept, size), _even(shape, steps, reduced, size)


def _axes(axis, ndim):
    """The reduced axes in ascending order. None means all."""
    if axis is None:
        return list(range(ndim))
    found = [int(k) for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    for k in found:
        if not -ndim <= k < ndim:
            raise _old_numpy.exceptions.AxisError(k, ndim)
    found = [k % ndim for k in found]
    if len(set(found)) != len(found):
        raise ValueError(f"axis {axis}: an axis stands there twice")
    return sorted(found)


def _even(shape, steps, axes, size):
    """The constant stride, in elements, that runs through these axes in C order. None: there is none."""
    step, reach = 0, None
    for k in reversed(axes):
        if shape[k] == 1:
            continue
        if reach is None:
            step = steps[k]
        elif steps[k] != reach:
            return None
        reach = steps[k] * shape[k]
    return step // size


def _laid_out(a, shape, kept, reduced, nred):
    """A copy whose values are contiguous."""
    from .._numpy._create._copies import ascontiguousarray
    from .._numpy._shape import broadcast_to

    whole = broadcast_to(a, shape) if a.shape != shape else a
    return ascontiguousarray(whole.transpose([*kept, *reduced])), nred, 1


def _lie(step):
    return "c" if step == 1 else "0" if step == 0 else "s"
