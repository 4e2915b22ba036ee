# Written by tools/stubs/write.py from the package itself.
from treadle.cuda import current_context as get_context
from treadle.cuda import require_context as require_context
from typing import Any

gpus: Any
def reset() -> None: ...
