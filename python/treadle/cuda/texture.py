"""Textures and surfaces by CuPy's names (cupy.cuda.texture), on GPUs, the null device and the CPU.

Objects are arguments of CUDA C++ kernels for parameters of type cudaTextureObject_t and cudaSurfaceObject_t.
"""

import numpy

from .. import _core
from .._public import dir_of as _dir_of
from . import runtime

_ARRAY, _DEVICE, _HOST = 3, 2, 1  # CUmemorytype
_FORMAT = {
    ("u", 8): 1,
    ("u", 16): 2,
    ("u", 32): 3,
    ("i", 8): 8,
    ("i", 16): 9,
    ("i", 32): 10,
    ("f", 16): 16,
    ("f", 32): 32,
}
_KIND = {runtime.cudaChannelFormatKindSigned: "i", runtime.cudaChannelFormatKindUnsigned: "u",
         runtime.cudaChannelFormatKindFloat: "f"}  # fmt: skip
_INTEGER, _NORMALIZED, _SRGB = 1, 2, 16  # CU_TRSF_…


class ChannelFormatDescriptor:
    """ChannelFormatDescriptor(x, y, z, w, f): bits of each channel, 0 where there is none; f: cudaChannelFormatKind…"""

    def __init__(self, x, y, z, w, f):
        bits = [int(b) for b in (x, y, z, w)]
        used = [b for b in bits if b]
        if not used or bits[: len(used)] != used or len(set(used)) != 1 or len(used) == 3:
            raise ValueError(f"channels of {bits} bits: 1, 2 or 4 of the same size, one behind the other")
        if f not in _KIND or (_KIND[f], used[0]) not in _FORMAT:
            raise ValueError(f"there are no channels of {used[0]} bits of kind {f}")
        self._bits, self._f = tuple(bits), f
        self.channels, self.format = len(used), _FORMAT[_KIND[f], used[0]]
        self.itemsize = len(used) * used[0] // 8  # bytes of an element
        self.dtype = numpy.dtype(f"{_KIND[f]}{used[0] // 8}")

    def get_channel_format(self):
        return {**dict(zip("xyzw", self._bits)), "f": self._f}


class CUDAarray:
    """CUDAarray(desc, width, height=0, depth=0, flags=0): memory in the layout of texture units; extents in elements,
    0: there is no such axis. Arrays that are copied have shape ([depth,] [height,] channels * width), or one more
    axis of channels at the end. flags: runtime.cudaArraySurfaceLoadStore for surfaces, …Layered."""

    def __init__(self, desc, width, height=0, depth=0, flags=0):
        if width <= 0 or height < 0 or depth < 0 or (depth and not height):
            raise ValueError(f"CUDAarray: extents {width}, {height}, {depth}")
        self.desc, self.width, self.height, self.depth, self.flags = desc, width, height, depth, flags
        self.ndim = 1 + (height > 0) + (depth > 0)
        # The driver's flags: 1 layered, 2 surface, 4 cube; the runtime's are the same.
        self._array = _core.TexArray(width, height, depth, desc.format, desc.channels, flags)

    ptr = property(lambda self: self._array.handle)

    def _copy(self, arr, stream, out):
        rows, layers, width = max(self.height, 1), max(self.depth, 1), self.width * self.desc.itemsize
        if arr.dtype.itemsize != self.desc.dtype.itemsize:
            raise ValueError(f"CUDAarray: elements of {arr.dtype}; the channels are {self.desc.dtype}")
        if arr.nbytes != rows * layers * width:
            raise ValueError(f"CUDAarray: an array of {arr.nbytes} bytes; {rows * layers * width} are needed")
        host = isinstance(arr, numpy.ndarray)
        if not (arr.flags.c_contiguous if host else arr.is_c_contiguous()):
            raise ValueError("CUDAarray: arrays that are copied are C-contiguous")
        other = (
            _HOST if host else _DEVICE,
            arr.reshape(-1).view("uint8") if host else arr._address(),
            0,
            0,
            0,
            width,
            rows,
        )
        own = (_ARRAY, self._array, 0, 0, 0, 0, 0)
        sides = (other, own) if out else (own, other)
        _core._raw_block(*sides, width, rows, layers, stream, host or stream is None)

    def copy_from(self, in_arr, stream=None):
        """Takes the elements of a NumPy array or an array of the device. ValueError: shape or dtype do not fit."""
        if not isinstance(in_arr, (numpy.ndarray, _core.ndarray)):
            in_arr = _core.asarray(in_arr, copy=False)
        self._copy(in_arr, stream, False)

    def copy_to(self, out_arr, stream=None):
        """Gives the elements to a NumPy array or an array of the device."""
        self._copy(out_arr, stream, True)

    def __repr__(self):
        return f"<CUDAarray {self.width} x {self.height} x {self.depth} of {self.desc.channels} {self.desc.dtype}>"


class ResourceDescriptor:
    """ResourceDescriptor(restype, cuArr=None, arr=None, chDesc=None, sizeInBytes=0, width=0, height=0, pitchInBytes=0):
    what a texture shows: a CUDAarray, or the memory of an array of the device, linear or of rows (Pitch2D)."""

    def __init__(self, restype, cuArr=None, arr=None, chDesc=None, sizeInBytes=0, width=0, height=0, pitchInBytes=0):
        if restype == runtime.cudaResourceTypeArray:
            if cuArr is None:
                raise ValueError("ResourceDescriptor: cudaResourceTypeArray needs cuArr")
        elif restype in (runtime.cudaResourceTypeLinear, runtime.cudaResourceTypePitch2D):
            if arr is None or chDesc is None:
                raise ValueError("ResourceDescriptor: linear memory needs arr and chDesc")
        else:
            raise ValueError(f"ResourceDescriptor: resources of type {restype} are not served")
        self.restype, self.cuArr, self.arr, self.chDesc = restype, cuArr, arr, chDesc
        self.sizeInBytes, self.width, self.height, self.pitchInBytes = sizeInBytes, width, height, pitchInBytes


class TextureDescriptor:
    """TextureDescriptor(addressModes=None, filterMode=0, readMode=0, sRGB=None, borderColors=None,
    normalizedCoords=None, maxAnisotropy=None): how a texture is read. borderColors and maxAnisotropy have to be
    None."""

    def __init__(self, addressModes=None, filterMode=0, readMode=0, sRGB=None, borderColors=None, normalizedCoords=None,
                 maxAnisotropy=None):  # fmt: skip
        if borderColors is not None or maxAnisotropy:
            raise ValueError("TextureDescriptor: borderColors and maxAnisotropy are not served")
        modes = [runtime.cudaAddressModeClamp] * 3
        for k, mode in enumerate(addressModes or ()):
            modes[k] = mode
        self.addressModes, self.filterMode, self.readMode = tuple(modes), filterMode, readMode
        self.sRGB, self.normalizedCoords = bool(sRGB), bool(normalizedCoords)


class TextureObject:
    """TextureObject(ResDesc, TexDesc): an argument for a kernel's cudaTextureObject_t. ptr: the handle, an int."""

    def __init__(self, ResDesc, TexDesc):
        self.ResDesc, self.TexDesc = ResDesc, TexDesc
        r, t = ResDesc, TexDesc
        desc = r.cuArr.desc if r.cuArr is not None else r.chDesc
        flags = _NORMALIZED * t.normalizedCoords | _SRGB * t.sRGB
        if t.readMode == runtime.cudaReadModeElementType and desc.dtype.kind != "f":
            flags |= _INTEGER
        how = {"address": t.addressModes, "filter": t.filterMode, "flags": flags}
        if r.cuArr is not None:
            self._texture = _core.Texture(r.cuArr._array, **how)
        elif r.restype == runtime.cudaResourceTypeLinear:
            nbytes = r.sizeInBytes or r.arr.nbytes
            self._texture = _core.Texture(r.arr, width=nbytes // desc.itemsize, format=desc.format,
                                          channels=desc.channels, **how)  # fmt: skip
        else:
            self._texture = _core.Texture(r.arr, width=r.width, height=r.height, pitch=r.pitchInBytes,
                                          format=desc.format, channels=desc.channels, **how)  # fmt: skip

    ptr = property(lambda self: self._texture.handle)

    def __int__(self):
        return self.ptr

    __index__ = __int__


class SurfaceObject:
    """SurfaceObject(ResDesc): an argument for a kernel's cudaSurfaceObject_t, over a CUDAarray made with
    cudaArraySurfaceLoadStore. ptr: the handle, an int."""

    def __init__(self, ResDesc):
        if ResDesc.cuArr is None:
            raise ValueError("SurfaceObject: it shows a CUDAarray")
        self.ResDesc = ResDesc
        self._texture = _core.Texture(ResDesc.cuArr._array, True)

    ptr = property(lambda self: self._texture.handle)

    def __int__(self):
        return self.ptr

    __index__ = __int__


__dir__ = _dir_of(__name__)
