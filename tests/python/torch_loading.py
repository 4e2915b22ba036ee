"""Data sets for worker processes, which import this file."""

import os

import numpy as np

import treadle.torch as torch
from treadle.torch.utils.data import Dataset, IterableDataset, get_worker_info


class Squares(Dataset):
    def __init__(self, n=7):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return {"x": torch.tensor([float(i), float(i * i)]), "y": np.float32(i), "name": str(i), "worker": worker()}


class Failing(Squares):
    def __getitem__(self, i):
        if i == 4:
            raise KeyError("four")
        return i


class Dying(Squares):
    def __getitem__(self, i):
        if i == 4:
            os._exit(3)
        return i


class Shares(IterableDataset):
    """0 … 9, each worker its own."""

    def __iter__(self):
        info = get_worker_info()
        return iter(range(info.id if info else 0, 10, info.num_workers if info else 1))


def worker():
    info = get_worker_info()
    return -1 if info is None else info.id


class Draws(Dataset):
    """Numbers that workers draw."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.rand(())
