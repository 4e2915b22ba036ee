# Written by tools/stubs/write.py from the package itself.
from treadle import _Int
from typing import Any

class CUDAarray:
    def __init__(self, desc: Any, width: _Int, height: _Int = 0, depth: Any = 0, flags: Any = 0) -> None: ...
    @property
    def ptr(self) -> Any: ...
    def copy_from(self, in_arr: Any, stream: Any = None) -> None: ...
    def copy_to(self, out_arr: Any, stream: Any = None) -> None: ...
    ndim: Any
    desc: Any
    width: Any
    height: Any
    depth: Any
    flags: Any
class ChannelFormatDescriptor:
    def __init__(self, x: Any, y: Any, z: Any, w: Any, f: Any) -> None: ...
    def get_channel_format(self) -> Any: ...
    itemsize: Any
    dtype: Any
    channels: Any
    format: Any
class ResourceDescriptor:
    def __init__(self, restype: Any, cuArr: Any = None, arr: Any = None, chDesc: Any = None, sizeInBytes: _Int = 0, width: _Int = 0, height: _Int = 0, pitchInBytes: _Int = 0) -> None: ...
    restype: Any
    cuArr: Any
    arr: Any
    chDesc: Any
    sizeInBytes: Any
    width: Any
    height: Any
    pitchInBytes: Any
class SurfaceObject:
    def __init__(self, ResDesc: Any) -> None: ...
    @property
    def ptr(self) -> Any: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    ResDesc: Any
class TextureDescriptor:
    def __init__(self, addressModes: Any = None, filterMode: Any = 0, readMode: Any = 0, sRGB: Any = None, borderColors: Any = None, normalizedCoords: Any = None, maxAnisotropy: Any = None) -> None: ...
    addressModes: Any
    filterMode: Any
    readMode: Any
    sRGB: Any
    normalizedCoords: Any
class TextureObject:
    def __init__(self, ResDesc: Any, TexDesc: Any) -> None: ...
    @property
    def ptr(self) -> Any: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    ResDesc: Any
    TexDesc: Any
