"""``torch.nn.utils.stateless``: the older place of torch.func.functional_call."""

from ...._public import dir_of as _dir_of
from ...func import functional_call

__all__ = ["functional_call"]

__dir__ = _dir_of(__name__)
