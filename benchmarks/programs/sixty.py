"""A function of sixty lines that does a bit of everything: what its compilation costs is a row."""

import math

from treadle import njit

SEED = 0


@njit
def sixty(a, b, out):
    n = a.size
    low = a[0]
    high = a[0]
    total = 0.0
    signs = 0
    for i in range(n):
        x = a[i]
        total += x
        if x < low:
            low = x
        elif x > high:
            high = x
        if x < 0:
            signs -= 1
        elif x > 0:
            signs += 1
    mean = total / n
    spread = 0.0
    for i in range(n):
        d = a[i] - mean
        spread += d * d
    spread = math.sqrt(spread / n)
    if spread == 0:
        spread = 1.0
    crossings = 0
    for i in range(1, n):
        if (a[i] - mean) * (a[i - 1] - mean) < 0:
            crossings += 1
    for i in range(n):
        z = (a[i] - mean) / spread
        w = b[i]
        if z > 3 or z < -3:
            out[i] = math.copysign(3.0, z)
            continue
        if w == 0:
            out[i] = z
        elif w < 0:
            out[i] = z * math.exp(w)
        else:
            k = 0
            term = z
            while abs(term) > 1e-6 and k < 20:
                k += 1
                term = -term * z * z / (2 * k * (2 * k + 1))
            out[i] = term + math.sin(z) * w
    window = 3
    smooth = 0.0
    for i in range(n):
        first = max(0, i - window)
        last = min(n, i + window + 1)
        part = 0.0
        for j in range(first, last):
            part += out[j] * (1 if j % 2 == 0 else -1)
        smooth += part / (last - first)
    best = 0
    for i in range(n):
        if out[i] > out[best]:
            best = i
    return smooth + crossings + signs + best + (high - low) + SEED
