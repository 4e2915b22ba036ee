"""Cases of scipy.spatial and spatial.distance."""

import numpy as np
from scipy_side import Case

MODULES = ("spatial", "spatial.distance")
RNG = np.random.default_rng(11)
A, B = RNG.random((5, 4)), RNG.random((3, 4))
TRUE, OTHER = RNG.random((5, 9)) < 0.5, RNG.random((3, 9)) < 0.5
W, W9 = RNG.random(4), RNG.random(9)
VECTORS = "braycurtis canberra chebyshev cityblock correlation cosine euclidean minkowski sqeuclidean hamming".split()
TRUTHS = "dice jaccard rogerstanimoto russellrao sokalsneath yule hamming".split()
PAIRS = VECTORS + ["seuclidean", "mahalanobis", "jensenshannon"]


def vectors(name, **options):
    def call(sp, xp):
        f = getattr(sp.spatial.distance, name)
        u, v = xp.asarray(A[0]), xp.asarray(B[0])
        return [f(u, v, **options), f(u, v, w=xp.asarray(W), **options), f(u, u, **options)]

    return Case(call, dtype=False, atol=1e-15, null=True)


def truths(name):
    def call(sp, xp):
        f = getattr(sp.spatial.distance, name)
        u, v = xp.asarray(TRUE[0]), xp.asarray(OTHER[0])
        return [f(u, v), f(u, v, w=xp.asarray(W9))]

    return Case(call, dtype=False)


def all_pairs(f, *names, weighed=False, truth=False):
    def call(sp, xp):
        x, y = (TRUE, OTHER) if truth else (A, B)
        x, y = xp.asarray(x), xp.asarray(y)
        w = {"w": xp.asarray(W9 if truth else W)} if weighed else {}
        d = sp.spatial.distance
        return {n: d.cdist(x, y, n, **w) if f == "cdist" else d.pdist(x, n, **w) for n in names}

    return Case(call, rtol=1e-11, atol=1e-14)


def of(text, **options):
    code = compile(text, text, "eval")
    scope = {"A": A, "B": B, "TRUE": TRUE, "np": np}

    def call(sp, xp):
        arrays = {k: xp.asarray(v) for k, v in scope.items() if k != "np"}
        return eval(code, {**arrays, "np": np, "d": sp.spatial.distance, "s": sp.spatial, "xp": xp})

    return Case(call, **options)


CASES = {f"spatial.distance.{n}": vectors(n) for n in VECTORS}
CASES["spatial.distance.minkowski"] = [vectors("minkowski", p=p) for p in (1, 2, 3, np.inf)]
CASES["spatial.distance.hamming"] = [vectors("hamming"), truths("hamming")]
CASES.update({f"spatial.distance.{n}": truths(n) for n in TRUTHS if n != "hamming"})
CASES["spatial.distance.correlation"] = [vectors("correlation"), of("d.correlation(A[0], A[1], centered=False)", dtype=False)]
weighed = [n for n in VECTORS if n not in ("correlation",)]
CASES["spatial.distance.cdist"] = [
    all_pairs("cdist", *PAIRS), all_pairs("cdist", *weighed, weighed=True), all_pairs("cdist", *TRUTHS, truth=True),
    all_pairs("cdist", *TRUTHS, truth=True, weighed=True), of("d.cdist(A, B, 'minkowski', p=3.5)"), of("d.cdist(A, B, d.euclidean)"),
    of("d.cdist(A.astype('f4'), B.astype('f4'))"), of("d.cdist((A * 9).astype('i4'), (B * 9).astype('i4'), 'cityblock')"),
    of("d.cdist(A, B, 'seuclidean', V=A[0])"), of("d.cdist(A, B, 'mahalanobis', VI=A[:4])"), of("d.cdist(A, B)", null=True),
    of("d.cdist(A, B, lambda u, v: abs(u - v).max())"), of("d.cdist(A, B, 'cosine')", null=True),
    of("d.cdist(A, B, 'yule')"),
]  # fmt: skip
CASES["spatial.distance.pdist"] = [
    all_pairs("pdist", *PAIRS[:-2]), of("d.pdist(A, 'mahalanobis', VI=xp.asarray(np.eye(4)))"), all_pairs("pdist", *TRUTHS, truth=True), of("d.pdist(A)", null=True), of("d.pdist(A[:1])"),
]  # fmt: skip
CASES.update({
    "spatial.distance.seuclidean": of("d.seuclidean(A[0], A[1], A[2])", dtype=False),
    "spatial.distance.mahalanobis": of("d.mahalanobis(A[0], A[1], A[:4])", dtype=False),
    "spatial.distance.jensenshannon": of(
        "[d.jensenshannon(A[0], A[1]), d.jensenshannon(A, A[::-1], 2.0), d.jensenshannon(A, A[::-1], axis=1, keepdims=True)]", dtype=False, null=True
    ),
    "spatial.distance.hellinger": of("d.hellinger(A[0] / 4, B[0] / 4)", want=lambda: np.sqrt(1 - np.sqrt(A[0] * B[0]).sum() / 4), dtype=False),
    "spatial.distance.kl_divergence": of("d.kl_divergence(A[0], B[0])", want=lambda: (A[0] * np.log(A[0] / B[0])).sum(), dtype=False),
    "spatial.distance.squareform": [of("d.squareform(xp.arange(6))", null=True), of("d.squareform(d.squareform(xp.arange(10.0)))"), of("d.squareform(xp.zeros(0))")],
    "spatial.distance.is_valid_dm": of("[d.is_valid_dm(A), d.is_valid_dm(A[:4]), d.is_valid_dm(xp.zeros((3, 3))), d.is_valid_dm(A[0])]"),
    "spatial.distance.is_valid_y": of("[d.is_valid_y(A[0]), d.is_valid_y(xp.zeros(6)), d.is_valid_y(A)]"),
    "spatial.distance.num_obs_dm": of("d.num_obs_dm(xp.zeros((3, 3)))"),
    "spatial.distance.num_obs_y": of("d.num_obs_y(xp.zeros(10))"),
    "spatial.distance.directed_hausdorff": of("d.directed_hausdorff(A, B)"),
    "spatial.distance.distance_matrix": of("(d if hasattr(d, 'distance_matrix') else s).distance_matrix(A, B)"),
    "spatial.distance_matrix": of("[s.distance_matrix(A, B, p) for p in (1, 2, 3, np.inf)]", null=True),
    "spatial.minkowski_distance": of("[s.minkowski_distance(A, A[::-1], p) for p in (1, 2, 3, np.inf)]"),
    "spatial.minkowski_distance_p": of("[s.minkowski_distance_p(A, A[0], p) for p in (1, 2, 3, np.inf)]"),
    "spatial.KDTree": of("s.KDTree(A).query(B, k=2)"),
    "spatial.Delaunay": of("s.Delaunay(A[:, :2]).simplices.shape"),
})  # fmt: skip
