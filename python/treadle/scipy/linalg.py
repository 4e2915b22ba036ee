"""scipy.linalg's names: linear algebra."""

from ._table import Table

__getattr__, __dir__, __all__ = Table(
    "linalg",
    native={
        "_linalg": "LinAlgError cho_factor cho_solve cholesky det eig eigh eigvals eigvalsh inv lstsq lu lu_factor "
        "lu_solve norm qr solve solve_triangular svd svdvals"
    },
    composed={
        "_linalg": "bandwidth coshm cosm diagsvd expm ishermitian issymmetric khatri_rao null_space orth "
        "orthogonal_procrustes pinv pinvh polar sinhm sinm tanhm tanm",
        "_matrices": "block_diag circulant companion convolution_matrix dft fiedler fiedler_companion hadamard hankel "
        "helmert hilbert leslie toeplitz",
    },
).attach()
