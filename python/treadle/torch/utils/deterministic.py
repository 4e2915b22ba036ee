"""``torch.utils.deterministic``: a switch without effect. It would fill the memory that torch.empty returns."""

from ..._public import dir_of as _dir_of

fill_uninitialized_memory = True

__dir__ = _dir_of(__name__)
