"""PyCUDA's scans: what a C++ expression makes of all elements up to each, on the GPU or the CPU.

The array is cut into intervals. One kernel takes each interval's total, a block by itself scans the totals, and a last
kernel scans the intervals from there; an array of one interval needs the last alone. On a GPU a block goes through its
interval in tiles that pass through shared memory, so that memory is read in order and each thread has neighbours; on a
CPU an interval is one loop. Elements are joined in their order: the expression has to be associative only.
"""

import numpy

from .. import _core
from .._public import dir_of as _dir_of
from .._raw import _text as _rawtext
from ._arrays._gpuarray import GPUArray
from ._arrays._kerneltext import HEAD, built
from ._driver._launch import runs_on_host
from .tools import dtype_to_ctype

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]

THREADS = 256
MOST = 1024  # intervals at most: one block scans their totals

_HEAD = """\
{preamble}
typedef {kind} scan_type;
#define SCAN_EXPR(a, b) ({expr})
"""

_HOST = """\
extern "C" __global__ void {name}_totals(const scan_type *in, scan_type *part, ptrdiff_t n, ptrdiff_t each)
{{
    const ptrdiff_t first = blockIdx.x * each, last = first + each < n ? first + each : n;
    scan_type total = in[first];

    for (ptrdiff_t i = first + 1; i < last; ++i)
        total = SCAN_EXPR(total, in[i]);
    part[blockIdx.x] = total;
}}

extern "C" __global__ void {name}(const scan_type *in, scan_type *out, const scan_type *part, ptrdiff_t n,
                                  ptrdiff_t each, int exclusive)
{{
    const ptrdiff_t first = blockIdx.x * each, last = first + each < n ? first + each : n;
    const bool carried = part && blockIdx.x > 0;
    ptrdiff_t i = first;
    scan_type sum = {neutral};

    if (exclusive) {{
        if (carried)
            sum = part[blockIdx.x - 1];
        for (; i < last; ++i) {{
            const scan_type x = in[i];
            out[i] = sum;
            sum = SCAN_EXPR(sum, x);
        }}
        return;
    }}
    sum = in[i];
    if (carried)
        sum = SCAN_EXPR(part[blockIdx.x - 1], sum);
    out[i] = sum;
    for (++i; i < last; ++i) {{
        sum = SCAN_EXPR(sum, in[i]);
        out[i] = sum;
    }}
}}
"""

# sm: a tile, with a gap after each thread's elements to avoid bank conflicts. sums: the totals of threads.
_GPU = """\
#define TD_AT(j) ((j) + (j) / {each})
enum {{ TD_THREADS = {threads}, TD_EACH = {each}, TD_TILE = TD_THREADS * TD_EACH }};

__device__ inline scan_type *td_room()
{{
    __shared__ double2 room[(TD_AT(TD_TILE) * sizeof(scan_type) + 15) / 16
                            + (TD_THREADS * sizeof(scan_type) + 15) / 16];
    return (scan_type *)room;
}}

// Brings the tile's elements and the totals of all threads up to each; all threads call it.
__device__ inline void td_tile(const scan_type *in, scan_type *sm, scan_type *sums, int count)
{{
    const int t = threadIdx.x, lo = t * TD_EACH, hi = lo + TD_EACH < count ? lo + TD_EACH : count;

    for (int k = 0; k < TD_EACH; ++k) {{
        const int j = k * TD_THREADS + t;
        if (j < count)
            sm[TD_AT(j)] = in[j];
    }}
    __syncthreads();
    if (lo < hi) {{
        scan_type total = sm[TD_AT(lo)];
        for (int j = lo + 1; j < hi; ++j)
            total = SCAN_EXPR(total, sm[TD_AT(j)]);
        sums[t] = total;
    }}
    __syncthreads();
    for (int d = 1; d < TD_THREADS && d * TD_EACH < count; d *= 2) {{
        const bool taken = lo < hi && t >= d;
        scan_type joined = sums[0];
        if (taken)
            joined = SCAN_EXPR(sums[t - d], sums[t]);
        __syncthreads();
        if (taken)
            sums[t] = joined;
        __syncthreads();
    }}
}}

extern "C" __global__ void {name}_totals(const scan_type *in, scan_type *part, ptrdiff_t n, ptrdiff_t each)
{{
    scan_type *sm = td_room(), *sums = (scan_type *)((double2 *)sm + (TD_AT(TD_TILE) * sizeof(scan_type) + 15) / 16);
    const ptrdiff_t first = blockIdx.x * each, last = first + each < n ? first + each : n;
    scan_type total = {neutral};

    for (ptrdiff_t base = first; base < last; base += TD_TILE) {{
        const int count = last - base < TD_TILE ? (int)(last - base) : TD_TILE;
        td_tile(in + base, sm, sums, count);
        scan_type here = sums[(count - 1) / TD_EACH];
        total = base > first ? scan_type(SCAN_EXPR(total, here)) : here;
        __syncthreads();
    }}
    if (threadIdx.x == 0)
        part[blockIdx.x] = total;
}}

extern "C" __global__ void {name}(const scan_type *in, scan_type *out, const scan_type *part, ptrdiff_t n,
                                  ptrdiff_t each, int exclusive)
{{
    scan_type *sm = td_room(), *sums = (scan_type *)((double2 *)sm + (TD_AT(TD_TILE) * sizeof(scan_type) + 15) / 16);
    const ptrdiff_t first = blockIdx.x * each, last = first + each < n ? first + each : n;
    const int t = threadIdx.x, lo = t * TD_EACH;
    bool carried = part && blockIdx.x > 0;
    scan_type carry = {neutral};

    if (carried)
        carry = part[blockIdx.x - 1];
    for (ptrdiff_t base = first; base < last; base += TD_TILE) {{
        const int count = last - base < TD_TILE ? (int)(last - base) : TD_TILE;
        const int hi = lo + TD_EACH < count ? lo + TD_EACH : count;
        td_tile(in + base, sm, sums, count);
        scan_type before = carry;
        bool any = carried;
        if (t > 0 && lo < hi) {{
            scan_type left = sums[t - 1];
            before = any ? scan_type(SCAN_EXPR(carry, left)) : left;
            any = true;
        }}
        for (int j = lo; j < hi; ++j) {{
            scan_type x = sm[TD_AT(j)];
            scan_type with = any ? scan_type(SCAN_EXPR(before, x)) : x;
            sm[TD_AT(j)] = exclusive ? before : with;
            before = with;
            any = true;
        }}
        scan_type total = sums[(count - 1) / TD_EACH];
        carry = carried ? scan_type(SCAN_EXPR(carry, total)) : total;
        carried = true;
        __syncthreads();
        for (int k = 0; k < TD_EACH; ++k) {{
            const int j = k * TD_THREADS + t;
            if (j < count)
                out[base + j] = sm[TD_AT(j)];
        }}
        __syncthreads();
    }}
}}
"""


def _each(dtype):
    """The elements of a tile for each thread: as many as fit shared memory, at most 8."""
    return max(1, min(8, 64 // dtype.itemsize))


def _text(kind, expr, neutral, name, preamble, each, host):
    parts = {"name": name, "neutral": neutral, "threads": THREADS, "each": each}
    head = HEAD + _HEAD.format(kind=kind, expr=expr, preamble=preamble)
    return head + (_HOST if host else _GPU).format(**parts)


def _cut(n, tile, device):
    """(number of intervals, elements of each) for n elements."""
    if runs_on_host(device):
        count = _rawtext.loop_dims(n, device)[0]
        each = -(-n // count)
    else:
        count = min(MOST, 4 * device.units, -(-n // tile))
        each = -(-n // (count * tile)) * tile
    return -(-n // each), each


class _Scan:
    _exclusive = False

    def __init__(
        self, dtype, scan_expr, neutral=None, name_prefix="scan", options=None, preamble="", devices=None, keep=False
    ):
        if self._exclusive and neutral is None:
            raise ValueError("neutral element is required for exclusive scan")
        self.dtype, self.neutral = numpy.dtype(dtype), neutral
        start = "scan_type()" if neutral is None else str(neutral)
        kind, each = dtype_to_ctype(self.dtype), _each(self.dtype)
        self._parts = (kind, scan_expr, start, name_prefix + "_final", preamble, each)
        self._options, self._keep = options, keep
        self._made = {}

    def _functions(self, device):
        """The prepared functions on a device, made once: totals of intervals; scan."""
        if device.name not in self._made:
            self._made[device.name] = self._make()
        return self._made[device.name]

    def _make(self):
        text, name = _text(*self._parts, runs_on_host(_core.device())), self._parts[3]
        module = built(text, name, self._keep, self._options)
        totals, scan = module.get_function(name + "_totals"), module.get_function(name)
        totals.prepare("PPqq")
        scan.prepare("PPPqqi")
        return totals, scan

    def __call__(self, input_ary, output_ary=None, allocator=None, stream=None):
        """Scans input_ary of one axis into output_ary (None: in place; "new": a new array), which is returned."""
        if input_ary.dtype != self.dtype:
            raise TypeError(f"the scan is of {self.dtype}, the array of {input_ary.dtype}")
        if input_ary.ndim != 1:
            raise ValueError(f"a scan goes along one axis, the array has {input_ary.ndim}")
        if output_ary is None:
            output_ary = input_ary
        elif isinstance(output_ary, str) and output_ary == "new":
            output_ary = GPUArray(input_ary.shape, self.dtype, allocator or input_ary._allocator)
        if input_ary.shape != output_ary.shape:
            raise ValueError("input and output must have the same shape")
        if output_ary.dtype != self.dtype:
            raise TypeError(f"the scan is of {self.dtype}, the output of {output_ary.dtype}")
        if not (input_ary.flags.forc and output_ary.flags.forc):
            raise RuntimeError("ScanKernel cannot deal with non-contiguous arrays")
        if input_ary.size:
            self._run(input_ary, output_ary, stream)
        return output_ary

    def _run(self, source, out, stream):
        device, n = source.device, source.size
        totals, scan = self._functions(device)
        count, each = _cut(n, THREADS * _each(self.dtype), device)
        block = (1 if runs_on_host(device) else THREADS, 1, 1)
        part = None
        if count > 1:
            part = GPUArray(count, self.dtype)
            totals.prepared_async_call((count, 1), block, stream, source._argument, part._argument, n, each)
            scan.prepared_async_call((1, 1), block, stream, part._argument, part._argument, None, count, count, 0)
        at = None if part is None else part._argument
        scan.prepared_async_call(
            (count, 1), block, stream, source._argument, out._argument, at, n, each, int(self._exclusive)
        )


class InclusiveScanKernel(_Scan):
    """InclusiveScanKernel(dtype, scan_expr, neutral=None, name_prefix="scan", options=None, preamble="", devices=None)

    out[k] is in[0] … in[k] joined by scan_expr, C++ of two values a and b, which has to be associative."""


class ExclusiveScanKernel(_Scan):
    """ExclusiveScanKernel(dtype, scan_expr, neutral, name_prefix="scan", options=None, preamble="", devices=None)

    out[k] is in[0] … in[k - 1] joined by scan_expr; out[0] is neutral."""

    _exclusive = True


__dir__ = _dir_of(__name__)
