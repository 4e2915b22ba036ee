"""Random numbers by counter (Philox4x32-10): draws are recorded, and fuse into what uses them."""

from os import urandom

from ._core import Generator

__all__ = [
    "Generator",
    "default_rng",
    "normal",
    "rand",
    "randint",
    "randn",
    "random",
    "random_sample",
    "ranf",
    "sample",
    "seed",
    "standard_normal",
    "uniform",
]


def default_rng(seed=None, *, device=None):
    """A Generator; the same seed gives the same numbers on every device. None: from the system."""
    if isinstance(seed, Generator):
        return seed
    return Generator(int.from_bytes(urandom(8), "little") if seed is None else _number(seed), device)


def _number(seed):
    if isinstance(seed, (tuple, list)):
        value = 0
        for part in seed:
            value = (value * 6364136223846793005 + _number(part) + 1) % 2**64
        return value
    value = int(seed)
    if value < 0:
        raise ValueError(f"seed {value}: expected a non-negative integer")
    return value % 2**64 ^ value >> 64


_shared = None


def _rng():
    global _shared
    if _shared is None:
        _shared = default_rng()
    return _shared


def seed(seed=None):
    """Restarts the module's own generator."""
    global _shared
    _shared = default_rng(seed)


def random(size=None):
    """Uniform in [0, 1)."""
    return _rng().random(size)


random_sample = ranf = sample = random


def rand(*dims):
    """Uniform in [0, 1), of shape dims."""
    return _rng().random(dims or None)


def standard_normal(size=None):
    """Normal with mean 0 and deviation 1."""
    return _rng().standard_normal(size)


def randn(*dims):
    """Normal with mean 0 and deviation 1, of shape dims."""
    return _rng().standard_normal(dims or None)


def normal(loc=0.0, scale=1.0, size=None):
    """Normal with mean loc and deviation scale."""
    return _rng().normal(loc, scale, size)


def uniform(low=0.0, high=1.0, size=None):
    """Uniform in [low, high)."""
    return _rng().uniform(low, high, size)


def randint(low, high=None, size=None, dtype=int):
    """Integers in [low, high), or in [0, low)."""
    return _rng().integers(low, high, size, dtype)


def _forward(name):
    """A function of the module that calls the shared generator's method."""
    from . import _draws

    def draw(*args, **kwargs):
        return getattr(_rng(), name)(*args, **kwargs)

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = getattr(_draws, name).__doc__
    return draw


_DRAWS = (
    "choice exponential gumbel laplace logistic lognormal pareto permutation rayleigh shuffle standard_cauchy "
    "standard_exponential triangular weibull"
).split()
__all__ += _DRAWS


def __getattr__(name):
    if name not in _DRAWS:
        raise AttributeError(f"module 'treadle.random' has no attribute '{name}'")
    globals()[name] = _forward(name)
    return globals()[name]


def random_integers(low, high=None, size=None):
    """Integers in [low, high], or in [1, low]."""
    low, high = (1, low) if high is None else (low, high)
    return _rng().integers(low, high, size, endpoint=True)
