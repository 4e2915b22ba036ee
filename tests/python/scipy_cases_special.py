"""Cases of scipy.special: a grid for each function, with its bound from the table of kernels.

Where SciPy itself is further from the truth than the bound (its Cephes functions by large exponents), the grid leaves
such places out; values in between were compared with mpmath while the functions were written."""

import math

import numpy as np
from numpy_side import EachOf
from scipy_side import Case

import treadle.scipy.special as ours
from treadle import _core
from treadle.scipy._special._kernel import KERNELS

MODULES = ("special",)
ODD = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, 1, -1, 2, -2])
REAL = np.concatenate([ODD, np.linspace(-9.3, 30, 167), np.geomspace(1e-8, 600, 60)])
POSITIVE = np.concatenate([ODD[:5], np.linspace(0.05, 9.95, 100), np.geomspace(1e-8, 500, 60)])
UNIT = np.concatenate([[0, 1, math.nan], np.linspace(0.01, 0.99, 99), np.geomspace(1e-250, 0.01, 30), 1 - 2.0 ** -np.arange(9, 50, 4)])
SHAPES = np.array([0.001, 0.3, 1, 2.5, 9.9, 12, 100.5, math.nan, -1])
PLANE = (np.linspace(-5.3, 9, 21)[:, None] + 1j * np.linspace(-15.2, 15, 20)).ravel()


def grid(*axes):
    return tuple(a.ravel() for a in np.meshgrid(*(np.asarray(a) for a in axes), indexing="ij"))


def whole(low, high):
    return np.arange(float(low), float(high))


# Name: (arguments, relative error, absolute error).
GRIDS = {
    **dict.fromkeys("cbrt erf erfc exp2 expit expm1 i0 i0e i1 i1e gammasgn".split(), ((REAL[abs(REAL) < 600],), 0, 0)),
    **dict.fromkeys("log1p logit round erfcx log_ndtr ndtr exp10 log_expit".split(), ((REAL[abs(REAL) < 30],), 3e-14, 0)),
    **dict.fromkeys("gammaln rgamma gamma digamma psi loggamma".split(), ((REAL[REAL > -90],), 1e-13, 1e-14)),
    **dict.fromkeys("k0 k0e k1 k1e exp1 expi exprel sici".split(), ((POSITIVE[~np.isinf(POSITIVE)],), 2e-14, 1e-15)),
    **dict.fromkeys("sindg cosdg sinc cosm1".split(), ((REAL[np.isfinite(REAL)],), 1e-13, 1e-15)),
    **dict.fromkeys("tandg cotdg entr".split(), ((np.linspace(-370.0, 370, 75),), 4e-15, 0)),
    **dict.fromkeys("ellipk ellipkm1 ellipe".split(), ((np.concatenate([UNIT[UNIT > 1e-9], -POSITIVE]),), 1e-14, 0)),
    **dict.fromkeys("erfinv erfcinv ndtri".split(), ((UNIT,), 0, 0)),
    **dict.fromkeys("j0 j1 y0 y1".split(), ((REAL[abs(REAL) < 1e9],), 1e-13, 1e-15)),
    "shichi": ((np.concatenate([-POSITIVE, POSITIVE])[:-8],), 4e-14, 1e-15),
    "ndtri_exp": ((-POSITIVE[POSITIVE > 0],), 4e-14, 1e-15),
    "zetac": ((REAL[REAL < 60],), 1e-12, 1e-16),
    "zeta": ((REAL[REAL < 60],), 1e-12, 1e-16),
    "beta": (grid([-2.5, 0, 0.3, 1, 2.5, 9.9, 30, math.nan], [-2.5, 0.3, 1, 2.5, 9.9, 30]), 0, 0),
    "betaln": (grid([0.01, 0.3, 1, 2.5, 9.9, 30], [0.3, 1, 2.5, 9.9, 30]), 2e-13, 1e-14),
    "binom": (grid([-2.5, 0, 1, 2.5, 9, 30, math.nan], [-2.5, 0, 0.3, 1, 2, 9, 9.5]), 0, 1e-18),
    "poch": (grid([-2.5, 0.3, 1, 2.5, 9.9, 30, math.nan], [-2.5, -2, 0, 0.3, 1, 3, 12, 25.5]), 0, 0),
    "yn": (grid(whole(-3, 9), np.linspace(0.05, 90, 60)), 4e-13, 2e-15),
    "spherical_yn": (grid(np.arange(7), np.linspace(0.3, 25, 60)), 1e-13, 1e-15),
    "expn": (grid([0, 1, 2, 5, 30, 100], POSITIVE), 0, 0),
    "lambertw": (([*np.linspace(-4, 9, 40), 0.0, -0.3678, 1e9, 1e-9],), 0, 0),
    "ellipkinc": (grid(np.linspace(-7, 7, 29), [-3, 0, 0.5, 0.99, 1.5]), 0, 0),
    "ellipeinc": (grid(np.linspace(-7, 7, 29), [-3, 0, 0.5, 0.99, 1, 1.5]), 0, 0),
    "ellipj": (grid(np.linspace(-6, 6, 25), [0, 0.3, 0.5, 0.9, 0.99, 1, 1.5]), 4e-14, 2e-15),
    **dict.fromkeys("gammainc gammaincc".split(), (grid(SHAPES, POSITIVE[:-20]), 4e-13, 1e-290)),
    **dict.fromkeys("gammaincinv gammainccinv".split(), (grid(SHAPES[1:], UNIT[UNIT > 1e-20]), 4e-13, 1e-290)),
    **dict.fromkeys("betainc betaincc btdtr".split(), (grid(SHAPES, SHAPES, np.linspace(0, 1, 11)), 1e-12, 0)),
    **dict.fromkeys("betaincinv betainccinv btdtri".split(), (grid(SHAPES[1:], SHAPES[1:], np.linspace(0, 1, 11)), 4e-13, 1e-290)),
    **dict.fromkeys("bdtr bdtrc bdtri".split(), (grid(whole(0, 6), whole(6, 9), np.linspace(0, 1, 11)), 0, 0)),
    **dict.fromkeys("nbdtr nbdtrc nbdtri".split(), (grid(whole(0, 6), whole(1, 9), np.linspace(0, 1, 11)), 0, 0)),
    **dict.fromkeys("pdtr pdtrc chdtr chdtrc".split(), (grid(whole(1, 9), np.linspace(0, 20, 21)), 0, 0)),
    "pdtri": (grid(whole(0, 9), np.linspace(0.05, 0.95, 11)), 0, 0),
    "chdtri": (grid(whole(1, 9), np.linspace(0, 1, 11)), 0, 0),
    **dict.fromkeys("fdtr fdtrc".split(), (grid([0.5, 1, 2, 30], [0.5, 1, 5.5, 30], [0, 0.1, 1, 3, 50, math.inf, math.nan]), 0, 0)),
    "fdtri": (grid([0.5, 1, 2, 30], [0.5, 1, 5.5, 30], np.linspace(0.01, 0.99, 11)), 4e-13, 0),
    **dict.fromkeys("gdtr gdtrc".split(), (grid([0.5, 1, 2], [0.5, 1, 5.5, 30], [0, 0.1, 1, 3, 50, math.nan]), 0, 0)),
    "stdtr": (grid([0.5, 1, 2, 30], [-9, -2, -0.1, 0, 0.5, 7, math.inf, math.nan]), 0, 0),
    "stdtrit": (grid([0.5, 1, 2, 30], np.linspace(0.01, 0.99, 12)), 0, 0),
    "lpmv": (grid(whole(-3, 4), whole(0, 6), np.linspace(-1, 1, 9)), 0, 1e-15),
    "sph_harm_y": (grid(np.arange(6), np.arange(-3, 4), np.linspace(0, 3, 5), [0, 1, 4.5]), 0, 1e-15),
    "polygamma": (grid(np.arange(4), np.linspace(0.1, 20, 30)), 4e-15, 0),
    **dict.fromkeys("huber pseudo_huber xlogy xlog1py".split(), (grid(ODD, [-2, 0, 0.5, 3.3, math.nan]), 4e-15, 0)),
    **dict.fromkeys("kl_div rel_entr".split(), (grid([-1, 0, 0.5, 3.3, 30, math.nan], [-1, 0, 0.5, 30, math.nan]), 4e-15, 0)),
    **dict.fromkeys("boxcox boxcox1p inv_boxcox inv_boxcox1p".split(), (grid([0, 0.5, 3.3, math.nan], [-0.25, 0, 0.5, 3]), 4e-15, 0)),
    "elliprf": (grid([0, 0.5, 3, 1e-9], [0.1, 2, 700], [0, 0.3, 5]), 0, 0),
    "elliprd": (grid([0, 0.5, 3, 1e-9], [0.1, 2, 700], [0.01, 0.3, 5]), 0, 0),
    "radian": (grid([0, 90, 359], [0, 30], [0, 15.5]), 4e-16, 0),
}  # fmt: skip
COMPLEX = {
    "gamma": 1e-13, "loggamma": 1e-13, "rgamma": 1e-13, "digamma": 1e-13, "psi": 1e-13, "lambertw": 1e-13,
}  # fmt: skip
ON_NULL = "beta erfinv gammainc j0 lambertw sici zeta boxcox".split()
# The C library's or expressions: units in the last place of float64.
ULPS = dict.fromkeys("cbrt erf erfc exp2 expit expm1 i0 i0e i1 i1e gammasgn".split(), 4e-15) | {"erfc": 1e-13}


def _bound(name):
    return KERNELS[name].bound if name in KERNELS else 1e-12


def _call(name, args):
    return lambda sp, xp: getattr(sp.special, name)(*(xp.asarray(a) for a in args))


def _want(name):
    """btdtr and btdtri are betainc and betaincinv, which SciPy has under these names only."""
    args = GRIDS[name][0]

    def want():
        import scipy.special

        return getattr(scipy.special, {"btdtr": "betainc", "btdtri": "betaincinv"}[name])(*args)

    return want


def _first(a, n=6):
    """A few elements, away from the odd ones, as float32 where they are floats."""
    a = np.asarray(a)
    a = a[np.isfinite(a)][:: max(1, len(a) // n)]
    return a.astype("f4") if a.dtype.kind == "f" else a


def cases():
    found = {}
    for name, (args, rtol, atol) in GRIDS.items():
        getattr(ours, name)  # its kernel is known now
        want = _want(name) if name.startswith("btdtr") else None
        atol = 1e-300 if name == "erfc" else atol
        r = rtol or ULPS.get(name) or _bound(name)
        found[name] = [Case(_call(name, args), rtol=r, atol=atol, want=want)]
        if len(args) == 1 and name not in ("zeta", "lambertw"):
            found[name].append(Case(_call(name, (_first(args[0]),)), rtol=4e-6, atol=1e-6))
        if name in ON_NULL:
            small = tuple(np.asarray(a)[::29] for a in args)
            found[name].append(Case(_call(name, small), rtol=max(r, 1e-13), atol=atol, null=True))
        if name in COMPLEX:
            found[name].append(Case(_call(name, (PLANE,)), rtol=COMPLEX[name], atol=1e-13))
    return found


A = np.linspace(-3.0, 4, 24).reshape(2, 3, 4)
CASES = {f"special.{name}": case for name, case in cases().items()} | {
    "special.zeta": [
        *[Case(_call("zeta", (GRIDS["zeta"][0][0],)), rtol=1e-12, atol=1e-16)],
        Case(_call("zeta", grid([1, 1.5, 2, 5, 20, 0.5], [-1, 0.3, 1, 8, 100, 1e9])), rtol=1e-14, null=True),
    ],
    "special.lgamma": Case(lambda sp, xp: getattr(sp.special, "lgamma" if xp is not np else "gammaln")(xp.asarray(A)), 1e-13),
    "special.multigammaln": Case(lambda sp, xp: sp.special.multigammaln(xp.asarray(A + 9), 4)),
    "special.logsumexp": [
        Case(lambda sp, xp: sp.special.logsumexp(xp.asarray(A), axis=1), null=True),
        Case(lambda sp, xp: sp.special.logsumexp(xp.asarray(A), b=xp.asarray(A + 0.1), return_sign=True), dtype=False),
        Case(lambda sp, xp: sp.special.logsumexp(xp.asarray(A.astype("f4")), axis=(0, 2), keepdims=True)),
    ],
    "special.comb": [
        Case(lambda sp, xp: sp.special.comb(xp.asarray([-1, 0, 5, 30]), xp.asarray([[2], [0], [7]]))),
        Case(lambda sp, xp: sp.special.comb(xp.asarray([0, 5, 30]), 3, repetition=True)),
        Case(lambda sp, xp: sp.special.comb(50, 20, exact=True)),
    ],
    "special.perm": [
        Case(lambda sp, xp: sp.special.perm(xp.asarray([-1, 0, 5, 30]), xp.asarray([[2], [0], [7]]))),
        Case(lambda sp, xp: sp.special.perm(50, 20, exact=True)),
    ],
    "special.diric": Case(lambda sp, xp: sp.special.diric(xp.asarray(np.append(A, [0.0, 2 * np.pi, -2 * np.pi])), 6), 1e-9),
    "special.softmax": Case(lambda sp, xp: sp.special.softmax(xp.asarray(A), axis=-1), null=True),
    "special.log_softmax": Case(lambda sp, xp: sp.special.log_softmax(xp.asarray(A), axis=0)),
    "special.wright_bessel": Case(lambda sp, xp: sp.special.wright_bessel(1.5, 1.1, xp.asarray([0.0, 1, 2.5]))),
}


def _meant(name, row):
    """A row of the core's table that SciPy has not: what its meaning says."""
    meaning = next(r[3] for r in _core.ops() if r[0] == row)

    def compute(sp, xp):
        if xp is not np:
            return getattr(sp.special, name)(xp.asarray(A))
        return eval(meaning, {"np": np, "math": EachOf()}, {"x": A})

    return Case(compute, 1e-13)


for _name, _row in _core.op_names("scipy.special").items():
    if f"special.{_name}" not in CASES:
        CASES[f"special.{_name}"] = _meant(_name, _row)
