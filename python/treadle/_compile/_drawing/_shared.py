"""The distributions that numpy.random's functions and a Generator draw by the same steps, for compiled code.

``g`` is a source of numbers: the words of a Mersenne twister (``_twister``), as numpy.random's functions have, or an
instance of ``_generators``. The two make uniform, normal and exponential numbers in ways of their own.
"""

import math

import numpy as np

from . import _twister


def double(g):
    """A float in [0, 1)."""
    return _twister.double(g) if isinstance(g, np.ndarray) else g._double()


def gauss(g):
    """A standard normal number."""
    return _twister.gauss(g) if isinstance(g, np.ndarray) else g._gauss()


def decay(g):
    """A standard exponential number."""
    return -math.log(1.0 - _twister.double(g)) if isinstance(g, np.ndarray) else g._decay()


def uniform(g, low, width):
    return low + width * double(g)


def normal(g, loc, scale):
    return loc + scale * gauss(g)


def lognormal(g, mean, sigma):
    return math.exp(mean + sigma * gauss(g))


def exponential(g, scale, b):
    return scale * decay(g)


def standard_gamma(g, shape, b):
    if shape == 1.0:
        return decay(g)
    if shape == 0.0:
        return 0.0
    if shape < 1.0:
        while True:
            u = double(g)
            v = decay(g)
            if u <= 1.0 - shape:
                x = math.pow(u, 1.0 / shape)
                if x <= v:
                    return x
            else:
                y = -math.log((1.0 - u) / shape)
                x = math.pow(1.0 - shape + shape * y, 1.0 / shape)
                if x <= v + y:
                    return x
    b = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * b)
    while True:
        while True:
            x = gauss(g)
            v = 1.0 + c * x
            if not v <= 0.0:  # NaN leaves, too
                break
        v = v * v * v
        u = double(g)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
            return b * v


def gamma(g, shape, scale):
    return scale * standard_gamma(g, shape, 0.0)


def chisquare(g, df, b):
    return 2.0 * standard_gamma(g, df / 2.0, 0.0)


def beta(g, a, b):
    """For a or b above 1."""
    x = standard_gamma(g, a, 0.0)
    return x / (x + standard_gamma(g, b, 0.0))


def f(g, top, bottom):
    x = chisquare(g, top, 0.0) * bottom
    return x / (chisquare(g, bottom, 0.0) * top)


def student(g, df, b):
    x = gauss(g)
    return math.sqrt(df / 2.0) * x / math.sqrt(standard_gamma(g, df / 2.0, 0.0))


def cauchy(g, a, b):
    x = gauss(g)
    return x / gauss(g)


def weibull(g, a, b):
    return 0.0 if a == 0.0 else math.pow(decay(g), 1.0 / a)


def gumbel(g, loc, scale):
    while True:
        u = 1.0 - double(g)
        if u < 1.0:
            return loc - scale * math.log(-math.log(u))


def laplace(g, loc, scale):
    while True:
        u = double(g)
        if u > 0.0:
            break
    return loc - scale * math.log(2.0 - u - u) if u >= 0.5 else loc + scale * math.log(u + u)


def logistic(g, loc, scale):
    while True:
        u = double(g)
        if u > 0.0:
            return loc + scale * math.log(u / (1.0 - u))


def triangular(g, left, rest):
    mode, right = rest
    width = right - left
    u = double(g)
    if u <= (mode - left) / width:
        return left + math.sqrt(u * ((mode - left) * width))
    return right - math.sqrt((1.0 - u) * ((right - mode) * width))


def poisson(g, lam, b):
    if lam == 0.0:
        return 0
    if lam < 10.0:
        k, least, product = 0, math.exp(-lam), double(g)
        while product > least:
            k += 1
            product *= double(g)
        return k
    slam, loglam = math.sqrt(lam), math.log(lam)
    b = 0.931 + 2.53 * slam
    a = -0.059 + 0.02483 * b
    inverse, vr = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = double(g) - 0.5
        v = double(g)
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= vr:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v) + math.log(inverse) - math.log(a / (us * us) + b) <= -lam + k * loglam - math.lgamma(k + 1.0):
            return k


def searched_geometric(g, p):
    """The number of trials up to the first success, by adding up the probabilities of 1, 2, … trials."""
    k, total, part = 1, p, p
    u = double(g)
    while u > total:
        part *= 1.0 - p
        total += part
        k += 1
    return k


def negative_binomial(g, n, p):
    return poisson(g, gamma(g, n, (1.0 - p) / p), 0.0)


# ---- one number, or an array of them ----


def many(g, size, one, a, b):
    """one(g, a, b), or a float64 array of that size of such numbers."""
    if size is None:
        return one(g, a, b)
    return filled(g, np.empty(size), one, a, b)


def many_ints(g, size, one, a, b):
    """As many, with an int64 array."""
    if size is None:
        return one(g, a, b)
    return filled(g, np.empty(size, np.int64), one, a, b)


def filled(g, out, one, a, b):
    flat = out.reshape(-1)
    for i in range(flat.size):
        flat[i] = one(g, a, b)
    return out


def shuffle(g, x, upto):
    """Shuffle x along its first axis. upto(g, i) draws an int in [0, i]."""
    for i in range(x.shape[0] - 1, 0, -1):
        j = upto(g, i)
        if x.ndim == 1:
            x[i], x[j] = x[j], x[i]
        else:
            row = x[i].copy()
            x[i] = x[j]
            x[j] = row
