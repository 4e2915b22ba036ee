"""Creation of tensors: from data, of one value, of ranges. New tensors lie on the default device, which is the CPU
unless a program sets another."""

import functools
import math
import warnings
from operator import index as _index

import numpy

from .. import _device
from .._prim import Tensor, array, held, td, wrap
from .._register import function, method
from . import _dtypes
from ._layout import laid_like, laid_out

_LONG = _dtypes.DTYPES["int64"]


def _shape(args, size=None):
    if size is not None:
        args = (size,)
    if len(args) == 1 and not hasattr(args[0], "__index__"):
        args = tuple(args[0])
    shape = tuple(_index(n) for n in args)
    for n in shape:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(shape)}")
    return shape


def _made(a, requires_grad=False, out=None):
    t = wrap(a)
    if out is not None:
        out.resize_(t.shape)
        return out.copy_(t)
    return t.requires_grad_() if requires_grad else t


def _type(dtype, default=None):
    return (default or _dtypes.get_default_dtype()) if dtype is None else _dtypes.asked(dtype)


# ---- of data ----


_PYTHONS = {bool, int, float, complex}


def _is_plain(data):
    """Does data consist of Python's numbers alone? Only the first element of each nested list is looked at."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (bool, int, float, complex, list, tuple)) and not isinstance(data, numpy.generic)


def _numbers(data):
    """data as a NumPy array, of a dtype that tensors have."""
    if isinstance(data, (list, tuple)) and _holds_tensors(data):
        data = _plain(data)
    try:
        a = numpy.asarray(data)
    except ValueError:
        raise ValueError(_ragged(data)) from None
    if a.dtype.kind in "biufcV":
        return a
    if a.dtype.kind in "US":
        raise TypeError(f"new(): invalid data type '{'str' if a.dtype.kind == 'U' else 'bytes'}'")
    raise RuntimeError(f"Could not infer dtype of {type(_first(data)).__name__}")


def _first(data):
    """The first thing in nested lists that is no number."""
    if isinstance(data, (list, tuple)):
        return next((_first(v) for v in data if not isinstance(_first(v), (bool, int, float, complex))), 0)
    return data


def _ragged(data):
    """What is wrong with nested sequences that NumPy makes no array of."""
    rows, dim = [data], 0
    while all(isinstance(row, (list, tuple)) for row in rows):
        for row in rows:
            if len(row) != len(rows[0]):
                return f"expected sequence of length {len(rows[0])} at dim {dim} (got {len(row)})"
        rows, dim = [v for row in rows for v in row], dim + 1
    return f"expected sequence of one kind of elements at dim {dim}"


def _holds_tensors(data):
    return any(isinstance(v, Tensor) or (isinstance(v, (list, tuple)) and _holds_tensors(v)) for v in data)


def _plain(data):
    """Nested lists with numbers in place of tensors. A tensor in a list stands for one number, whatever its shape."""
    return [_plain(v) if isinstance(v, (list, tuple)) else _one(v) if isinstance(v, Tensor) else v for v in data]


def _one(t):
    if t.numel() != 1:
        if t.dtype._kind in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        raise ValueError("only one element tensors can be converted to Python scalars")
    return t.detach().item()


def _kinds(data):
    """The dtypes of the numbers, arrays and tensors in nested lists."""
    if isinstance(data, (list, tuple)):
        return {kind for v in data for kind in _kinds(v)}
    if isinstance(data, Tensor):
        return {data.dtype}
    return {_inferred(data, numpy.asarray(data))}


def _leaves(data):
    """The types of what nested lists hold."""
    found = set(map(type, data))
    for kind in (list, tuple):
        if kind in found:
            found = found - {kind} | {t for v in data if isinstance(v, kind) for t in _leaves(v)}
    return found


def _is_mixed(data):
    """Do nested lists hold more than Python's numbers and more than NumPy's of one dtype?"""
    kinds = _leaves(data) if isinstance(data, (list, tuple)) else ()
    return not (_PYTHONS.issuperset(kinds) or (len(kinds) == 1 and issubclass(next(iter(kinds)), numpy.generic)))


def _inferred(data, a):
    if _is_mixed(data):
        return functools.reduce(_dtypes.promote_types, _kinds(data))
    if _is_plain(data):
        if a.size == 0 or a.dtype.kind in "fc":
            default = _dtypes.get_default_dtype()
            return default.to_complex() if a.dtype.kind == "c" else default
        return _dtypes.of(a.dtype) if a.dtype.kind in "bi" else _LONG
    return _dtypes.of(a.dtype)


def _of_data(data, dtype, device):
    if isinstance(data, td._core.ndarray):
        return data.astype(_dtypes.asked(dtype)._numpy) if dtype is not None else data
    a = _numbers(data)
    kind = _inferred(data, a) if dtype is None else _dtypes.asked(dtype)
    if dtype is not None and _is_plain(data):
        _look_at_limits(a, kind)
    a = a.astype(kind._numpy) if kind._name != "bfloat16" and a.dtype != kind._numpy else a
    r = td.asarray(a, device=_device.theirs(device))
    return r.astype(kind._numpy) if r.dtype != kind._numpy else r


def _look_at_limits(a, kind):
    """Raise where Python's numbers, given as an array, do not fit into a dtype."""
    if a.dtype.kind == "c" and kind._kind in "uif":
        raise TypeError(f"a complex number cannot be converted to {kind}")
    if kind._kind in "ui" and a.size and a.dtype.kind in "uif":
        for number in (a.min(), a.max()):
            held(number.item(), kind)


@function(out=False)
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor of numbers, nested lists, a NumPy array or a tensor. The values are always copied.

    Python's integers become int64 and its floats the default dtype. NumPy's dtypes stay. Raises TypeError if data holds
    no numbers.
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            stacklevel=2,
        )
        r = data.detach().to(device or data.device, data.dtype if dtype is None else dtype, copy=True)
        return r.requires_grad_() if requires_grad else r
    return _made(_of_data(data, dtype, device), requires_grad)


@function(out=False)
def as_tensor(data, dtype=None, device=None):
    """data itself if it is a tensor of that dtype and device. A NumPy array shares its memory if dtype and device allow
    that. Anything else is tensor(data)."""
    if isinstance(data, Tensor):
        return data.to(device or data.device, data.dtype if dtype is None else dtype)
    if isinstance(data, numpy.ndarray) and data.ndim:
        t = from_numpy(data)
        where = _device.get_default_device() if device is None else device
        return t.to(where, t.dtype if dtype is None else dtype)
    return tensor(data, dtype=dtype, device=device)


@function(out=False)
def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """as_tensor, except that copy=True never shares memory and copy=False raises ValueError if memory cannot be shared.
    """
    r = as_tensor(obj, dtype, device)
    if copy and r is obj:
        r = r.clone()
    return r.requires_grad_() if requires_grad else r


@function(out=False)
def scalar_tensor(s, *, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False):
    """A tensor without dimensions, of the default dtype."""
    return tensor(s, dtype=_type(dtype), device=device, requires_grad=requires_grad)


@function(out=False)
def from_numpy(ndarray):
    """A tensor that shares the array's memory: writes to one are visible in the other. A read-only array is copied."""
    if not isinstance(ndarray, numpy.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    _dtypes.of(ndarray.dtype)
    if any(s < 0 for s in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    if not ndarray.flags.writeable:
        _device.once("The given NumPy array is not writable: the tensor is a copy of it, which may be written to.")
    if not ndarray.flags.writeable or not ndarray.flags.aligned:
        return wrap(td.array(ndarray, device=td.device("cpu")))
    return wrap(td.from_dlpack(ndarray))


@function(out=False)
def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor on the memory of a buffer."""
    dtype = _dtypes.asked(dtype)
    if not memoryview(buffer).nbytes or count == 0:
        raise ValueError(f"both buffer length ({memoryview(buffer).nbytes}) and count ({count}) must not be 0")
    half = dtype._name == "bfloat16"  # NumPy has no bfloat16 to read it as
    t = from_numpy(numpy.frombuffer(buffer, "int16" if half else dtype._numpy, count, offset))
    t = wrap(array(t).view(dtype._numpy)) if half else t
    return t.requires_grad_() if requires_grad else t


@function(out=False)
def from_dlpack(ext_tensor):
    """A tensor on the memory of another library's tensor."""
    return wrap(td.from_dlpack(array(ext_tensor) if isinstance(ext_tensor, Tensor) else ext_tensor))


@function(out=False)
def to_dlpack(tensor):
    """A DLPack capsule of the tensor's memory."""
    return array(tensor).__dlpack__()


# ---- of one value ----


def filled(shape, value, dtype, device, requires_grad=False, out=None):
    """A tensor that has this value everywhere. It takes no memory until it is written to."""
    return _made(td.full(shape, held(value, dtype), dtype._numpy, device=_device.theirs(device)), requires_grad, out)


@function(out=False)
def zeros(*size_, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Zeros of a shape, given as ints or one tuple."""
    return filled(_shape(size_, size), 0, _type(dtype), device, requires_grad, out)


@function(out=False)
def ones(*size_, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Ones of a shape, given as ints or one tuple."""
    return filled(_shape(size_, size), 1, _type(dtype), device, requires_grad, out)


@function(out=False)
def empty(
    *size_,
    size=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
    memory_format=None,
):
    """An uninitialised tensor of a shape."""
    return _laid(filled(_shape(size_, size), 0, _type(dtype), device, False, out), memory_format, requires_grad)


@function(out=False)
def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """An uninitialised tensor of a shape with these strides, in elements."""
    span = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if math.prod(size) else 0
    t = filled((span,), 0, _type(dtype), device).as_strided(size, stride)
    return t.requires_grad_() if requires_grad else t


@function(out=False)
def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of a shape, filled with fill_value. Without dtype it has the dtype that tensor(fill_value) would have.
    """
    if isinstance(fill_value, Tensor):
        dtype = fill_value.dtype if dtype is None else dtype
        fill_value = fill_value.item()
    kind = _type(dtype, _dtypes.default_of(fill_value))
    return filled(
        _shape((size,) if not isinstance(size, int) else (size,)), fill_value, kind, device, requires_grad, out
    )


def _laid(t, memory_format, requires_grad):
    t = laid_out(t, memory_format)
    return t.requires_grad_() if requires_grad else t


def _alike(x, value, dtype, device, requires_grad, memory_format):
    where = x.device if device is None else device
    t = filled(tuple(x.shape), value, _type(dtype, x.dtype), where)
    return as_asked(t, x, memory_format, requires_grad)


def as_asked(t, x, memory_format, requires_grad=False):
    """t, which is new, in a memory format; None and preserve_format: laid out as x."""
    if memory_format is None or memory_format._rank < 0:
        t = laid_like(t, x)
    return _laid(t, memory_format, requires_grad)


@function(out=False)
def zeros_like(
    input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False
):
    """Zeros with input's shape, dtype and device."""
    return _alike(input, 0, dtype, device, requires_grad, memory_format)


@function(out=False)
def ones_like(
    input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False
):
    """Ones with input's shape, dtype and device."""
    return _alike(input, 1, dtype, device, requires_grad, memory_format)


@function(out=False)
def empty_like(
    input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False
):
    """An uninitialised tensor with input's shape, dtype and device."""
    return _alike(input, 0, dtype, device, requires_grad, memory_format)


@function(out=False)
def full_like(
    input,
    fill_value,
    *,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    memory_format=None,
    pin_memory=False,
):
    """A tensor with input's shape, dtype and device, filled with fill_value."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return _alike(input, value, dtype, device, requires_grad, memory_format)


def _new(name, value):
    def f(self, *size_, size=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
        where = self.device if device is None else device
        return filled(_shape(size_, size), value, _type(dtype, self.dtype), where, requires_grad)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"A tensor of a shape, of {value}, in self's dtype and device."
    method()(f)


_new("new_zeros", 0)
_new("new_ones", 1)
_new("new_empty", 0)


@method()
def new_full(self, size, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of this shape with self's dtype and device, filled with fill_value."""
    return filled(
        _shape((size,)), fill_value, _type(dtype, self.dtype), self.device if device is None else device, requires_grad
    )


@method()
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of data with self's dtype and device."""
    return tensor(
        data,
        dtype=_type(dtype, self.dtype),
        device=self.device if device is None else device,
        requires_grad=requires_grad,
    )


@method()
def new(self, *args, size=None):
    """A tensor with self's dtype and device, made from data or of a shape."""
    args = args if size is None else tuple(size)
    if len(args) == 1 and isinstance(args[0], (list, Tensor, numpy.ndarray)):
        return new_tensor(self, args[0])
    return filled(_shape(args) if args else (0,), 0, self.dtype, self.device)


# ---- ranges ----


def _plain_number(v):
    return v.item() if isinstance(v, (Tensor, numpy.generic)) else v


@function(out=False)
def arange(
    start=None,
    end=None,
    step=1,
    *,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """start, start + step, … below end. Integer arguments give int64, others the default dtype."""
    start, end, step = (_plain_number(v) for v in (start, end, step))
    if end is None:
        start, end = 0, start
    if start is None:
        start = 0
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    floats = any(isinstance(v, float) for v in (start, end, step))
    kind = _type(dtype, None if floats else _LONG)
    if kind._kind in "bc":
        raise NotImplementedError(f"\"arange\" not implemented for '{kind._word}'")
    n = max(math.ceil((end - start) / step), 0)
    return _made(_counted(start, step, n, kind, device), requires_grad, out)


def _counted(start, step, n, kind, device):
    """start + step * i for i < n. As in PyTorch, floats are computed in float64, and integers in int64 from the whole
    parts of start and step; the result is cast then."""
    dev = _device.theirs(device)
    if kind._kind in "iu":
        start, step = int(start), int(step)
    if isinstance(start, float) or isinstance(step, float):
        r = td.arange(n, dtype="float64", device=dev) * float(step) + float(start)
    else:
        r = td.arange(n, dtype="int64", device=dev) * step + start
    return r.astype(kind._numpy) if r.dtype != kind._numpy else r


@function("range", out=False)
def _range(
    start=0,
    end=None,
    step=1,
    *,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """start, start + step, … up to and including end."""
    start, end = (0, start) if end is None else (start, end)
    n = int((end - start) / step) + 1
    return _made(_counted(float(start), step, n, _type(dtype), device), requires_grad, out)


@function(out=False)
def linspace(
    start, end, steps, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """steps numbers from start to end, evenly spaced."""
    start, end = (_plain_number(v) for v in (start, end))
    steps = _count(steps)
    kind = _type(dtype)
    if kind._kind in "iu":  # PyTorch truncates the ends to integers, but not the steps
        start, end = int(start), int(end)
    r = (
        td.linspace(float(start), float(end), steps, dtype="float64", device=_device.theirs(device))
        if steps
        else td.zeros(0)
    )
    return _made(r.astype(kind._numpy), requires_grad, out)


def _count(steps):
    if not isinstance(steps, int) and not hasattr(steps, "__index__"):
        raise TypeError(f"linspace, logspace: steps must be int, not {type(steps).__name__}")
    if (steps := _index(steps)) < 0:
        raise RuntimeError(f"number of steps must be non-negative, but got {steps}")
    return steps


@function(out=False)
def logspace(
    start,
    end,
    steps,
    base=10.0,
    *,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """base to the powers linspace(start, end, steps)."""
    for name, v in (("start", start), ("end", end)):
        if getattr(v, "ndim", 0):
            raise RuntimeError(f"logspace only supports 0-dimensional start and end tensors, but {name} has {v.ndim}")
    steps = _count(steps)
    at = td.linspace(float(start), float(end), steps, dtype="float64", device=_device.theirs(device))
    return _made((float(base) ** at).astype(_type(dtype)._numpy), requires_grad, out)


@function(out=False)
def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Ones on the diagonal of n rows and m columns (None: n), zeros elsewhere."""
    n, m = _index(n), _index(n if m is None else m)
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return _made(td.eye(n, m, dtype=_type(dtype)._numpy, device=_device.theirs(device)), requires_grad, out)


# ---- windows ----


def _window(name, of_angle):
    def f(window_length, periodic=True, *rest, dtype=None, layout=None, device=None, requires_grad=False, **named):
        if dtype is not None and dtype._kind != "f":
            raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
        n = window_length - (0 if periodic else 1)
        k = td.arange(window_length, dtype="float64", device=_device.theirs(device))
        w = of_angle(k / max(n, 1), *rest, **named) if window_length > 1 else k + 1.0
        return _made(w.astype(_type(dtype)._numpy), requires_grad)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = (
        f"A {name.removesuffix('_window')} window of window_length; periodic: one step of a longer one is left out."
    )
    function(out=False)(f)


def _kaiser(t, beta=12.0):
    from ...special import i0

    return i0(beta * td.sqrt(td.maximum(1 - (2 * t - 1) ** 2, 0.0))) / float(numpy.i0(beta))


_window("hann_window", lambda t: 0.5 - 0.5 * td.cos(2 * math.pi * t))
_window("hamming_window", lambda t, alpha=0.54, beta=0.46: alpha - beta * td.cos(2 * math.pi * t))
_window("blackman_window", lambda t: 0.42 - 0.5 * td.cos(2 * math.pi * t) + 0.08 * td.cos(4 * math.pi * t))
_window("bartlett_window", lambda t: 1 - td.absolute(2 * t - 1))
_window("kaiser_window", _kaiser)
