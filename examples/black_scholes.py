"""Black–Scholes prices of ten million European options

The value of a call and a put from the price of the share, the strike and the time that is left.
Some forty elementwise operations an option: NumPy walks through memory for each of them, treadle
makes them one kernel.
"""

import numpy
import treadle as np

SIZES = {"cpu": {"n": 10_000_000}, "cuda": {"n": 10_000_000}, "small": {"n": 1000}}
TOLERANCE = 1e-5
WHY = "float32; log and exp may differ by a few units in the last place, then subtract"

RATE = 0.03  # risk-free interest, a year
VOLATILITY = 0.25  # standard deviation of the logarithm of the price, a year


def setup(n):
    rng = numpy.random.default_rng(3)
    price = rng.uniform(20, 120, n).astype(numpy.float32)
    strike = rng.uniform(20, 120, n).astype(numpy.float32)
    years = rng.uniform(0.1, 3, n).astype(numpy.float32)
    return np.asarray(price), np.asarray(strike), np.asarray(years)


def normal_cdf(x):
    """The normal distribution function, to 7.5e-8: Abramowitz and Stegun, formula 26.2.17."""
    t = 1 / (1 + 0.2316419 * np.abs(x))
    tail = t * (
        0.319381530
        + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    tail = tail * np.exp(-0.5 * x * x) * 0.3989422804
    return np.where(x > 0, 1 - tail, tail)


def main(price, strike, years):
    spread = VOLATILITY * np.sqrt(years)
    d1 = (np.log(price / strike) + (RATE + 0.5 * VOLATILITY**2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-RATE * years)
    call = price * normal_cdf(d1) - discounted * normal_cdf(d2)
    put = discounted * normal_cdf(-d2) - price * normal_cdf(-d1)
    return {"call": call, "put": put}


if __name__ == "__main__":
    print(main(*setup(**SIZES["cpu"])))
