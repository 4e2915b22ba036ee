"""What annotations of layers call their sizes: a number, or one for each dimension. PyTorch's names of them start with an
underscore."""

from typing import TypeVar as _TypeVar
from typing import Union as _Union

from ... import torch as _torch
from ..._public import dir_of as _dir_of

_T = _TypeVar("T")
_Tensors = tuple[_torch.Tensor, ...]


def _of_each(kind, n):
    return _Union[kind, tuple[(kind,) * n]]


_scalar_or_tuple_any_t = _Union[_T, tuple[_T, ...]]
_size_any_t = _Union[int, tuple[int, ...]]
_size_any_opt_t = _Union[int, None, tuple[_Union[int, None], ...]]
_ratio_any_t = _Union[float, tuple[float, ...]]
for _n in range(1, 7):
    globals()[f"_scalar_or_tuple_{_n}_t"] = _of_each(_T, _n)
    globals()[f"_size_{_n}_t"] = _of_each(int, _n)
for _n in (2, 3):
    globals()[f"_size_{_n}_opt_t"] = _Union[None, _of_each(_Union[int, None], _n)]
    globals()[f"_ratio_{_n}_t"] = _of_each(float, _n)
_tensor_list_t = _Union[_torch.Tensor, _Tensors]
_maybe_indices_t = _Union[_torch.Tensor, tuple[_torch.Tensor, _torch.Tensor]]

__all__ = []
__dir__ = _dir_of(__name__)
