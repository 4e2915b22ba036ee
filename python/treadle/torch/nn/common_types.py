"""What annotations of layers call their sizes: a number, or one for each dimension. PyTorch's names of them start with
an underscore."""

from typing import TypeVar as _TypeVar

from ... import torch as _torch
from ..._public import dir_of as _dir_of

_T = _TypeVar("T")


def _of_each(kind, n):
    return kind | tuple[(kind,) * n]


_scalar_or_tuple_any_t = _T | tuple[_T, ...]
_size_any_t = int | tuple[int, ...]
_size_any_opt_t = int | None | tuple[int | None, ...]
_ratio_any_t = float | tuple[float, ...]
for _n in range(1, 7):
    globals()[f"_scalar_or_tuple_{_n}_t"] = _of_each(_T, _n)
    globals()[f"_size_{_n}_t"] = _of_each(int, _n)
for _n in (2, 3):
    globals()[f"_size_{_n}_opt_t"] = None | _of_each(int | None, _n)
    globals()[f"_ratio_{_n}_t"] = _of_each(float, _n)
_tensor_list_t = _torch.Tensor | tuple[_torch.Tensor, ...]
_maybe_indices_t = _torch.Tensor | tuple[_torch.Tensor, _torch.Tensor]

__all__ = []
__dir__ = _dir_of(__name__)
