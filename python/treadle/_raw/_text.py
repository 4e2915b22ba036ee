"""CUDA C++ text around a user's expressions: loops over elements, and reductions.

CuPy's ElementwiseKernel and ReductionKernel (_element.py, _reduce.py) and PyCUDA's (pycuda/elementwise.py,
pycuda/reduction.py) use it. Each text has two forms. On a GPU, each of many threads computes an element or a vector. On
a CPU (`host`; the null device runs CPU code too) a block is one thread, which computes a piece in a plain loop without
barriers, so that the C++ compiler can vectorize it.
"""

import functools
import os

import numpy

from .. import _core

HEADERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_cuda_headers")
THREADS = 256  # threads of a GPU's block
_PIECE = 16384  # elements for which another CPU thread pays off

_CTYPES = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long",
    "float16": "__half", "bfloat16": "__nv_bfloat16", "float32": "float", "float64": "double",
    "complex64": "complex<float>", "complex128": "complex<double>",
}  # fmt: skip
_HEADERS = {"float16": "cuda_fp16.h", "bfloat16": "cuda_bf16.h", "complex64": "cupy/complex.cuh",
            "complex128": "cupy/complex.cuh"}  # fmt: skip


def ctype(dtype):
    """The C++ name of a dtype: "float", "unsigned char", "complex<float>". Raises TypeError where there is none."""
    name = getattr(dtype, "name", None) or numpy.dtype(dtype).name
    try:
        return _CTYPES[name]
    except KeyError:
        raise TypeError(f"CUDA C++ has no type for elements of {dtype}") from None


def includes(dtypes):
    """The #include lines that the C++ types of these dtypes need."""
    needed = {_HEADERS.get(getattr(d, "name", None) or numpy.dtype(d).name) for d in dtypes}
    return "".join(f"#include <{h}>\n" for h in sorted(needed - {None}))


def is_host(device):
    """Whether device (treadle.device) runs CPU code, which needs texts with host=True."""
    return device.kind != "cuda"


def include_option():
    """The -I option for the headers that GPUs and CPUs share."""
    return "-I" + HEADERS


def program(text, device, name, options):
    """Compile a generated text to a Program. Errors name the file `name`.cu."""
    if "cupy/" in text:
        options = (*options, include_option())
    return _core.program(text, device=device, file=name + ".cu", options=options)


@functools.lru_cache(maxsize=64)
def _multiprocessors(device):
    return 0 if device.host else device.units


def _units(device):
    """For how many multiprocessors, or threads of a CPU, work is cut."""
    return _multiprocessors(device) or _core._cut()


# ---- a loop over elements ----

_GRID_LOOP = """\
for (ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x; i < {n}; i += (ptrdiff_t)gridDim.x * blockDim.x) {{
{body}
}}
"""

# Iterations of one loop are independent: a kernel may not rely on the order of its threads.
_PIECE_LOOP = """\
ptrdiff_t _td_part = ({n} + gridDim.x - 1) / gridDim.x, _td_first = _td_part * blockIdx.x;
ptrdiff_t _td_last = _td_first + _td_part < {n} ? _td_first + _td_part : {n};
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
for (ptrdiff_t i = _td_first; i < _td_last; ++i) {{
{body}
}}
"""


def loop(body, *, host, n="n"):
    """Statements that run body for each i (ptrdiff_t) from 0 to n - 1. In body, break ends the loop of this thread."""
    return (_PIECE_LOOP if host else _GRID_LOOP).format(body=body, n=n)


def loop_dims(n, device, threads=128, vector=1):
    """(grid, block), as ints, for launching a kernel made with loop()."""
    if is_host(device):
        return max(1, min(n // _PIECE, 4 * _units(device))), 1
    return max(1, min(-(-n // (threads * vector)), 2**31 - 1)), threads


def elementwise(name, parameters, operation, *, host, preamble="", loop_prep="", after_loop=""):
    """A whole text: the kernel `name`(parameters, ptrdiff_t n), extern "C". parameters: C declarations, as
    "float *x, const float *y"; operation: statements with i and n. Launched with loop_dims(n, device)."""
    parameters = _listed(parameters, "ptrdiff_t n")
    return (
        f'{preamble}\nextern "C" __global__ void {name}({parameters})\n{{\n{loop_prep};\n'
        f"{loop(operation + ';', host=host)}{after_loop};\n}}\n"
    )


# ---- reductions ----

_REDUCE_GPU = """\
extern "C" __global__ void {name}({parameters})
{{
    {acc} *const _part = ({acc} *)_td_part_at;
    __shared__ double2 _td_sums[{threads} * ((sizeof({acc}) + 15) / 16)];
    {acc} *_td_sm = ({acc} *)_td_sums;
    {shared_flags}
    const int _td_t = threadIdx.x, _td_j = _td_t / _w, _td_nj = {threads} / _w;
    const ptrdiff_t _td_part = (_nred + gridDim.y - 1) / gridDim.y, _td_first = _td_part * blockIdx.y;
    const ptrdiff_t _td_last = _td_first + _td_part < _nred ? _td_first + _td_part : _nred;
    for (ptrdiff_t _td_o = (ptrdiff_t)blockIdx.x * _w; _td_o < _nout; _td_o += (ptrdiff_t)gridDim.x * _w) {{
        const ptrdiff_t _o = _td_o + _td_t % _w;
        {acc} _s{init};
        {flag}
        if (_o < _nout) {{
            #pragma unroll 4
            for (ptrdiff_t _r = _td_first + _td_j; _r < _td_last; _r += _td_nj) {{
                {load}
                {take}
            }}
        }}
        _td_sm[_td_t] = _s;
        {publish}
        __syncthreads();
        for (int _td_k = {threads} / 2; _td_k >= _w; _td_k >>= 1) {{
            if (_td_t < _td_k) {{
                {acc} _s = _td_sm[_td_t], _a = _td_sm[_td_t + _td_k];
                {merge}
                _td_sm[_td_t] = _s;
            }}
            __syncthreads();
        }}
        if (_td_t < _w && _o < _nout) {{
            {acc} _s = _td_sm[_td_t];
            const ptrdiff_t _seg = blockIdx.y;
            if (gridDim.y > 1)
                _part[_seg * _nout + _o] = _s;
            else {{
                {store}
            }}
        }}
        __syncthreads();
    }}
}}
"""

_REDUCE_HOST = """\
extern "C" __global__ void {name}({parameters})
{{
    {acc} *const _part = ({acc} *)_td_part_at;
    const ptrdiff_t _td_part = (_nred + gridDim.y - 1) / gridDim.y, _td_first = _td_part * blockIdx.y;
    const ptrdiff_t _td_last = _td_first + _td_part < _nred ? _td_first + _td_part : _nred;
    const ptrdiff_t _td_opart = (_nout + gridDim.x - 1) / gridDim.x, _td_ofirst = _td_opart * blockIdx.x;
    const ptrdiff_t _td_olast = _td_ofirst + _td_opart < _nout ? _td_ofirst + _td_opart : _nout;
    const ptrdiff_t _seg = blockIdx.y;
{body}
}}
"""

# Rows: lanes run along the reduced axis and are combined at the end.
_HOST_ALONG = """\
    for (ptrdiff_t _o = _td_ofirst; _o < _td_olast; ++_o) {{
        {acc} _s{init};
        {flag}
        ptrdiff_t _td_r = _td_first;
        {lanes}
        for (; _td_r < _td_last; ++_td_r) {{
            const ptrdiff_t _r = _td_r;
            {load}
            {take}
        }}
        if (gridDim.y > 1)
            _part[_seg * _nout + _o] = _s;
        else {{
            {store}
        }}
    }}
"""
_HOST_LANES = """\
{acc} _td_acc[{nlane}];
        for (int _td_l = 0; _td_l < {nlane}; ++_td_l)
            _td_acc[_td_l] = {acc}({identity});
        for (; _td_r + {nlane} <= _td_last; _td_r += {nlane}) {{
            for (int _td_l = 0; _td_l < {nlane}; ++_td_l) {{
                const ptrdiff_t _r = _td_r + _td_l;
                {load}
                _td_acc[_td_l] = REDUCE(_td_acc[_td_l], _a);
            }}
        }}
        for (int _td_l = 0; _td_l < {nlane}; ++_td_l)
            _s = REDUCE(_s, _td_acc[_td_l]);"""

# Columns: lanes run along the results.
_HOST_ACROSS = """\
    for (ptrdiff_t _td_o = _td_ofirst; _td_o < _td_olast; _td_o += {tile}) {{
        const int _td_n = _td_olast - _td_o < {tile} ? (int)(_td_olast - _td_o) : {tile};
        {acc} _td_acc[{tile}];
        {begin}
        for (ptrdiff_t _r = _td_first{skip}; _r < _td_last; ++_r) {{
            for (int _td_l = 0; _td_l < _td_n; ++_td_l) {{
                const ptrdiff_t _o = _td_o + _td_l;
                {load}
                _td_acc[_td_l] = REDUCE(_td_acc[_td_l], _a);
            }}
        }}
        for (int _td_l = 0; _td_l < _td_n; ++_td_l) {{
            const ptrdiff_t _o = _td_o + _td_l;
            {acc} _s = _td_acc[_td_l];
            if (gridDim.y > 1)
                _part[_seg * _nout + _o] = _s;
            else {{
                {store}
            }}
        }}
    }}
"""
_NLANE, _TILE = 16, 64


def _listed(parameters, more):
    return f"{parameters}, {more}" if parameters.strip() else more


def reduce_kernel(name, parameters, load, store, *, host, acc, identity, across=False):
    """The text of a reducing kernel: `name`(parameters, void *, ptrdiff_t _nout, ptrdiff_t _nred, int _w), extern "C".

    For each result _o < _nout the values of all _r < _nred are joined by the macro REDUCE(a, b), which the text before
    has to define. load: statements that, given _o and _r, declare `const acc _a`; store: statements that, given _o,
    take the result `_s`. identity: an expression; None: there is none, the first value is the start (_nred > 0 then).
    across: values of neighbouring results lie side by side in memory, not those of one result.

    Where gridDim.y is more than 1 it has cut the reduced numbers into that many segments, whose results go to the
    void * (else null), an array `_part` of acc, at [_seg * _nout + _o]; a second kernel (merge_kernel) joins them.
    reduce_dims tells how to launch."""
    parts = {
        "name": name, "acc": acc, "load": load, "store": store, "identity": identity, "threads": THREADS,
        "parameters": _listed(parameters, "void *_td_part_at, ptrdiff_t _nout, ptrdiff_t _nred, int _w"),
        "init": f" = {acc}({identity})" if identity is not None else "",
        "flag": "" if identity is not None else "bool _td_any = false;",
        "take": "_s = REDUCE(_s, _a);" if identity is not None
                else "if (_td_any) { _s = REDUCE(_s, _a); } else { _s = _a; _td_any = true; }",
    }  # fmt: skip
    if not host:
        flags = identity is None
        parts["shared_flags"] = f"__shared__ bool _td_has[{THREADS}];" if flags else ""
        parts["publish"] = "_td_has[_td_t] = _td_any;" if flags else ""
        parts["merge"] = (
            "if (_td_has[_td_t] && _td_has[_td_t + _td_k]) { _s = REDUCE(_s, _a); }"
            " else if (_td_has[_td_t + _td_k]) { _s = _a; _td_has[_td_t] = true; }"
            if flags
            else "_s = REDUCE(_s, _a);"
        )
        return _REDUCE_GPU.format(**parts)
    if across:
        parts["tile"], parts["skip"] = _TILE, "" if identity is not None else " + 1"
        start = (
            f"_td_acc[_td_l] = {acc}({identity});"
            if identity is not None
            else f"{{ const ptrdiff_t _o = _td_o + _td_l, _r = _td_first; {load} _td_acc[_td_l] = _a; }}"
        )
        parts["begin"] = f"for (int _td_l = 0; _td_l < _td_n; ++_td_l) {start}"
        return _REDUCE_HOST.format(
            name=name, acc=acc, parameters=parts["parameters"], body=_HOST_ACROSS.format(**parts)
        )
    parts["lanes"] = _HOST_LANES.format(nlane=_NLANE, **parts) if identity is not None else ""
    return _REDUCE_HOST.format(name=name, acc=acc, parameters=parts["parameters"], body=_HOST_ALONG.format(**parts))


def merge_kernel(name, parameters, store, *, host, acc, identity, across=True):
    """The kernel that combines the segments of reduce_kernel: `name`(parameters, const void *in, void *, _nout, _nred,
    _w). in is the array `_part` that reduce_kernel wrote, and _nred the number of segments."""
    load = f"const {acc} _a = ((const {acc} *)_td_in)[_r * _nout + _o];"
    return reduce_kernel(
        name, _listed(parameters, "const void *_td_in"), load,
        store, host=host, acc=acc, identity=identity, across=across,
    )  # fmt: skip


def _power_of_two(n):
    return 1 << max(0, n.bit_length() - 1)


def _filled(nred, segments):
    """The number of segments, at most `segments`, with which none is empty."""
    part = -(-nred // segments)
    return -(-nred // part)


def reduce_dims(nout, nred, device, across=False):
    """(grid, block, w, segments) for a reduce_kernel. grid is (x, y) with y segments; w is the kernel's last argument.

    With more than one segment, _part has segments * nout values, and merge_kernel is launched afterwards with
    reduce_dims(nout, segments, device, True), which never has more than one."""
    units = _units(device)
    if is_host(device):
        blocks = max(1, min(nout, nout * nred // _PIECE, 4 * units))
        segments = 1
        if nout < 2 * units and nred >= 4 * _PIECE:
            blocks, segments = nout, _filled(nred, min(max(1, 4 * units // nout), nred // _PIECE))
        return (blocks, segments), 1, 1, segments
    w = 32 if across else max(1, min(THREADS // 2, _power_of_two(THREADS * 4 // max(nred, 1))))
    while w > 1 and w // 2 >= nout:
        w //= 2
    blocks = -(-nout // w)
    each = THREADS // w  # threads for one result
    segments = 1
    if blocks < 4 * units and nred >= 64 * each:
        segments = _filled(nred, min(max(1, 8 * units // blocks), nred // (16 * each), 1024))
    return (min(blocks, 2**31 - 1), segments), THREADS, w, segments


def scratch(segments, nout, nbytes, device):
    """Allocate _part: an array of uint8 for segments * nout values of nbytes each."""
    return _core.empty(segments * nout * nbytes, "uint8", device=device)
