"""numpy.random's names for counter-based random numbers (Philox4x32-10).

Draws are made on the device, recorded, and fused into what uses them. A seed gives the same numbers on every device,
but not NumPy's.
"""

import sys as _sys

from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, SeedSequence

from .._public import dir_of as _dir_of
from .._words import refusing as _refusing
from ._bits import XORWOW, BitGenerator, MRG32k3a, Philox, Philox4x3210
from ._generator import Generator, default_rng
from ._state import LEGACY as _LEGACY
from ._state import RandomState

__all__ = [
    "MRG32k3a", "MT19937", "PCG64", "PCG64DXSM", "SFC64", "XORWOW", "BitGenerator", "Generator", "Philox",
    "Philox4x3210", "RandomState", "SeedSequence", "default_rng", "get_bit_generator", "get_random_state", "ranf",
    "reset_states", "sample", "set_bit_generator", "set_random_state",
    *_LEGACY,
]  # fmt: skip

for _class in (BitGenerator, Philox, XORWOW, MRG32k3a, Philox4x3210, Generator, RandomState):
    _class.__module__ = __name__  # pickles name the module in which a program finds the class

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
    globals()[_name] = getattr(_state, _name)
ranf = sample = _state.random_sample
del _class, _name

mtrand = _sys.modules[__name__]  # where programs look for RandomState, too

__getattr__ = _refusing(__name__)
__dir__ = _dir_of(__name__)
