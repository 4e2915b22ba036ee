"""``torch.nn.parallel``: one model on several devices of a process, or in several processes."""

from ...._public import dir_of as _dir_of
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

__dir__ = _dir_of(__name__)
