"""cupy.testing's names for writing tests: assertions for arrays on devices, functions that run with NumPy and with
treadle, loops over dtypes and orders. Other names are those of numpy.testing.
"""

from numpy import testing as _numpys

from .. import _public
from .._words import near
from ._arrays import (
    assert_allclose,
    assert_almost_equal,
    assert_approx_equal,
    assert_array_almost_equal,
    assert_array_almost_equal_nulp,
    assert_array_equal,
    assert_array_less,
    assert_array_list_equal,
    assert_array_max_ulp,
    assert_equal,
)
from ._cases import (
    AssertFunctionIsCalled,
    NumpyAliasBasicTestBase,
    NumpyAliasTestBase,
    NumpyAliasValuesTestBase,
    assert_function_is_called,
    assert_warns,
    fix_random,
    generate_seed,
    installed,
    multi_gpu,
    numpy_satisfies,
    parameterize,
    product,
    product_dict,
    slow,
    with_requires,
)
from ._compare import (
    numpy_cupy_allclose,
    numpy_cupy_array_almost_equal,
    numpy_cupy_array_almost_equal_nulp,
    numpy_cupy_array_equal,
    numpy_cupy_array_less,
    numpy_cupy_array_list_equal,
    numpy_cupy_array_max_ulp,
    numpy_cupy_equal,
    numpy_cupy_raises,
)
from ._loops import (
    for_all_dtypes,
    for_all_dtypes_combination,
    for_CF_orders,
    for_complex_dtypes,
    for_contiguous_axes,
    for_dtypes,
    for_dtypes_combination,
    for_float_dtypes,
    for_int_dtypes,
    for_int_dtypes_combination,
    for_orders,
    for_signed_dtypes,
    for_signed_dtypes_combination,
    for_unsigned_dtypes,
    for_unsigned_dtypes_combination,
)
from ._shaped import (
    generate_matrix,
    shaped_arange,
    shaped_linspace,
    shaped_random,
    shaped_reverse_arange,
    shaped_sparse_random,
)

__all__ = [
    "AssertFunctionIsCalled", "NumpyAliasBasicTestBase", "NumpyAliasTestBase", "NumpyAliasValuesTestBase",
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_equal",
    "assert_array_less", "assert_array_list_equal", "assert_array_max_ulp", "assert_equal", "assert_function_is_called",
    "assert_warns", "fix_random", "for_CF_orders", "for_all_dtypes", "for_all_dtypes_combination",
    "for_complex_dtypes", "for_contiguous_axes", "for_dtypes", "for_dtypes_combination", "for_float_dtypes",
    "for_int_dtypes", "for_int_dtypes_combination", "for_orders", "for_signed_dtypes",
    "for_signed_dtypes_combination", "for_unsigned_dtypes", "for_unsigned_dtypes_combination", "generate_matrix",
    "generate_seed", "installed", "multi_gpu", "numpy_cupy_allclose", "numpy_cupy_array_almost_equal",
    "numpy_cupy_array_almost_equal_nulp", "numpy_cupy_array_equal", "numpy_cupy_array_less",
    "numpy_cupy_array_list_equal", "numpy_cupy_array_max_ulp", "numpy_cupy_equal", "numpy_cupy_raises",
    "numpy_satisfies", "parameterize", "product", "product_dict", "shaped_arange", "shaped_linspace",
    "shaped_random", "shaped_reverse_arange", "shaped_sparse_random", "slow", "with_requires",
]  # fmt: skip


def __getattr__(name):
    try:
        return getattr(_numpys, name)
    except AttributeError:
        text = f"module 'treadle.testing' has no attribute '{name}'; neither has numpy.testing{near(name, __dir__())}"
        raise AttributeError(text) from None


def __dir__():
    return _public.names(__name__, _numpys.__all__)
