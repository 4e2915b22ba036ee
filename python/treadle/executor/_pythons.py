"""Python's functions of numbers whose results depend on how CPython computes them, written out in Python.

``SPELLED`` maps such a function to the one that is compiled in its place in exact functions. The replacement does the
same operations on the same numbers, so it gives the same bits. As in every exact function, Python itself computes ints
beyond 64 bits and whatever raises. Differences between versions of Python are decided here.
"""

import functools
import math
import sys

_INF = math.inf
_SPLIT = 134217729.0  # 2**27 + 1: splits a float into two halves whose products are exact


def _two_sum(a, b):
    """The rounded sum a + b, and its rounding error."""
    s = a + b
    c = s - a
    return s, (a - (s - c)) + (b - c)


def _two_product(x, y):
    """The rounded product x * y, and its rounding error. The numbers must be neither huge nor tiny."""
    t = x * _SPLIT
    xh = t - (t - x)
    xl = x - xh
    t = y * _SPLIT
    yh = t - (t - y)
    yl = y - yh
    z = x * y
    return z, ((xh * yh - z) + xh * yl + xl * yh) + xl * yl


# ---- lengths ----


def _length(xs, most, nan):
    """The square root of the sum of the squares of xs, as CPython's vector_norm computes it.

    most is the largest absolute value, nan whether some value is a NaN. The sum keeps the rounding error of each step,
    and the root is corrected by its own."""
    if most == _INF:
        return most
    if nan:
        return math.nan
    if most == 0.0 or len(xs) <= 1:
        return most
    _, exponent = math.frexp(most)
    if exponent < -1000:
        raise ArithmeticError("left to Python")
    scale = math.ldexp(1.0, -exponent)
    total, low, lost = 1.0, 0.0, 0.0
    for x in xs:
        scaled = float(x) * scale
        square, less = _two_product(scaled, scaled)
        sum_ = total + square
        lost += square - (sum_ - total)
        low += less
        total = sum_
    root = math.sqrt(total - 1.0 + (low + lost))
    square, less = _two_product(-root, root)
    sum_ = total + square
    lost += square - (sum_ - total)
    low += less
    error = sum_ - 1.0 + (low + lost)
    return (root + error / (2.0 * root)) / scale


def hypot(*coordinates):
    most, nan = 0.0, False
    for x in coordinates:
        size = math.fabs(x)
        nan = nan or size != size
        most = size if size > most else most
    return _length(coordinates, most, nan)


def dist(p, q, /):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    steps = ()
    for x, y in zip(p, q):  # noqa: B905 - their lengths are the same
        steps = (*steps, float(x) - float(y))
    return hypot(*steps)


# ---- sums and products ----


def _plain_sum(numbers, /, start=0):
    total = start
    for x in numbers:
        total = total + x
    return total


def _compensated_sum(numbers, /, start=0):
    """sum() since Python 3.12: from the first float on, the rounding error of each addition is kept and added at the
    end."""
    total, lost, floats = start, 0.0, isinstance(start, float)
    for x in numbers:
        if floats and isinstance(x, float):
            sum_ = total + x
            if math.fabs(total) >= math.fabs(x):
                lost += (total - sum_) + x
            else:
                lost += (x - sum_) + total
            total = sum_
        elif floats and isinstance(x, bool):
            raise ArithmeticError("left to Python")
        else:
            total = total + x
            floats = floats or isinstance(total, float)
    if floats and lost != 0.0 and math.isfinite(lost):
        return total + lost
    return total


def prod(numbers, /, *, start=1):
    total = start
    for x in numbers:
        total = total * x
    return total


def sumprod(p, q, /):
    """sumprod() since Python 3.12: floats are multiplied and added in triple-length arithmetic."""
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    whole, high, low, tiny, floats = 0, 0.0, 0.0, 0.0, False
    for x, y in zip(p, q):  # noqa: B905 - their lengths are the same
        if isinstance(x, bool) or isinstance(y, bool):
            raise ArithmeticError("left to Python")
        if isinstance(x, float) or isinstance(y, float):
            floats = True
            product, less = _two_product(float(x), float(y))
            size = math.fabs(product)
            if not (size < 1e290 and (size > 1e-270 or product == 0.0)):
                raise ArithmeticError("left to Python")
            high, lost = _two_sum(high, product)
            low, lost_low = _two_sum(low, less)
            low, lost = _two_sum(low, lost)
            tiny += lost_low + lost
        elif floats:
            raise ArithmeticError("left to Python")
        else:
            whole = whole + x * y
    if not floats:
        return whole
    high, low = _two_sum(low, high)
    total = tiny + low + high
    if not math.isfinite(total):
        raise ArithmeticError("left to Python")
    return whole + total


def _rounded(partials):
    """The float nearest to the sum of floats that do not overlap, the largest of them last."""
    high, low = 0.0, 0.0
    for p in reversed(partials):
        if low == 0.0:
            high, low = _two_sum(high, p)
        elif p != 0.0:
            further = high + 2.0 * low
            # the remainder is beyond the midpoint: round up
            if (low < 0.0) == (p < 0.0) and 2.0 * low == further - high:
                high = further
            return high
    return high


def fsum(numbers, /):
    """Shewchuk's algorithm: the partial sums hold the exact sum until they are rounded at the end."""
    partials = ()
    for x in numbers:
        high, rest = float(x), ()
        for p in partials:
            high, low = _two_sum(high, p)
            rest = (*rest, low)
        if not math.isfinite(high):
            raise ArithmeticError("left to Python")
        partials = (*rest, high)
    return _rounded(partials)


def any_(items, /):
    for x in items:
        if x:
            return True
    return False


def all_(items, /):
    for x in items:
        if not x:
            return False
    return True


def list_(items=(), /):
    made = []
    for x in items:
        made.append(x)  # noqa: PERF402 - this is what list() does
    return made


def sorted_(items, /):
    made = list_(items)
    for i in range(len(made)):
        x = made[i]
        if x != x:  # with a NaN the order depends on CPython's algorithm
            raise ArithmeticError("left to Python")
        j = i - 1
        while j >= 0 and x < made[j]:
            made[j + 1] = made[j]
            j -= 1
        made[j + 1] = x
    return made


def min_(items, /):
    best = items[0]
    for x in items:
        best = x if x < best else best
    return best


def max_(items, /):
    best = items[0]
    for x in items:
        best = x if x > best else best
    return best


def reduce(function, items, /, *start):
    total = start
    for x in items:
        total = (function(total[0], x),) if len(total) else (x,)
    return total[0]


# ---- ints ----


def _gcd_of_two(a, b):
    while b:
        a, b = b, a % b
    return abs(a)


def _whole(x):
    """x as an int. Compilation is refused where x is not one."""
    return x & -1


def gcd(*integers):
    found = 0
    for x in integers:
        found = _gcd_of_two(found, _whole(x))
    return found


def lcm(*integers):
    found = 1
    for x in integers:
        k = _whole(x)
        found = 0 if k == 0 or found == 0 else abs(found // _gcd_of_two(found, k) * k)
    return found


def factorial(n, /):
    if _whole(n) < 0:
        raise ValueError("factorial() not defined for negative values")
    product = 1
    for k in range(2, _whole(n) + 1):
        product *= k
    return product


def comb(n, k, /):
    n, k = _whole(n), _whole(k)
    if n < 0 or k < 0:
        raise ValueError("must be non-negative")
    product = 1
    for i in range(min(k, n - k)):
        product = product * (n - i) // (i + 1)
    return product if k <= n else 0


def perm(n, k=None, /):
    if k is None:
        return factorial(n)
    n, k = _whole(n), _whole(k)
    if n < 0 or k < 0:
        raise ValueError("must be non-negative")
    if k > n:
        return 0
    product = 1
    for i in range(k):
        product *= n - i
    return product


# ---- the gamma function: Lanczos' approximation with g = 6.0246…, as a quotient of polynomials ----

_G = 6.024680040776729583740234375
_ABOVE_BELOW = (  # coefficients of 1, x, x**2, …: of the numerator (Boost's), and of x (x + 1) … (x + 11)
    (23531376880.410759688572007674451636754734846804940, 0.0),
    (42919803642.649098768957899047001988850926355848959, 39916800.0),
    (35711959237.355668049440185451547166705960488635843, 120543840.0),
    (17921034426.037209699919755754458931112671403265390, 150917976.0),
    (6039542586.3520280050642916443072979210699388420708, 105258076.0),
    (1439720407.3117216736632230727949123939715485786772, 45995730.0),
    (248874557.86205415651146038641322942321632125127801, 13339535.0),
    (31426415.585400194380614231628318205362874684987640, 2637558.0),
    (2876370.6289353724412254090516208496135991145378768, 357423.0),
    (186056.26539522349504029498971604569928220784236328, 32670.0),
    (8071.6720023658162106380029022722506138218516325024, 1925.0),
    (210.82427775157934587250973392071336271166969580291, 66.0),
    (2.5066282746310002701649081771338373386264310793408, 1.0),
)
_BELOW_ABOVE = _ABOVE_BELOW[::-1]


def _lanczos(x):
    above, below = 0.0, 0.0
    if x < 5.0:
        for a, b in _BELOW_ABOVE:
            above = above * x + a
            below = below * x + b
    else:  # as polynomials in 1 / x, which cannot overflow
        for a, b in _ABOVE_BELOW:
            above = above / x + a
            below = below / x + b
    return above / below


def _sine_of_pi(x):
    """sin(pi * x) for x >= 0. Reducing x to an eighth of the circle first keeps the result accurate."""
    y = math.fmod(x, 2.0)
    part = math.floor(2.0 * y + 0.5)
    if part == 0:
        return math.sin(math.pi * y)
    if part == 1:
        return math.cos(math.pi * (y - 0.5))
    if part == 2:
        return math.sin(math.pi * (1.0 - y))
    if part == 3:
        return -math.cos(math.pi * (y - 1.5))
    return math.sin(math.pi * (y - 2.0))


def gamma(x, /):
    x = float(x)
    size = math.fabs(x)
    # overflow, tiny arguments and poles: Python handles them
    if size > 170.0 or size < 1e-20 or (x < 0.0 and x == math.floor(x)):
        raise ArithmeticError("left to Python")
    if x <= 23.0 and x == math.floor(x):
        product = 1.0
        for k in range(2, int(x)):
            product *= k
        return product
    y = size + (_G - 0.5)
    off = (y - size) - (_G - 0.5) if size > _G - 0.5 else (y - (_G - 0.5)) - size  # the rounding error in y
    off = off * _G / y
    if x < 0.0:
        r = -math.pi / _sine_of_pi(size) / size * math.exp(y) / _lanczos(size)
        r -= off * r
    else:
        r = _lanczos(size) / math.exp(y)
        r += off * r
    half = size < 140.0
    # for large x the root of the power, used twice: the power itself may overflow
    power = math.pow(y, size - 0.5) if half else math.pow(y, size / 2.0 - 0.25)
    r = r / power if x < 0.0 else r * power
    if not half:
        r = r / power if x < 0.0 else r * power
    if not math.isfinite(r):
        raise ArithmeticError("left to Python")
    return r


def lgamma(x, /):
    x = float(x)
    size = math.fabs(x)
    if not size < 1e300 or size < 1e-20 or (x < 0.0 and x == math.floor(x)):
        raise ArithmeticError("left to Python")
    if x == 1.0 or x == 2.0:
        return 0.0
    r = math.log(_lanczos(size)) - _G
    r += (size - 0.5) * (math.log(size + _G - 0.5) - 1.0)
    if x < 0.0:
        r = math.log(math.pi) - math.log(math.fabs(_sine_of_pi(size))) - math.log(size) - r
    return r


# ---- nearness ----


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    a, b = float(a), float(b)
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    apart = math.fabs(b - a)
    return apart <= math.fabs(rel_tol * b) or apart <= math.fabs(rel_tol * a) or apart <= abs_tol


SPELLED = {
    math.hypot: hypot,
    math.dist: dist,
    math.prod: prod,
    math.fsum: fsum,
    math.gcd: gcd,
    math.lcm: lcm,
    math.factorial: factorial,
    math.comb: comb,
    math.perm: perm,
    math.gamma: gamma,
    math.lgamma: lgamma,
    math.isclose: isclose,
    sum: _compensated_sum if sys.version_info >= (3, 12) else _plain_sum,
    any: any_,
    all: all_,
    functools.reduce: reduce,
    list: list_,
    sorted: sorted_,
    min: min_,
    max: max_,
}
if sys.version_info >= (3, 12):
    SPELLED[math.sumprod] = sumprod
