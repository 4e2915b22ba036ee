# Written by tools/stubs/write.py from the package itself.
from contextlib import AbstractContextManager as _AbstractContextManager
from treadle.torch import Generator as Generator
from treadle.torch import get_rng_state as get_rng_state
from treadle.torch import initial_seed as initial_seed
from treadle.torch import manual_seed as manual_seed
from treadle.torch import seed as seed
from treadle.torch import set_rng_state as set_rng_state
from typing import Any

default_generator: Generator
def fork_rng(devices: Any = None, enabled: bool = True, _caller: str = 'fork_rng', _devices_kw: str = 'devices', device_type: str = 'cuda') -> _AbstractContextManager[Any]: ...

__all__ = ['Generator', 'default_generator', 'fork_rng', 'get_rng_state', 'initial_seed', 'manual_seed', 'seed', 'set_rng_state']
