"""torch.cuda.CUDAGraph: training steps recorded and replayed, alone and with collectives between processes."""

import numpy as np
import pytest
import torch_parallel_side as side

import treadle as td
import treadle.torch as torch
from treadle.torch import nn

OPTIMIZERS = {
    "SGD": lambda p, d: torch.optim.SGD(p, 0.1),
    "momentum": lambda p, d: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    "Adam": lambda p, d: torch.optim.Adam(p, 1e-2, capturable=True, weight_decay=0.1),
    "AdamW": lambda p, d: torch.optim.AdamW(p, torch.tensor(1e-2, device=d), capturable=True, amsgrad=True),
}


@pytest.fixture(params=["cpu", "null:0"])
def device(request):
    with td.device(request.param):
        yield request.param


def trained(make, device, replayed, steps=6):
    """Losses of steps on batches of their own, the parameters, and what the recording launches."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3)).to(device)
    optimizer, loss_of = make(net.parameters(), device), nn.CrossEntropyLoss()
    rng = np.random.default_rng(1)
    x, y = torch.zeros(5, 6, device=device), torch.zeros(5, dtype=torch.int64, device=device)

    def work():
        optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    graph, losses = torch.cuda.CUDAGraph(), []
    for step in range(steps):
        x.copy_(torch.from_numpy(rng.standard_normal((5, 6)).astype("f4")))
        y.copy_(torch.from_numpy(rng.integers(0, 3, 5)))
        if replayed and step == 2:
            with torch.cuda.graph(graph):
                assert torch.cuda.is_current_stream_capturing()
                loss = work()
            assert not torch.cuda.is_current_stream_capturing()
        if replayed and step >= 2:
            graph.replay()
        else:
            loss = work()
        losses.append(loss.item())
    return losses, [p.detach().cpu().numpy() for p in net.parameters()]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_recorded_step_trains(device, name):
    """With other batches, other random masks and other step numbers at each replay."""
    first, second = (trained(OPTIMIZERS[name], device, replayed) for replayed in (False, True))
    np.testing.assert_allclose(second[0], first[0], rtol=1e-5)
    assert len(set(first[0])) == len(first[0])
    for a, b in zip(first[1], second[1], strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("words", "make"),
    [
        ("capturable is False", lambda p: torch.optim.Adam(p)),
        ("RMSprop: its steps cannot", lambda p: torch.optim.RMSprop(p)),
        ("take a step before", lambda p: torch.optim.Adam(p, capturable=True)),
        ("take a step before", lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)),
    ],
)
def test_what_cannot_be_recorded_is_said(device, words, make):
    p = nn.Parameter(torch.ones(3, device=device))
    optimizer, graph = make([p]), torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match=words), torch.cuda.graph(graph):
        (p * 2).sum().backward()
        optimizer.step()
    assert p.detach().tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="nothing has been recorded"):
        graph.replay()


def test_parameters_that_miss_a_step_have_numbers_of_their_own():
    p, q = (nn.Parameter(torch.ones(2)) for _ in range(2))
    optimizer = torch.optim.Adam([p, q], capturable=True)
    for both in (True, False, True):
        optimizer.zero_grad()
        (p.sum() + (q.sum() if both else 0)).backward()
        optimizer.step()
    assert [optimizer.state[t]["step"].item() for t in (p, q)] == [3, 2]


def test_a_chosen_gpu_that_is_not_there_records_nowhere_else():
    x, graph = torch.ones(3), torch.cuda.CUDAGraph()
    with torch.cuda.device(0):
        if not torch.cuda.is_available():
            with torch.cuda.graph(graph):
                y = x + 1
            graph.replay()
            assert y.tolist() == [2, 2, 2]
    assert torch._device.chosen() is None


def test_two_processes_replay_their_collectives():
    eager, replayed = (
        td.distributed.spawn(side.classify, 2, flag, devices=["null:0", "null:1"], timeout=120) for flag in (False, True)
    )
    for a, b in zip(eager, replayed, strict=True):
        np.testing.assert_allclose(b[0], a[0], rtol=1e-5)
        for x, y in zip(a[1], b[1], strict=True):
            np.testing.assert_allclose(y, x, rtol=1e-4, atol=1e-6)
        assert a[2] == b[2]  # replays are counted
    for x, y in zip(*(r[1] for r in replayed), strict=True):
        np.testing.assert_array_equal(x, y)
