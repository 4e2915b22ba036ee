# Written by tools/stubs/write.py from the package itself.
from collections.abc import Iterator as _Iterator
from treadle.torch.utils.data.sampler import Sampler as _Sampler
from typing import Any

class DistributedSampler(_Sampler):
    def __init__(self, dataset: Any, num_replicas: Any = None, rank: Any = None, shuffle: bool = True, seed: Any = 0, drop_last: bool = False) -> None: ...
    def __iter__(self) -> _Iterator[Any]: ...
    def __len__(self) -> int: ...
    def set_epoch(self, epoch: Any) -> None: ...
    num_samples: Any
    total_size: Any
    epoch: Any
    dataset: Any
    num_replicas: Any
    rank: Any
    shuffle: Any
    seed: Any
    drop_last: Any
