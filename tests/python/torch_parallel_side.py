"""What each process of a DistributedDataParallel test runs."""

import numpy as np

import treadle.torch as torch
from treadle.torch import nn
from treadle.torch.nn.parallel import DistributedDataParallel


class Shared(nn.Module):
    """A weight that is used twice, a buffer, and a part that only some calls use."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.last = nn.Linear(3, 2)
        self.extra = nn.Linear(3, 2)

    def forward(self, x, extra=False):
        h = self.norm(self.first(torch.tanh(self.first(x))))
        return self.last(h) + (self.extra(h) if extra else 0)


def data(step):
    rng = np.random.default_rng(step)
    return rng.standard_normal((8, 3)).astype("f4"), rng.standard_normal((8, 2)).astype("f4")


def share(values, rank, size):
    return [torch.from_numpy(v[rank * len(v) // size : (rank + 1) * len(v) // size].copy()) for v in values]


def train(steps=4):
    """Losses and parameters of a net without batch statistics, trained on this process's share of each batch."""
    dist = torch.distributed
    torch.manual_seed(dist.get_rank())  # other values in each; those of process 0 count
    net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    model = DistributedDataParallel(net, bucket_cap_mb=5e-5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    start = [p.detach().numpy().copy() for p in net.parameters()]
    for step in range(steps):
        x, y = share(data(step), dist.get_rank(), dist.get_world_size())
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
    return len(model._reducer.groups), start, [p.detach().numpy() for p in net.parameters()]


def odd():
    """Unused parameters, accumulation without reducing, buffers, and the error for what was not said."""
    dist = torch.distributed
    rank = dist.get_rank()
    torch.manual_seed(rank)
    net = Shared()
    model = DistributedDataParallel(net, find_unused_parameters=True)
    x = torch.sin(torch.arange(12.0).reshape(4, 3) + 5 * rank)
    weights = torch.arange(8.0).reshape(4, 2)
    (model(x, extra=rank == 1) * weights).sum().backward()  # one process uses it, the other does not
    found = [p.grad.numpy().copy() for p in (net.first.weight, net.extra.bias)]
    with model.no_sync():
        (model(x) * (weights + rank)).sum().backward()
    apart = net.first.weight.grad.numpy().copy()
    strict = DistributedDataParallel(Shared())
    strict(x).sum().backward()
    try:
        strict(x)
        words = ""
    except RuntimeError as error:
        words = str(error)
    model(torch.ones(4, 3))  # begins with the buffers of process 0
    return found, apart, words, net.norm.running_mean.numpy()


def classify(replayed, steps=6):
    """Losses and parameters of a classifier trained by Adam on a device each; from the third step on replayed."""
    dist = torch.distributed
    rank, size, device = dist.get_rank(), dist.get_world_size(), str(dist.group.WORLD.device)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Dropout(0.3), nn.Linear(5, 2)).to(device)
    model = DistributedDataParallel(net, bucket_cap_mb=5e-5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, capturable=True)
    torch.manual_seed(rank)
    rows = 8 // size
    x, y = torch.zeros(rows, 3, device=device), torch.zeros(rows, 2, device=device)

    def work():
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    graph, losses = torch.cuda.CUDAGraph(), []
    for step in range(steps):
        for place, part in zip((x, y), share(data(step), rank, size)):
            place.copy_(part[:rows])
        if replayed and step == 2:
            with torch.cuda.graph(graph):
                loss = work()
        if replayed and step >= 2:
            graph.replay()
        else:
            loss = work()
        losses.append(loss.item())
    called = dist.group.WORLD.count
    return losses, [p.detach().cpu().numpy() for p in net.parameters()], called
