# Written by tools/stubs/write.py from the package itself.
from treadle.torch import Tensor as _Tensor
from treadle.torch import _TensorDevice
from treadle.torch import dtype as _dtype
from treadle.torch import memory_format as _memory_format
from typing import Any

FUNCTIONS: dict[Any, Any]
def assert_allclose(actual: Any, expected: Any, rtol: float | _Tensor | None = None, atol: float | _Tensor | None = None, equal_nan: bool = True, msg: str = '') -> None: ...
def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | _Tensor | None = None, atol: float | _Tensor | None = None, equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False, msg: Any = None) -> None: ...
def make_tensor(*shape: Any, dtype: _dtype | None, device: _TensorDevice = 'cpu', low: Any = None, high: Any = None, requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False, memory_format: _memory_format | None = None) -> Any: ...
