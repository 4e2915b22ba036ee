"""torch.jit.annotations: names in the annotations of functions that libraries script. Nothing reads them here."""

import typing

from ..._public import dir_of as _dir_of

__all__ = ["Any", "Dict", "List", "Tuple"]

Any, Dict = typing.Any, dict
List = BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list
Tuple = tuple


def __getattr__(name):
    if name in ("Optional", "Union"):
        return getattr(typing, name)
    raise AttributeError(f"module 'torch.jit.annotations' has no attribute {name!r}", name=name)


__dir__ = _dir_of(__name__)
