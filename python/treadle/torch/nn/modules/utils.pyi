# Written by tools/stubs/write.py from the package itself.
from typing import Any

def consume_prefix_in_state_dict_if_present(state_dict: Any, prefix: Any) -> None: ...
