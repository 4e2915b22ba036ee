"""RandomState: NumPy's older methods, which pass on to a Generator's."""

from . import _draws, _orders
from ._bits import BitGenerator, Philox
from ._generator import Generator

# What is both a method of RandomState and a function of the module. NumPy's older interface has no permuted.
LEGACY = [
    *_draws.DISTRIBUTIONS, *(name for name in _orders.ORDERS if name != "permuted"), "dirichlet", "multinomial",
    "multivariate_normal", "normal", "random", "standard_normal", "uniform", "get_state", "rand", "randint", "randn",
    "random_integers", "random_sample", "seed", "set_state",
]  # fmt: skip


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
        elif isinstance(state, (tuple, list)) and len(state) == 3 and state[0] == "Philox":
            self._g.state = tuple(map(int, state[1:]))  # files give lists, and NumPy's numbers
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


for _name in (*LEGACY, "bytes"):
    if not hasattr(RandomState, _name):
        setattr(RandomState, _name, _passed_on(_name))
