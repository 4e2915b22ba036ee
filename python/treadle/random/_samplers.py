"""Random variates by rejection, as functions of the kernel language: the same text runs on every device.

An element has 64 bits of its own, the key of a Philox4x32-10 stream; a sampler's n-th attempt takes the stream's block
n, and a sampler that is made of others gives each of them another ``stage`` of the stream. So a value depends on its
element's bits and parameters alone, not on the launch. The methods are those of the literature:

- gamma: Marsaglia and Tsang, A simple method for generating gamma variables, 2000; in logarithms where small
  shapes would underflow
- poisson and binomial: inversion for small means, else Hörmann's transformed rejection with squeeze (PTRS, BTRS), 1993,
  with probabilities in Loader's saddle point form, which does not cancel for large parameters
- hypergeometric: draws one by one for small samples, else ratio of uniforms (Stadlober's HRUA, 1990)
- vonmises: Best and Fisher, 1979; zipf: Devroye, Non-uniform random variate generation, X.6; logseries: Kemp, 1981;
  wald: Michael, Schucany and Haas, 1976
"""

import math

import numpy as np

_INT_MAX = 9223372036854775807
_HALF_LOG_2PI = 0.91893853320467274178


# ---- the stream ----


def block(key, n, stage):
    """Block n of a stage of the key's stream: two uint64 of random bits."""
    a = np.uint64(n) & np.uint64(0xFFFFFFFF)
    b = np.uint64(stage) & np.uint64(0xFFFFFFFF)
    # keeps these blocks apart from a generator's own draws with that key, whose words are 0 here
    c = np.uint64(0x5EED0F)
    d = np.uint64(0)
    k0 = np.uint64(key) & np.uint64(0xFFFFFFFF)
    k1 = np.uint64(key) >> np.uint64(32)
    for _ in range(10):
        x = a * np.uint64(0xD2511F53)
        y = c * np.uint64(0xCD9E8D57)
        a = (y >> np.uint64(32)) ^ b ^ k0
        b = y & np.uint64(0xFFFFFFFF)
        c = (x >> np.uint64(32)) ^ d ^ k1
        d = x & np.uint64(0xFFFFFFFF)
        k0 = (k0 + np.uint64(0x9E3779B9)) & np.uint64(0xFFFFFFFF)
        k1 = (k1 + np.uint64(0xBB67AE85)) & np.uint64(0xFFFFFFFF)
    return (b << np.uint64(32)) | a, (d << np.uint64(32)) | c


def unit(bits):
    """A float64 in (0, 1) of 52 bits."""
    return (np.float64(bits >> np.uint64(12)) + 0.5) * 2.0**-52


def half(bits):
    """A float64 in (0, 1) of the lower 32 bits."""
    return (np.float64(bits & np.uint64(0xFFFFFFFF)) + 0.5) * 2.0**-32


def uniform2(key, n, stage):
    """Two independent floats in (0, 1)."""
    x, y = block(key, n, stage)
    return unit(x), unit(y)


def normal(key, n, stage):
    """A standard normal number, and an independent uniform one of 32 bits."""
    x, y = block(key, n, stage)
    z = math.sqrt(-2.0 * math.log(unit(x))) * math.cos(6.283185307179586 * half(y >> np.uint64(32)))
    return z, half(y)


# ---- gamma and what is made of it ----


def gamma_above_one(key, stage, shape):
    """A gamma variate of shape >= 1. For a shape beyond 1e32 it is the shape itself, as for NaN: float64 cannot tell
    them apart."""
    if not shape < 1e32:
        return shape
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    n = 1
    v = np.float64(-1.0)
    while v <= 0.0:
        z, u = normal(key, n, stage)
        n += 1
        t = 1.0 + c * z
        if t > 0.0:
            t = t * t * t
            if math.log(u) < 0.5 * z * z + d - d * t + d * math.log(t):
                v = t
    return d * v


def log_gamma(key, stage, shape):
    """The logarithm of a gamma variate of shape >= 0."""
    if not shape > 0.0:
        return np.float64(-math.inf) if shape == 0.0 else shape
    if shape >= 1.0:
        return math.log(gamma_above_one(key, stage, shape))
    u, _ = uniform2(key, 0, stage)
    return math.log(gamma_above_one(key, stage, shape + 1.0)) + math.log(u) / shape


def gamma(key, stage, shape):
    """A gamma variate of shape >= 0."""
    if not shape > 0.0:
        return shape
    if shape >= 1.0:
        return gamma_above_one(key, stage, shape)
    u, _ = uniform2(key, 0, stage)
    return gamma_above_one(key, stage, shape + 1.0) * math.exp(math.log(u) / shape)


def chisquare(key, stage, df):
    return 2.0 * gamma(key, stage, 0.5 * df)


def beta(key, stage, a, b):
    x = log_gamma(key, stage, a)
    y = log_gamma(key, stage + 1, b)
    if x == y:  # both logarithms are equal, or underflow: draw 0 or 1 with the right probability
        u, _ = uniform2(key, 0, stage + 2)
        return np.float64(1.0) if u * (a + b) < a else np.float64(0.0)
    return 1.0 / (1.0 + math.exp(y - x))


def f(key, stage, dfnum, dfden):
    return gamma(key, stage, 0.5 * dfnum) * dfden / (gamma(key, stage + 1, 0.5 * dfden) * dfnum)


def standard_t(key, stage, df):
    z, _ = normal(key, 0, stage)
    return math.sqrt(0.5 * df) * z / math.sqrt(gamma(key, stage + 1, 0.5 * df))


def noncentral_chisquare(key, stage, df, nonc):
    if nonc != nonc:
        return nonc
    if nonc == 0.0:
        return chisquare(key, stage, df)
    if df > 1.0:
        z, _ = normal(key, 0, stage + 1)
        z += math.sqrt(nonc)
        return chisquare(key, stage, df - 1.0) + z * z
    return chisquare(key, stage, df + 2.0 * np.float64(poisson(key, stage + 1, 0.5 * nonc)))


def noncentral_f(key, stage, dfnum, dfden, nonc):
    return noncentral_chisquare(key, stage, dfnum, nonc) * dfden / (chisquare(key, stage + 2, dfden) * dfnum)


def wald(key, stage, mean, scale):
    z, u = normal(key, 0, stage)
    y = mean * z * z
    root = math.sqrt(4.0 * scale * y + y * y)
    x = mean * 4.0 * scale * y / ((y + root) * (y + root)) if y > 0.0 else mean
    return x if u * (mean + x) <= mean else mean * mean / x


def vonmises(key, stage, mu, kappa):
    if not kappa >= 0.0:
        return kappa
    if kappa < 1e-8:
        u, _ = uniform2(key, 0, stage)
        return math.pi * (2.0 * u - 1.0)
    if kappa > 1e6:
        z, _ = normal(key, 0, stage)
        return wrapped(mu + math.sqrt(1.0 / kappa) * z)
    s = 1.0 / kappa + kappa
    if kappa >= 1e-5:
        r = 1.0 + math.sqrt(1.0 + 4.0 * kappa * kappa)
        rho = (r - math.sqrt(2.0 * r)) / (2.0 * kappa)
        s = (1.0 + rho * rho) / (2.0 * rho)
    n = 0
    angle = np.float64(-1.0)
    while angle < 0.0:
        x, y = block(key, n, stage)
        n += 1
        z = math.cos(math.pi * unit(x))
        w = (1.0 + s * z) / (s + z)
        t = kappa * (s - w)
        v = unit(y)
        if t * (2.0 - t) - v >= 0.0 or math.log(t / v) + 1.0 - t >= 0.0:
            angle = math.acos(min(max(w, -1.0), 1.0))
            if (y & np.uint64(1)) != np.uint64(0):
                mu = mu + angle
            else:
                mu = mu - angle
    return wrapped(mu)


def wrapped(angle):
    """The angle wrapped to [-pi, pi]."""
    r = math.fmod(abs(angle) + math.pi, 2.0 * math.pi) - math.pi
    return -r if angle < 0.0 else r


# ---- counts ----


def stirling_error(k):
    """The error of Stirling's formula for log(k!), k >= 1."""
    if k < 16.0:
        return math.lgamma(k + 1.0) - (k + 0.5) * math.log(k) + k - _HALF_LOG_2PI
    r = 1.0 / (k * k)
    return (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - r / 1680.0) * r) * r) / k


def log_factorial(k):
    if k < 1.0:
        return np.float64(0.0)
    return (k + 0.5) * math.log(k) - k + _HALF_LOG_2PI + stirling_error(k)


def deviance(k, mean):
    """k log(k / mean) + mean - k for k > 0, without cancellation near the mean."""
    e = (k - mean) / mean
    return mean * ((1.0 + e) * math.log1p(e) - e)


def log_poisson(k, lam):
    """The logarithm of the Poisson probability of k (Loader's saddle-point form)."""
    if k < 1.0:
        return -lam
    return -stirling_error(k) - deviance(k, lam) - 0.5 * math.log(k) - _HALF_LOG_2PI


def log_binomial(k, n, p):
    """The logarithm of the binomial probability of k, 0 <= k <= n (Loader's saddle-point form)."""
    if k < 1.0:
        return n * math.log1p(-p)
    if k > n - 1.0:
        return n * math.log(p)
    near = stirling_error(n) - stirling_error(k) - stirling_error(n - k)
    far = deviance(k, n * p) + deviance(n - k, n * (1.0 - p))
    return near - far + 0.5 * math.log(n / (k * (n - k))) - _HALF_LOG_2PI


def poisson(key, stage, lam):
    if not lam > 0.0:
        return np.int64(0)
    if not lam < 9.2e18:
        return np.int64(_INT_MAX)
    if lam < 10.0:
        u, _ = uniform2(key, 0, stage)
        p = math.exp(-lam)
        total = p
        k = np.int64(0)
        while u > total and k < 150:
            k += 1
            p *= lam / np.float64(k)
            total += p
        return k
    b = 0.931 + 2.53 * math.sqrt(lam)
    a = -0.059 + 0.02483 * b
    scale = math.log(1.1239 + 1.1328 / (b - 3.4))
    sure = 0.9277 - 3.6224 / (b - 2.0)
    n = 0
    found = np.float64(-1.0)
    while found < 0.0:
        u, v = uniform2(key, n, stage)
        n += 1
        u -= 0.5
        us = 0.5 - abs(u)
        k = np.floor((2.0 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= sure:
            found = np.float64(k)
        elif k >= 0.0 and (us >= 0.013 or v <= us):
            if math.log(v) + scale - math.log(a / (us * us) + b) <= log_poisson(np.float64(k), lam):
                found = np.float64(k)
    return np.int64(_INT_MAX) if found >= 9223372036854775807.0 else np.int64(found)


def binomial_below_half(key, stage, n, p):
    """A binomial variate for p <= 1/2, as a float64."""
    if n * p < 10.0:
        u, _ = uniform2(key, 0, stage)
        odds = p / (1.0 - p)
        q = math.exp(n * math.log1p(-p))
        total = q
        k = np.float64(0.0)
        while u > total and k < n and k < 150.0:
            q *= (n - k) / (k + 1.0) * odds
            k += 1.0
            total += q
        return k
    root = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * root
    a = -0.0873 + 0.0248 * b + 0.01 * p
    sure = 0.92 - 4.2 / b
    top = log_binomial(np.float64(np.floor((n + 1.0) * p)), n, p) + math.log((2.83 + 5.1 / b) * root)
    turn = 0
    found = np.float64(-1.0)
    while found < 0.0:
        u, v = uniform2(key, turn, stage)
        turn += 1
        u -= 0.5
        us = 0.5 - abs(u)
        k = np.float64(np.floor((2.0 * a / us + b) * u + n * p + 0.5))
        if us >= 0.07 and v <= sure:
            found = k
        elif k >= 0.0 and k <= n:
            if math.log(v) - math.log(a / (us * us) + b) <= log_binomial(k, n, p) - top:
                found = k
    return found


def binomial(key, stage, n, p):
    if n <= 0 or not p > 0.0:
        return np.int64(0)
    if p >= 1.0:
        return np.int64(n)
    m = np.float64(n)
    if p <= 0.5:
        return min(np.int64(binomial_below_half(key, stage, m, p)), np.int64(n))
    return np.int64(n) - min(np.int64(binomial_below_half(key, stage, m, 1.0 - p)), np.int64(n))


def negative_binomial(key, stage, n, p):
    return poisson(key, stage + 1, gamma(key, stage, n) * (1.0 - p) / p)


def geometric(key, stage, p):
    if p >= 1.0:
        return np.int64(1)
    u, _ = uniform2(key, 0, stage)
    k = np.ceil(math.log(u) / math.log1p(-p))
    if k >= 9223372036854775807.0:
        return np.int64(_INT_MAX)
    return max(np.int64(k), np.int64(1))


def zipf(key, stage, a):
    if a >= 1025.0:
        return np.int64(1)
    t = a - 1.0
    b = 2.0**t
    least = 9223372036854775807.0 ** (-t)
    n = 0
    found = np.int64(0)
    while found < 1:
        u, v = uniform2(key, n, stage)
        n += 1
        x = np.floor((u * least + (1.0 - u)) ** (-1.0 / t))
        if x >= 1.0 and x < 9223372036854775807.0:
            r = (1.0 + 1.0 / x) ** t
            if v * x * (r - 1.0) / (b - 1.0) <= r / b:
                found = np.int64(x)
    return found


def logseries(key, stage, p):
    r = math.log1p(-p)
    n = 0
    found = np.int64(0)
    while found < 1:
        u, v = uniform2(key, n, stage)
        n += 1
        q = -math.expm1(r * u)
        if v >= p:
            found = np.int64(1)
        elif v <= q * q:
            x = 1.0 + math.log(v) / math.log(q)
            if x < 9223372036854775807.0:
                found = np.int64(x)
        else:
            found = np.int64(1) if v >= q else np.int64(2)
    return found


def hypergeometric_by_one(key, stage, good, bad, sample):
    """A hypergeometric variate by simulating each draw; used for few draws."""
    small = min(good, bad)
    left = small
    k = sample
    n = 0
    while left > 0 and k > 0:
        u, _ = uniform2(key, n, stage)
        n += 1
        left -= np.int64(u + np.float64(left) / np.float64(good + bad - sample + k))
        k -= 1
    z = small - left
    return sample - z if good > bad else z


def hypergeometric(key, stage, good, bad, sample):
    """How many of `sample` things, taken from good + bad, are good."""
    total = good + bad
    few = min(sample, total - sample)
    if few <= 10:
        z = hypergeometric_by_one(key, stage, good, bad, few)
        return z if few == sample else good - z
    less = np.float64(min(good, bad))
    more = np.float64(max(good, bad))
    m = np.float64(few)
    everything = less + more
    p = less / everything
    centre = m * p + 0.5
    spread = math.sqrt((everything - m) * m * p * (1.0 - p) / (everything - 1.0) + 0.5)
    width = 1.7155277699214135 * spread + 0.8989161620588988
    mode = np.float64(np.floor((m + 1.0) * (less + 1.0) / (everything + 2.0)))
    top = hypergeometric_weight(mode, less, more, m)
    end = min(min(m, less) + 1.0, np.float64(np.floor(centre + 16.0 * spread)))
    n = 0
    found = np.float64(-1.0)
    while found < 0.0:
        u, v = uniform2(key, n, stage)
        n += 1
        x = centre + width * (v - 0.5) / u
        if x >= 0.0 and x < end:
            k = np.float64(np.floor(x))
            if 2.0 * math.log(u) <= top - hypergeometric_weight(k, less, more, m):
                found = k
    z = np.int64(found)
    if good > bad:
        z = few - z
    return z if few == sample else good - z


def hypergeometric_weight(k, less, more, m):
    """Minus the logarithm of k's hypergeometric probability, up to a constant."""
    return log_factorial(k) + log_factorial(less - k) + log_factorial(m - k) + log_factorial(more - m + k)


# ---- rows: of each row's counts, category by category ----


def multinomial_row(key, n, p, out):
    left = n
    rest = np.float64(1.0)
    last = out.size - 1
    for j in range(last):
        k = binomial(key, j, left, min(p[j] / rest, 1.0)) if rest > 0.0 else np.int64(0)
        out[j] = k
        left -= k
        rest -= p[j]
    out[last] = left


def hypergeometric_row(key, colors, sample, out):
    rest = np.int64(0)
    for j in range(out.size):
        rest += colors[j]
    left = sample
    for j in range(out.size):
        rest -= colors[j]
        k = min(hypergeometric(key, j, colors[j], rest, left), left)
        out[j] = k
        left -= k
