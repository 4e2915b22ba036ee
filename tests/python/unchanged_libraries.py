"""What SciPy and scikit-learn do with a program's arrays; test_unchanged.py compares what it prints."""

import numpy as np
from scipy import linalg, optimize, signal, ndimage, special, stats, sparse, interpolate, integrate, fft, spatial
rng = np.random.default_rng(0)
A = rng.normal(size=(60, 60)); b = rng.normal(size=60)
print(np.round(linalg.solve(A, b)[:3], 6), np.round(linalg.eigvals(A).real.sum(), 6))
lu = linalg.lu_factor(A.copy(), overwrite_a=True); print(np.round(lu[0][0, :3], 6))
x = A.copy(); linalg.inv(x, overwrite_a=True)
print(optimize.minimize(lambda p: np.sum((p - np.arange(3)) ** 2), np.zeros(3)).x.round(4))
print(optimize.curve_fit(lambda t, a, c: a * np.exp(-c * t), np.linspace(0, 4, 50), 2.5 * np.exp(-1.3 * np.linspace(0, 4, 50)))[0].round(5))
print(optimize.root(lambda v: [v[0] ** 2 - 2, v[1] - v[0]], [1, 1]).x.round(5), optimize.brentq(np.cos, 0, 3))
sig = np.sin(np.linspace(0, 50, 5000)); print(signal.find_peaks(sig)[0][:3], signal.butter(3, 0.2)[0].round(5), np.round(signal.lfilter(*signal.butter(3, .2), sig)[:3], 8))
img = rng.random((80, 80)); out = np.zeros((80, 80)); ndimage.gaussian_filter(img, 2, output=out); print(out.sum().round(5), ndimage.label(img > .7)[1])
print(special.gamma(np.arange(1, 5)), stats.norm.cdf(np.array([0., 1.])).round(5), stats.ttest_ind(img[0], img[1]).pvalue.round(6))
S = sparse.random(50, 50, 0.1, random_state=1, format="csr"); print((S @ np.ones(50)).sum().round(6), (S + sparse.eye(50)).toarray().sum().round(5), sparse.linalg.spsolve((S + sparse.eye(50) * 5).tocsc(), np.ones(50)).sum().round(6))
print(interpolate.interp1d(np.arange(5), np.arange(5) ** 2)(2.5), interpolate.CubicSpline(np.arange(5), np.arange(5.) ** 2)(np.array([1.5, 2.5])), integrate.quad(np.sin, 0, np.pi)[0].__round__(6))
print(integrate.solve_ivp(lambda t, y: -y + np.array([0.1, .2]), (0, 1), np.ones(2)).y[:, -1].round(4), integrate.odeint(lambda y, t: -y, [1., 2.], np.linspace(0, 1, 3))[-1].round(5))
print(fft.fft(np.arange(4.)).round(5), spatial.distance.cdist(img[:3, :2], img[3:5, :2]).round(5), spatial.cKDTree(img[:, :2]).query(img[0, :2])[1], spatial.ConvexHull(img[:, :2]).volume.__round__(5))
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True); X = X * 1.0; y = np.asarray(y)
Xa, Xb, ya, yb = train_test_split(X, y, random_state=0)
print(LinearRegression().fit(Xa, ya).score(Xb, yb).__round__(6), LogisticRegression(max_iter=500).fit(Xa, ya).score(Xb, yb), RandomForestClassifier(10, random_state=0).fit(np.array(Xa), ya).score(Xb, yb))
print(PCA(2).fit_transform(X)[:2].round(5), KMeans(3, n_init=2, random_state=0).fit(X).inertia_.__round__(4), StandardScaler().fit_transform(X).std().round(5), StandardScaler(copy=False).fit_transform(X).mean().round(5))
big = rng.random(200000); print(np.histogram(big, 5)[0], stats.describe(big).mean.round(6), np.sort(big)[:2], special.erf(big).sum().round(5), signal.fftconvolve(big, np.ones(5)).sum().round(3), ndimage.uniform_filter1d(big, 3).sum().round(4), type(special.erf(big)))
import random; l = list(np.arange(5)); random.Random(1).shuffle(l); print(l, random.Random(1).choice(np.arange(5)), random.Random(2).sample(list(np.arange(9)), 3))
import collections; print(collections.Counter(np.array([1, 2, 1]).tolist()), collections.deque(np.arange(3)), set(np.array([1, 1])), {v: 1 for v in np.arange(2)})
import itertools, csv, io, struct, hashlib, decimal, fractions; print(list(itertools.chain(np.arange(2), np.arange(2))), hashlib.md5(np.arange(4)).hexdigest(), struct.pack("d", np.float64(2.0)), struct.unpack("2i", np.arange(2, dtype="i4")))
w = io.StringIO(); csv.writer(w).writerows(np.arange(4).reshape(2, 2)); print(repr(w.getvalue()))
