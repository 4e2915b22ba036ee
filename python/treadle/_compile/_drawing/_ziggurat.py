"""The tables of the ziggurats from which NumPy's generators draw normal and exponential numbers.

A number is a width of the table times random bits, so its last bit depends on the table. NumPy is asked for the widths:
its own code draws from a bit generator whose words say which width to take, and one bit.
"""

import ctypes
import math
import threading

import numpy as np

NORMAL_TAIL, EXPONENTIAL_TAIL = 3.6541528853610087963519472518, 7.69711747013104972
_LEVELS = 256


class _Interface(ctypes.Structure):
    """NumPy's bitgen_t."""

    _fields_ = [
        ("state", ctypes.c_void_p),
        ("next_uint64", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)),
        ("next_uint32", ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)),
        ("next_double", ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)),
        ("next_raw", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)),
    ]


class _Chosen:
    """A bit generator that gives one word again and again, and 0.0 for a float, which every width's test accepts."""

    def __init__(self):
        self.word, self.lock = 0, threading.Lock()
        kinds = dict(_Interface._fields_)
        ints = {n: kinds[n](lambda state: self.word) for n in ("next_uint64", "next_uint32", "next_raw")}
        self._interface = _Interface(next_double=kinds["next_double"](lambda state: 0.0), **ints)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = make(ctypes.addressof(self._interface), b"BitGenerator", None)


def tables(method, dtype=np.float64):
    """(widths of one bit, numbers of bits that are accepted without a look, heights at the edges) of the levels, for
    "standard_normal" or "standard_exponential", in float64 or float32."""
    normal = method == "standard_normal"
    one = 2.0 ** (52 if normal else 53)
    edge = _widths(method, np.float64) * one
    sure = np.zeros(_LEVELS)
    sure[0], sure[2:] = edge[-1] / edge[0], edge[1:-1] / edge[2:]
    heights = [1.0, *(math.exp(-0.5 * x * x if normal else -x) for x in edge[1:].tolist())]
    bits = sure * one if dtype == np.float64 else np.rint(sure * 2.0**23)  # NumPy's float32 table is rounded
    return _widths(method, dtype), bits.astype(np.int64), np.array(heights, dtype)


def _widths(method, dtype):
    source = _Chosen()
    draw = getattr(np.random.Generator(source), method)
    widths = np.empty(_LEVELS, dtype)
    for k in range(_LEVELS):
        # one bit above the level's 8 bits: of normal numbers a sign lies between, of others there are bits below both
        normal, below = method == "standard_normal", 3 if dtype == np.float64 else 1
        source.word = (1 << 9) | k if normal else ((1 << 8) | k) << below
        widths[k] = draw(dtype=dtype)
    return widths
