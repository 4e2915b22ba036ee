"""treadle.torch.utils.data: sets, samplers, batches, worker processes and what goes wrong in them."""

import collections
import subprocess
import sys

import numpy as np
import pytest
import torch_loading

import treadle.torch as torch
from treadle.torch.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    DistributedSampler,
    RandomSampler,
    StackDataset,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    random_split,
)


def pairs():
    return TensorDataset(torch.arange(20).reshape(10, 2), torch.arange(10))


@pytest.mark.parametrize(("drop", "sizes"), [(False, [4, 4, 2]), (True, [4, 4])])
def test_batches(drop, sizes):
    loader = DataLoader(pairs(), batch_size=4, drop_last=drop)
    found = list(loader)
    assert [len(x) for x, _ in found] == sizes and len(loader) == len(sizes) and isinstance(found[0], list)
    assert found[1][0].tolist() == [[8, 9], [10, 11], [12, 13], [14, 15]] and found[1][1].tolist() == [4, 5, 6, 7]


def test_whole_batches_are_what_collated_items_are():
    numbers = [3, 0, 9]
    for one, other in zip(pairs().__batch__(numbers), default_collate([pairs()[i] for i in numbers]), strict=True):
        assert one.tolist() == other.tolist() and one.dtype == other.dtype
    subset = Subset(pairs(), [9, 1, 4])
    assert [y.tolist() for _, y in DataLoader(subset, batch_size=2)] == [[9, 1], [4]]


def test_shuffling_takes_every_item_once_and_repeats_with_the_seed():
    def order(seed):
        torch.manual_seed(seed)
        return [n for _, y in DataLoader(pairs(), batch_size=3, shuffle=True) for n in y.tolist()]

    assert sorted(order(1)) == list(range(10)) and order(1) == order(1) != order(2)
    generator = torch.Generator()
    generator.manual_seed(3)
    loader = DataLoader(pairs(), shuffle=True, batch_size=None, generator=generator)
    assert sorted(int(y) for _, y in loader) == list(range(10))


def test_batches_keep_the_kinds_of_their_items():
    """Strings in tuples stay tuples, and a mapping keeps its class and its attributes."""

    class Named(collections.OrderedDict):
        note = None

    first = Named(a=1, b=(2.0, "x"))
    first.note = 3
    made = default_collate([first, Named(a=2, b=(3.0, "y"))])
    assert type(made) is Named and made.note == 3 and made["a"].tolist() == [1, 2]
    assert type(made["b"]) is list and made["b"][1] == ("x", "y")
    assert default_collate(["x", "y"]) == ["x", "y"]


def test_items_of_many_kinds():
    (batch,) = DataLoader(torch_loading.Squares(3), batch_size=3)
    assert batch["x"].tolist() == [[0, 0], [1, 1], [2, 4]] and batch["y"].dtype == torch.float32
    assert batch["name"] == ["0", "1", "2"] and batch["worker"].tolist() == [-1] * 3
    assert default_collate([1.5, 2.5]).dtype == torch.float64 and default_collate([1, 2]).dtype == torch.int64
    assert default_collate([np.ones(2, "f4")] * 3).shape == (3, 2)
    assert [t.tolist() for t in default_collate([(1, [2, 3]), (4, [5, 6])])[1]] == [[2, 5], [3, 6]]
    with pytest.raises(TypeError, match="batch must contain"):
        default_collate([object()])
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1], [1, 2]])
    loader = DataLoader(torch_loading.Squares(3), batch_size=2, collate_fn=lambda items: [i["name"] for i in items])
    assert list(loader) == [["0", "1"], ["2"]]


def test_sets_of_sets():
    assert [int(y) for _, y in pairs() + pairs()] == [*range(10), *range(10)]
    assert int(ConcatDataset([pairs(), pairs()])[-1][1]) == 9
    assert int(StackDataset(a=pairs(), b=pairs())[3]["b"][1]) == 3
    assert list(ChainDataset([torch_loading.Shares(), [7]])) == [*range(10), 7]
    parts = random_split(pairs(), [0.75, 0.25])
    assert [len(p) for p in parts] == [8, 2] and sorted(i for p in parts for i in p.indices) == list(range(10))
    with pytest.raises(ValueError, match="does not equal"):
        random_split(pairs(), [3, 3])


def test_samplers():
    assert sorted(RandomSampler(range(5))) == list(range(5)) and len(list(RandomSampler(range(5), True, 12))) == 12
    assert list(BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]]
    drawn = list(WeightedRandomSampler([0.0, 1.0, 0.0], 6))
    assert drawn == [1] * 6
    shares = [DistributedSampler(range(10), 3, r) for r in range(3)]
    assert [len(list(s)) for s in shares] == [4, 4, 4] and {i for s in shares for i in s} == set(range(10))
    before = list(shares[0])
    shares[0].set_epoch(1)
    assert list(shares[0]) != before
    assert list(DistributedSampler(range(7), 2, 1, shuffle=False, drop_last=True)) == [1, 3, 5]


def test_wrong_options():
    for options, words in (({"shuffle": True, "sampler": [0]}, "mutually exclusive"), ({"num_workers": -1}, "non-negative"),
                           ({"prefetch_factor": 2}, "multiprocessing"), ({"persistent_workers": True}, "num_workers > 0"),
                           ({"batch_size": 0}, "positive integer"), ({"timeout": -1}, "non-negative")):
        with pytest.raises(ValueError, match=words):
            DataLoader(pairs(), **options)
    with pytest.raises(ValueError, match="IterableDataset"):
        DataLoader(torch_loading.Shares(), shuffle=True)


def test_worker_processes():
    """Batches in order from two processes; the same ones go on in a second round; an iterable set is shared out."""
    loader = DataLoader(torch_loading.Squares(), batch_size=2, num_workers=2, persistent_workers=True)
    for _ in range(2):
        found = list(loader)
        assert [b["y"].tolist() for b in found] == [[0, 1], [2, 3], [4, 5], [6]]
        assert {n for b in found for n in b["worker"].tolist()} == {0, 1}
    loader._pool.close()


def test_a_generator_seeds_worker_processes():
    def drawn(seed):
        loader = DataLoader(torch_loading.Draws(), num_workers=2, generator=torch.Generator().manual_seed(seed))
        return [b.tolist() for b in loader]

    state = torch.get_rng_state()
    assert drawn(3) == drawn(3) != drawn(4) and torch.equal(state, torch.get_rng_state())


def test_worker_processes_of_an_iterable_set():
    found = [b.tolist() for b in DataLoader(torch_loading.Shares(), batch_size=3, num_workers=2)]
    assert sorted(n for b in found for n in b) == list(range(10))


def test_exception_in_a_worker_process():
    loader = DataLoader(torch_loading.Failing(), batch_size=3, num_workers=1)
    found = iter(loader)
    assert next(found).tolist() == [0, 1, 2]
    with pytest.raises(KeyError, match=r"in DataLoader worker process 0.*Original Traceback"):
        next(found)


def test_worker_process_that_dies(monkeypatch):
    from treadle.torch.utils.data._utils import worker as _workers

    monkeypatch.setattr(_workers, "_POLL", 0.2)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(DataLoader(torch_loading.Dying(), batch_size=1, num_workers=1))


ABANDONED = """
import os
import treadle.torch as torch
from treadle.torch.utils.data import DataLoader, TensorDataset
batches = iter(DataLoader(TensorDataset(torch.zeros(64, 100000)), batch_size=4, num_workers=2, multiprocessing_context="fork"))
next(batches)
os._exit(0)
"""


def test_workers_of_a_process_that_is_gone_end():
    """Also those with batches that nobody takes: a program's output ends with its workers."""
    done = subprocess.run([sys.executable, "-c", ABANDONED], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
