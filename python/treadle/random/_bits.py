"""BitGenerators: a seed becomes a key, and a key with a counter determines every draw.

All are Philox4x32-10. The other names are CuPy's, so that its programs run; their numbers are Philox's.
"""

from operator import index
from os import urandom

import numpy
from numpy.random import SeedSequence

from .. import _core
from . import _draws


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
