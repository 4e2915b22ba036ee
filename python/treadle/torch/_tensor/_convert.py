"""Conversions of tensors: to other dtypes and devices, and to the values of NumPy, Python and other libraries."""

import copy as _copy
import math
import typing

import numpy

from ... import _core
from .. import _device
from .._prim import Tensor, apply, array, cast, strided, td, to_device, whole_storage, wrap
from .._register import both, function, method
from . import _dtypes, _printing
from ._axes import given
from ._create import filled, from_numpy, tensor
from ._elementwise import complex_, positive
from ._layout import laid_out, strided_layout
from ._parts import stack
from ._shape import expand

# ---- dtypes ----

_CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "int": "int32", "long": "int64",
    "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip


def _cast_to(name, dt):
    def f(self, memory_format=None):
        return laid_out(cast(self, dt), memory_format)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"As {dt}."
    method()(f)


for _name, _to in _CASTS.items():
    _cast_to(_name, _dtypes.DTYPES[_to])

_TYPES = {name: dt._word + "Tensor" for name, dt in _dtypes.DTYPES.items()}
_BY_TYPE = {v: _dtypes.DTYPES[k] for k, v in _TYPES.items()}


class TensorType:
    """torch.FloatTensor and the other legacy types. Calling one makes a tensor of its dtype from data or from a shape.
    """

    def __init__(self, name, cuda):
        self.__name__, self.dtype, self._cuda = name, _BY_TYPE[name], cuda
        self.__doc__ = f"Tensors of {self.dtype}: of data, or of a shape."

    def __repr__(self):
        return f"<class 'torch.{'cuda.' if self._cuda else ''}{self.__name__}'>"

    def __call__(self, *args):
        where = "cuda" if self._cuda else "cpu"
        if len(args) == 1 and not isinstance(args[0], int):
            data = args[0]
            return (
                data.to(where, self.dtype) if isinstance(data, Tensor) else tensor(data, dtype=self.dtype, device=where)
            )
        return filled(tuple(args) or (0,), 0, self.dtype, where)

    def __instancecheck__(self, t):
        return isinstance(t, Tensor) and t.dtype is self.dtype and t.is_cuda == self._cuda

    def __or__(self, other):  # annotations such as `torch.FloatTensor | None`
        return typing.Union[self, other]  # noqa: UP007  (self is no class, for which alone | works)

    __ror__ = __or__


def types(cuda):
    """The TensorTypes by name."""
    return {name: TensorType(name, cuda) for name in _BY_TYPE}


def _made(cls, *args, **kwargs):
    """torch.Tensor(...): of a shape as in Tensor(2, 3), of data as in Tensor([1, 2]), or of a tensor. The dtype is the
    default one."""
    default = _dtypes.get_default_dtype()
    where = kwargs.get("device")
    if len(args) == 1 and isinstance(args[0], Tensor):
        r = args[0].detach()
    elif len(args) == 1 and not isinstance(args[0], (int, tuple)) or (len(args) == 1 and type(args[0]) is tuple):
        r = tensor(args[0], dtype=default, device=where)
    else:
        r = filled(tuple(args) or (0,), 0, default, where)
    return r if cls is Tensor else make_subclass(cls, r)


def make_subclass(cls, data, require_grad=False):
    """data's memory as an instance of a subclass of Tensor."""
    return _core._make_subclass(cls, data, require_grad)


def equal_to_array(t, a):
    """t == a for NumPy's array a. NotImplemented: a holds no numbers."""
    return t == from_numpy(numpy.array(a)).to(t.device) if a.dtype.kind in "biufc" else NotImplemented


@method("type")
def _type(self, dtype=None, non_blocking=False):
    """The name of the tensor's type. With dtype, which may be a dtype, a type or its name: the tensor converted to it.
    """
    if dtype is None:
        return f"torch.{'cuda.' if self.is_cuda else ''}{_TYPES[self.dtype._name]}"
    if isinstance(dtype, _dtypes.dtype):
        return cast(self, dtype)
    if dtype is Tensor:
        return cast(self, _dtypes.get_default_dtype())
    name = dtype.__name__ if isinstance(dtype, TensorType) else str(dtype).rsplit(".", 1)[-1]
    if name not in _BY_TYPE:
        raise ValueError(f"invalid type: '{dtype}'")
    cuda = dtype._cuda if isinstance(dtype, TensorType) else ".cuda." in str(dtype)
    return self.to("cuda" if cuda else "cpu", _BY_TYPE[name])


@method()
def type_as(self, other):
    """The tensor in other's dtype and on its device."""
    return self.to(other.device, other.dtype)


# ---- devices ----


def _asked(args, dtype, device):
    """(device, dtype) that the arguments of `to` mean. They come in many orders."""
    for a in args:
        if isinstance(a, Tensor):
            device, dtype = a.device, a.dtype
        elif isinstance(a, _dtypes.dtype):
            dtype = a
        elif isinstance(a, (str, _device.device)) or type(a) is int:
            device = a
    return device, dtype


@method()
def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None, other=None):
    """Move the tensor to a device, convert it to a dtype, or make it like another tensor: to("cuda"),
    to(torch.float64), to(other), in any combination.

    Returns the tensor itself if nothing changes and copy is not True.
    """
    given = [a for a in args if type(a) is not bool]
    flags = [a for a in args if type(a) is bool]
    copy = flags[1] if len(flags) > 1 else copy
    where, kind = _asked((*given, *(() if other is None else (other,))), dtype, device)
    r = self if kind is None else cast(self, kind)
    if where is not None:
        r = to_device(r, _device.theirs(where))
    if r is self:
        r = laid_out(r, memory_format)
    elif memory_format is not None and memory_format._rank >= 0:
        r = r.clone(memory_format=memory_format)
    return r.clone(memory_format=memory_format) if copy and r is self else r


@method()
def cpu(self, memory_format=None):
    """The tensor on the CPU."""
    return to_device(self, _device.theirs("cpu"))


@method()
def cuda(self, device=None, non_blocking=False, memory_format=None):
    """The tensor on a GPU. Without a GPU it stays on the CPU, and one warning says so."""
    return to_device(self, _device.theirs("cuda" if device is None else device))


@both()
def get_device(self):
    """The GPU's number; -1 on the CPU."""
    return self.device.index or 0 if self.is_cuda else -1


@method()
def pin_memory(self, device=None):
    """The tensor itself: the core copies to GPUs through pinned memory of its own."""
    return self


@method()
def is_pinned(self, device=None):
    """No: see pin_memory."""
    return False


@method()
def record_stream(self, s):
    """Does nothing: work in flight holds the memory that it uses."""


# ---- values ----


@method("numpy")
def _numpy(self, *, force=False):
    """A NumPy array on the same memory (a copy from a GPU with force). RuntimeError: it requires grad."""
    if self.requires_grad and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    a = array(self.detach())
    if not a.device.host:
        if not force:
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
                "host memory first."
            )
        return a.get()
    if self.dtype._name == "bfloat16":
        raise TypeError("Got unsupported ScalarType BFloat16")
    return numpy.asarray(a)


@method()
def __array__(self, dtype=None, copy=None):
    if self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    a = array(self).get()
    return a if dtype is None else a.astype(dtype, copy=False)


@method()
def __array_wrap__(self, values, context=None, return_scalar=False):
    return tensor(values)


@method()
def __dlpack__(self, *, stream=None, **kwargs):
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return array(self).__dlpack__(stream=stream, **kwargs)


@method()
def __dlpack_device__(self):
    return array(self).__dlpack_device__()


@method()
def __reduce_ex__(self, protocol):
    kind, t = None if type(self) is Tensor else type(self), self.detach()
    values = array(t.float() if self.dtype._name == "bfloat16" else t).get()
    is_asked = self.requires_grad and self.is_leaf
    return _restored, (values, self.dtype, str(self.device), is_asked, kind, dict(self.__dict__))


def _restored(values, dtype, where, requires_grad, kind, attributes):
    where = where if where.split(":")[0] != "cuda" or _device.gpu_count() else "cpu"
    r = tensor(values, dtype=dtype, device=where)
    r = r if kind is None else make_subclass(kind, r, requires_grad)
    r.__dict__.update(attributes)
    return r.requires_grad_() if requires_grad and not r.requires_grad else r


def copied(t, memo):
    """A copy of a detached tensor. Tensors of one storage that are copied with one memo share a storage again."""
    t, number, flat = whole_storage(t)
    key = "storage", number, t.dtype
    if key not in memo:
        memo[key] = (t.clone() if flat is None else flat.clone()), t  # t keeps the number
        if flat is None:
            return memo[key][0]
    return strided(memo[key][0], t.shape, t.stride(), t.storage_offset())


@method()
def __copy__(self):
    """A leaf on the same storage, with the same attributes."""
    r = self.detach()
    r = r if type(self) is Tensor else make_subclass(type(self), r, self.requires_grad)
    r.__dict__.update(self.__dict__)
    return r.requires_grad_() if self.requires_grad and not r.requires_grad else r


@method()
def __deepcopy__(self, memo):
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment."
        )
    r = copied(self.detach(), memo)
    r = r if type(self) is Tensor else make_subclass(type(self), r, self.requires_grad)
    memo[id(self)] = r
    r.__dict__.update(_copy.deepcopy(self.__dict__, memo))
    if self.grad is not None:
        r.grad = _copy.deepcopy(self.grad, memo)
    return r.requires_grad_() if self.requires_grad and not r.requires_grad else r


def _one(self, what):
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    return what(self.detach().item())


@method()
def __float__(self):
    return _one(self, float)


@method()
def __int__(self):
    return _one(self, int)


@method()
def __complex__(self):
    return _one(self, complex)


@method()
def __index__(self):
    if self.dtype._kind not in "biu" or self.numel() != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return _one(self, int)


@method()
def __bool__(self):
    if self.numel() != 1:
        raise RuntimeError(
            "Boolean value of Tensor with "
            + ("no values is ambiguous" if not self.numel() else "more than one value is ambiguous")
        )
    return _one(self, bool)


@method()
def __reversed__(self):
    return self.flip(0) if self.ndim else self


@method()
def __contains__(self, element):
    return bool((self == element).any())


@method()
def __format__(self, spec):
    if self.ndim == 0 and type(self) is Tensor:
        return format(self.detach().item(), spec)
    return object.__format__(self, spec)


@method()
def __pos__(self):
    return positive(self)


@method()
def __repr__(self, *, tensor_contents=None):
    return _printing.text(self)


@method("_repr_html_")
def _repr_html_(self):
    from ..._observe import _html

    return _html.tensor(self)


@method()
def __dir__(self):
    return sorted({*object.__dir__(self)})


# ---- what is true of tensors ----


def _adjoint(self):
    if self.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor.")
    return self.t().conj() if self.ndim else self


_FACTS = {
    "is_cuda": lambda self: self.device.type == "cuda",
    "is_cpu": lambda self: self.device.type == "cpu",
    "layout": lambda self: strided_layout,
    "H": _adjoint,
    "mH": lambda self: self.transpose(-2, -1).conj(),
    "real": lambda self: _part(self, "real") if self.dtype.is_complex else self,
    "imag": lambda self: _imag(self),
    "output_nr": lambda self: 0,
    "names": lambda self: (None,) * self.ndim,
    "name": lambda self: None,
    **dict.fromkeys(
        "is_sparse is_quantized is_meta is_mps is_xpu is_mkldnn is_nested is_sparse_csr is_vulkan is_xla is_ipu "
        "is_mtia "
        "is_maia".split(),
        lambda self: False,
    ),
}


def _part(self, name):
    """A view. Where a gradient is recorded it is a tensor of its own, as derivatives know complex numbers whole."""
    return apply(name, self) if _recorded(self) else wrap(getattr(array(self), name))


def _recorded(self):
    return self.requires_grad and _core._grad_mode()


def _imag(self):
    if not self.dtype.is_complex:
        raise TypeError("imag is not implemented for tensors with non-complex dtypes.")
    return _part(self, "imag")


def facts():
    """The tensor's attributes: {name: function of a tensor}."""
    r = {name: property(f, doc=f"See PyTorch's {name}.") for name, f in _FACTS.items()}
    r["real"] = property(_FACTS["real"], lambda self, value: _set_part(self, "real", value), doc="The real parts.")
    r["imag"] = property(_FACTS["imag"], lambda self, value: _set_part(self, "imag", value), doc="The imaginary parts.")
    return r


def _set_part(self, name, value):
    parts = {"real": self.real.clone(), "imag": self.imag.clone(), name: value}
    if _recorded(self) or isinstance(value, Tensor) and _recorded(value):
        self.copy_(complex_(*(expand(v, tuple(self.shape)) for v in parts.values())))
    else:
        setattr(array(self), name, array(value) if isinstance(value, Tensor) else value)


@both()
def is_floating_point(self):
    """Is its dtype a real floating-point type?"""
    return self.dtype._kind == "f"


@both()
def is_complex(self):
    """Is its dtype complex?"""
    return self.dtype._kind == "c"


@both()
def is_signed(self):
    """Can the dtype hold negative numbers?"""
    return self.dtype.is_signed


@both()
def is_same_size(self, other):
    """Do both have the same shape?"""
    return self.shape == other.shape


def _never(name):
    def f(self):
        return False

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "No."
    both()(f)


for _name in "is_conj is_neg is_distributed".split():
    _never(_name)


@both()
def is_inference(self):
    """Was its memory made in inference_mode?"""
    return _core._grad_of_inference(self)


@method()
def is_set_to(self, tensor):
    """Are both the same view of the same memory?"""
    return self.data_ptr() == tensor.data_ptr() and self.shape == tensor.shape and self.stride() == tensor.stride()


@method()
def element_size(self):
    """Bytes of an element."""
    return self.dtype.itemsize


@method()
def data_ptr(self):
    """The address of the first element."""
    return array(self.detach()).__dlpack_device__() and _address(array(self.detach()))


def _address(a):
    if a.dtype == td.bfloat16:  # NumPy's array interface has no letter for bfloat16
        a = a.view("u2")
    interface = a.__array_interface__ if a.device.host else a.__cuda_array_interface__
    return interface["data"][0]


@method()
def storage_offset(self):
    """The position of the first element in the storage."""
    a = array(self)
    return 0 if a.base is None else (_address(a) - _address(a.base)) // a.itemsize


@method()
def dim_order(self):
    """The dimensions sorted by their strides, from the longest to the shortest."""
    return tuple(sorted(range(self.ndim), key=lambda d: -self.stride()[d]))


# ---- memory ----


@method()
def resize_(self, *size_, size=None, memory_format=None):
    """Change the shape in place. Elements keep their order, and new ones are 0."""
    shape = given(size_, size)
    n, have = int(numpy.prod(shape)), self.numel()
    flat = array(self.detach()).reshape(-1)
    flat = flat[:n] if n <= have else td.concatenate([flat, td.zeros(n - have, flat.dtype, device=flat.device)])
    self.data = wrap(td.array(flat.reshape(shape)))
    return self


@method()
def resize_as_(self, the_template, *, memory_format=None):
    """resize_ to the_template's shape."""
    return resize_(self, tuple(the_template.shape))


@method()
def to_dense(self, dtype=None, *, masked_grad=None):
    """The tensor itself, converted to dtype."""
    return self if dtype is None else cast(self, dtype)


@method("to_sparse_coo")
def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """A sparse tensor of the nonzero elements. Its first sparse_dim dimensions are sparse; None means all."""
    from .. import sparse

    return sparse.to_sparse(self, sparse_dim, layout)


@method()
def as_subclass(self, cls):
    """A view of the tensor as an instance of a subclass of Tensor. It keeps the history."""
    r = _core._grad_view(self, array(self))
    r.__class__ = cls
    return r


@method()
def set_(self, source=None, storage_offset=0, size=None, stride=()):
    """Make the tensor refer to source's memory, a tensor's or a storage's, instead of its own. size: only to this part
    of it, which begins at the element storage_offset."""
    if source is None:
        source = self.new_empty(0)
    elif not isinstance(source, Tensor):
        source = source._base.view(self.dtype)
        size = source.shape if size is None else size
    if size is not None:
        stride = stride or [math.prod(size[i + 1 :]) for i in range(len(size))]
        source = source.as_strided(size, stride, storage_offset)
    self.data = source
    return self


def _moved(name):
    """An in-place method that replaces the tensor by a view of itself, such as squeeze_."""

    def f(self, *args, **kwargs):
        if self.is_leaf and self.requires_grad and _core._grad_mode():
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        return _core._grad_become(self, getattr(self, name)(*args, **kwargs))

    f.__name__ = f.__qualname__ = name + "_"
    f.__doc__ = f"{name} of itself, in place: the same memory."
    method()(f)


for _name in "squeeze unsqueeze t transpose swapaxes swapdims".split():
    _moved(_name)


@both()
def view_as_real(self):
    """A real view of complex numbers, whose new last dimension holds the real and the imaginary part."""
    if not self.dtype.is_complex:
        raise TypeError("view_as_real is only supported for complex tensors")
    if _recorded(self):
        return stack([self.real, self.imag], -1)
    return wrap(array(self)[..., None].view(self.dtype.to_real()._numpy))


@both()
def view_as_complex(self):
    """Complex numbers of real ones, whose last dimension holds the real and the imaginary part."""
    if self.dtype.is_complex:
        raise TypeError("view_as_complex is not supported for complex tensors")
    if self.shape[-1:] != (2,):
        raise RuntimeError("Tensor must have a last dimension of size 2")
    whole = self.dtype._name in ("float32", "float64") and self.stride(-1) == 1
    if _recorded(self) or not whole or any(n % 2 for n in self.stride()[:-1]):
        return complex_(self[..., 0], self[..., 1])
    return wrap(array(self).view(self.dtype.to_complex()._numpy)[..., 0])


# ---- Python functions over elements ----


@method()
def apply_(self, f):
    """Replace each element by f(element), in place. f is a Python function of one number."""
    values = array(self.detach()).get()
    return self.copy_(wrap(td.asarray(numpy.vectorize(f, [values.dtype])(values), device=array(self).device)))


@method()
def map_(self, other, f):
    """Replace each element by f(element, element of other), in place. f is a Python function of two numbers."""
    a, b = array(self.detach()).get(), array(other.detach()).get()
    return self.copy_(wrap(td.asarray(numpy.vectorize(f, [a.dtype])(a, b), device=array(self).device)))


@function("is_tensor", out=False)
def _is_tensor(obj):
    """Is obj a Tensor?"""
    return isinstance(obj, Tensor)


@function(out=False)
def is_storage(obj):
    """False: this package has no storage objects that are not made of tensors."""
    return False


@function(out=False)
def typename(o):
    """The name of o's type. A tensor's name includes its dtype."""
    if isinstance(o, Tensor):
        return o.type()
    kind = o if isinstance(o, type) else type(o)
    return f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__
