"""Generator: draws of NumPy's distributions with a BitGenerator.

The distributions are functions of the sibling modules; here they become Generator's methods.
"""

import functools
import inspect

import numpy

from .. import _core, _describe
from . import _draws, _orders, _vectors
from ._bits import BitGenerator, Philox


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
    device : device, str or mesh, optional
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
    if hasattr(device, "__treadle_mesh__"):
        return device.generator(seed)
    if isinstance(seed, Generator) and device is None:
        return seed
    return Generator(seed.bit_generator if isinstance(seed, Generator) else seed, device)
