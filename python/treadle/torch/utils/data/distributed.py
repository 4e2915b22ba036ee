"""``DistributedSampler``: gives each process of a group its share of a data set."""

import itertools
import math

from .... import torch
from ...._public import dir_of as _dir_of
from .sampler import Sampler


class DistributedSampler(Sampler):
    """This process's share of the indices, in an order that all processes draw alike. ``set_epoch`` changes the order.
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None:
            num_replicas = torch.distributed.get_world_size()
        if rank is None:
            rank = torch.distributed.get_rank()
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank, self.epoch = dataset, num_replicas, rank, 0
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        n = len(dataset)
        cut = drop_last and n % num_replicas
        self.num_samples = math.ceil((n - num_replicas) / num_replicas) if cut else math.ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        n = len(self.dataset)
        numbers = list(range(n))
        if self.shuffle:
            generator = torch.Generator()
            generator.manual_seed(self.seed + self.epoch)
            numbers = torch.randperm(n, generator=generator).tolist()
        if not self.drop_last:  # repeats the first ones
            numbers = list(itertools.islice(itertools.cycle(numbers), self.total_size))
        return iter(numbers[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        self.epoch = epoch


__dir__ = _dir_of(__name__)
