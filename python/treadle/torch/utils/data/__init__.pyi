# Written by tools/stubs/write.py from the package itself.
from treadle.torch.utils.data.dataloader import DataLoader as DataLoader
from treadle.torch.utils.data.dataset import ChainDataset as ChainDataset
from treadle.torch.utils.data.dataset import ConcatDataset as ConcatDataset
from treadle.torch.utils.data.dataset import Dataset as Dataset
from treadle.torch.utils.data.dataset import IterableDataset as IterableDataset
from treadle.torch.utils.data.dataset import StackDataset as StackDataset
from treadle.torch.utils.data.dataset import Subset as Subset
from treadle.torch.utils.data.dataset import TensorDataset as TensorDataset
from treadle.torch.utils.data.dataset import random_split as random_split
from treadle.torch.utils.data.distributed import DistributedSampler as DistributedSampler
from treadle.torch.utils.data.sampler import BatchSampler as BatchSampler
from treadle.torch.utils.data.sampler import RandomSampler as RandomSampler
from treadle.torch.utils.data.sampler import Sampler as Sampler
from treadle.torch.utils.data.sampler import SequentialSampler as SequentialSampler
from treadle.torch.utils.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from treadle.torch.utils.data.sampler import WeightedRandomSampler as WeightedRandomSampler
from typing import Any

class WorkerInfo:
    def __init__(self, id: Any, num_workers: Any, seed: Any, dataset: Any) -> None: ...
    __match_args__: Any
def default_collate(batch: Any) -> Any: ...
def default_convert(data: Any) -> Any: ...
def get_worker_info() -> Any: ...

__all__ = ['BatchSampler', 'ChainDataset', 'ConcatDataset', 'DataLoader', 'Dataset', 'DistributedSampler', 'IterableDataset', 'RandomSampler', 'Sampler', 'SequentialSampler', 'StackDataset', 'Subset', 'SubsetRandomSampler', 'TensorDataset', 'WeightedRandomSampler', 'WorkerInfo', 'default_collate', 'default_convert', 'get_worker_info', 'random_split']
