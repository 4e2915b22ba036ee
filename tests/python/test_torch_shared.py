"""Tensors in memory that processes share: share_memory_, Module.share_memory, torch.multiprocessing's queues."""

import os

import pytest
import torch_shared_side

import treadle.torch as torch
import treadle.torch.multiprocessing as mp

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="Linux shares memory by memfd_create")


def run(target, *args):
    process = mp.get_context("spawn").Process(target=target, args=args)
    process.start()
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64])
def test_a_spawned_process_writes_to_the_same_memory(dtype):
    x = torch.zeros(3, dtype=dtype)
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared()
    run(torch_shared_side.add_one, x, 1)
    assert torch.equal(x, torch.tensor([0, 1, 0], dtype=dtype))


def test_views_strides_and_attributes_travel():
    x = torch.arange(6.0).reshape(2, 3).share_memory_()
    view = x.t()[1:]
    assert view.is_shared()
    run(torch_shared_side.add_one, view, 0)
    assert x.tolist() == [[0, 2, 2], [3, 5, 5]]


def test_a_shared_module_is_trained_by_another_process():
    torch.manual_seed(0)
    model, twin = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    twin.load_state_dict(model.state_dict())
    assert model.share_memory() is model
    assert all(p.is_shared() and p.requires_grad and p.is_leaf for p in model.parameters())
    run(torch_shared_side.train, model, 3)
    torch_shared_side.train(twin, 3)
    for p, q in zip(model.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(p, q)


def test_a_fork_shares_it():
    x = torch.zeros(2).share_memory_()
    memory = x.numpy()
    child = os.fork()
    if not child:
        memory[1] = 7
        os._exit(0)
    os.waitpid(child, 0)
    assert x.tolist() == [0, 7]


def test_a_tensor_in_a_queue_is_shared_by_both_ends():
    context = mp.get_context("spawn")
    given, answers = context.Queue(), context.Queue()
    process = context.Process(target=torch_shared_side.through_queue, args=(given, answers))
    process.start()
    x = torch.ones(3)
    given.put(x)
    assert answers.get(timeout=60) == 6
    process.join(60)
    assert x.tolist() == [2, 2, 2] and x.is_shared()


def test_what_has_a_history_is_not_shared():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="share_memory_: the tensor has a history"):
        (x * 2).share_memory_()
    assert torch.empty(0).share_memory_().is_shared() is False
