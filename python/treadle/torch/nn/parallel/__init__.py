"""``torch.nn.parallel``: one model on several devices of a process, or in several processes."""

from ... import _modules
from ._data import DataParallel, data_parallel, gather, parallel_apply, replicate, scatter
from ._distributed import DistributedDataParallel

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]

__getattr__, __dir__ = _modules.refusing("torch.nn.parallel")
