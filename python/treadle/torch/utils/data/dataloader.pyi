# Written by tools/stubs/write.py from the package itself.
from collections.abc import Iterator as _Iterator
from treadle.torch import Generator as _Generator
from treadle.torch.utils.data import default_collate as default_collate
from treadle.torch.utils.data import default_convert as default_convert
from treadle.torch.utils.data import get_worker_info as get_worker_info
from typing import Any

class DataLoader:
    def __init__(self, dataset: Any, batch_size: Any = 1, shuffle: Any = None, sampler: Any = None, batch_sampler: Any = None, num_workers: Any = 0, collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False, timeout: Any = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None, generator: _Generator | None = None, *, prefetch_factor: Any = None, persistent_workers: bool = False, pin_memory_device: str = '', in_order: bool = True) -> None: ...
    def __setattr__(self, name: Any, value: Any) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> _Iterator[Any]: ...
    prefetch_factor: Any
    collate_fn: Any
    dataset: Any
    batch_size: Any
    drop_last: Any
    sampler: Any
    batch_sampler: Any
    generator: Any
    num_workers: Any
    timeout: Any
    worker_init_fn: Any
    pin_memory: Any
    multiprocessing_context: Any
    persistent_workers: Any
class Failed:
    def __init__(self, where: Any) -> None: ...
    def raise_(self) -> Any: ...
    text: Any
    where: Any
    kind: Any
class Pool:
    def __init__(self, count: Any, context: Any, dataset: Any, fetch: Any, init: Any, timeout: Any, generator: _Generator | None) -> None: ...
    def ask(self, worker: Any, number: Any, items: Any, again: Any) -> None: ...
    def answer(self) -> Any: ...
    def close(self) -> None: ...
    tasks: Any
    processes: Any
    timeout: Any
    answers: Any
def unpacked(data: Any) -> Any: ...
