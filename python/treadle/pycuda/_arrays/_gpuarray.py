"""GPUArray: PyCUDA's array over treadle's, whose operations are recorded, fused and run where a value is wanted.

Methods have PyCUDA's parameters. Where PyCUDA wants contiguous arrays of one shape, they take any layout and broadcast.
A result has the dtype that NumPy's promotion gives to arrays of the operands' dtypes, and Python numbers take the
array's; comparisons give the arrays' dtype (0 and 1), and integers divide as in C, both as PyCUDA does.
"""

import warnings
import weakref

import numpy

from ... import _core, _old_numpy
from .._driver import _layout
from .._driver._pointer import ArrayPointer, ordered

_UFUNC = _core.ufuncs()


def _default_allocator():
    from ..driver import mem_alloc

    return mem_alloc


def _is_default(allocator):
    return allocator is None or allocator is _default_allocator()


def _number(x):
    """Whether x is a number of Python's or NumPy's."""
    return isinstance(x, (bool, int, float, complex, numpy.number, numpy.bool_))


def splay(n, dev=None):
    """(grid, block) for a kernel that goes over n elements in steps of the grid, as many threads as pay."""
    from .._driver._launch import splay

    return splay(n, dev)


def _binary(name, swapped=False):
    """The method for an operator; name is that of the ufunc."""
    apply = _UFUNC[name]

    def operator(self, other):
        x, y = self._plain(), _operand(other)
        if y is None:
            return NotImplemented
        return self._like(apply(y, x) if swapped else apply(x, y))

    return operator


def _in_place(name):
    apply = _UFUNC[name]

    def operator(self, other):
        x, y = self._plain(), _operand(other)
        if y is None:
            return NotImplemented
        _assign(x, apply(x, y))
        return self

    return operator


def _compared(name):
    apply = _UFUNC[name]

    def operator(self, other):
        x, y = self._plain(), _operand(other)
        if y is None:
            return NotImplemented
        dtype = numpy.result_type(x.dtype, y.dtype) if isinstance(other, GPUArray) else x.dtype
        return self._like(apply(x, y).astype(dtype))

    return operator


def _operand(x):
    """x as an operand of the core. None where it is neither an array nor a number."""
    if isinstance(x, GPUArray):
        return x._plain()
    return x if _number(x) or _layout.is_core(x) else None


def _assign(dst, value):
    """dst[...] = value, with the casts that in-place operators allow."""
    if not numpy.can_cast(value.dtype, dst.dtype, "same_kind"):
        raise TypeError(f"the result has dtype {value.dtype}: it cannot be written in place to {dst.dtype}")
    dst[...] = value


def _whole(x):
    """Whether x is an integer or an array of integers."""
    return x.dtype.kind in "biu" if hasattr(x, "dtype") else isinstance(x, int)


def _divided(x, y):
    """x / y. Integers give C's quotient in their common dtype."""
    if not (_whole(x) and _whole(y)):
        return _UFUNC["divide"](x, y)
    return _UFUNC["truncate_divide"](x, y)


class GPUArray:
    """GPUArray(shape, dtype, allocator=mem_alloc, base=None, gpudata=None, strides=None, order='C'): on the device.

    gpudata: memory to use instead of new one: an allocation, another array's gpudata, an address; base is kept alive.
    strides: in bytes, instead of order ('C', 'F'). Elements are uninitialised. allocator(nbytes) gives the memory where
    it is not the driver's mem_alloc; results of operators lie in the core's own pool whatever their operands lie in.
    """

    __array_ufunc__ = None  # so that operators of NumPy's scalars call those of this class
    __array_priority__ = 100

    def __init__(self, shape, dtype, allocator=None, base=None, gpudata=None, strides=None, order="C"):
        dtype, shape = numpy.dtype(dtype), _layout.shape_of(shape)
        if strides is None:
            strides = _layout.packed(shape, dtype.itemsize, order)
        elif len(strides) != len(shape):
            raise ValueError(f"{len(strides)} strides for {len(shape)} dimensions")
        strides = tuple(int(s) for s in strides)
        self.dtype, self.base, self._allocator, self._given = dtype, base, allocator, gpudata
        if gpudata is None and not _is_default(allocator) and _layout.count(shape):
            self._given = gpudata = allocator(_span(shape, strides, dtype.itemsize))
        if gpudata is None:
            self._held = _layout.room(shape, dtype, strides)
        else:
            device = getattr(gpudata, "device", None)
            device = device if isinstance(device, type(_core.device())) else None
            self._held = _layout.at((gpudata, base), int(gpudata), shape, dtype, strides, device)

    @classmethod
    def _of(cls, nd, dtype=None, allocator=None, base=None):
        """The core's array as a GPUArray."""
        self = object.__new__(cls)
        self._held, self.dtype = nd, numpy.dtype(nd.dtype if dtype is None else dtype)
        self._allocator, self.base, self._given = allocator, base, None
        return self

    def _like(self, nd):
        return GPUArray._of(nd, allocator=self._allocator)

    def _view(self, nd, dtype=None):
        return GPUArray._of(nd, self.dtype if dtype is None else dtype, self._allocator, self)

    @property
    def _nd(self):
        if self._held is None:
            raise ValueError("the array's memory has been freed")
        return self._held

    @property
    def _extra(self):
        return int(self._held.dtype != self.dtype) if self._held is not None else int(not _layout.is_plain(self.dtype))

    def _plain(self):
        """The core's array of the same values, for computing."""
        if self._extra:
            raise TypeError(f"elements of {self.dtype} have no arithmetic: use an ElementwiseKernel")
        return self._nd

    # ---- what it is ----

    @property
    def shape(self):
        """The extents."""
        nd = self._nd
        return nd.shape[: nd.ndim - self._extra]

    @property
    def strides(self):
        """Steps between neighbours, in bytes."""
        nd = self._nd
        return nd.strides[: nd.ndim - self._extra]

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        """The number of elements."""
        return _layout.count(self.shape)

    mem_size = size

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    @property
    def flags(self):
        """c_contiguous, f_contiguous, forc (one of the two)."""
        return _layout.Flags(self.shape, self.strides, self.dtype.itemsize)

    def _has_no_gaps(self):
        if self._extra:
            return self.flags.forc
        nd = self._nd
        return nd.is_c_contiguous() or nd.is_f_contiguous()

    @property
    def allocator(self):
        """What gave the memory, or would have."""
        return _default_allocator() if self._allocator is None else self._allocator

    @property
    def gpudata(self):
        """The memory, for kernels and copies; None where there are no elements. int(a.gpudata) is the address."""
        if self._given is not None:
            return self._given
        return ArrayPointer(self._nd, weakref.ref(self)) if self.size else None

    @property
    def _argument(self):
        """The argument that a launch of a kernel gets: the core's array, which may still be lazy, if the core knows
        the dtype."""
        return self.gpudata if self._extra or self._given is not None else self._nd

    @property
    def ptr(self):
        """The address of the first element; operations on the array run at once from now on."""
        return self._nd._address()

    @property
    def device(self):
        """Where the array lies."""
        return self._nd.device

    @property
    def _grid(self):
        return splay(self.size, self.device)[0]

    @property
    def _block(self):
        return splay(self.size, self.device)[1]

    @property
    def __cuda_array_interface__(self):
        d = self._nd.__cuda_array_interface__
        return {**d, "shape": self.shape, "strides": self.strides, "typestr": self.dtype.str}

    def __dlpack__(self, **kwargs):
        return self._plain().__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._nd.__dlpack_device__()

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __str__(self):
        return str(self.get())

    def __repr__(self):
        return repr(self.get())

    def __hash__(self):
        raise TypeError("GPUArrays are not hashable.")

    def __bool__(self):
        if self.size != 1:
            raise ValueError(
                f"The truth value of an array with {self.size} elements is ambiguous. Use a.any() or a.all()"
            )
        return bool(self.get().reshape(())[()])

    # ---- to and from the host ----

    def set(self, ary, async_=False, stream=None, **kwargs):
        """Copies a NumPy array of the same size and dtype here. async_: returns at once where its memory is pinned."""
        _late(kwargs, "set")
        if not isinstance(ary, (numpy.ndarray, GPUArray)):
            raise TypeError(f"set: ary is a NumPy array or a GPUArray, not {type(ary).__name__}")
        if ary.size != self.size:
            raise ValueError(f"set: ary has {ary.size} elements, the array {self.size}")
        if ary.dtype != self.dtype:
            raise ValueError(f"set: ary is of {ary.dtype}, the array of {self.dtype}: ary.astype(...) converts it")
        if ary.shape != self.shape:
            warnings.warn("Setting array from one with different shape.", stacklevel=2)
            ary = ary.reshape(self.shape)
        if not self.size:
            return
        if isinstance(ary, GPUArray) or self._extra:
            with ordered(stream, self.device):
                self._nd[...] = ary._nd if isinstance(ary, GPUArray) else _layout.sent(ary, self.device)
        else:
            self._nd.copy_to_device(ary, stream=stream or 0)

    def set_async(self, ary, stream=None):
        """set that returns at once where ary's memory is pinned."""
        return self.set(ary, async_=True, stream=stream)

    def get(self, ary=None, pagelocked=False, async_=False, stream=None, **kwargs):
        """The elements as a NumPy array, or in ary, of the same shape and dtype; pagelocked: in pinned memory. async_:
        returns at once where the memory is pinned; the stream tells when it is filled."""
        _late(kwargs, "get")
        if ary is None and not pagelocked:
            with ordered(stream, self.device):
                return _layout.fetched(self._nd, self.dtype)
        if ary is None:
            from ..driver import pagelocked_empty

            axes = _layout.axes_of(self.shape, self.strides)
            ary = pagelocked_empty(tuple(self.shape[k] for k in axes), self.dtype).transpose(_layout.inverse(axes))
        if ary.size != self.size:
            raise ValueError(f"get: ary has {ary.size} elements, the array {self.size}")
        if ary.dtype != self.dtype:
            raise TypeError(f"get: ary is of {ary.dtype}, the array of {self.dtype}")
        if ary.shape != self.shape:
            raise ValueError(f"get: ary has the shape {ary.shape}, the array {self.shape}")
        if self._extra or not self.size:
            with ordered(stream, self.device):
                ary[...] = _layout.fetched(self._nd, self.dtype)
        else:
            self._nd.copy_to_host(ary, stream=stream or 0)
        return ary

    def get_async(self, stream=None, ary=None):
        """get that returns at once where ary's memory is pinned."""
        return self.get(ary=ary, async_=True, stream=stream)

    def copy(self):
        """The same elements in memory of their own."""
        return GPUArray._of(_layout.alike(self._nd, self._extra), self.dtype, self._allocator)

    def fill(self, value, stream=None):
        """Every element becomes value; returns the array."""
        with ordered(stream, self.device):
            if self._extra:
                one = numpy.array(value, self.dtype)
                self._nd[...] = _layout.sent(one, self.device)
            else:
                self._nd.fill(numpy.asarray(value).astype(self.dtype, casting="unsafe")[()] if self.size else 0)
        return self

    def astype(self, dtype, stream=None):
        """A copy in another dtype."""
        dtype = numpy.dtype(dtype)
        if dtype == self.dtype:
            return self.copy()
        with ordered(stream, self.device):
            return self._like(self._plain().astype(dtype))

    # ---- operators ----

    __add__ = _binary("add")
    __radd__ = _binary("add", swapped=True)
    __sub__ = _binary("subtract")
    __rsub__ = _binary("subtract", swapped=True)
    __mul__ = _binary("multiply")
    __rmul__ = _binary("multiply", swapped=True)
    __pow__ = _binary("power")
    __rpow__ = _binary("power", swapped=True)
    __iadd__ = _in_place("add")
    __isub__ = _in_place("subtract")
    __imul__ = _in_place("multiply")
    __ipow__ = _in_place("power")
    __eq__ = _compared("equal")
    __ne__ = _compared("not_equal")
    __lt__ = _compared("less")
    __le__ = _compared("less_equal")
    __gt__ = _compared("greater")
    __ge__ = _compared("greater_equal")

    def __truediv__(self, other):
        y = _operand(other)
        return NotImplemented if y is None else self._like(_divided(self._plain(), y))

    def __rtruediv__(self, other):
        y = _operand(other)
        return NotImplemented if y is None else self._like(_divided(y, self._plain()))

    def __itruediv__(self, other):
        x, y = self._plain(), _operand(other)
        if y is None:
            return NotImplemented
        _assign(x, _divided(x, y))
        return self

    def __pos__(self):
        return self

    def __neg__(self):
        return self._like(-self._plain())

    def __abs__(self):
        return self._like(abs(self._plain()))

    def mul_add(self, selffac, other, otherfac, add_timer=None, stream=None, out=None):
        """selffac * self + otherfac * other, in one kernel. add_timer(count, timer): timer() gives its seconds."""
        x, y = self._plain(), other._plain()
        dtype = numpy.result_type(x.dtype, y.dtype)
        with ordered(stream, self.device):
            start = _core.Event(self.device).record() if add_timer else None
            value = (x * selffac + y * otherfac).astype(dtype)
            result = _delivered(value, out, self._allocator)
            if add_timer:
                _core.evaluate(result._nd)
                end = _core.Event(self.device).record()
        if add_timer:
            add_timer(3 * self.size, lambda: end.synchronize() or start.elapsed(end) * 1e-3)
        return result

    def reverse(self, stream=None):
        """The elements in the opposite order, as if the array had one axis."""
        straight, back = _layout.in_memory_order(self._nd, self._extra)
        axes = tuple(slice(None, None, -1) for _ in self.shape)
        with ordered(stream, self.device):
            turned = straight[axes].copy() if axes else straight.copy()
        return GPUArray._of(_layout.turned(turned, back, self._extra), self.dtype, self._allocator)

    def any(self, stream=None, allocator=None):
        """Is any element not 0? A GPUArray without axes."""
        return self._reduced("any", stream, allocator)

    def all(self, stream=None, allocator=None):
        """Is no element 0? A GPUArray without axes."""
        return self._reduced("all", stream, allocator)

    def _reduced(self, name, stream, allocator):
        with ordered(stream, self.device):
            return _delivered(getattr(self._plain(), name)(), None, allocator or self._allocator)

    # ---- the same memory seen otherwise ----

    def reshape(self, *shape, order="C"):
        """The memory of a contiguous array with other extents, one of which may be -1; order: how the elements that lie
        one behind the other are counted in the new shape. RuntimeError: the array has gaps."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, numpy.integer)) else shape
        shape, flags = _inferred([int(n) for n in shape], self.size), self.flags
        if order not in ("C", "F"):
            raise ValueError(f"invalid order: {order!r}: it is 'C' or 'F'")
        if not flags.forc:
            raise RuntimeError("reshape: the array has gaps: copy() makes one without")
        if shape == self.shape and (flags.c_contiguous if order == "C" else flags.f_contiguous):
            return self
        nd = self._nd if flags.c_contiguous else self._reversed()
        tail = nd.shape[nd.ndim - self._extra :]
        if order == "C":
            return self._view(nd.reshape((*shape, *tail), copy=False))
        nd = nd.reshape((*reversed(shape), *tail), copy=False)
        return self._view(_layout.turned(nd, range(len(shape) - 1, -1, -1), self._extra))

    def _reversed(self):
        return _layout.turned(self._nd, range(self.ndim - 1, -1, -1), self._extra)

    def ravel(self):
        """One axis, the same memory."""
        return self.reshape(self.size)

    def view(self, dtype=None):
        """The same memory as elements of another dtype."""
        dtype = self.dtype if dtype is None else numpy.dtype(dtype)
        return self._view(_layout.retyped(self._nd, self.dtype, dtype), dtype)

    def squeeze(self):
        """Without axes of extent 1, the same memory."""
        return self[tuple(0 if n == 1 else slice(None) for n in self.shape)]

    def transpose(self, axes=None):
        """The axes permuted (None: reversed), the same memory."""
        axes = list(range(self.ndim - 1, -1, -1) if axes is None else axes)
        if len(axes) != self.ndim:
            raise ValueError(f"axes {axes} do not match an array of {self.ndim} dimensions")
        for axis in axes:
            if not -self.ndim <= axis < self.ndim:
                raise _old_numpy.exceptions.AxisError(axis, self.ndim)
        axes = [axis % self.ndim for axis in axes]
        if len(set(axes)) < self.ndim:
            raise ValueError(f"transpose: axes {axes} name one twice")
        return self._view(_layout.turned(self._nd, axes, self._extra))

    @property
    def T(self):
        """The axes reversed, the same memory."""
        return self.transpose()

    def _key(self, index):
        index = index if isinstance(index, tuple) else (index,)
        for part in index:
            if isinstance(part, (bool, numpy.bool_)) or not (
                part is None or part is Ellipsis or isinstance(part, (int, slice, numpy.integer))
            ):
                raise IndexError(f"an index is an integer, a slice, ... or None, not {type(part).__name__}; see take()")
        dots = [part for part in index if part is Ellipsis]
        tail = (slice(None),) * (self._extra if dots else 0)
        return (*index, *tail) if dots else (*index, Ellipsis)

    def __getitem__(self, index):
        return self._view(self._nd[self._key(index)])

    def __setitem__(self, index, value):
        part = self[index]
        if isinstance(value, GPUArray):
            if value.dtype != self.dtype and self._extra + value._extra:
                raise TypeError(f"elements of {value.dtype} cannot be written to {self.dtype}")
            part._nd[...] = value._nd
        elif isinstance(value, numpy.ndarray) and value.ndim:
            part._nd[...] = _layout.sent(value.astype(self.dtype, copy=False), self.device)
        else:
            part.fill(value)

    # ---- complex numbers ----

    @property
    def real(self):
        """The real parts, in memory of their own; the array itself where it is real."""
        return self._like(_layout.alike(self._plain().real)) if self.dtype.kind == "c" else self

    @property
    def imag(self):
        """The imaginary parts, in memory of their own."""
        return self._like(_layout.alike(self._plain().imag)) if self.dtype.kind == "c" else self.copy().fill(0)

    def conj(self, out=None):
        """The complex conjugates; the array itself where it is real."""
        if self.dtype.kind != "c":
            return self
        return _delivered(_UFUNC["conjugate"](self._plain()), out, self._allocator)

    conjugate = conj

    # ---- textures ----

    def bind_to_texref(self, texref, allow_offset=False):
        """Makes texref read this memory; the offset of the first element."""
        return texref.set_address(self.gpudata, self.nbytes, allow_offset=allow_offset) // self.dtype.itemsize

    def bind_to_texref_ext(
        self, texref, channels=1, allow_double_hack=False, allow_complex_hack=False, allow_offset=False
    ):
        """bind_to_texref that sets the texture's format as well. The hacks: float64, complex64 and complex128 as words
        of 32 bits, which the kernel puts together."""
        from .. import driver as drv

        words = _WORDS.get(self.dtype.char) if (allow_double_hack, allow_complex_hack)[self.dtype.kind == "c"] else None
        if words and channels != 1:
            raise ValueError(f"a texture of {self.dtype} as words has one channel, not {channels}")
        form = getattr(drv.array_format, words[0]) if words else drv.dtype_to_array_format(self.dtype)
        offset = texref.set_address(self.gpudata, self.nbytes, allow_offset=allow_offset)
        texref.set_format(form, words[1] if words else channels)
        if words or self.dtype.kind in "iu":
            texref.set_flags(texref.get_flags() | drv.TRSF_READ_AS_INTEGER)
        return offset // self.dtype.itemsize


_WORDS = {"d": ("SIGNED_INT32", 2), "F": ("UNSIGNED_INT32", 2), "D": ("SIGNED_INT32", 4)}


def _late(kwargs, what):
    """Accept an argument named async, PyCUDA's name before that became a keyword. Raise TypeError for others."""
    kwargs.pop("async", None)
    if kwargs:
        raise TypeError(f"{what}() got unexpected keyword arguments: {', '.join(kwargs)}")


def _span(shape, strides, itemsize):
    return itemsize + sum((n - 1) * abs(s) for n, s in zip(shape, strides, strict=True))


def _inferred(shape, size):
    unknown = [k for k, n in enumerate(shape) if n == -1]
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    if unknown:
        rest = _layout.count(n for n in shape if n != -1)
        shape[unknown[0]] = size // rest if rest else 0
    if _layout.count(shape) != size:
        raise ValueError(f"total size of new array must be unchanged: {size} elements into {tuple(shape)}")
    return tuple(shape)


def _delivered(value, out, allocator=None):
    """Deliver a value of the core: written to out, copied to memory of the allocator, or as a GPUArray."""
    if out is not None:
        if out.shape != value.shape:
            raise ValueError(f"out has the shape {out.shape}, the result {value.shape}")
        out._plain()[...] = value
        return out
    if not _is_default(allocator):
        out = GPUArray(value.shape, value.dtype, allocator)
        out._nd[...] = value
        return out
    return GPUArray._of(value)
