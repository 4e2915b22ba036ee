# Written by tools/stubs/write.py from the package itself.
from enum import IntEnum as _IntEnum
from typing import Any

class CausalBias:
    def __init__(self, variant: Any, seq_len_q: Any, seq_len_kv: Any) -> None: ...
    @property
    def shape(self) -> Any: ...
    variant: Any
    seq_len_q: Any
    seq_len_kv: Any
class CausalVariant(_IntEnum):
    UPPER_LEFT = 1
    LOWER_RIGHT = 2
def causal_lower_right(*size: Any) -> Any: ...
def causal_upper_left(*size: Any) -> Any: ...
