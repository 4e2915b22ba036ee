"""Cases of scipy.special."""

from scipy_side import Case

MODULES = ()
CASES = {"special.gammaln": Case(lambda sp, xp: sp.special.gammaln(xp.asarray([0.5, 3.0, -2.5])))}
