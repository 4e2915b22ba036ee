"""torch.quasirandom: Sobol sequences, whose numbers SciPy draws."""

from ... import torch
from .. import _modules

__all__ = ["SobolEngine"]


class SobolEngine:
    """A Sobol sequence of points in the unit cube with `dimension` dimensions (1 to 21201).

    scramble: permute the points at random, by seed. PyTorch permutes them differently. Raises ImportError without
    SciPy.
    """

    MAXBIT, MAXDIM = 30, 21201

    def __init__(self, dimension, scramble=False, seed=None):
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed, self.num_generated = dimension, scramble, seed, 0
        self._sequence = self._begin()

    def _begin(self):
        from scipy.stats import qmc

        seed = torch.initial_seed() if self.scramble and self.seed is None else self.seed
        return qmc.Sobol(self.dimension, scramble=self.scramble, seed=seed, bits=self.MAXBIT)

    def draw(self, n=1, out=None, dtype=None):
        """The next n points, of shape (n, dimension)."""
        import warnings

        dtype = torch.get_default_dtype() if dtype is None else dtype
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SciPy warns of numbers of points that are no powers of 2
            points = torch.from_numpy(self._sequence.random(n)).to(dtype)
        self.num_generated += n
        return points if out is None else out.resize_(points.shape).copy_(points)

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2 ** m points. Raises ValueError unless these and the points so far are a power of 2 together."""
        n, total = 2**m, self.num_generated + 2**m
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self):
        """Go back to the first point."""
        self._sequence, self.num_generated = self._begin(), 0
        return self

    def fast_forward(self, n):
        """Skip n points."""
        if n:
            self._sequence.fast_forward(n)
        self.num_generated += n
        return self

    def __repr__(self):
        said = [f"dimension={self.dimension}"] + ["scramble=True"] * self.scramble
        said += [f"seed={self.seed}"] * (self.seed is not None)
        return f"{type(self).__name__}({', '.join(said)})"


__getattr__, __dir__ = _modules.refusing("torch.quasirandom")
