"""Programs as people write them, on sharded arrays by treadle's names and by NumPy's: the results are NumPy's."""

import numpy
import pytest

import treadle as td


def kmeans(np, X):
    c = X[:3].copy()
    for _ in range(5):
        d = ((X[:, None, :] - c[None]) ** 2).sum(-1)
        nearest = d.argmin(1)
        c = np.stack([X[nearest == k].mean(0) for k in range(3)])
    return c


def logreg(np, X):
    y = (X[:, 0] > 0).astype(float)
    w = np.zeros(X.shape[1])
    for _ in range(20):
        p = 1 / (1 + np.exp(-(X @ w)))
        g = X.T @ (p - y) / len(y)
        w = w - 0.5 * g
    return w


def pca(np, X):
    Z = X - X.mean(axis=0)
    C = Z.T @ Z / (len(X) - 1)
    v, e = np.linalg.eigh(C)
    return np.abs(Z @ e[:, -2:])


def heat(np, X):
    u = X.copy()
    for _ in range(5):
        un = u.copy()
        un[1:-1, 1:-1] = (
            u[1:-1, 1:-1]
            + 0.1 * (u[2:, 1:-1] - 2 * u[1:-1, 1:-1] + u[:-2, 1:-1])
            + 0.1 * (u[1:-1, 2:] - 2 * u[1:-1, 1:-1] + u[1:-1, :-2])
        )
        un[0, :] = 0
        un[-1, :] = 0
        un[:, 0] = un[:, 1]
        u = un
    return u


def nbody(np, X):
    p = X[:, :3].copy()
    v = X[:, :3] * 0
    for _ in range(3):
        d = p[None, :, :] - p[:, None, :]
        r = (d**2).sum(-1) + 0.01
        a = (d / r[..., None] ** 1.5).sum(1)
        v += 0.01 * a
        p += 0.01 * v
    return p


def softmax(np, X):
    e = np.exp(X - X.max(axis=1, keepdims=True))
    s = e / e.sum(axis=1, keepdims=True)
    return -np.log(s[np.arange(len(X)), 0]).mean(), s


def standard(np, X):
    z = (X - np.mean(X, axis=0)) / np.std(X, axis=0)
    q = np.percentile(z, [25, 50, 75], axis=0)
    return z, q, np.corrcoef(z.T)


def moving(np, X):
    c = np.cumsum(X, axis=0)
    c[3:] = c[3:] - c[:-3]
    return c[2:] / 3


def life(np, X):
    g = (X > 0).astype(int)
    for _ in range(4):
        n = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) - g
        g = ((n == 3) | ((g == 1) & (n == 2))).astype(int)
    return g


def montecarlo(np, X):
    s = 100 * np.exp(np.cumsum(0.01 * X, axis=1))
    pay = np.maximum(s[:, -1] - 100, 0)
    return pay.mean(), np.sort(pay), pay.std()


def gs(np, X):
    Q = X[:, :4].copy()
    for i in range(4):
        for j in range(i):
            Q[:, i] -= (Q[:, j] @ Q[:, i]) * Q[:, j]
        Q[:, i] /= np.sqrt(Q[:, i] @ Q[:, i])
    return Q


def hist(np, X):
    h, e = np.histogram(X, bins=5)
    i = np.digitize(X, e)
    return h, e, np.bincount(i.ravel()), np.unique(np.round(X, 0))


def wave(np, X):
    f = np.fft.fft(X, axis=0)
    k = np.fft.fftfreq(len(X))
    return np.fft.ifft(f * np.exp(-(k[:, None] ** 2)), axis=0).real


def power(np, X):
    A = X @ X.T
    v = np.ones(len(A))
    for _ in range(10):
        v = A @ v
        v /= np.linalg.norm(v)
    return v @ A @ v


def knn(np, X):
    d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    np.fill_diagonal(d, np.inf)
    o = np.argsort(d, axis=1)[:, :3]
    return X[o].mean(1)


def cond(np, X):
    y = X.copy()
    y[y < 0] *= -1
    y[y > 1] = 1
    y = np.where(y > 0.5, y, 0)
    return y, np.count_nonzero(y), np.nonzero(y)[0][:4], y.any(axis=1)


def shape(np, X):
    a = X.reshape(X.shape[0], 2, -1).transpose(1, 0, 2)
    return (
        np.concatenate([a[0], a[1]], axis=1),
        np.vstack((X, X))[::2],
        np.tile(X, (1, 2)),
        np.outer(X[:, 0], X[0]),
        np.kron(X[:2], X[:2]),
    )


def strings(np, X):
    return str(np.round(X[:2, :2], 2)), f"{X.sum():.3f}", f"{X[0, 0]:.2f}", [round(float(v), 3) for v in X[0]]


PROGRAMS = (
    kmeans,
    logreg,
    pca,
    heat,
    nbody,
    softmax,
    standard,
    moving,
    life,
    montecarlo,
    gs,
    hist,
    wave,
    power,
    knn,
    cond,
    shape,
    strings,
)


def same(got, want):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    elif isinstance(want, (str, list)):
        assert got == want
    else:
        numpy.testing.assert_allclose(got.get() if hasattr(got, "get") else got, want, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("face", [td, numpy], ids=["treadle", "numpy"])
@pytest.mark.parametrize("devices", [("cpu", "cpu"), ("null", "null:1", "null:2")], ids=["cpu", "null"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore")
def test_programs(program, devices, face):
    X = numpy.random.default_rng(1).standard_normal((20, 6))
    want = program(numpy, X)
    mesh = td.mesh(*devices)
    for axis in (0, 1, None):
        same(program(face, td.shard(X, axis, mesh)), want)
