"""torch.jit.annotations: what libraries annotate functions with that they script. Nothing reads it here."""

import typing

from ..._public import dir_of as _dir_of

__all__ = ["Any", "Dict", "List", "Optional", "Tuple", "Union"]

Any, Optional, Union = typing.Any, typing.Optional, typing.Union
Dict = dict
List = BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list
Tuple = tuple

__dir__ = _dir_of(__name__)
