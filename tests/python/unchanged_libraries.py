"""What SciPy and scikit-learn do with a program's arrays; test_unchanged.py compares what it prints."""

import hashlib
import json
import struct

import numpy as np
from scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, spatial, special, stats
from scipy.sparse.linalg import spsolve
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler


def near(x):
    return np.round(x, 5) + 0.0


rng = np.random.default_rng(0)
a, b = rng.normal(size=(60, 60)), rng.normal(size=60)
print(near(linalg.solve(a, b)[:3]), near(linalg.eigvals(a).real.sum()))
print(near(linalg.lu_factor(np.array(a), overwrite_a=True)[0][0, :3]))
x = np.zeros(3)
print(near(optimize.minimize(lambda p: np.sum((p - np.arange(3)) ** 2), x).x), optimize.brentq(np.cos, 0, 3))
t = np.linspace(0, 4, 50)
print(near(optimize.curve_fit(lambda t, a, c: a * np.exp(-c * t), t, 2.5 * np.exp(-1.3 * t))[0]))
print(near(optimize.root(lambda v: [v[0] ** 2 - 2, v[1] - v[0]], [1, 1]).x))
wave = np.sin(np.linspace(0, 50, 5000))
num, den = signal.butter(3, 0.2)
print(signal.find_peaks(wave)[0][:3], near(num), near(signal.lfilter(num, den, wave)[:3]))
image, out = rng.random((80, 80)), np.zeros((80, 80))
ndimage.gaussian_filter(image, 2, output=out)
print(near(out.sum()), ndimage.label(image > 0.7)[1], special.gamma(np.arange(1, 5)), near(stats.norm.cdf(np.array([0.0, 1]))))
s = sparse.random(50, 50, 0.1, random_state=1, format="csr")
print(near((s @ np.ones(50)).sum()), near(spsolve((s + sparse.eye(50) * 5).tocsc(), np.ones(50)).sum()))
print(interpolate.interp1d(np.arange(5), np.arange(5) ** 2)(2.5), interpolate.CubicSpline(np.arange(5), np.arange(5.0) ** 2)([1.5]))
print(near(integrate.quad(np.sin, 0, np.pi)[0]), near(integrate.solve_ivp(lambda t, y: -y, (0, 1), np.ones(2)).y[:, -1]))
print(near(fft.fft(np.arange(4.0))), near(spatial.distance.cdist(image[:3, :2], image[3:5, :2])))
print(spatial.cKDTree(image[:, :2]).query(image[0, :2])[1])
x, y = rng.normal(size=(150, 4)), np.arange(150) % 3
x[:, 0] += y * 4
print(near(LinearRegression().fit(x, y).score(x, y)), near(LogisticRegression(max_iter=500).fit(x, y).score(x, y)))
print(near(abs(PCA(2).fit_transform(x)[:2])), near(KMeans(3, n_init=2, random_state=0).fit(x).inertia_))
z = np.array(x)
StandardScaler(copy=False).fit_transform(z)
print(near(z.std()), near(x.std()))
big = rng.random(20000)
print(near(special.erf(big).sum()), type(special.erf(big)), near(ndimage.uniform_filter1d(big, 3).sum()), near(stats.describe(big).mean))
print(hashlib.md5(np.arange(4)).hexdigest(), struct.unpack("2i", np.arange(2, dtype="i4")), json.dumps(np.arange(3).tolist()))
