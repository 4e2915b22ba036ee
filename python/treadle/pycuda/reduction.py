"""PyCUDA's reductions: C++ expressions that map elements and join the results, on the GPU or the CPU.

A sum is taken in parts (_raw/_text.py) whose number depends on the size and the device alone, so it repeats from run to
run. Where there are several, a second kernel joins them.
"""

import numpy

from .. import _core
from .._public import dir_of as _dir_of
from .._raw import _text as _rawtext
from ._arrays._gpuarray import GPUArray
from ._arrays._kerneltext import HEAD, built
from ._driver._launch import runs_on_host
from .elementwise import vectors
from .tools import ScalarArg, VectorArg, context_dependent_memoize, dtype_to_ctype, parse_c_args

__all__ = ["ReductionKernel", "get_reduction_kernel_and_types", "get_reduction_module"]


def _text(stage, out_type, neutral, reduce_expr, map_expr, declarations, name, preamble, host):
    """The text of the kernel that maps and reduces (stage 1), or joins the parts (stage 2)."""
    head = (
        f"{HEAD}{preamble}\ntypedef {out_type} out_type;\n"
        f"#define READ_AND_MAP(i) ({map_expr})\n#define REDUCE(a, b) ({reduce_expr})\n"
    )
    form = {"host": host, "acc": "out_type", "identity": str(neutral)}
    parameters = ", ".join(["out_type *_td_out", *declarations])
    if stage == 1:
        load = "const ptrdiff_t i = _r; (void)i; const out_type _a = READ_AND_MAP(i);"
        return head + _rawtext.reduce_kernel(name, parameters, load, "_td_out[_o] = _s;", **form)
    return head + _rawtext.merge_kernel(name, parameters, "_td_out[_o] = _s;", **form)


def _declarations(arguments):
    given = parse_c_args(arguments) if isinstance(arguments, str) else arguments
    return [a.declarator() for a in given]


def get_reduction_module(
    out_type, block_size, neutral, reduce_expr, map_expr, arguments, name="reduce_kernel", keep=False, options=None,
    preamble="",
):  # fmt: skip
    """The SourceModule of the first kernel of a reduction; block_size is chosen by the text."""
    host = runs_on_host(_core.device())
    text = _text(1, out_type, neutral, reduce_expr, map_expr, _declarations(arguments), name, preamble, host)
    return built(text, name, keep, options)


def get_reduction_kernel_and_types(
    stage, out_type, block_size, neutral, reduce_expr, map_expr=None, arguments=None, name="reduce_kernel", keep=False,
    options=None, preamble="",
):  # fmt: skip
    """(prepared function, letters of the arguments) of one of the two kernels of a reduction.

    Stage 1 has the parameters out, arguments, parts, 1, n, w; stage 2 out, arguments, parts to join, null, 1, count, w
    (_rawtext.reduce_kernel, merge_kernel)."""
    if stage not in (1, 2):
        raise ValueError(f"get_reduction_kernel_and_types: there are stages 1 and 2, not {stage}")
    host, given = runs_on_host(_core.device()), arguments or []
    text = _text(stage, out_type, neutral, reduce_expr, map_expr or "in[i]", _declarations(given), name, preamble, host)
    func = built(text, name, keep, options).get_function(name)
    letters = [a.struct_char for a in (parse_c_args(given) if isinstance(given, str) else given)]
    func.prepare("P" + "".join(letters) + "P" * stage + "qqi")
    return func, letters


class ReductionKernel:
    """ReductionKernel(dtype_out, neutral, reduce_expr, map_expr=None, arguments=None, name="reduce_kernel", keep=False,
    options=None, preamble="")

    map_expr is a C++ expression of i and the arguments (None: in[i]), reduce_expr one of two values a and b, which are
    joined in any order; neutral is their start, text or a number. arguments: C declarations, "const float *x, float p",
    or a list of VectorArg and ScalarArg. dtype_out may be a structure that preamble defines and register_dtype names.

    Called with the arguments; the first array's size is the count. stream=, allocator= of the result, out= an array for
    it. Returns a GPUArray without axes. RuntimeError: an array has gaps. TypeError: an argument of the wrong kind."""

    def __init__(
        self, dtype_out, neutral, reduce_expr, map_expr=None, arguments=None, name="reduce_kernel", keep=False,
        options=None, preamble="",
    ):  # fmt: skip
        self.dtype_out = numpy.dtype(dtype_out)
        self._wanted = parse_c_args(arguments) if isinstance(arguments, str) else list(arguments or [])
        if not any(isinstance(arg, VectorArg) for arg in self._wanted):
            raise TypeError("ReductionKernel: no argument is a vector, which tells how many elements there are")
        self._parts = (dtype_to_ctype(dtype_out), 0, neutral, reduce_expr)
        self._more = {"keep": keep, "options": options, "preamble": preamble}
        self._map, self._arguments, self.name, self._made = map_expr, arguments, name, {}

    def __repr__(self):
        return f"<ReductionKernel {self.name}>"

    def _stage(self, stage):
        """The prepared function of a stage on the current device, made when it is first needed."""
        key = (_core.device().name, stage)
        if key not in self._made:
            self._made[key] = get_reduction_kernel_and_types(
                stage, *self._parts, self._map, self._arguments, name=f"{self.name}_stage{stage}", **self._more
            )[0]
        return self._made[key]

    def __call__(self, *args, stream=None, out=None, allocator=None, kernel_wrapper=None):
        if len(args) != len(self._wanted):
            wanted = ", ".join(a.declarator() for a in self._wanted)
            raise TypeError(f"{self.name} takes {wanted}: {len(args)} arguments came")
        first, values = vectors(self.name, args, self._wanted)
        out = self._result(out, allocator or first._allocator)
        wrap = kernel_wrapper or (lambda launch: launch)
        device, n = first.device, first.size
        grid, block, w, segments = _rawtext.reduce_dims(1, n, device)
        part = None
        if segments > 1:
            part = GPUArray._of(_rawtext.scratch(segments, 1, self.dtype_out.itemsize, device))
        at = None if part is None else part._argument
        wrap(self._stage(1).prepared_async_call)(grid, (block, 1, 1), stream, out._argument, *values, at, 1, n, w)
        if part is not None:
            grid, block, w, _ = _rawtext.reduce_dims(1, segments, device, True)
            launch = wrap(self._stage(2).prepared_async_call)
            launch((grid[0], 1), (block, 1, 1), stream, out._argument, *values, at, None, 1, segments, w)
        return out

    def _result(self, out, allocator):
        if out is None:
            return GPUArray((), self.dtype_out, allocator)
        if out.dtype != self.dtype_out:
            raise ValueError(f"{self.name}: out is of {out.dtype}, the result of {self.dtype_out}")
        if not out.size:
            raise ValueError(f"{self.name}: out has no elements")
        return out


# ---- reductions by name ----


def _pointers(**dtypes):
    return [VectorArg(dtype, name, const=True) for name, dtype in dtypes.items()]


@context_dependent_memoize
def get_sum_kernel(dtype_out, dtype_in):
    """The ReductionKernel of sums of in, computed in dtype_out (None: dtype_in)."""
    return ReductionKernel(dtype_out or dtype_in, "0", "a+b", arguments=_pointers(**{"in": dtype_in}))


@context_dependent_memoize
def get_any_kernel(dtype_out, dtype_in):
    """The ReductionKernel that tells whether an element is not 0."""
    return ReductionKernel(
        dtype_out or dtype_in, "0", "(a != 0) || (b != 0)", "in[i] != 0", _pointers(**{"in": dtype_in})
    )


@context_dependent_memoize
def get_all_kernel(dtype_out, dtype_in):
    """The ReductionKernel that tells whether no element is 0."""
    return ReductionKernel(
        dtype_out or dtype_in, "1", "(a != 0) && (b != 0)", "in[i] != 0", _pointers(**{"in": dtype_in})
    )


@context_dependent_memoize
def get_subset_sum_kernel(dtype_out, dtype_subset, dtype_in):
    """The ReductionKernel of sums of in at the indices lookup_tbl."""
    arguments = _pointers(lookup_tbl=dtype_subset, **{"in": dtype_in})
    return ReductionKernel(dtype_out or dtype_in, "0", "a+b", "in[lookup_tbl[i]]", arguments)


@context_dependent_memoize
def get_dot_kernel(dtype_out, dtype_a=None, dtype_b=None):
    """The ReductionKernel of sums of a[i] * b[i]."""
    dtype_a = dtype_a or dtype_out
    return ReductionKernel(dtype_out or dtype_a, "0", "a+b", "a[i]*b[i]", _pointers(a=dtype_a, b=dtype_b or dtype_a))


@context_dependent_memoize
def get_subset_dot_kernel(dtype_out, dtype_subset, dtype_a=None, dtype_b=None):
    """The ReductionKernel of sums of a * b at the indices lookup_tbl."""
    dtype_a = dtype_a or dtype_out
    arguments = _pointers(lookup_tbl=dtype_subset, a=dtype_a, b=dtype_b or dtype_a)
    return ReductionKernel(dtype_out or dtype_a, "0", "a+b", "a[lookup_tbl[i]]*b[lookup_tbl[i]]", arguments)


def get_minmax_neutral(what, dtype):
    """The start of a minimum or maximum: an infinity, MY_INFINITY in the text, or the end of the integers."""
    dtype = numpy.dtype(dtype)
    if what not in ("min", "max"):
        raise ValueError(f"what is 'min' or 'max', not {what!r}")
    if dtype.kind == "f":
        return "MY_INFINITY" if what == "min" else "-MY_INFINITY"
    info = numpy.iinfo(dtype)
    if what == "min":
        return f"{info.max}{'u' * (dtype.kind == 'u')}{'ll' * (dtype.itemsize == 8)}"
    return f"({info.min + 1}{'ll' * (dtype.itemsize == 8)} - 1)" if info.min else "0"


def _joined(what, dtype):
    dtype = numpy.dtype(dtype)
    if dtype.kind not in "fiu" or dtype.itemsize < 4 and dtype.kind == "f":
        raise TypeError(f"{what} of {dtype}: it is made for integers, float32 and float64")
    if dtype.kind == "f":
        return f"f{what}{'f' * (dtype.itemsize == 4)}(a,b)"
    return "a < b ? a : b" if what == "min" else "a < b ? b : a"


_INFINITY = "#define MY_INFINITY __int_as_float(0x7f800000)\n"


@context_dependent_memoize
def get_minmax_kernel(what, dtype):
    """The ReductionKernel of the least or the greatest element, as what says ("min", "max"); NaN does not count."""
    expr, neutral = _joined(what, dtype), get_minmax_neutral(what, dtype)
    return ReductionKernel(dtype, neutral, expr, arguments=_pointers(**{"in": dtype}), preamble=_INFINITY)


@context_dependent_memoize
def get_subset_minmax_kernel(what, dtype, dtype_subset):
    """The ReductionKernel of the least or the greatest element at the indices lookup_tbl."""
    expr, neutral = _joined(what, dtype), get_minmax_neutral(what, dtype)
    arguments = _pointers(lookup_tbl=dtype_subset, **{"in": dtype})
    return ReductionKernel(dtype, neutral, expr, "in[lookup_tbl[i]]", arguments, preamble=_INFINITY)


for _name in ("sum", "any", "all", "subset_sum", "dot", "subset_dot", "minmax", "subset_minmax"):
    __all__.append(f"get_{_name}_kernel")
__all__ += ["ScalarArg", "VectorArg", "get_minmax_neutral"]

__dir__ = _dir_of(__name__)
