"""How compiled functions call a ufunc, a gufunc or a stencil of this package: through a Python function made for them.

The core asks the object: ``_td_implementation(args, names)`` returns the function for arguments of these types.
"""

import numpy

from .. import types
from ._generate import define, index, nest


class Called:
    """A callable that compiled functions can call. The types of a call's arguments choose the implementation."""

    def _td_implementation(self, args, names):
        """The Python function to compile for a call.

        args has the text of each argument's type, or (object,) for a constant. names are the keywords of the last
        arguments."""
        known = self.__dict__.setdefault("_implementations", {})
        key = tuple(args), tuple(names)
        if key not in known:
            if list(names) not in ([], ["out"]) or not all(isinstance(a, str) for a in args):
                raise TypeError(
                    f"{self.__name__}: compiled functions call it with numbers and arrays, by position, and out="
                )
            made = self._called([types.parse(a) for a in args])
            if names:
                params = ", ".join([*(f"x{k}" for k in range(len(args) - 1)), "out"])
                made = _defined(self.__name__, params, [f"return _f({params})"], _f=made)
            known[key] = made
        return known[key]


def _shape(t):
    return (0,) * t.ndim


def operands(given):
    """Empty arrays and zeros of these types: stand-ins for operands, from which NumPy's rules tell dtypes."""
    for t in given:
        if t.kind != "array" and t.dtype is None:
            raise TypeError(f"{t} is neither a number nor an array")
    return [numpy.empty(_shape(t), t.dtype) if t.ndim else numpy.dtype(t.dtype).type(0) for t in given]


def _extents(given, ndim):
    """Lines of code that compute n0, n1, …: the shape that arrays of these types broadcast to."""
    lines = []
    for k in range(ndim):
        parts = [f"x{i}.shape[{k - ndim + t.ndim}]" for i, t in enumerate(given) if t.ndim >= ndim - k]
        lines.append(f"n{k} = {parts[0]}")
        lines += [f"n{k} = {p} if n{k} == 1 else n{k}" for p in parts[1:]]
    return lines


def elementwise(name, f, given, row, returned, has_out):
    """A function that applies f to each element of broadcast arguments.

    row has the dtypes that the arguments are cast to. With has_out the last argument is the array for the results."""
    count = len(given) - has_out
    ndim = max(t.ndim for t in given[:count])
    params = ", ".join(f"x{k}" for k in range(len(given)))
    if not ndim and not has_out:
        one = ", ".join(f"_d{k}(x{k})" for k in range(count))
        lines = [f"return _result(_f({one}))"]
    else:
        lines = _extents(given[:count], ndim)
        shape = "".join(f"n{k}, " for k in range(ndim))
        several = sum(t.ndim > 0 for t in given[:count]) > 1
        at = index(ndim)
        for k, t in enumerate(given[:count]):
            if t.ndim:
                lines.append(f"b{k} = np.broadcast_to(x{k}, ({shape}))" if several else f"b{k} = x{k}")
        lines.append(f"out = x{count}" if has_out else f"out = np.empty(({shape}), _dtype)")
        one = ", ".join(f"_d{k}(b{k}[{at}])" if t.ndim else f"_d{k}(x{k})" for k, t in enumerate(given[:count]))
        lines += [line[4:] for line in nest([f"n{k}" for k in range(ndim)], [f"out[{at}] = _result(_f({one}))"])]
        lines.append("return out")
    space = {f"_d{k}": numpy.dtype(d).type for k, d in enumerate(row)}
    return _defined(name, params, lines, np=numpy, _f=f, _dtype=returned, _result=returned.type, **space)


def generalised(name, f, inputs, outputs, given, row, boxed):
    """A function that applies f along the leading axes, those before the axes that the layout names.

    All operands have the same leading axes or none."""
    nin = len(inputs)
    loops = [t.ndim - len(core) for t, core in zip(given, [*inputs, *outputs], strict=False)]
    ndim = max(loops)
    if any(n not in (0, ndim) for n in loops[:nin]) or any(n != ndim for n in loops[nin:]):
        raise TypeError(f"{name}: in a compiled function all operands have the same axes to loop over, or none")
    params = ", ".join(f"x{k}" for k in range(len(given)))
    lines, results = [], [f"x{k}" for k in range(nin, len(given))]
    first = loops.index(ndim)
    where = {axis: f"x{k}.shape[{loops[k] + j}]" for k, core in enumerate(inputs) for j, axis in enumerate(core)}
    if len(given) == nin:
        for k, core in enumerate(outputs):
            shape = [f"x{first}.shape[{i}]" for i in range(ndim)] + [where[axis] for axis in core]
            results.append(f"r{k}")
            lines.append(f"r{k} = np.empty(({''.join(s + ', ' for s in shape or ['1'])}), _t{k})")
    at = index(ndim)
    parts = []
    for k in range(nin):
        part = f"x{k}[{at}]" if loops[k] and ndim else f"x{k}"
        parts.append(f"np.full(1, {part})" if boxed[k] else part)
    for r, core in zip(results, outputs, strict=True):
        if core or not ndim:
            parts.append(f"{r}[{at}]" if ndim else r)
        else:  # a single number: f gets it as an array of one element, a view into the result
            parts.append(f"{r}.reshape(({''.join(f'{r}.shape[{i}], ' for i in range(ndim))}1))[{at}]")
    call = f"_f({', '.join(parts)})"
    lines += [s[4:] for s in nest([f"x{first}.shape[{i}]" for i in range(ndim)], [call])] if ndim else [call]
    if len(given) == nin and outputs:
        one = [f"{r}[0]" if not core and not ndim else r for r, core in zip(results, outputs, strict=True)]
        lines.append(f"return {', '.join(one)}")
    space = {f"_t{k}": d for k, d in enumerate(row[nin:])}
    return _defined(name, params, lines, np=numpy, _f=f, **space)


def over_places(name, every, given, cval, returned, has_out, edges, relative):
    """A function that applies a stencil to an array: every(out, *operands) computes all elements but the borders.

    edges: the offset pairs, where cval goes to the borders of an array that takes the result. relative: for each
    operand, whether it is an array with relative indices, which has to be as large as the first one."""
    count = len(given) - has_out
    params = ", ".join(f"x{k}" for k in range(len(given)))
    large = [k for k in range(1, count) if relative[k]] + [count] * has_out
    if any(given[k].ndim != given[0].ndim for k in large):
        raise ValueError(f"{name}: arrays with relative indices, and out, have as many dims as the first array")
    axes = [(k, "!=" if k == count else "<", i) for k in large for i in range(given[0].ndim)]
    small = [f"x{k}.shape[{i}] {differs} x0.shape[{i}]" for k, differs, i in axes]
    text = f"{name}: an array is smaller than the first one, or out has another shape"
    lines = [f"if {' or '.join(small)}:", f"    raise ValueError({text!r})"] if small else []
    lines += [
        f"out = x{count}" if has_out else "out = np.full(x0.shape, _cval, _dtype)",
        f"_every({', '.join(['out', *(f'x{k}' for k in range(count))])})",
    ]
    for k, (low, high) in enumerate(edges if has_out else ()):
        lines += [f"out[{':, ' * k}:{-low}] = _cval"] if low < 0 else []
        lines += [f"out[{':, ' * k}max(out.shape[{k}] - {high}, 0):] = _cval"] if high > 0 else []
    lines.append("return out")
    return _defined(name, params, lines, np=numpy, _every=every, _cval=returned.type(cval), _dtype=returned)


def _defined(name, params, lines, **space):
    name = name if name.isidentifier() else "function"
    return define("\n".join([f"def {name}({params}):", *(f"    {s}" for s in lines), ""]), name, **space)
