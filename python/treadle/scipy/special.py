"""scipy.special's names: special functions."""

from .. import _core
from ._table import Table

NATIVE = {
    "_special._gamma": "beta betaln binom digamma gamma gammasgn loggamma poch psi rgamma zeta zetac",
    "_special._error": "erfcinv erfcx erfinv log_ndtr ndtr ndtri ndtri_exp",
    "_special._bessel": "i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e spherical_yn y0 y1 yn",
    "_special._exponential": "exp1 expi expn exprel lambertw shichi sici",
    "_special._elliptic": "ellipe ellipeinc ellipj ellipk ellipkinc ellipkm1 elliprd elliprf",
    "_special._incomplete": "bdtr bdtrc bdtri betainc betaincc betaincinv betainccinv btdtr btdtri chdtr chdtrc "
    "chdtri fdtr fdtrc fdtri gammainc gammaincc gammaincinv gammainccinv gdtr gdtrc nbdtr nbdtrc nbdtri pdtr pdtrc "
    "pdtri stdtr stdtrit",
    "_special._legendre": "lpmv sph_harm_y",
    "_special._simple": " ".join(_core.op_names("scipy.special")),
}
COMPOSED = {
    "_special._gamma": "comb multigammaln perm polygamma",
    "_special._simple": "boxcox boxcox1p cosdg cosm1 cotdg diric entr exp10 huber inv_boxcox inv_boxcox1p kl_div "
    "log_expit log_softmax logsumexp pseudo_huber radian rel_entr sinc sindg softmax tandg xlog1py",
}
__getattr__, __dir__, __all__ = Table("special", NATIVE, COMPOSED).attach()
