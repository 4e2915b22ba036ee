"""Random numbers by counter (Philox4x32-10): numpy.random's names; draws are made on the device, recorded, and fuse
into what uses them. The same seed gives the same numbers on every device; they are not NumPy's.
"""

import functools
import inspect
from operator import index
from os import urandom

import numpy
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, SeedSequence

from .. import _core
from .._public import dir_of as _dir_of
from .._words import refusing as _refusing
from . import _draws, _orders, _vectors

_LEGACY = [
    *_draws.DISTRIBUTIONS, *_orders.ORDERS, "dirichlet", "multinomial", "multivariate_normal", "normal", "random",
    "standard_normal", "uniform", "get_state", "rand", "randint", "randn", "random_integers", "random_sample", "seed",
    "set_state",
]  # fmt: skip
__all__ = [
    "MRG32k3a", "MT19937", "PCG64", "PCG64DXSM", "SFC64", "XORWOW", "BitGenerator", "Generator", "Philox",
    "Philox4x3210", "RandomState", "SeedSequence", "default_rng", "get_bit_generator", "get_random_state", "ranf",
    "reset_states", "sample", "set_bit_generator", "set_random_state",
    *(name for name in _LEGACY if name != "permuted"),
]  # fmt: skip


def _number(seed):
    if isinstance(seed, numpy.ndarray):
        seed = seed.tolist()
    if isinstance(seed, (tuple, list)):
        value = 0
        for part in seed:
            value = (value * 6364136223846793005 + _number(part) + 1) % 2**64
        return value
    value = index(seed)
    if value < 0:
        raise ValueError("expected non-negative integer")
    return value % 2**64 ^ value >> 64


def _key(seed):
    """The number that a seed stands for, and its SeedSequence or what makes one."""
    if seed is None:
        seed = int.from_bytes(urandom(16), "little")
    if isinstance(seed, _draws.ndarray):
        seed = seed.get()
    if isinstance(seed, (numpy.random.Generator, numpy.random.RandomState)):
        seed = seed.bit_generator if isinstance(seed, numpy.random.Generator) else seed._bit_generator
    if isinstance(seed, numpy.random.BitGenerator):
        seed = seed.seed_seq
    if hasattr(seed, "generate_state"):
        return int(seed.generate_state(1, numpy.uint64)[0]), seed
    return _number(seed), seed


class BitGenerator:
    """What a Generator draws with: a key and a counter.

    seed: None (from the system), an int, a sequence of ints, a SeedSequence, or a generator of NumPy's, of which the
    seed is taken. Generators of one BitGenerator draw from it in turn."""

    def __init__(self, seed=None):
        key, self._seed = _key(seed)
        self._stream = _core.Generator(key)

    @classmethod
    def _of(cls, stream, seed):
        self = cls.__new__(cls)
        self._stream, self._seed = stream, seed
        return self

    def __reduce__(self):
        return _restored, (type(self), self.seed_seq, self._stream.state)

    @property
    def seed_seq(self):
        """The SeedSequence that spawn continues."""
        if not hasattr(self._seed, "generate_state"):
            self._seed = SeedSequence(self._seed)
        return self._seed

    _seed_seq = seed_seq  # NumPy's name of it, which Dask knows

    @property
    def state(self):
        """A dict with the key and the next counter, to save and to restore."""
        key, counter = self._stream.state
        return {"bit_generator": type(self).__name__, "state": {"key": key, "counter": counter}}

    @state.setter
    def state(self, value):
        if not isinstance(value, dict):
            raise TypeError("state must be a dict")
        if value.get("bit_generator") != type(self).__name__:
            raise ValueError(f"state must be for a {type(self).__name__} PRNG")
        self._stream.state = (value["state"]["key"], value["state"]["counter"])

    def random_raw(self, size=None, output=True):
        """64 random bits an element, as uint64; with output=False they are only passed over."""
        r = self._stream._words(0, 0, size, "uint64")
        return r if output else None

    def spawn(self, n_children):
        """A list of independent generators of the same kind."""
        return [type(self)(s) for s in self.seed_seq.spawn(n_children)]

    def advance(self, delta):
        """Moves the counter on; it gives two 64-bit numbers, or four float32 ones."""
        key, counter = self._stream.state
        self._stream.state = (key, (counter + delta) % 2**64)
        return self

    def jumped(self, jumps=1):
        """Another one, 2**62 counters on for each jump."""
        other = type(self)._of(_core.Generator(0), self._seed)
        other._stream.state = self._stream.state
        return other.advance(jumps << 62)


class Philox(BitGenerator):
    """Philox4x32-10 with a key of 64 bits and a counter of 64."""


class _Sized(BitGenerator):
    """One of CuPy's bit generators: its name and parameters. What it draws are Philox's numbers.

    seed: as BitGenerator's. size: accepted; here no generator holds a state for each thread."""

    def __init__(self, seed=None, *, size=-1):
        index(size)
        super().__init__(seed)


class XORWOW(_Sized):
    __doc__ = _Sized.__doc__


class MRG32k3a(_Sized):
    __doc__ = _Sized.__doc__


class Philox4x3210(_Sized):
    __doc__ = _Sized.__doc__


def _restored(kind, seed, state):
    bits = kind(seed)
    bits._stream.state = state
    return bits


def _restored_generator(bits, device):
    return Generator(bits, device)


class Generator(_core.Generator):
    """Draws of NumPy's distributions: Generator(bit_generator, device=None); a seed will do for a bit_generator.

    device: where it draws; None: the current device at each draw."""

    def __new__(cls, bit_generator=None, device=None):
        bits = bit_generator if isinstance(bit_generator, BitGenerator) else Philox(bit_generator)
        self = super().__new__(cls, bits._stream, device)
        self._bits, self._device = bits, device
        return self

    def __reduce__(self):
        return _restored_generator, (self._bits, self._device and str(self._device))

    def __repr__(self):
        return f"Generator({type(self._bits).__name__}) at 0x{id(self):X}"

    def __str__(self):
        return f"Generator({type(self._bits).__name__})"

    @property
    def bit_generator(self):
        """What it draws with."""
        return self._bits

    def spawn(self, n_children):
        """A list of independent generators."""
        return [Generator(bits, self._device) for bits in self._bits.spawn(n_children)]


def _real(dtype, name):
    """dtype where numbers of it can be drawn; TypeError says which can."""
    dtype = numpy.dtype(dtype)
    if dtype.kind not in "iuf" or dtype.itemsize > 8 or dtype == numpy.float16:
        raise TypeError(f"{name}: dtype {dtype} is no dtype to draw: float32, float64 and integers are")
    return dtype


def _typed(draw):
    """A distribution with CuPy's last parameter, dtype, which it lacks: what it draws, rounded to dtype."""

    @functools.wraps(draw)
    def typed(self, *args, dtype=None, **kwargs):
        if dtype is None:
            return draw(self, *args, **kwargs)
        dtype = _real(dtype, draw.__name__)
        return _draws.asarray(draw(self, *args, **kwargs)).astype(dtype, copy=False)

    found = inspect.signature(draw)
    given = inspect.Parameter("dtype", inspect.Parameter.KEYWORD_ONLY, default=None)
    typed.__signature__ = found.replace(parameters=[*found.parameters.values(), given])
    typed.__doc__ = f"{draw.__doc__}\n\n    dtype: float32, float64 or integers to round to; None: as they are drawn."
    return typed


_UNTYPED = ("bytes", "multinomial", "multivariate_hypergeometric")

for _module, _names in (
    (_draws, _draws.DISTRIBUTIONS), (_orders, _orders.ORDERS), (_vectors, _vectors.VECTORS),
):  # fmt: skip
    for _name in _names:
        _of = getattr(_module, _name)
        _plain = _module is _orders or _name in _UNTYPED or "dtype" in inspect.signature(_of).parameters
        setattr(Generator, _name, _of if _plain else _typed(_of))


def default_rng(seed=None, *, device=None):
    """A Generator; the same seed gives the same numbers on every device.

    seed: None (from the system), an int, a sequence of ints, a SeedSequence, a BitGenerator; a Generator comes back.
    Of NumPy's generators the seed is taken: the numbers are treadle's."""
    if isinstance(seed, Generator) and device is None:
        return seed
    return Generator(seed.bit_generator if isinstance(seed, Generator) else seed, device)


class RandomState:
    """NumPy's older interface, with the same numbers behind it as a Generator of that seed.

    dtype: of CuPy's draws of real numbers, float32 or float64. method: CuPy's number of a cuRAND generator, accepted;
    the numbers are Philox's."""

    def __init__(self, seed=None, method=None):
        self.__setstate__(seed if isinstance(seed, BitGenerator) else Philox(seed))

    def __setstate__(self, bits):
        self._g = Generator(bits)

    def __reduce__(self):
        return RandomState, (self._g.bit_generator,)

    def seed(self, seed=None):
        """Starts anew."""
        fresh = Philox(seed)
        self._g.bit_generator._seed = fresh._seed
        self._g.state = fresh._stream.state

    def get_state(self, legacy=True):
        """("Philox", key, next counter), or a dict of them."""
        return ("Philox", *self._g.state) if legacy else self._g.bit_generator.state

    def set_state(self, state):
        """Goes on where get_state was called."""
        if isinstance(state, dict):
            self._g.bit_generator.state = state
        elif isinstance(state, tuple) and len(state) == 3 and state[0] == "Philox":
            self._g.state = state[1:]
        else:
            raise ValueError('set_state: state is ("Philox", key, counter) or a dict, as get_state gives it')

    def random_sample(self, size=None, dtype=float):
        """Uniform in [0, 1)."""
        return self._g.random(size, dtype)

    random = random_sample

    def rand(self, *dims, dtype=float):
        """Uniform in [0, 1), of shape dims."""
        return self._g.random(dims or None, dtype)

    def randn(self, *dims, dtype=float):
        """Normal with mean 0 and deviation 1, of shape dims."""
        return self._g.standard_normal(dims or None, dtype)

    def standard_normal(self, size=None, dtype=float):
        """Normal with mean 0 and deviation 1."""
        return self._g.standard_normal(size, dtype)

    def standard_exponential(self, size=None, dtype=float):
        """Exponential with mean 1."""
        return self._g.standard_exponential(size, dtype)

    def standard_gamma(self, shape, size=None, dtype=float):
        """Gamma of that shape and scale 1."""
        return self._g.standard_gamma(shape, size, dtype)

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=float):
        """Normal with mean loc and deviation scale."""
        return self._g.normal(loc, scale, size, dtype=dtype)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=float):
        """Uniform in [low, high)."""
        return self._g.uniform(low, high, size, dtype=dtype)

    def randint(self, low, high=None, size=None, dtype=int):
        """Integers in [low, high), or in [0, low)."""
        if dtype is None:
            raise TypeError("randint: dtype is one of integers or bool, not None")
        return self._g.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None):
        """Integers in [low, high], or in [1, low]."""
        low, high = (1, low) if high is None else (low, high)
        return self._g.integers(low, high, size, endpoint=True)

    def tomaxint(self, size=None):
        """Integers that are not negative."""
        return self._g.integers(0, 2**63 - 1, size, endpoint=True)

    def choice(self, a, size=None, replace=True, p=None):
        """Elements of a, or of range(a): with or without replacement, with probabilities p."""
        return self._g.choice(a, size, replace, p)

    def permutation(self, x):
        """x in random order; range(x) for a number."""
        return self._g.permutation(x)

    def shuffle(self, x):
        """Puts x in random order."""
        self._g.shuffle(x)


def _passed_on(name):
    """A method that calls the generator's."""
    of = getattr(Generator, name)

    def draw(self, *args, **kwargs):
        return of(self._g, *args, **kwargs)

    draw.__name__, draw.__qualname__, draw.__doc__ = name, f"RandomState.{name}", of.__doc__
    draw.__wrapped__ = of
    return draw


for _name in (*_LEGACY, "bytes"):
    if not hasattr(RandomState, _name) and _name != "permuted":
        setattr(RandomState, _name, _passed_on(_name))


_state = RandomState()
_chosen = _state  # what get_random_state gives


def get_random_state():
    """The RandomState that the module's functions draw with."""
    return _chosen


def set_random_state(rs):
    """Lets the module's functions draw with the RandomState rs, in turn with rs itself; TypeError for anything else."""
    global _chosen
    if not isinstance(rs, RandomState):
        raise TypeError(f"set_random_state: {type(rs).__name__} is no treadle.random.RandomState")
    _chosen, _state._g = rs, rs._g


def reset_states():
    """Starts the module's functions anew with a seed from the system."""
    set_bit_generator(None)


def get_bit_generator():
    """What the module's functions draw with."""
    return _state._g.bit_generator


def set_bit_generator(bitgen):
    """Lets the module's functions draw with another BitGenerator."""
    global _chosen
    _chosen = _state
    _state.__setstate__(bitgen if isinstance(bitgen, BitGenerator) else Philox(bitgen))


for _name in _LEGACY:
    if _name != "permuted":
        globals()[_name] = getattr(_state, _name)
ranf = sample = _state.random_sample
del _module, _name, _names, _of, _plain

__getattr__ = _refusing(__name__)
__dir__ = _dir_of(__name__)
