"""PyCUDA's elementwise kernels: C++ statements that run for each element, on the GPU or the CPU.

The text has two forms (_raw/_text.py): many threads that take an element each in turn, and for a CPU plain loops over
pieces. Statements that name what only the first form has (tid, total_threads, threadIdx …) get it on both.
"""

import re

import numpy

from .. import _core
from .._public import dir_of as _dir_of
from .._raw import _text as _rawtext
from ._arrays._gpuarray import GPUArray
from ._arrays._kerneltext import HEAD, built
from ._driver._launch import runs_on_host, splay
from .tools import ScalarArg, VectorArg, context_dependent_memoize, dtype_to_ctype, parse_c_args

__all__ = [
    "ElementwiseKernel", "ScalarArg", "VectorArg", "dtype_to_ctype", "get_elwise_kernel",
    "get_elwise_kernel_and_types", "get_elwise_module", "get_elwise_range_module", "get_linear_combination_kernel",
]  # fmt: skip

_OF_THREADS = re.compile(r"\b(tid|total_threads|cta_start|threadIdx|blockIdx|blockDim|gridDim|__\w+)\b")

_NAMES = """\
size_t tid = threadIdx.x, total_threads = (size_t)gridDim.x * blockDim.x;
size_t cta_start = (size_t)blockDim.x * blockIdx.x, i;
(void)tid;
"""
_TURNS = """\
for (i = cta_start + tid; i < n; i += total_threads) {{
{operation};
}}
"""
_RANGE = """\
if (step < 0) {{
for (i = start + (ptrdiff_t)(cta_start + tid) * step; i > stop; i += (ptrdiff_t)total_threads * step) {{
{operation};
}}
}} else {{
for (i = start + (ptrdiff_t)(cta_start + tid) * step; i < stop; i += (ptrdiff_t)total_threads * step) {{
{operation};
}}
}}
"""
_PIECES = """\
const ptrdiff_t _td_count = {count};
{loop}"""


def _whole(name, arguments, preamble, body, loop_prep, after_loop):
    parameters = ", ".join(arg.declarator() for arg in arguments)
    return (
        f'{HEAD}{preamble}\nextern "C" __global__ void {name}({parameters})\n{{\n{loop_prep};\n{body}'
        f"{after_loop};\n}}\n"
    )


def _text(arguments, operation, name, preamble, loop_prep, after_loop, use_range, host):
    """The kernel's text; its last parameters are the count, or start, stop and step."""
    free = not _OF_THREADS.search(" ".join((operation, loop_prep, after_loop)))
    if not (host and free):
        body = (_RANGE if use_range else _TURNS).format(operation=operation)
        head = _NAMES.replace(", i;", ";\nptrdiff_t i;") if use_range else _NAMES
        return _whole(name, arguments, preamble, body, head + loop_prep, after_loop)
    if use_range:
        count = (
            "step < 0 ? (start > stop ? (start - stop - step - 1) / -step : 0)"
            " : (stop > start ? (stop - start + step - 1) / step : 0)"
        )
        inner = f"const ptrdiff_t _td_at = i;\n{{ const ptrdiff_t i = start + _td_at * step;\n{operation};\n}}"
    else:
        count, inner = "(ptrdiff_t)n", f"{operation};"
    body = _PIECES.format(count=count, loop=_rawtext.loop(inner, host=True, n="_td_count"))
    return _whole(name, arguments, preamble, body, loop_prep, after_loop)


def _module(arguments, operation, name, keep, options, preamble, loop_prep, after_loop, use_range):
    host = runs_on_host(_core.device())
    text = _text(arguments, operation, name, preamble, loop_prep, after_loop, use_range, host)
    return built(text, name, keep, options)


def get_elwise_module(
    arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="", after_loop=""
):
    """The SourceModule of a kernel `name` that runs operation for every i from 0 to below n; n is one of arguments, a
    list of VectorArg and ScalarArg."""
    return _module(arguments, operation, name, keep, options, preamble, loop_prep, after_loop, False)


def get_elwise_range_module(
    arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="", after_loop=""
):
    """As get_elwise_module, for every i of a range start, stop, step, which are among arguments."""
    return _module(arguments, operation, name, keep, options, preamble, loop_prep, after_loop, True)


def get_elwise_kernel_and_types(
    arguments, operation, name="kernel", keep=False, options=None, use_range=False, **kwargs
):
    """(module, prepared function, arguments): arguments is C's declarations or a list; the count or range is added."""
    arguments = parse_c_args(arguments) if isinstance(arguments, str) else list(arguments)
    if use_range:
        arguments += [ScalarArg(numpy.intp, end) for end in ("start", "stop", "step")]
    else:
        arguments.append(ScalarArg(numpy.uintp, "n"))
    make = get_elwise_range_module if use_range else get_elwise_module
    module = make(arguments, operation, name, keep, options, **kwargs)
    func = module.get_function(name)
    func.prepare("".join(arg.struct_char for arg in arguments))
    return module, func, arguments


def get_elwise_kernel(arguments, operation, name="kernel", keep=False, options=None, **kwargs):
    """The prepared function of a kernel that runs operation for every i below its last argument."""
    return get_elwise_kernel_and_types(arguments, operation, name, keep, options, **kwargs)[1]


class ElementwiseKernel:
    """ElementwiseKernel(arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="",
    after_loop="")

    operation is C++ that runs for each i from 0 to below n, the first array's size. arguments: C declarations,
    "float a, float *x", or a list of VectorArg and ScalarArg; pointers take GPUArrays. preamble stands before the
    kernel, loop_prep and after_loop before and behind each thread's loop. keep, options: as of SourceModule.

    Called with the arguments, and range=slice(start, stop, step) or slice= (of the first array) for a part of the
    elements, stream=. RuntimeError: an array has gaps. TypeError: an argument of the wrong kind, or a wrong count."""

    def __init__(self, arguments, operation, name="kernel", keep=False, options=None, **kwargs):
        given = parse_c_args(arguments) if isinstance(arguments, str) else list(arguments)
        if not any(isinstance(arg, VectorArg) for arg in given):
            raise TypeError("ElementwiseKernel: no argument is a vector, which tells how many elements there are")
        self.gen_kwargs = dict(
            kwargs, arguments=given, operation=operation, name=name, keep=keep, options=options
        )
        self.name, self._kernels = name, {}

    def __repr__(self):
        return f"<ElementwiseKernel {self.name}>"

    def get_texref(self, name, use_range=False):
        """A texture reference of the preamble."""
        return self.generate_stride_kernel_and_types(use_range)[0].get_texref(name)

    def generate_stride_kernel_and_types(self, use_range):
        """(module, prepared function, arguments) on the current device, made once."""
        key = (_core.device().name, bool(use_range))
        if key not in self._kernels:
            self._kernels[key] = get_elwise_kernel_and_types(use_range=use_range, **self.gen_kwargs)
        return self._kernels[key]

    def __call__(self, *args, range=None, slice=None, stream=None):
        if range is not None and slice is not None:
            raise TypeError("may not specify both range and slice keyword arguments")
        _, func, arguments = self.generate_stride_kernel_and_types(range is not None or slice is not None)
        wanted = self.gen_kwargs["arguments"]
        if len(args) != len(wanted):
            declared = ", ".join(a.declarator() for a in wanted)
            raise TypeError(f"{self.name} takes {declared}: {len(args)} arguments came")
        first, values = vectors(self.name, args, wanted)
        if slice is not None:
            start, stop, step = slice.indices(first.size)
        elif range is not None:
            start, stop, step = range.start or 0, range.stop, 1 if range.step is None else range.step
        else:
            n = first.size
            if n:
                grid, block = splay(n, first.device)
                func.prepared_async_call(grid, block, stream, *values, n)
            return
        count = len(_span(start, stop, step))
        if count:
            grid, block = splay(count, first.device)
            func.prepared_async_call(grid, block, stream, *values, start, stop, step)


_span = range


def _fits(have, want):
    """Whether a pointer to `want` may be used for elements of `have`. Integers of one size are interchangeable, and so
    are structures."""
    alike = have.kind in "iu" and want.kind in "iu" or "V" in (have.kind, want.kind)
    return have == want or have.itemsize == want.itemsize and alike


def vectors(name, args, wanted):
    """The first of the arrays among args, and all of them as a kernel takes them."""
    first, values = None, []
    for arg, want in zip(args, wanted, strict=False):
        if not isinstance(want, VectorArg):
            values.append(arg)
            continue
        if not isinstance(arg, GPUArray):
            raise TypeError(f"{name}: '{want.declarator()}' takes a GPUArray, not {type(arg).__name__}")
        if not _fits(arg.dtype, want.dtype):
            raise TypeError(f"{name}: '{want.declarator()}' takes {want.dtype}, the array is of {arg.dtype}")
        if not arg._has_no_gaps():
            raise RuntimeError(f"{name}: '{want.declarator()}': the array has gaps: copy() makes one without")
        first = arg if first is None else first
        values.append(arg._argument)
    return first, values


@context_dependent_memoize
def get_linear_combination_kernel(summand_descriptors, dtype_z):
    """The prepared function of z = a0 * x0 + a1 * x1 + …, and the texture references that it reads: there are none.

    summand_descriptors: a tuple of (is_gpu_scalar, dtype of a, dtype of x); where is_gpu_scalar, a is a GPUArray of one
    element, passed as a pointer."""
    args, products = [], []
    for k, (in_memory, scalar, vector) in enumerate(summand_descriptors):
        args += [(VectorArg if in_memory else ScalarArg)(scalar, f"a{k}"), VectorArg(vector, f"x{k}")]
        products.append(f"a{k}[0] * x{k}[i]" if in_memory else f"a{k} * x{k}[i]")
    args.append(VectorArg(dtype_z, "z"))
    return get_elwise_kernel(args, "z[i] = " + " + ".join(products), "linear_combination"), []


# A row makes get_<name>_kernel(*dtypes). The names of the types go into the declarations and the operation.
def _maker(name, declared, operation, dtypes):
    @context_dependent_memoize
    def make(*given):
        if len(given) != len(dtypes):
            raise TypeError(f"get_{name}_kernel takes {', '.join(dtypes) or 'no arguments'}")
        types = dict(zip(dtypes, map(dtype_to_ctype, given), strict=True))
        return get_elwise_kernel(declared.format(**types), operation.format(**types), name + "_kernel")

    make.__name__ = make.__qualname__ = f"get_{name}_kernel"
    make.__doc__ = f"get_{name}_kernel({', '.join(dtypes)}): the prepared function of `{operation}` with {declared}, n."
    return make


_ROWS = [
    ("copy", "{dtype_dest} *dest, {dtype_src} *src", "dest[i] = src[i]", "dtype_dest dtype_src"),
    ("fill", "{dtype} a, {dtype} *z", "z[i] = a", "dtype"),
    ("reverse", "{dtype} *y, {dtype} *z", "z[i] = y[n - 1 - i]", "dtype"),
    ("real", "{dtype} *y, {real_dtype} *z", "z[i] = real(y[i])", "dtype real_dtype"),
    ("imag", "{dtype} *y, {real_dtype} *z", "z[i] = imag(y[i])", "dtype real_dtype"),
    ("conj", "{dtype} *y, {conj_dtype} *z", "z[i] = conj(y[i])", "dtype conj_dtype"),
    ("arange", "{dtype} *z, {dtype} start, {dtype} step", "z[i] = start + ({dtype})i * step", "dtype"),
    ("axpbz", "{dtype_z} a, {dtype_x} *x, {dtype_z} b, {dtype_z} *z", "z[i] = a * x[i] + b", "dtype_x dtype_z"),
    ("rdivide_elwise", "{dtype_x} *x, {dtype_z} y, {dtype_z} *z", "z[i] = y / x[i]", "dtype_x dtype_z"),
    ("fmod", "float *arg, float *mod, float *z", "z[i] = fmodf(arg[i], mod[i])", ""),
    ("modf", "float *x, float *intpart, float *fracpart", "fracpart[i] = modff(x[i], &intpart[i])", ""),
    ("frexp", "float *x, float *significand, float *exponent",
     "int expt = 0; significand[i] = frexpf(x[i], &expt); exponent[i] = expt", ""),
    ("ldexp", "float *sig, float *expt, float *z", "z[i] = ldexpf(sig[i], int(expt[i]))", ""),
    ("if_positive", "{crit_dtype} *crit, {dtype} *then_, {dtype} *else_, {dtype} *result",
     "result[i] = crit[i] > 0 ? then_[i] : else_[i]", "crit_dtype dtype"),
    ("where", "{crit_dtype} *crit, {dtype} *then_, {dtype} *else_, {dtype} *result",
     "result[i] = crit[i] != 0 ? then_[i] : else_[i]", "crit_dtype dtype"),
    ("logical_not", "{dtype_x} *x, {dtype_z} *z", "z[i] = x[i] == 0", "dtype_x dtype_z"),
]  # fmt: skip

for _name, _declared, _operation, _dtypes in _ROWS:
    globals()[f"get_{_name}_kernel"] = _maker(_name, _declared, _operation, _dtypes.split())
    __all__.append(f"get_{_name}_kernel")


def _at(name, is_scalar):
    return f"{name}[0]" if is_scalar else f"{name}[i]"


@context_dependent_memoize
def get_axpbyz_kernel(dtype_x, dtype_y, dtype_z, x_is_scalar=False, y_is_scalar=False):
    """The prepared function of z = a * x + b * y with parameters a, x, b, y, z; a scalar x or y has one element."""
    x, y, z = map(dtype_to_ctype, (dtype_x, dtype_y, dtype_z))
    return get_elwise_kernel(
        f"{x} a, {x} *x, {y} b, {y} *y, {z} *z",
        f"z[i] = ({z})a * ({z}){_at('x', x_is_scalar)} + ({z})b * ({z}){_at('y', y_is_scalar)}",
        "axpbyz",
    )


@context_dependent_memoize
def get_binary_op_kernel(dtype_x, dtype_y, dtype_z, operator, x_is_scalar=False, y_is_scalar=False):
    """The prepared function of z = x operator y."""
    x, y, z = map(dtype_to_ctype, (dtype_x, dtype_y, dtype_z))
    common = dtype_to_ctype(numpy.result_type(dtype_x, dtype_y))
    return get_elwise_kernel(
        f"{x} *x, {y} *y, {z} *z",
        f"z[i] = ({z})(({common}){_at('x', x_is_scalar)} {operator} ({common}){_at('y', y_is_scalar)})",
        "binary_op",
    )


@context_dependent_memoize
def get_scalar_op_kernel(dtype_x, dtype_a, dtype_y, operator):
    """The prepared function of y = x operator a with parameters x, a, y."""
    x, a, y = map(dtype_to_ctype, (dtype_x, dtype_a, dtype_y))
    return get_elwise_kernel(f"{x} *x, {a} a, {y} *y", f"y[i] = ({y})(x[i] {operator} a)", "scalar_op")


@context_dependent_memoize
def get_binary_func_kernel(func, dtype_x, dtype_y, dtype_z):
    """The prepared function of z = func(x, y)."""
    x, y, z = map(dtype_to_ctype, (dtype_x, dtype_y, dtype_z))
    return get_elwise_kernel(f"{x} *x, {y} *y, {z} *z", f"z[i] = {func}(x[i], y[i])", func + "_kernel")


@context_dependent_memoize
def get_binary_func_scalar_kernel(func, dtype_x, dtype_y, dtype_z):
    """The prepared function of z = func(x, y), where y is a number."""
    x, y, z = map(dtype_to_ctype, (dtype_x, dtype_y, dtype_z))
    return get_elwise_kernel(f"{x} *x, {y} y, {z} *z", f"z[i] = {func}(x[i], y)", func + "_kernel")


def get_binary_minmax_kernel(func, dtype_x, dtype_y, dtype_z, use_scalar):
    """The prepared function of z = min(x, y) or max(x, y), as func says; use_scalar: y is a number."""
    if any(numpy.dtype(d).kind == "f" for d in (dtype_x, dtype_y, dtype_z)):
        func = "f" + func + ("" if numpy.float64 in (dtype_x, dtype_y) else "f")
    make = get_binary_func_scalar_kernel if use_scalar else get_binary_func_kernel
    return make(func, dtype_x, dtype_y, dtype_z)


@context_dependent_memoize
def get_unary_func_kernel(func_name, in_dtype, out_dtype=None):
    """The prepared function of z = func_name(y)."""
    y, z = dtype_to_ctype(in_dtype), dtype_to_ctype(in_dtype if out_dtype is None else out_dtype)
    return get_elwise_kernel(f"{y} *y, {z} *z", f"z[i] = {func_name}(y[i])", func_name + "_kernel")


@context_dependent_memoize
def get_pow_array_kernel(dtype_x, dtype_y, dtype_z, is_base_array, is_exp_array):
    """The prepared function of z = x ** y; one of x and y may be a number."""
    x, y, z = map(dtype_to_ctype, (dtype_x, dtype_y, dtype_z))
    func = "powf" if dtype_z == numpy.float32 else "pow"
    return get_elwise_kernel(
        f"{x} {'*' * bool(is_base_array)}x, {y} {'*' * bool(is_exp_array)}y, {z} *z",
        f"z[i] = {func}(x{'[i]' * bool(is_base_array)}, y{'[i]' * bool(is_exp_array)})",
        "pow_method",
    )


def get_pow_kernel(dtype):
    """The prepared function of z = y ** a with parameters a, y, z."""
    c = dtype_to_ctype(dtype)
    func = "powf" if dtype == numpy.float32 else "pow"
    return get_elwise_kernel(f"{c} a, {c} *y, {c} *z", f"z[i] = {func}(y[i], a)", "pow_kernel")


__dir__ = _dir_of(__name__)
