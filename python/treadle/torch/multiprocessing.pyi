# Written by tools/stubs/write.py from the package itself.
from typing import Any

Array: Any
Barrier: Any
BoundedSemaphore: Any
Condition: Any
Event: Any
JoinableQueue: Any
Lock: Any
Manager: Any
Pipe: Any
Pool: Any
Queue: Any
RLock: Any
RawArray: Any
RawValue: Any
Semaphore: Any
SimpleQueue: Any
Value: Any
allow_connection_pickling: Any
cpu_count: Any
freeze_support: Any
def get_all_sharing_strategies() -> Any: ...
get_all_start_methods: Any
get_context: Any
get_logger: Any
def get_sharing_strategy() -> str: ...
get_start_method: Any
log_to_stderr: Any
set_executable: Any
set_forkserver_preload: Any
def set_sharing_strategy(new_strategy: Any) -> None: ...
set_start_method: Any
def spawn(fn: Any, args: Any = ..., nprocs: Any = 1, join: bool = True, daemon: bool = False, start_method: str = 'spawn') -> Any: ...
def start(f: Any, n: Any, args: Any, options: Any, ranks: bool = False, daemon: bool = False) -> Any: ...
def start_processes(fn: Any, args: Any = ..., nprocs: Any = 1, join: bool = True, daemon: bool = False, start_method: str = 'spawn') -> Any: ...
