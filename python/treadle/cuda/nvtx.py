"""NVTX marks and ranges by CuPy's names, for NVIDIA's profilers.

They go through libnvToolsExt where it is installed; where it is not (CUDA 13 has it no more) they do nothing, and
`available` is False. treadle.profile() needs none of them.
"""

import contextlib
import ctypes
import functools

from .._public import dir_of as _dir_of

_COLORS = (0x00FF00, 0x0000FF, 0xFFFF00, 0xFF00FF, 0x00FFFF, 0xFF0000, 0xFFFFFF)


class _Attributes(ctypes.Structure):
    """nvtxEventAttributes_t, version 2."""

    _fields_ = [
        ("version", ctypes.c_uint16), ("size", ctypes.c_uint16), ("category", ctypes.c_uint32),
        ("color_type", ctypes.c_int32), ("color", ctypes.c_uint32), ("payload_type", ctypes.c_int32),
        ("reserved", ctypes.c_int32), ("payload", ctypes.c_uint64), ("message_type", ctypes.c_int32),
        ("message", ctypes.c_char_p),
    ]  # fmt: skip


@functools.lru_cache(maxsize=1)
def _library():
    for name in ("libnvToolsExt.so.1", "libnvToolsExt.so"):
        with contextlib.suppress(OSError):
            return ctypes.CDLL(name)
    return None


def __getattr__(name):
    if name == "available":
        return _library() is not None
    raise AttributeError(f"module 'treadle.cuda.nvtx' has no attribute '{name}'")


def _event(message, argb):
    return ctypes.byref(
        _Attributes(version=2, size=ctypes.sizeof(_Attributes), color_type=1, color=argb & 0xFFFFFFFF, message_type=1,
                    message=message.encode())
    )  # fmt: skip


def _argb(id_color):
    return 0xFF000000 | _COLORS[id_color % len(_COLORS)] if id_color >= 0 else 0


def MarkC(message, color=0):
    """Marks this moment; color: 0xAARRGGBB, 0: none."""
    if _library() is not None:
        _library().nvtxMarkEx(_event(message, color))


def Mark(message, id_color=-1):
    """Marks this moment; id_color: the number of a color, -1: none."""
    MarkC(message, _argb(id_color))


def RangePushC(message, color=0):
    """Begins a range, which ends at RangePop; color: 0xAARRGGBB, 0: none."""
    if _library() is not None:
        _library().nvtxRangePushEx(_event(message, color))


def RangePush(message, id_color=-1):
    """Begins a range, which ends at RangePop; id_color: the number of a color, -1: none."""
    RangePushC(message, _argb(id_color))


def RangePop():
    """Ends the range that was begun last."""
    if _library() is not None:
        _library().nvtxRangePop()


__dir__ = _dir_of(__name__)
