"""``torch.utils.deterministic``: a switch that changes nothing: memory that torch.empty gives is not filled."""

from ..._public import dir_of as _dir_of

fill_uninitialized_memory = True

__dir__ = _dir_of(__name__)
