"""ElementwiseKernel: a function of elements, written in CUDA C++."""

import math
import re
import struct

import numpy

from .. import _core
from . import _text as _rawtext
from ._params import SUPPORT, check_names, decide, parse, raw_parameter, scalar, shape_bytes, take, typedefs

_LONG = 800  # characters; the text does not repeat a longer operation for each element of a vector

_VECTOR = """\
template <int _td_B> struct td_chunk;
template <> struct td_chunk<16> { typedef uint4 type; };
template <> struct td_chunk<8> { typedef uint2 type; };
template <> struct td_chunk<4> { typedef unsigned int type; };
template <> struct td_chunk<2> { typedef unsigned short type; };
template <> struct td_chunk<1> { typedef unsigned char type; };
template <int _td_B> __device__ inline void td_move(void *to, const void *from)
{
    typedef typename td_chunk<(_td_B > 16 ? 16 : _td_B)>::type chunk;
    for (int k = 0; k < (_td_B + 15) / 16; ++k)
        ((chunk *)to)[k] = ((const chunk *)from)[k];
}
"""


class _Layout:
    """The memory layout of a call's arrays. `key` selects the text; `dims` and `steps` are arguments of the kernel."""

    __slots__ = ("key", "shape", "n", "dims", "steps")


class ElementwiseKernel:
    """A CUDA C++ text that is run for each element.

    Parameters are "float32 x, T y, raw T z". A letter stands for any dtype, the same one wherever it occurs; arguments
    broadcast. A raw parameter is the whole array: x[j] by number in C order, x[{j, k}] by indices, x.size(),
    x.shape()[k], x.strides()[k] in bytes. i is the element's number, n the count, _ind.get()[k] its index along axis k
    (of merged axes, unless reduce_dims is False).

    Called with arrays and numbers, and with arrays for the results if they are there already; size= gives the count
    where all parameters are raw, stream= the stream. It runs on the arrays' device, a GPU or the CPU, and returns an
    array, or a tuple where there are several or return_tuple is set.

    Parameters
    ----------
    in_params, out_params : str
        Declarations of what is read and what is written.
    operation : str
        The statements of one element.
    name : str, default 'kernel'
        Name of the kernel.
    reduce_dims : bool, default True
        Axes may be merged.
    preamble : str, default ''
        Stands before the kernel.
    no_return, return_tuple : bool, default False
        Return None, or a tuple always.
    options : tuple of str, default ()
        As RawKernel's.
    loop_prep, after_loop : str, default ''
        Stand before and after the loop of each thread.

    Raises
    ------
    TypeError
        The dtypes do not fit, or an argument is an array of NumPy's.
    ValueError
        The shapes do not fit.
    CompileError
        The text has errors.

    Examples
    --------
    >>> np.ElementwiseKernel("T x", "T y", "y = x * x", "square").name
    'square'
    """

    def __init__(self, in_params, out_params, operation, name="kernel", reduce_dims=True, preamble="",
                 no_return=False, return_tuple=False, *, options=(), loop_prep="", after_loop=""):  # fmt: skip
        if not name.isidentifier():
            raise ValueError(f"ElementwiseKernel: name {name!r} is no identifier")
        self.in_params, self.out_params = parse(in_params, True), parse(out_params, False)
        self.params = self.in_params + self.out_params
        check_names(self.params)
        self.nin, self.nout, self.nargs = len(self.in_params), len(self.out_params), len(self.params)
        self.operation, self.name, self.__name__ = operation, name, name
        self._symbol = name + "_elements"  # names such as "norm" or "max" are functions in the text already
        self.reduce_dims, self.preamble = reduce_dims, preamble
        self.no_return, self.return_tuple = no_return, return_tuple
        self.options, self.loop_prep, self.after_loop = tuple(options), loop_prep, after_loop
        self.kwargs = {"options": self.options, "loop_prep": loop_prep, "after_loop": after_loop}
        self.__doc__ = f"{name}({', '.join(p.name for p in self.params)}): {operation.strip()}"
        self._indexed = bool(re.search(r"\b_ind\b", operation + loop_prep + after_loop))
        self._made, self._plain = {}, {}

    def __repr__(self):
        return f"<ElementwiseKernel {self.name}>"

    def __reduce__(self):
        return _again, (
            [", ".join(("raw " * p.raw) + ("_non_const " * (not p.is_const and p in self.in_params))
                       + (p.ctype if p.dtype is None else p.dtype.name) + " " + p.name for p in params)
             for params in (self.in_params, self.out_params)],
            (self.operation, self.name, self.reduce_dims, self.preamble, self.no_return, self.return_tuple),
            self.kwargs,
        )  # fmt: skip

    def __call__(self, *args, size=None, block_size=128, stream=None):
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"{self.name} takes {self.nin} arguments, or {self.nargs} with those for results, not {len(args)}"
            )
        taken, device = take(args, self.params, self.name)
        if device is None:
            device = _core.device()
        ins, outs = taken[: self.nin], taken[self.nin :]
        in_types, out_types, known = decide(self.in_params, self.out_params, ins, outs, self.name)
        shape = self._shape(taken, size)
        if not outs:
            if size is None and any(p.raw for p in self.out_params):
                raise ValueError(f"{self.name}: a raw result has no size of its own: give the array")
            outs = [_core.empty(shape, t, device=device) for t in out_types]
            taken = ins + outs
        result = None
        if not self.no_return:
            result = outs[0] if self.nout == 1 and not self.return_tuple else tuple(outs)
        if 0 not in shape:
            self._launch(device, taken, in_types + out_types, known, shape, block_size, stream)
        return result

    def _shape(self, args, size):
        """The shape to which all elementwise arguments broadcast."""
        shapes = []
        for p, a in zip(self.params, args):
            if not p.raw and isinstance(a, _core.ndarray):
                shapes.append(a.shape)
        if size is not None:
            if shapes:
                raise ValueError(f"{self.name}: size= is for calls whose arrays are all raw")
            return (int(size),)
        if not shapes:
            raise ValueError(f"{self.name}: no array tells how many elements there are; size= does")
        shape = shapes[0]
        if all(s == shape for s in shapes):
            return shape
        shape = numpy.broadcast_shapes(*shapes)
        for p, a in zip(self.out_params, args[self.nin :]):
            if not p.raw and a.shape != shape:
                raise ValueError(f"{self.name}: result {p.name} has shape {a.shape}, the elements have {shape}")
        return shape

    # ---- layouts ----

    def _layout(self, args, shape):
        """(extents, strides in bytes) of the elementwise arrays with axes merged. None: all are contiguous in this
        shape."""
        arrays = [a for p, a in zip(self.params, args) if not p.raw and isinstance(a, _core.ndarray)]
        if all(a.shape == shape and a.is_c_contiguous() for a in arrays):
            return None
        nd = len(shape)
        rows = [(shape[k], [_step(a, k - nd + a.ndim) for a in arrays]) for k in range(nd)]
        if self.reduce_dims or not self._indexed:
            rows = _merge(rows)
        dims = [r[0] for r in rows] or [1]
        steps = [[r[1][m] for r in rows] or [0] for m in range(len(arrays))]
        return dims, steps

    def _launch(self, device, args, dtypes, known, shape, block_size, stream):
        n = math.prod(shape)
        host = _rawtext.is_host(device)
        layout = self._layout(args, shape)
        whole = list(shape) if not self.reduce_dims else [n]
        if layout is None:
            key, numbers = (len(whole),), whole if self._indexed else []
        else:
            dims, steps = layout
            flat = [s for row in steps for s in row]
            key = (
                len(dims),
                tuple(_lie(row[-1], a.dtype.itemsize) for row, a in zip(steps, self._each(args))),
                n < 2**31,
            )
            numbers = [*dims, *flat]
        raws = tuple((a.ndim, a.is_c_contiguous()) for p, a in zip(self.params, args) if p.raw)
        is_array = tuple(isinstance(a, _core.ndarray) for a in args)
        key = (device, tuple(dtypes), is_array, raws, layout is None, key)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._make(key, known, host)
        kernel, vector = found
        given = []
        for p, a, d in zip(self.params, args, dtypes):
            given.append(a if isinstance(a, _core.ndarray) else scalar(a, d))
            if p.raw:
                given.append(shape_bytes(a))
        given.append(n)
        if numbers:
            given.append(struct.pack(f"{len(numbers)}q", *numbers))
        grid, block = _rawtext.loop_dims(n, device, block_size, vector)
        kernel(grid, block, given, stream=stream)

    def _each(self, args):
        return [a for p, a in zip(self.params, args) if not p.raw and isinstance(a, _core.ndarray)]

    # ---- text ----

    def _make(self, key, known, host):
        device, dtypes, is_array, raws, plain, how = key
        text, vector = self._text(known, dtypes, is_array, raws, plain, how, host)
        program = _rawtext.program(text, device, self.name, self.options)
        return program.kernel(self._symbol), vector

    def _text(self, known, dtypes, is_array, raws, plain, how, host):
        declared, before, raws = [], [], iter(raws)
        elements = []  # (param, C type) of the elementwise arrays
        for p, d, array in zip(self.params, dtypes, is_array):
            c = _rawtext.ctype(d)
            if p.raw:
                ndim, contiguous = next(raws)
                text, statement = raw_parameter(p, d, ndim)
                declared.append(text)
                before.append(statement(contiguous))
            elif array:
                declared.append(f"{'const ' if p.is_const else ''}{c} *_raw_{p.name}")
                elements.append((p, c, getattr(d, "itemsize", 2)))
            else:
                declared.append(f"{'const ' if p.is_const else ''}{c} {p.name}")
        if plain:
            support, body, vector = self._plain_text(elements, how[0], host, any(p.raw for p in self.params))
        else:
            support, body, vector = self._strided_text(elements, how, host)
        declared.append("const ptrdiff_t n")
        if not plain:
            declared.append(f"const td_space<{how[0]}, {len(elements)}> _sp")
        elif self._indexed:
            declared.append(f"const td_space<{how[0]}, 0> _sp")
        head = typedefs(known, dtypes) + SUPPORT + support
        text = (
            f'{head}{self.preamble}\nextern "C" __global__ void {self._symbol}({", ".join(declared)})\n{{\n'
            f"{''.join(before)}{self._index_text(how[0])}{self.loop_prep};\n{body}{self.after_loop};\n}}\n"
        )
        return text, vector

    def _index_text(self, nd):
        if not self._indexed:
            return ""
        fill = "".join(f"_ind._dim[{k}] = _sp.dim[{k}];\n" for k in range(nd))
        return f"td_indexer<{nd}> _ind;\n_ind._n = n;\n{fill}"

    def _body(self, elements, place):
        """The statements for element i. place(p, C type) gives the expression for an array's element."""
        lines = []
        for p, c, _ in elements:
            lines.append(f"{'const ' if p.is_const else ''}{c} {'' if p.is_const else '&'}{p.name} = {place(p, c)};")
        if self._indexed:
            lines.append("_ind.set(i);")
        return "\n".join([*lines, self.operation.rstrip() + ";"])

    def _plain_text(self, elements, nd, host, raw):
        body = self._body(elements, lambda p, c: f"_raw_{p.name}[i]")
        support = _SPACE if self._indexed else ""
        widest = max((size for _, _, size in elements), default=16)
        vector = 1 if host or raw or len(self.operation) > _LONG else min(16 // widest, 8)
        if vector <= 1:
            return support, _rawtext.loop(body, host=host), 1
        loads = "".join(
            f"alignas(16) {c} _v_{p.name}[{vector}]; td_move<{vector * size}>(_v_{p.name}, _raw_{p.name} + _td_i);\n"
            for p, c, size in elements
        )
        stores = "".join(
            f"td_move<{vector * size}>(_raw_{p.name} + _td_i, _v_{p.name});\n"
            for p, c, size in elements
            if not p.is_const
        )
        places = " | ".join(f"(size_t)_raw_{p.name}" for p, _, _ in elements)
        inside = self._body(elements, lambda p, c: f"_v_{p.name}[_td_k]")
        return support + _VECTOR, _VECTOR_LOOP.format(
            vector=vector, places=places, loads=loads, stores=stores, inside=inside, body=body
        ), vector  # fmt: skip

    def _strided_text(self, elements, how, host):
        nd, lies, short = how
        if host:
            bases = "".join(
                f"char *_at_{p.name} = (char *)_raw_{p.name}"
                + "".join(f" + _td_c{k} * _sp.step[{m}][{k}]" for k in range(nd))
                + ";\n"
                for m, (p, _, _) in enumerate(elements)
            )
            step = {
                "c": "(({c} *)_at_{n})[_td_j]",
                "0": "*({c} *)_at_{n}",
                "s": "*({c} *)(_at_{n} + _td_j * _sp.step[{m}][{k}])",
            }
            order = {p.name: m for m, (p, _, _) in enumerate(elements)}
            body = self._body(
                elements, lambda p, c: step[lies[order[p.name]]].format(c=c, n=p.name, m=order[p.name], k=nd - 1)
            )
            rows = "".join(
                f"const ptrdiff_t _td_c{k} = _td_q % _sp.dim[{k}]; _td_q /= _sp.dim[{k}];\n"
                for k in range(nd - 2, -1, -1)
            )
            return _SPACE, _STRIDED_HOST.format(
                last=nd - 1, rows=rows, bases=bases, body=body,
                row_number="ptrdiff_t _td_q = _td_row;\n" if nd > 1 else "",
            ), 1  # fmt: skip
        index = "unsigned int" if short else "unsigned long long"
        lines = [f"{index} _td_q = ({index})i;"]
        for k in range(nd - 1, -1, -1):
            if k:
                lines.append(f"const {index} _td_d{k} = ({index})_sp.dim[{k}], _td_p{k} = _td_q / _td_d{k};")
                lines.append(f"const ptrdiff_t _td_c{k} = _td_q - _td_p{k} * _td_d{k}; _td_q = _td_p{k};")
            else:
                lines.append("const ptrdiff_t _td_c0 = _td_q;")
        last = {"c": "_td_c{k} * {size}", "0": "0", "s": "_td_c{k} * _sp.step[{m}][{k}]"}
        for m, (p, _, size) in enumerate(elements):
            steps = [f"_td_c{k} * _sp.step[{m}][{k}]" for k in range(nd - 1)]
            steps.append(last[lies[m]].format(k=nd - 1, m=m, size=size))
            lines.append(f"const ptrdiff_t _at_{p.name} = {' + '.join(steps)};")
        body = self._body(
            elements, lambda p, c: f"*({'const ' if p.is_const else ''}{c} *)((char *)_raw_{p.name} + _at_{p.name})"
        )
        return _SPACE, _rawtext.loop("\n".join([*lines, body]), host=False), 1


_SPACE = """\
template <int _td_N, int _td_M> struct td_space { ptrdiff_t dim[_td_N], step[_td_M][_td_N]; };
template <int _td_N> struct td_space<_td_N, 0> { ptrdiff_t dim[_td_N]; };
"""

_VECTOR_LOOP = """\
ptrdiff_t _td_whole = 0;
const ptrdiff_t _td_thread = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;
const ptrdiff_t _td_all = (ptrdiff_t)gridDim.x * blockDim.x;
if ((({places}) & 15) == 0) {{
    _td_whole = n - n % {vector};
    for (ptrdiff_t _td_i = _td_thread * {vector}; _td_i < _td_whole; _td_i += _td_all * {vector}) {{
        {loads}
        #pragma unroll
        for (int _td_k = 0; _td_k < {vector}; ++_td_k) {{
            const ptrdiff_t i = _td_i + _td_k;
            {inside}
        }}
        {stores}
    }}
}}
for (ptrdiff_t i = _td_whole + _td_thread; i < n; i += _td_all) {{
{body}
}}
"""

# Rows of the last axis. A thread computes a piece of one.
_STRIDED_HOST = """\
const ptrdiff_t _td_part = (n + gridDim.x - 1) / gridDim.x;
ptrdiff_t _td_from = _td_part * blockIdx.x;
const ptrdiff_t _td_to = _td_from + _td_part < n ? _td_from + _td_part : n;
while (_td_from < _td_to) {{
    const ptrdiff_t _td_row = _td_from / _sp.dim[{last}], _td_begin = _td_row * _sp.dim[{last}];
    const ptrdiff_t _td_end = _td_to - _td_begin < _sp.dim[{last}] ? _td_to - _td_begin : _sp.dim[{last}];
    {row_number}{rows}const ptrdiff_t _td_c{last} = 0;
    {bases}
    #ifdef __clang__
    #pragma clang loop vectorize(assume_safety)
    #else
    #pragma GCC ivdep
    #endif
    for (ptrdiff_t _td_j = _td_from - _td_begin; _td_j < _td_end; ++_td_j) {{
        const ptrdiff_t i = _td_begin + _td_j;
        {body}
    }}
    _td_from = _td_begin + _td_end;
}}
"""


def _again(params, rest, kwargs):
    return ElementwiseKernel(*params, *rest, **kwargs)


def _step(a, k):
    """The stride of axis k in bytes. 0 where the array is broadcast."""
    return a.strides[k] if k >= 0 and a.shape[k] != 1 else 0


def _lie(step, itemsize):
    return "c" if step == itemsize else "0" if step == 0 else "s"


def _merge(rows):
    """Merge neighbouring axes, given as (extent, strides), wherever every array steps through both as through one."""
    done = []
    for extent, steps in rows:
        if extent == 1:
            continue
        if done and all(outer == s * extent for outer, s in zip(done[-1][1], steps)):
            done[-1] = (done[-1][0] * extent, steps)
        else:
            done.append((extent, steps))
    return done
