"""Sparse matrices and arrays under scipy.sparse's names. Their data lie in treadle's arrays.

CSR, CSC, COO and DIA matrices are on a device. ``a.get()`` returns SciPy's matrix, and constructors accept SciPy's.
BSR, LIL and DOK are SciPy's own classes, on the host.
"""

from .. import _table
from ._base import sparray, spmatrix
from ._compressed import csc_array, csc_matrix, csr_array, csr_matrix
from ._coo import coo_array, coo_matrix
from ._dia import dia_array, dia_matrix
from ._host import from_scipy
from ._operators import SparseEfficiencyWarning, SparseWarning

__getattr__, __dir__, __all__ = _table.Table(
    "sparse",
    native={
        "sparse._coo": "coo_array coo_matrix",
        "sparse._compressed": "csc_array csc_matrix csr_array csr_matrix",
        "sparse._dia": "dia_array dia_matrix",
        "sparse._base": "sparray spmatrix",
        "sparse._operators": "SparseEfficiencyWarning SparseWarning",
        "sparse._ask": "get_index_dtype issparse isspmatrix isspmatrix_coo isspmatrix_csc isspmatrix_csr "
        "isspmatrix_dia safely_cast_index_arrays load_npz save_npz",
    },
    composed={
        "sparse._construct": "block_array block_diag bmat diags diags_array expand_dims eye eye_array find hstack "
        "identity kron kronsum matrix_transpose permute_dims rand random random_array spdiags swapaxes tril triu "
        "vstack",
        "sparse._modules": "csgraph linalg",
    },
).attach()

for _format in ("csr", "csc", "coo", "dia"):
    for _kind in ("matrix", "array"):
        _table.converts(f"scipy.sparse._{_format}.{_format}_{_kind}", from_scipy)
