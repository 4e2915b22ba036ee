"""torch.special: special functions. Those that are no rows of the core's table come from the array layer. They have a
derivative if it has a closed form."""

import math

from .._public import dir_of as _dir_of
from ._prim import ROWS, Tensor, apply, derived, joint_shape, op_names, scalar, td
from ._register import FUNCTIONS, METHODS, all_with_out, both, inplace
from ._tensor import _elementwise, _reduce
from ._tensor._dtypes import DTYPES, get_default_dtype, result_of
from ._tensor._layout import laid_like

__all__ = (
    "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t chebyshev_polynomial_u "
    "chebyshev_polynomial_v chebyshev_polynomial_w digamma entr erf erfc erfcx erfinv exp2 expit expm1 "
    "gammainc gammaincc gammaln hermite_polynomial_h hermite_polynomial_he i0 i0e i1 i1e laguerre_polynomial_l "
    "legendre_polynomial_p lgamma log1p log_ndtr log_softmax logit logsumexp modified_bessel_i0 "
    "modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 multigammaln ndtr ndtri polygamma psi round "
    "scaled_modified_bessel_k0 scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t "
    "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w sinc softmax "
    "spherical_bessel_j0 xlog1py xlogy zeta"
).split()

_their = td.special


def _float(x):
    return x if x.dtype._kind in "fc" else x.to(get_default_dtype())


def _of_one(name, theirs, slope=None, doc=None):
    """A function of one tensor. slope(x, r) is its derivative."""

    def f(a):
        r = theirs(a)
        return r if r.dtype == a.dtype else r.astype(a.dtype)

    f.__name__ = name
    prim = derived(name.title().replace("_", ""))(f)
    if slope is not None:
        prim.backward(lambda inputs, r, g: g * slope(inputs[0], r))

    def call(input):
        x = _float(input)
        return laid_like(prim(x), x)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (doc or f"{name} of the elements.") + ("" if slope else " Not differentiated.")
    return call


def _of_two(name, theirs, slope=None, doc=None):
    """A function of two tensors. slope(x, y, r) is the derivative with respect to the second."""

    def f(a, b):
        r = theirs(a, b)
        return r if r.dtype == a.dtype else r.astype(a.dtype)

    f.__name__ = name
    prim = derived(name.title().replace("_", ""))(f)
    if slope is not None:
        prim.backward(lambda inputs, r, g: (None, g * slope(*inputs, r)))

    def call(input, other):
        x, y = _beside(input, other)
        return laid_like(prim(x, y), x, y)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc or f"{name} of pairs of elements."
    return call


def _beside(x, y):
    """Two operands as tensors of one dtype and shape."""
    like = x if isinstance(x, Tensor) else y
    both_ = [t for t in (x, y) if isinstance(t, Tensor)]
    kind = _float(like.new_empty(0, dtype=result_of(both_, [t for t in (x, y) if not isinstance(t, Tensor)]))).dtype
    x, y = (t.to(kind) if isinstance(t, Tensor) else scalar(t, like, kind) for t in (x, y))
    shape = joint_shape(tuple(x.shape), tuple(y.shape))
    return x.expand(shape), y.expand(shape)


# ---- gamma and its relatives ----


@derived("Polygamma")
def _polygamma(a, *, n):
    with a.device:  # n is put on a's device
        r = _their.digamma(a) if n == 0 else _their.polygamma(n, a)
    return r if r.dtype == a.dtype else r.astype(a.dtype)


@_polygamma.backward
def _(inputs, r, g, *, n):
    return g * _polygamma(inputs[0], n=n + 1)


@both()
def digamma(input):
    """The derivative of log(gamma)."""
    return polygamma(0, input)


psi = digamma


def polygamma(n, input):
    """The n-th derivative of digamma."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if input.dtype.is_complex:
        raise NotImplementedError(f'"polygamma" not implemented for {input.dtype}')
    x = _float(input)
    return laid_like(_polygamma(x, n=n), x)


FUNCTIONS["polygamma"] = polygamma
METHODS["polygamma"] = lambda self, n: polygamma(n, self)


@derived("Lgamma")
def _lgamma(a):
    return ROWS["lgamma"](a)


@_lgamma.backward
def _(inputs, r, g):
    return g * digamma(inputs[0])


@both()
def lgamma(input):
    """log(|gamma|)."""
    x = _float(input)
    return laid_like(_lgamma(x), x)


gammaln = lgamma


@both("mvlgamma")
def _multigammaln(input, p):
    """The logarithm of the gamma function of p dimensions."""
    total = sum(lgamma(input - j / 2) for j in range(p))
    return total + p * (p - 1) / 4 * math.log(math.pi)


def multigammaln(input, p):
    """The logarithm of the gamma function of p dimensions."""
    return _multigammaln(input, p)


def _gamma_density(a, x, r):
    return apply("exp", (a - 1) * apply("log", x) - x - apply("lgamma", a))


gammainc = _of_two("gammainc", _their.gammainc, _gamma_density, "The lower regularised incomplete gamma function.")
gammaincc = _of_two("gammaincc", _their.gammaincc, lambda a, x, r: -_gamma_density(a, x, r), "The upper one.")
zeta = _of_two("zeta", _their.zeta, lambda s, q, r: -s * zeta(s + 1, q), "Hurwitz's zeta function.")
FUNCTIONS["igamma"] = METHODS["igamma"] = gammainc
FUNCTIONS["igammac"] = METHODS["igammac"] = gammaincc

# ---- errors and normal distributions ----

erfinv = _of_one(
    "erfinv", _their.erfinv, lambda x, r: math.sqrt(math.pi) / 2 * apply("exp", r * r), "The inverse of erf."
)
erfcx = _of_one("erfcx", _their.erfcx, lambda x, r: 2 * x * r - 2 / math.sqrt(math.pi), "exp(x * x) * erfc(x).")
ndtri = _of_one(
    "ndtri", _their.ndtri, lambda x, r: math.sqrt(2 * math.pi) * apply("exp", r * r / 2), "The inverse of ndtr."
)
both()(erfinv)


def ndtr(input):
    """The cdf of the normal distribution."""
    return apply("erfc", _float(input) * -math.sqrt(0.5)) * 0.5


def _log_ndtr_slope(x, r):
    return apply("exp", -x * x / 2 - r) / math.sqrt(2 * math.pi)


log_ndtr = _of_one("log_ndtr", _their.log_ndtr, _log_ndtr_slope, "The logarithm of ndtr.")

# ---- Bessel functions ----

i0e = _of_one("i0e", _their.i0e, lambda x, r: i1e(x) - apply("sign", x) * r, "i0, scaled by exp(-|x|).")
i1e = _of_one("i1e", _their.i1e, lambda x, r: _i1_slope(x, r, i0e) - apply("sign", x) * r, "i1, scaled by exp(-|x|).")
i0 = _of_one("i0", _their.i0, lambda x, r: i1(x), "The modified Bessel function of order 0.")
i1 = _of_one("i1", _their.i1, lambda x, r: _i1_slope(x, r, i0), "The modified Bessel function of order 1.")


def _i1_slope(x, r, of_zero):
    nothing = x == 0
    return apply("select", nothing, 0.5, of_zero(x) - r / apply("select", nothing, scalar(1, x), x))


both()(i0)
inplace("i0", "lgamma", "digamma", "erfinv", "polygamma", "mvlgamma", "igamma", "igammac")
modified_bessel_i0, modified_bessel_i1 = i0, i1
bessel_j0 = _of_one("bessel_j0", _their.j0, lambda x, r: -bessel_j1(x))
bessel_j1 = _of_one(
    "bessel_j1",
    _their.j1,
    lambda x, r: apply("select", x == 0, 0.5, bessel_j0(x) - r / apply("select", x == 0, scalar(1, x), x)),
)
bessel_y0 = _of_one("bessel_y0", _their.y0, lambda x, r: -bessel_y1(x))
bessel_y1 = _of_one("bessel_y1", _their.y1, lambda x, r: bessel_y0(x) - r / x)
modified_bessel_k0 = _of_one("modified_bessel_k0", _their.k0, lambda x, r: -modified_bessel_k1(x))
modified_bessel_k1 = _of_one("modified_bessel_k1", _their.k1, lambda x, r: -modified_bessel_k0(x) - r / x)
scaled_modified_bessel_k0 = _of_one("scaled_modified_bessel_k0", _their.k0e)
scaled_modified_bessel_k1 = _of_one("scaled_modified_bessel_k1", _their.k1e)
spherical_bessel_j0 = _of_one("spherical_bessel_j0", lambda a: td.where(td.isinf(a), 0, td.sinc(a / math.pi)))
airy_ai = _of_one("airy_ai", lambda a: _their.airy(a)[0])

# ---- polynomials ----


def _polynomial(name, first, step):
    """p[k + 1] = step(x, k, p[k], p[k - 1]), starting from p[0] = 1 and p[1] = first(x)."""

    def f(input, n):
        if isinstance(input, Tensor) and isinstance(n, Tensor) or not isinstance(input, Tensor):
            return _of_each_degree(f, input, n)
        input, n = _float(input), int(n)
        if n < 0:
            return input * 0
        before, now = input * 0 + 1, first(input)
        for k in range(1, n):
            before, now = now, step(input, k, now, before)
        return now if n else before

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "The polynomial of degree n, a number, by its recurrence."
    return f


def _of_each_degree(f, x, n):
    """f for degrees that are a tensor's elements. Each degree that occurs is computed for all of x, and selected where
    it is asked for."""
    x = x if isinstance(x, Tensor) else scalar(x, n, get_default_dtype())
    degrees = n.detach().to(DTYPES["int64"])
    r = _float(x) * 0 + degrees * 0
    for k in sorted(set(degrees.reshape(-1).tolist())):
        r = apply("select", degrees == k, f(x, k), r)
    return r


def _twice(x, k, p, q):
    return 2 * x * p - q


def _moved(f):
    def shifted(input, n):
        x = _float(input) if isinstance(input, Tensor) else input
        return f(2 * x - 1, n)

    shifted.__name__ = shifted.__qualname__ = "shifted_" + f.__name__
    shifted.__doc__ = f"{f.__name__} of 2 x - 1."
    return shifted


chebyshev_polynomial_t = _polynomial("chebyshev_polynomial_t", lambda x: x, _twice)
chebyshev_polynomial_u = _polynomial("chebyshev_polynomial_u", lambda x: 2 * x, _twice)
chebyshev_polynomial_v = _polynomial("chebyshev_polynomial_v", lambda x: 2 * x - 1, _twice)
chebyshev_polynomial_w = _polynomial("chebyshev_polynomial_w", lambda x: 2 * x + 1, _twice)
shifted_chebyshev_polynomial_t = _moved(chebyshev_polynomial_t)
shifted_chebyshev_polynomial_u = _moved(chebyshev_polynomial_u)
shifted_chebyshev_polynomial_v = _moved(chebyshev_polynomial_v)
shifted_chebyshev_polynomial_w = _moved(chebyshev_polynomial_w)
hermite_polynomial_h = _polynomial("hermite_polynomial_h", lambda x: 2 * x, lambda x, k, p, q: 2 * x * p - 2 * k * q)
hermite_polynomial_he = _polynomial("hermite_polynomial_he", lambda x: x, lambda x, k, p, q: x * p - k * q)
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l", lambda x: 1 - x, lambda x, k, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)
)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p", lambda x: x, lambda x, k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1)
)

# ---- functions that torch has, too, and composed ones ----

_rows = {row: name for name, (row, _) in _elementwise.NAMES.items()}
for _name, _row in op_names("torch.special").items():
    globals()[_name] = FUNCTIONS[_rows[_row].removesuffix("_")]
    if _name not in __all__:
        __all__.append(_name)
logit, round, sinc = _elementwise.logit, _elementwise.round_, _elementwise.sinc
logsumexp = _reduce.logsumexp


def softmax(input, dim, *, dtype=None):
    """exp(x) over its sum along dim."""
    return _reduce.softmax(input, dim, dtype)


def log_softmax(input, dim, *, dtype=None):
    """The logarithm of softmax."""
    return _reduce.log_softmax(input, dim, dtype)


def entr(input):
    """-x log(x). 0 for 0, and minus infinity for negative x."""
    x = _float(input)
    return laid_like(_entr(x), x)


@derived("SpecialEntr")
def _entr(a):
    return td.where(a > 0, -td.xlogy(a, a), td.where(a == 0, 0, td.where(a < 0, -math.inf, a))).astype(a.dtype)


@_entr.backward
def _(inputs, r, g):
    return g * (-1 - apply("log", inputs[0]))


def xlog1py(input, other):
    """x * log1p(y), and 0 where x is 0."""
    x, y = _beside(input, other)
    return laid_like(_xlog1py(x, y), x, y)


@derived("SpecialXlog1py")
def _xlog1py(a, b):
    return td.where((a == 0) & (b == b), 0, a * td.log1p(b)).astype(a.dtype)


@_xlog1py.backward
def _(inputs, r, g):
    x, y = inputs
    nothing = (x == 0) & (y <= -1)
    return g * apply("select", nothing, scalar(0, x), apply("log1p", y)), g * x / (y + 1)


all_with_out(__all__, globals())
__dir__ = _dir_of(__name__)
