"""PyCUDA's texture arrays, copies of blocks, and texture and surface references."""

import numpy

from ... import _core
from ._enums import (
    TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER,
    TRSF_SRGB,
    address_mode,
    array3d_flags,
    array_format,
    filter_mode,
)
from ._errors import LogicError, refusal

_FORMATS = {
    numpy.dtype(numpy.uint8): array_format.UNSIGNED_INT8,
    numpy.dtype(numpy.uint16): array_format.UNSIGNED_INT16,
    numpy.dtype(numpy.uint32): array_format.UNSIGNED_INT32,
    numpy.dtype(numpy.int8): array_format.SIGNED_INT8,
    numpy.dtype(numpy.int16): array_format.SIGNED_INT16,
    numpy.dtype(numpy.int32): array_format.SIGNED_INT32,
    numpy.dtype(numpy.float16): array_format.HALF,
    numpy.dtype(numpy.float32): array_format.FLOAT,
}
_SIZES = {format: dtype.itemsize for dtype, format in _FORMATS.items()}


def dtype_to_array_format(dtype):
    """The array_format of a dtype. TypeError: texture units have none such."""
    try:
        return _FORMATS[numpy.dtype(dtype)]
    except KeyError:
        raise TypeError(
            f"texture units have no elements of {numpy.dtype(dtype)}: {', '.join(map(str, _FORMATS))} are possible"
        ) from None


# ---- arrays ----


class ArrayDescriptor:
    """width, height (0: one row), format and num_channels of an Array."""

    def __init__(self):
        self.width = self.height = 0
        self.format = array_format.FLOAT
        self.num_channels = 1


class ArrayDescriptor3D(ArrayDescriptor):
    """As ArrayDescriptor, with depth and flags (array3d_flags)."""

    def __init__(self):
        super().__init__()
        self.depth = 0
        self.flags = 0


class Array(_core.TexArray):
    """Array(descriptor): memory in the layout of texture units. handle: the CUarray as an int."""

    __slots__ = ()

    def __new__(cls, descriptor):
        d = descriptor
        return super().__new__(
            cls, d.width, d.height, getattr(d, "depth", 0), int(d.format), d.num_channels, int(getattr(d, "flags", 0))
        )

    def get_descriptor_3d(self):
        """An ArrayDescriptor3D of it."""
        found = ArrayDescriptor3D()
        found.width, found.height, found.depth, format, found.num_channels, flags = self._desc
        found.format, found.flags = array_format(format), array3d_flags(flags)
        return found

    def get_descriptor(self):
        """An ArrayDescriptor of it."""
        whole, found = self.get_descriptor_3d(), ArrayDescriptor()
        found.width, found.height, found.format, found.num_channels = (
            whole.width,
            whole.height,
            whole.format,
            whole.num_channels,
        )
        return found


# ---- copies ----

_HOST, _DEVICE, _ARRAY = 1, 2, 3  # values of the driver's memory_type
_NOWHERE = (0, None)


class _Copy:
    """The base of Memcpy2D, Memcpy3D and Memcpy3DPeer: where both sides begin, and how much is copied.

    Sizes are bytes along x, rows along y, layers along z. With a pitch of 0 rows follow each other without gaps."""

    width_in_bytes = height = depth = 0
    src_x_in_bytes = src_y = src_z = src_lod = src_pitch = src_height = 0
    dst_x_in_bytes = dst_y = dst_z = dst_lod = dst_pitch = dst_height = 0

    def __init__(self):
        self._src = self._dst = _NOWHERE

    def set_src_host(self, buffer):
        """From a buffer of the host's; its strides are not looked at."""
        self._src = (_HOST, buffer)

    def set_dst_host(self, buffer):
        self._dst = (_HOST, buffer)

    def set_src_device(self, devptr):
        """From device memory."""
        self._src = (_DEVICE, devptr)

    def set_dst_device(self, devptr):
        self._dst = (_DEVICE, devptr)

    def set_src_array(self, array):
        """From an Array."""
        self._src = (_ARRAY, array)

    def set_dst_array(self, array):
        self._dst = (_ARRAY, array)

    def set_src_unified(self, buffer):
        """From memory that host and device reach: the array of managed_empty, or an address."""
        self._src = _unified(buffer)

    def set_dst_unified(self, buffer):
        self._dst = _unified(buffer)

    def _run(self, depth, stream, wait):
        dst = (*self._dst, self.dst_x_in_bytes, self.dst_y, self.dst_z, self.dst_pitch, self.dst_height)
        src = (*self._src, self.src_x_in_bytes, self.src_y, self.src_z, self.src_pitch, self.src_height)
        _core._raw_block(dst, src, self.width_in_bytes, self.height, depth, stream, wait)


def _unified(buffer):
    if isinstance(buffer, numpy.ndarray):
        pointer = getattr(buffer.base, "get_device_pointer", None)
        return (
            (_HOST, buffer)
            if pointer is None
            else (_DEVICE, pointer() + buffer.ctypes.data - buffer.base.__array_interface__["data"][0])
        )
    return (_DEVICE, buffer)


class Memcpy2D(_Copy):
    """A copy of rows: set both sides, width_in_bytes and height; then copy(), copy(aligned) or copy(stream) does it."""

    def __call__(self, stream_or_aligned=None):
        """Copies; on a stream the host's memory has to stay until it has passed. aligned: True or False, both are the
        same here."""
        later = stream_or_aligned is not None and not isinstance(stream_or_aligned, bool)
        self._run(1, stream_or_aligned if later else None, not later)


class Memcpy3D(_Copy):
    """A copy of layers of rows: set both sides, width_in_bytes, height and depth; then call it, on a stream or not."""

    def __call__(self, stream=None):
        """Copies; on a stream the host's memory has to stay until it has passed."""
        self._run(self.depth, stream, stream is None)


class Memcpy3DPeer(Memcpy3D):
    """As Memcpy3D, between devices: rows one after the other where both sides are device memory of two devices."""

    def __init__(self):
        super().__init__()
        self._contexts = [None, None]

    def set_src_context(self, context):
        self._contexts[1] = context

    def set_dst_context(self, context):
        self._contexts[0] = context

    def __call__(self, stream=None):
        dst, src = (None if c is None else c._device for c in self._contexts)
        if dst == src or self._src[0] != _DEVICE or self._dst[0] != _DEVICE:
            super().__call__(stream)
            return
        sides = ("dst", self._dst[1]), ("src", self._src[1])
        for z in range(self.depth):
            for y in range(self.height):
                at = [int(memory) + self._begin(side, y, z) for side, memory in sides]
                _core._raw_peer(*at, self.width_in_bytes, dst, src, stream, stream is None)

    def _begin(self, side, y, z):
        pitch = getattr(self, side + "_pitch") or getattr(self, side + "_x_in_bytes") + self.width_in_bytes
        rows = getattr(self, side + "_height") or getattr(self, side + "_y") + self.height
        return (
            getattr(self, side + "_x_in_bytes")
            + (getattr(self, side + "_y") + y) * pitch
            + (getattr(self, side + "_z") + z) * pitch * rows
        )


def _linear(array, offset, nbytes):
    """Yield the pieces (x, y, bytes) that a run of bytes has in an array, one for each row."""
    found = array.get_descriptor_3d()
    row = found.width * found.num_channels * _SIZES[found.format]
    while nbytes > 0:
        y, x = divmod(offset, row)
        n = min(nbytes, row - x)
        yield x, y, n
        offset, nbytes = offset + n, nbytes - n


def _runs(dst, src, nbytes, array, array_offset):
    """Copy nbytes in pieces of the array's rows. dst(x, y, bytes done) and src make the sides of a copy."""
    if nbytes < 0:
        raise refusal("cuMemcpyAtoA", "a negative size")
    done = 0
    for x, y, n in _linear(array, array_offset, nbytes):
        _core._raw_block(dst(x, y, done), src(x, y, done), n, 1, 1, None, True)
        done += n


def _at_array(array):
    return lambda x, y, done: (_ARRAY, array, x, y, 0, 0, 0)


def memcpy_atod(dest, src, index, size):
    """Copies size bytes from byte index of the Array src on to device memory."""
    _runs(lambda x, y, done: (_DEVICE, int(dest) + done, 0, 0, 0, 0, 0), _at_array(src), size, src, index)


def memcpy_dtoa(dest, index, src, size):
    """Copies size bytes of device memory to byte index of the Array dest."""
    _runs(_at_array(dest), lambda x, y, done: (_DEVICE, int(src) + done, 0, 0, 0, 0, 0), size, dest, index)


def memcpy_atoh(dest, src, index):
    """Fills the buffer dest from byte index of the Array src on."""
    _runs(lambda x, y, done: (_HOST, dest, done, 0, 0, 0, 0), _at_array(src), _bytes_of(dest), src, index)


def memcpy_htoa(dest, index, src):
    """Copies the buffer src to byte index of the Array dest."""
    _runs(_at_array(dest), lambda x, y, done: (_HOST, src, done, 0, 0, 0, 0), _bytes_of(src), dest, index)


def memcpy_atoa(dest, dest_index, src, src_index, size):
    """Copies size bytes between two Arrays, from and to these bytes."""
    done = 0
    for x, y, n in _linear(src, src_index, size):
        _runs(
            _at_array(dest), lambda _x, _y, at, x=x, y=y: (_ARRAY, src, x + at, y, 0, 0, 0), n, dest, dest_index + done
        )
        done += n


def _bytes_of(buffer):
    view = memoryview(buffer)
    if not view.contiguous:
        raise ValueError("the host's array is not contiguous")
    return view.nbytes


# ---- arrays from arrays ----


def _matrix_order(matrix, order):
    if order not in ("C", "F"):
        raise LogicError("order is 'C' or 'F'")
    if not (matrix.flags.c_contiguous if order == "C" else matrix.flags.f_contiguous):
        matrix = numpy.asarray(matrix, order=order)
    return matrix


def matrix_to_array(matrix, order, allow_double_hack=False):
    """An Array with the contents of a NumPy matrix. order "C": x runs along its rows, "F": along its columns.
    allow_double_hack: float64 as pairs of int32."""
    matrix = _matrix_order(matrix, order)
    if matrix.dtype == numpy.float64 and allow_double_hack:
        format, channels = array_format.SIGNED_INT32, 2
    else:
        format, channels = dtype_to_array_format(matrix.dtype), 1
    height, width = matrix.shape if order == "C" else matrix.shape[::-1]
    return _filled(width, height, 0, format, channels, 0, matrix, order)


def _filled(width, height, depth, format, channels, flags, ary, order):
    """An Array of that shape, filled from a contiguous NumPy array."""
    descriptor = ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.depth = width, height, depth
    descriptor.format, descriptor.num_channels, descriptor.flags = format, channels, flags
    made, copy = Array(descriptor), Memcpy3D()
    copy.set_src_host(ary)
    copy.set_dst_array(made)
    copy.width_in_bytes = copy.src_pitch = width * channels * _SIZES[format]
    copy.src_height = copy.height = max(height, 1)
    copy.depth = max(depth, 1)
    copy()
    return made


def make_multichannel_2d_array(ndarray, order):
    """An Array of several channels from a NumPy array of three axes: order "C": (height, width, channels), "F":
    (channels, width, height) in Fortran's order."""
    ary = _matrix_order(ndarray, order)
    if ary.ndim != 3:
        raise LogicError(f"make_multichannel_2d_array takes three axes, not {ary.ndim}")
    height, width, channels = ary.shape if order == "C" else ary.shape[::-1]
    return _filled(width, height, 0, dtype_to_array_format(ary.dtype), channels, 0, ary, order)


_DOUBLES = {numpy.dtype(numpy.float64): 2, numpy.dtype(numpy.complex64): 2, numpy.dtype(numpy.complex128): 4}


def _of_shape(shape, dtype, order, surface):
    """width, height, depth, format, channels, flags of an Array for such elements; 64-bit numbers become several."""
    extents = shape[::-1] if order == "C" else shape
    if not 1 <= len(extents) <= 3:
        raise LogicError(f"an Array has one to three axes, not {len(extents)}")
    dtype = numpy.dtype(dtype)
    channels = _DOUBLES.get(dtype, 1)
    format = (
        array_format.FLOAT
        if dtype == numpy.complex64
        else array_format.SIGNED_INT32
        if channels > 1
        else dtype_to_array_format(dtype)
    )
    width, height, depth = (*extents, 0, 0)[:3]
    return width, height, depth, format, channels, array3d_flags.SURFACE_LDST if surface else 0


def np_to_array(nparray, order, allowSurfaceBind=False):
    """An Array of one to three axes with the contents of a NumPy array; x is the axis whose elements lie side by side.
    float64, complex64 and complex128 become elements of two, two and four channels."""
    nparray = _matrix_order(nparray, order)
    return _filled(*_of_shape(nparray.shape, nparray.dtype, order, allowSurfaceBind), nparray, order)


def gpuarray_to_array(gpuarray, order, allowSurfaceBind=False):
    """As np_to_array, of a GPUArray, whose strides are those of the order."""
    flags = gpuarray.flags
    if not (flags.c_contiguous if order == "C" else flags.f_contiguous):
        raise LogicError(f"gpuarray_to_array: the array is not contiguous in order {order!r}")
    width, height, depth, format, channels, bits = _of_shape(gpuarray.shape, gpuarray.dtype, order, allowSurfaceBind)
    descriptor = ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.depth = width, height, depth
    descriptor.format, descriptor.num_channels, descriptor.flags = format, channels, bits
    made, copy = Array(descriptor), Memcpy3D()
    copy.set_src_device(gpuarray.gpudata)
    copy.set_dst_array(made)
    copy.width_in_bytes = copy.src_pitch = width * channels * _SIZES[format]
    copy.src_height = copy.height = max(height, 1)
    copy.depth = max(depth, 1)
    copy()
    return made


# ---- texture references ----


class TextureReference:
    """A texture<…> of a module, from Module.get_texref(name): what it is bound to, kernels of it see from their next
    launch on. Underneath is a texture object, whose number is written to the variable that stands for the reference.

    variable: the address of that variable; None: the reference belongs to no module, and shows nothing."""

    def __init__(self, variable=None, as_float=True, dims=0):
        self._variable, self._as_float, self._dims = variable, as_float, dims
        self._module = None  # keeps the variable alive
        self._flags = 0
        self._filter = filter_mode.POINT
        self._address_modes = [address_mode.CLAMP] * 3
        self._format = None
        self._bound = None  # an Array, or (memory, width, height, pitch, bytes)
        self._texture = None

    def _bind(self):
        """Make the texture object and write its number to the variable."""
        if self._bound is None:
            return
        flags = self._flags | (0 if self._as_float else TRSF_READ_AS_INTEGER)
        options = {"address": tuple(map(int, self._address_modes)), "filter": int(self._filter), "flags": flags}
        if isinstance(self._bound, Array):
            made = _core.Texture(self._bound, **options)
        else:
            memory, width, height, pitch, nbytes = self._bound
            format, channels = self._format or (array_format.FLOAT, 1)
            width = width or nbytes // (_SIZES[format] * channels)
            made = _core.Texture(
                memory, width=width, height=height, pitch=pitch, format=int(format), channels=channels, **options
            )
        if self._variable is not None:
            _core._raw_copy_host(False, self._variable, made.handle.to_bytes(8, "little"), None, True)
        self._texture = made

    def _set(self, name, value):
        setattr(self, name, value)
        self._bind()

    def set_array(self, array):
        """Shows an Array, whose format counts."""
        if not isinstance(array, Array):
            raise TypeError(f"set_array takes an Array, not {type(array).__name__}")
        self._set("_bound", array)

    def set_address(self, devptr, bytes, allow_offset=False):
        """Shows device memory, one row of bytes; set_format says of what. Returns 0, the offset."""
        del allow_offset  # every address that is aligned for the elements works
        if bytes < 0:
            raise refusal("cuTexRefSetAddress", "a negative size")
        self._set("_bound", (devptr, 0, 0, 0, bytes))
        return 0

    def set_address_2d(self, devptr, descr, pitch):
        """Shows device memory: rows of the ArrayDescriptor's width, pitch bytes from one to the next."""
        self._format = (array_format(descr.format), descr.num_channels)
        self._set("_bound", (devptr, descr.width, descr.height, pitch, 0))

    def set_format(self, fmt, num_components):
        """What the memory of set_address holds."""
        self._set("_format", (array_format(fmt), num_components))

    def set_address_mode(self, dim, am):
        """What is shown outside along axis dim: an address_mode."""
        self._address_modes[dim] = address_mode(am)
        self._bind()

    def set_filter_mode(self, fm):
        """What is shown between elements: a filter_mode."""
        self._set("_filter", filter_mode(fm))

    def set_flags(self, flags):
        """TRSF_READ_AS_INTEGER, TRSF_NORMALIZED_COORDINATES."""
        if int(flags) & ~(TRSF_READ_AS_INTEGER | TRSF_NORMALIZED_COORDINATES | TRSF_SRGB):
            raise refusal(f"cuTexRefSetFlags({flags})", "there are no such flags")
        self._set("_flags", int(flags))

    def get_address(self):
        """Of what set_address was given."""
        if self._bound is None or isinstance(self._bound, Array):
            raise refusal("cuTexRefGetAddress", "no device memory is bound")
        return int(self._bound[0])

    def get_array(self):
        """The Array that is shown. LogicError: none is."""
        if not isinstance(self._bound, Array):
            raise refusal("cuTexRefGetArray", "no array is bound")
        return self._bound

    def get_address_mode(self, dim):
        return self._address_modes[dim]

    def get_filter_mode(self):
        return self._filter

    def get_format(self):
        """(array_format, channels)"""
        if isinstance(self._bound, Array):
            found = self._bound.get_descriptor_3d()
            return found.format, found.num_channels
        if self._format is None:
            raise refusal("cuTexRefGetFormat", "no format was set")
        return self._format

    def get_flags(self):
        return self._flags


class SurfaceReference:
    """A surface<…> of a module, from Module.get_surfref(name): kernels read and write the Array that it is bound to."""

    def __init__(self, variable=None):
        self._variable = variable
        self._module = None
        self._array = self._surface = None

    def set_array(self, array, flags=0):
        """Shows an Array that was made with array3d_flags.SURFACE_LDST."""
        del flags
        if not isinstance(array, Array):
            raise TypeError(f"set_array takes an Array, not {type(array).__name__}")
        made = _core.Texture(array, surface=True)
        if self._variable is not None:
            _core._raw_copy_host(False, self._variable, made.handle.to_bytes(8, "little"), None, True)
        self._array, self._surface = array, made

    def get_array(self):
        """The Array that is shown. LogicError: none is."""
        if self._array is None:
            raise refusal("cuSurfRefGetArray", "no array is bound")
        return self._array


def bind_array_to_texref(ary, texref):
    """texref shows the Array: the nearest element, outside of it the one at its border."""
    texref.set_array(ary)
    texref.set_address_mode(0, address_mode.CLAMP)
    texref.set_address_mode(1, address_mode.CLAMP)
    texref.set_filter_mode(filter_mode.POINT)


def matrix_to_texref(matrix, texref, order):
    """texref shows a NumPy matrix: matrix_to_array, then bind_array_to_texref."""
    bind_array_to_texref(matrix_to_array(matrix, order), texref)
