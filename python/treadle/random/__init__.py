"""numpy.random's names for counter-based random numbers (Philox4x32-10).

Draws are made on the device, recorded, and fused into what uses them. A seed gives the same numbers on every device,
but not NumPy's.
"""

import functools
import inspect
from operator import index
from os import urandom

import numpy
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, SeedSequence

from .. import _core, _describe
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
    """(the number that a seed stands for, its SeedSequence or a function that makes one)."""
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
    """A key and a counter that a Generator draws with; Generators of one BitGenerator draw from it in turn.

    Parameters
    ----------
    seed : int, sequence of ints, SeedSequence or generator of NumPy's, optional
        The seed, of a generator of NumPy's its seed; None takes one from the system.

    Raises
    ------
    ValueError
        The seed is negative.

    Examples
    --------
    >>> np.random.BitGenerator(7).random_raw().dtype
    dtype('uint64')
    """

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

    _seed_seq = seed_seq  # NumPy's name for it, which Dask uses

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
        """Random bits.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; None means one number, or the parameters' broadcast shape.
        output : bool, default True
            False passes over them.

        Returns
        -------
        ndarray of uint64 or None
            Of size's shape.

        Examples
        --------
        >>> np.random.Philox(7).random_raw(3).shape
        (3,)
        """
        r = self._stream._words(0, 0, size, "uint64")
        return r if output else None

    def spawn(self, n_children):
        """Independent generators of the same kind.

        Parameters
        ----------
        n_children : int
            How many.

        Returns
        -------
        list of BitGenerators
            Each with a seed of its own.

        Examples
        --------
        >>> len(np.random.Philox(7).spawn(2))
        2
        """
        return [type(self)(s) for s in self.seed_seq.spawn(n_children)]

    def advance(self, delta):
        """Move the counter on.

        Parameters
        ----------
        delta : int
            By how much; a count gives two 64-bit numbers, or four float32 ones.

        Returns
        -------
        BitGenerator
            Itself.

        Examples
        --------
        >>> type(np.random.Philox(7).advance(3)).__name__
        'Philox'
        """
        key, counter = self._stream.state
        self._stream.state = (key, (counter + delta) % 2**64)
        return self

    def jumped(self, jumps=1):
        """Another generator, far ahead of this one.

        Parameters
        ----------
        jumps : int, default 1
            How many times 2**62 counts.

        Returns
        -------
        BitGenerator
            Of the same kind and key.

        Examples
        --------
        >>> type(np.random.Philox(7).jumped()).__name__
        'Philox'
        """
        other = type(self)._of(_core.Generator(0), self._seed)
        other._stream.state = self._stream.state
        return other.advance(jumps << 62)


class Philox(BitGenerator):
    """Philox4x32-10 with a key of 64 bits and a counter of 64.

    Parameters
    ----------
    seed : int, sequence of ints, SeedSequence or generator of NumPy's, optional
        As BitGenerator's.

    Examples
    --------
    >>> np.random.Philox(7).random_raw().dtype
    dtype('uint64')
    """


class _Sized(BitGenerator):
    """One of CuPy's bit generators by its name and parameters; what it draws are Philox's numbers.

    Parameters
    ----------
    seed : int, sequence of ints, SeedSequence or generator of NumPy's, optional
        As BitGenerator's.
    size : int, default -1
        Accepted for CuPy's signature; no generator here holds a state for each thread.

    Examples
    --------
    >>> np.random.XORWOW(7).random_raw().dtype
    dtype('uint64')
    """

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
    """Draws of NumPy's distributions.

    Parameters
    ----------
    bit_generator : BitGenerator or seed, optional
        What it draws with; anything but a BitGenerator is a seed of Philox.
    device : device or str, optional
        Where it draws; None means the current device at each draw.

    Examples
    --------
    >>> np.random.Generator(np.random.Philox(7)).random(3).shape
    (3,)
    """

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
        """Independent generators.

        Parameters
        ----------
        n_children : int
            How many.

        Returns
        -------
        list of Generators
            Each with a seed of its own.

        Examples
        --------
        >>> len(np.random.default_rng(7).spawn(2))
        2
        """
        return [Generator(bits, self._device) for bits in self._bits.spawn(n_children)]


def _real(dtype, name):
    """dtype, if numbers of it can be drawn. Raises TypeError, which lists those that can."""
    dtype = numpy.dtype(dtype)
    if dtype.kind not in "iuf" or dtype.itemsize > 8 or dtype == numpy.float16:
        raise TypeError(f"{name}: dtype {dtype} is no dtype to draw: float32, float64 and integers are")
    return dtype


def _typed(draw):
    """Give a distribution CuPy's last parameter, dtype. Its draws are rounded to that dtype."""

    @functools.wraps(draw)
    def typed(self, *args, dtype=None, **kwargs):
        if dtype is None:
            return draw(self, *args, **kwargs)
        dtype = _real(dtype, draw.__name__)
        return _draws.asarray(draw(self, *args, **kwargs)).astype(dtype, copy=False)

    found = inspect.signature(draw)
    given = inspect.Parameter("dtype", inspect.Parameter.KEYWORD_ONLY, default=None)
    typed.__signature__ = found.replace(parameters=[*found.parameters.values(), given])
    kind, text = _describe.DRAWN["dtype"]
    typed.__doc__ = draw.__doc__.replace("\n\n    Returns", f"\n    dtype : {kind}\n        {text}\n\n    Returns", 1)
    return typed


_UNTYPED = ("bytes", "multinomial", "multivariate_hypergeometric")

for _module, _names in (
    (_draws, _draws.DISTRIBUTIONS), (_orders, _orders.ORDERS), (_vectors, _vectors.VECTORS),
):  # fmt: skip
    for _name in _names:
        _of = getattr(_module, _name)
        _plain = _module is _orders or _name in _UNTYPED or "dtype" in inspect.signature(_of).parameters
        _method = _of if _plain else _typed(_of)
        if _module is _draws and _name != "bytes":
            _method.__doc__ = _describe.distribution(_name, inspect.signature(_method), _of.__doc__)
        setattr(Generator, _name, _method)


def default_rng(seed=None, *, device=None):
    """A Generator; the same seed gives the same numbers on every device.

    Parameters
    ----------
    seed : int, sequence of ints, SeedSequence, BitGenerator or Generator, optional
        The seed; a Generator comes back itself. Of NumPy's generators the seed is taken, but the numbers are treadle's.
        None takes a seed from the system.
    device : device or str, optional
        Where it draws; None means the current device at each draw.

    Returns
    -------
    Generator
        NumPy's methods.

    Raises
    ------
    ValueError
        The seed is negative.

    Examples
    --------
    >>> bool((np.random.default_rng(7).random(3) == np.random.default_rng(7).random(3)).all())
    True
    """
    if isinstance(seed, Generator) and device is None:
        return seed
    return Generator(seed.bit_generator if isinstance(seed, Generator) else seed, device)


class RandomState:
    """NumPy's older interface, with the same numbers behind it as a Generator of that seed.

    Parameters
    ----------
    seed : int, sequence of ints, SeedSequence or BitGenerator, optional
        As default_rng's.
    method : int, optional
        CuPy's number of a cuRAND generator; accepted, the numbers are Philox's.

    Examples
    --------
    >>> np.random.RandomState(7).rand(3).shape
    (3,)
    """

    def __init__(self, seed=None, method=None):
        self.__setstate__(seed if isinstance(seed, BitGenerator) else Philox(seed))

    def __setstate__(self, bits):
        self._g = Generator(bits)

    def __reduce__(self):
        return RandomState, (self._g.bit_generator,)

    def seed(self, seed=None):
        """Start anew.

        Parameters
        ----------
        seed : int or sequence of ints, optional
            The seed; None takes one from the system.

        Examples
        --------
        >>> np.random.seed(7)
        """
        fresh = Philox(seed)
        self._g.bit_generator._seed = fresh._seed
        self._g.state = fresh._stream.state

    def get_state(self, legacy=True):
        """What the next draw depends on.

        Parameters
        ----------
        legacy : bool, default True
            False returns a dict, as a BitGenerator's state.

        Returns
        -------
        tuple or dict
            ("Philox", key, next counter).

        Examples
        --------
        >>> np.random.get_state()[0]
        'Philox'
        """
        return ("Philox", *self._g.state) if legacy else self._g.bit_generator.state

    def set_state(self, state):
        """Go on where get_state was called.

        Parameters
        ----------
        state : tuple or dict
            What get_state gave.

        Raises
        ------
        ValueError
            It is neither.

        Examples
        --------
        >>> np.random.set_state(np.random.get_state())
        """
        if isinstance(state, dict):
            self._g.bit_generator.state = state
        elif isinstance(state, tuple) and len(state) == 3 and state[0] == "Philox":
            self._g.state = state[1:]
        else:
            raise ValueError('set_state: state is ("Philox", key, counter) or a dict, as get_state gives it')

    def random_sample(self, size=None, dtype=float):
        """Uniform in [0, 1).

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; None means one number, or the parameters' broadcast shape.
        dtype : dtype, default float
            float32 or float64.

        Returns
        -------
        ndarray
            Of size's shape.

        Examples
        --------
        >>> np.random.random_sample(3).shape
        (3,)
        """
        return self._g.random(size, dtype)

    random = random_sample

    def rand(self, *dims, dtype=float):
        """Uniform in [0, 1).

        Parameters
        ----------
        *dims : int
            Shape of the result.
        dtype : dtype, default float
            float32 or float64.

        Returns
        -------
        ndarray, shape dims
            A number has shape ().

        Examples
        --------
        >>> np.random.rand(2, 3).shape
        (2, 3)
        """
        return self._g.random(dims or None, dtype)

    def randn(self, *dims, dtype=float):
        """Normal with mean 0 and deviation 1.

        Parameters
        ----------
        *dims : int
            Shape of the result.
        dtype : dtype, default float
            float32 or float64.

        Returns
        -------
        ndarray, shape dims
            A number has shape ().

        Examples
        --------
        >>> np.random.randn(2, 3).shape
        (2, 3)
        """
        return self._g.standard_normal(dims or None, dtype)

    def standard_normal(self, size=None, dtype=float):
        """Normal with mean 0 and deviation 1.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; None means one number, or the parameters' broadcast shape.
        dtype : dtype, default float
            float32 or float64.

        Returns
        -------
        ndarray
            Of size's shape.

        Examples
        --------
        >>> np.random.standard_normal(3).shape
        (3,)
        """
        return self._g.standard_normal(size, dtype)

    def standard_exponential(self, size=None, dtype=float):
        """Exponential with mean 1.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; None means one number, or the parameters' broadcast shape.
        dtype : dtype, default float
            float32 or float64.

        Returns
        -------
        ndarray
            Of size's shape.

        Examples
        --------
        >>> np.random.standard_exponential(3).shape
        (3,)
        """
        return self._g.standard_exponential(size, dtype)

    def standard_gamma(self, shape, size=None, dtype=float):
        """Gamma of a shape and of scale 1.

        Parameters
        ----------
        shape : float or array_like
            Shape, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; None means one number, or the parameters' broadcast shape.
        dtype : dtype, default float
            float32 or float64.

        Returns
        -------
        ndarray
            Of size's shape, or the parameter's.

        Raises
        ------
        ValueError
            shape is negative.

        Examples
        --------
        >>> np.random.standard_gamma(2.0, size=3).shape
        (3,)
        """
        return self._g.standard_gamma(shape, size, dtype)

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=float):
        """Normal of a mean and a deviation.

        Parameters
        ----------
        loc : float or array_like, default 0.0
            Mean.
        scale : float or array_like, default 1.0
            Deviation, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; None means one number, or the parameters' broadcast shape.
        dtype : dtype, default float
            float32 or float64.

        Returns
        -------
        ndarray
            Of size's shape, or the parameters'.

        Raises
        ------
        ValueError
            scale is negative.

        Examples
        --------
        >>> np.random.normal(size=3).shape
        (3,)
        """
        return self._g.normal(loc, scale, size, dtype=dtype)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=float):
        """Uniform in [low, high).

        Parameters
        ----------
        low : float or array_like, default 0.0
            Least number.
        high : float or array_like, default 1.0
            Upper bound.
        size : int or tuple of ints, optional
            Shape of the result; None means one number, or the parameters' broadcast shape.
        dtype : dtype, default float
            float32 or float64.

        Returns
        -------
        ndarray
            Of size's shape, or the parameters'.

        Raises
        ------
        OverflowError
            high - low is not finite.

        Examples
        --------
        >>> np.random.uniform(1.0, 2.0, size=3).shape
        (3,)
        """
        return self._g.uniform(low, high, size, dtype=dtype)

    def randint(self, low, high=None, size=None, dtype=int):
        """Integers of an interval, all equally likely.

        Parameters
        ----------
        low : int or array_like of int
            Least number; without high the upper bound, and 0 is the least.
        high : int or array_like of int, optional
            Upper bound, which is left out.
        size : int or tuple of ints, optional
            Shape of the result; None means one number, or the parameters' broadcast shape.
        dtype : dtype, default int
            An integer dtype or bool.

        Returns
        -------
        ndarray
            Of size's shape, or the parameters'.

        Raises
        ------
        ValueError
            low is not below high, or dtype does not hold them.
        TypeError
            dtype is neither integers nor bool.

        Examples
        --------
        >>> np.random.randint(0, 6, size=3).shape
        (3,)
        """
        if dtype is None:
            raise TypeError("randint: dtype is one of integers or bool, not None")
        return self._g.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None):
        """Integers of an interval with its upper bound; randint is NumPy's newer name.

        Parameters
        ----------
        low : int or array_like of int
            Least number; without high the upper bound, and 1 is the least.
        high : int or array_like of int, optional
            Upper bound, which may be drawn.
        size : int or tuple of ints, optional
            Shape of the result; None means one number, or the parameters' broadcast shape.

        Returns
        -------
        ndarray of int64
            Of size's shape, or the parameters'.

        Raises
        ------
        ValueError
            high is below low.

        Examples
        --------
        >>> np.random.random_integers(1, 6, size=3).shape
        (3,)
        """
        low, high = (1, low) if high is None else (low, high)
        return self._g.integers(low, high, size, endpoint=True)

    def tomaxint(self, size=None):
        """Integers from 0 to the greatest int64.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; None means one number, or the parameters' broadcast shape.

        Returns
        -------
        ndarray of int64
            Of size's shape.

        Examples
        --------
        >>> np.random.RandomState(7).tomaxint(3).shape
        (3,)
        """
        return self._g.integers(0, 2**63 - 1, size, endpoint=True)

    def choice(self, a, size=None, replace=True, p=None):
        """Elements of an array, chosen at random.

        Parameters
        ----------
        a : array_like or int
            The elements; an int stands for range(a).
        size : int or tuple of ints, optional
            Shape of the draw; None means one element.
        replace : bool, default True
            An element may come several times.
        p : array_like, shape (N,), optional
            Probabilities that sum to 1; None means equal ones.

        Returns
        -------
        ndarray
            Of size's shape.

        Raises
        ------
        ValueError
            p does not fit, a is empty, or more elements are wanted than there are without replacement.

        Examples
        --------
        >>> sorted(np.random.choice(3, 3, replace=False).tolist())
        [0, 1, 2]
        """
        return self._g.choice(a, size, replace, p)

    def permutation(self, x):
        """The elements along the first axis in random order.

        Parameters
        ----------
        x : array_like or int
            The elements; an int stands for range(x).

        Returns
        -------
        ndarray
            A copy of x's shape and dtype.

        Examples
        --------
        >>> sorted(np.random.permutation(4).tolist())
        [0, 1, 2, 3]
        """
        return self._g.permutation(x)

    def shuffle(self, x):
        """Put the elements along the first axis in random order, in place.

        Parameters
        ----------
        x : ndarray or list
            What is shuffled.

        Raises
        ------
        ValueError
            x cannot be written.

        Examples
        --------
        >>> x = np.arange(4)
        >>> np.random.shuffle(x)
        >>> sorted(x.tolist())
        [0, 1, 2, 3]
        """
        self._g.shuffle(x)


def _passed_on(name):
    """A method that calls the generator's method of that name."""
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
_chosen = _state  # the RandomState that get_random_state returns


def get_random_state():
    """The RandomState that the module's functions draw with.

    Returns
    -------
    RandomState
        One for all threads.

    Examples
    --------
    >>> type(np.random.get_random_state()).__name__
    'RandomState'
    """
    return _chosen


def set_random_state(rs):
    """Let the module's functions draw with a RandomState, in turn with its own draws.

    Parameters
    ----------
    rs : RandomState
        The state.

    Raises
    ------
    TypeError
        rs is something else.

    Examples
    --------
    >>> np.random.set_random_state(np.random.RandomState(7))
    """
    global _chosen
    if not isinstance(rs, RandomState):
        raise TypeError(f"set_random_state: {type(rs).__name__} is no treadle.random.RandomState")
    _chosen, _state._g = rs, rs._g


def reset_states():
    """Start the module's functions anew with a seed from the system.

    Examples
    --------
    >>> np.random.reset_states()
    """
    set_bit_generator(None)


def get_bit_generator():
    """The BitGenerator that the module's functions draw with.

    Returns
    -------
    BitGenerator
        Philox unless another one was set.

    Examples
    --------
    >>> type(np.random.get_bit_generator()).__name__
    'Philox'
    """
    return _state._g.bit_generator


def set_bit_generator(bitgen):
    """Let the module's functions draw with another BitGenerator.

    Parameters
    ----------
    bitgen : BitGenerator or seed
        Anything but a BitGenerator is a seed of Philox.

    Examples
    --------
    >>> np.random.set_bit_generator(np.random.Philox(7))
    """
    global _chosen
    _chosen = _state
    _state.__setstate__(bitgen if isinstance(bitgen, BitGenerator) else Philox(bitgen))


for _name in _LEGACY:
    if _name != "permuted":
        globals()[_name] = getattr(_state, _name)
ranf = sample = _state.random_sample
del _method, _module, _name, _names, _of, _plain

__getattr__ = _refusing(__name__)
__dir__ = _dir_of(__name__)
