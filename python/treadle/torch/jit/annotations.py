"""torch.jit.annotations: what libraries annotate functions with that they script. Nothing reads it here."""

from typing import Any as Any
from typing import Dict as Dict
from typing import List as List
from typing import Optional as Optional
from typing import Tuple as Tuple
from typing import Union as Union

from ..._public import dir_of as _dir_of

__all__ = ["Any", "Dict", "List", "Optional", "Tuple", "Union"]

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = List

__dir__ = _dir_of(__name__)
