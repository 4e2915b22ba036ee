"""scipy.spatial.distance's names: distances of vectors, and of all pairs of vectors.

One kernel sums over differences, as SciPy does. Matrix products compute dot products only.
"""

from .._table import Table

__getattr__, __dir__, __all__ = Table(
    "spatial.distance",
    native={
        "spatial._pairs": "cdist pdist",
        "spatial._metrics": "braycurtis canberra chebyshev cityblock correlation cosine dice euclidean hamming "
        "hellinger jaccard jensenshannon kl_divergence mahalanobis minkowski rogerstanimoto russellrao seuclidean "
        "sokalsneath sqeuclidean yule",
    },
    composed={
        "spatial._pairs": "directed_hausdorff is_valid_dm is_valid_y num_obs_dm num_obs_y squareform",
        "spatial._minkowski": "distance_matrix",
    },
).attach()
