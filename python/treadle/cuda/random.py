"""Random numbers in kernels: xoroshiro128+ generators, one a thread, with numba.cuda's states and numbers.

A state is 128 bits, two uint64 fields s0 and s1. ``create_xoroshiro128p_states`` makes an array of them, 2**64 steps
apart; a kernel's thread draws from the one at its index. The functions are written as kernels' code; on the host they
run as they are on NumPy arrays of states, with warnings of NumPy's about integer overflow switched off by the caller.
"""

import math

import numpy as np

from .._public import dir_of as _dir_of
from ..types import float32, float64, from_dtype, int64, uint64
from ._memory import device_array

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
xoroshiro128p_type = from_dtype(xoroshiro128p_dtype)

_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)  # the generator's polynomial for 2**64 steps
_MASK = (1 << 64) - 1
TWO_PI_FLOAT32 = np.float32(2 * math.pi)
TWO_PI_FLOAT64 = np.float64(2 * math.pi)


# ---- inside kernels ----


def init_xoroshiro128p_state(states, index, seed):
    """states[index] from a seed, mixed by SplitMix64 so that small seeds do not show."""
    z = uint64(seed) + uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    z = z ^ (z >> uint64(31))
    states[index]["s0"] = z
    states[index]["s1"] = z


def rotl(x, k):
    """x, a uint64, with its bits moved up by k and those that fall out put in below."""
    return (uint64(x) << uint64(k)) | (uint64(x) >> uint64(64 - k))


def xoroshiro128p_next(states, index):
    """The next uint64 of states[index], which moves on by a step."""
    i = int64(index)
    s0 = states[i]["s0"]
    s1 = states[i]["s1"]
    result = s0 + s1
    s1 = s1 ^ s0
    states[i]["s0"] = rotl(s0, 55) ^ s1 ^ (s1 << uint64(14))
    states[i]["s1"] = rotl(s1, 36)
    return result


def xoroshiro128p_jump(states, index):
    """Moves states[index] on by 2**64 steps."""
    i = int64(index)
    s0 = uint64(0)
    s1 = uint64(0)
    for half in range(2):
        word = uint64(_JUMP[0]) if half == 0 else uint64(_JUMP[1])
        for b in range(64):
            if (word >> uint64(b)) & uint64(1):
                s0 = s0 ^ states[i]["s0"]
                s1 = s1 ^ states[i]["s1"]
            xoroshiro128p_next(states, i)
    states[i]["s0"] = s0
    states[i]["s1"] = s1


def uint64_to_unit_float64(x):
    """x's upper 53 bits as a float64 in [0, 1)."""
    return float64(uint64(x) >> uint64(11)) * float64(2.0**-53)


def uint64_to_unit_float32(x):
    """uint64_to_unit_float64 rounded to float32: 1.0 can occur."""
    return float32(uint64_to_unit_float64(x))


def xoroshiro128p_uniform_float32(states, index):
    """A float32 in [0, 1), uniformly distributed; states[index] moves on by a step."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


def xoroshiro128p_uniform_float64(states, index):
    """A float64 in [0, 1), uniformly distributed; states[index] moves on by a step."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


def xoroshiro128p_normal_float32(states, index):
    """A float32 of mean 0 and deviation 1, normally distributed (Box and Muller); states[index] moves on by two
    steps."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return float32(math.sqrt(float32(-2.0) * float32(math.log(u1)))) * float32(math.cos(TWO_PI_FLOAT32 * u2))


def xoroshiro128p_normal_float64(states, index):
    """A float64 of mean 0 and deviation 1, normally distributed (Box and Muller, of float32 draws as in numba.cuda);
    states[index] moves on by two steps."""
    u1 = float64(xoroshiro128p_uniform_float32(states, index))
    u2 = float64(xoroshiro128p_uniform_float32(states, index))
    return math.sqrt(float64(-2.0) * math.log(u1)) * math.cos(TWO_PI_FLOAT64 * u2)


# ---- on the host ----


def _rotate(x, k):
    return (x << k | x >> (64 - k)) & _MASK


def _start(seed):
    z = (seed + 0x9E3779B97F4A7C15) & _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def _step(s0, s1):
    s1 ^= s0
    return _rotate(s0, 55) ^ s1 ^ (s1 << 14 & _MASK), _rotate(s1, 36)


class _Linear:
    """A linear map of 128 bits, as tables of what each byte of a state contributes: 16 look-ups apply it."""

    def __init__(self, columns):
        self.columns = columns  # of each bit, (s0, s1)
        self.table = np.zeros((16, 256, 2), np.uint64)
        for byte in range(16):
            for v in range(1, 256):
                low = v & -v
                self.table[byte, v] = self.table[byte, v ^ low] ^ columns[8 * byte + low.bit_length() - 1]

    def apply(self, states):
        """The map of each row of a uint64 array [n, 2]."""
        out = np.zeros_like(states)
        seen = np.ascontiguousarray(states).view(np.uint8).reshape(-1, 16)
        for byte in range(16):
            out ^= self.table[byte, seen[:, byte]]
        return out

    def twice(self):
        return _Linear(self.apply(self.columns))


def _jump_map():
    """The jump by 2**64 steps as a linear map: the polynomial's steps of each unit vector."""
    columns = np.zeros((128, 2), np.uint64)
    word = _JUMP[0] | _JUMP[1] << 64
    for bit in range(128):
        s = (1 << bit, 0) if bit < 64 else (0, 1 << (bit - 64))
        a = b = 0
        for i in range(128):
            if word >> i & 1:
                a, b = a ^ s[0], b ^ s[1]
            s = _step(*s)
        columns[bit] = a, b
    return _Linear(columns)


_maps = []  # jumps by 2**64 * 2**k steps, made when they are needed


def _power(k):
    while len(_maps) <= k:
        _maps.append(_maps[-1].twice() if _maps else _jump_map())
    return _maps[k]


def _states(n, seed, start):
    """n states from seed on, 2**64 steps apart, beginning with the start-th: [n, 2]."""
    z = _start(seed)
    out = np.array([[z, z]], np.uint64)
    for k in range(start.bit_length()):
        if start >> k & 1:
            out = _power(k).apply(out)
    for k in range(max(n - 1, 0).bit_length()):  # twice as many each time
        out = np.concatenate([out, _power(k).apply(out[: n - len(out)])])
    return out[:n]


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """Fills an array of states, one axis, on the device: of the sequence that seed stands for, each 2**64 numbers
    after the one before; the first stands subsequence_start times as far in. Equal seeds give numba.cuda's states."""
    host = init_xoroshiro128p_states_cpu(np.empty(states.shape, xoroshiro128p_dtype), seed, subsequence_start)
    states.copy_to_device(host, stream=stream)


def init_xoroshiro128p_states_cpu(states, seed, subsequence_start):
    """init_xoroshiro128p_states for a NumPy array, which is returned."""
    made = _states(len(states), int(seed) & _MASK, int(subsequence_start) & _MASK)
    states["s0"], states["s1"] = made[:, 0], made[:, 1]
    return states


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """A device array of n states for kernels: as init_xoroshiro128p_states fills it."""
    states = device_array(n, dtype=xoroshiro128p_dtype, stream=stream)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states


__dir__ = _dir_of(__name__)
