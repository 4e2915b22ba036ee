"""What each process of a group runs for tests of stores, meshes, checkpoints and data parallelism by fsdp's names."""

import numpy as np

import treadle.torch as torch
from treadle.torch.distributed import checkpoint, fsdp


def _net():
    torch.manual_seed(torch.distributed.get_rank())  # other values in each; those of process 0 count
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))


def _step(model, optimizer, rank):
    x = torch.sin(torch.arange(12.0).reshape(4, 3))[2 * rank : 2 * rank + 2]
    optimizer.zero_grad()
    (model(x) ** 2).mean().backward()
    optimizer.step()


def trained(how):
    """Parameters after a step of the whole batch shared by two processes."""
    rank, net = torch.distributed.get_rank(), _net()
    model = fsdp.FullyShardedDataParallel(net) if how == "wrapped" else fsdp.fully_shard(net)
    start = [p.detach().numpy().copy() for p in net.parameters()]
    _step(model, torch.optim.SGD(model.parameters(), lr=0.5), rank)
    return start, [p.detach().numpy().copy() for p in net.parameters()], list(model.state_dict())


def mesh():
    """Sums along the rows and columns of a mesh of two by two processes."""
    dist = torch.distributed
    m = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    found = []
    for name in ("dp", "tp"):
        t = torch.tensor([float(dist.get_rank())])
        dist.all_reduce(t, group=m.get_group(name))
        found.append(t.item())
    part = m["tp"]
    return found, m.get_coordinate(), m.get_local_rank("tp"), part.mesh.tolist(), part.size()


def saved(folder):
    """A state that rank 0 wrote, read by both."""
    rank, net = torch.distributed.get_rank(), _net()
    optimizer = torch.optim.Adam(net.parameters())
    _step(net, optimizer, 0)
    checkpoint.save({"model": net, "optim": optimizer.state_dict(), "step": 3 + rank}, checkpoint_id=folder)
    other, state = _net(), {"step": 0}
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    state["model"] = other
    checkpoint.load(state, checkpoint_id=folder)
    return state["step"], np.concatenate([p.detach().numpy().reshape(-1) for p in other.parameters()])


def norm():
    """SyncBatchNorm's results and gradients for this process's half of a batch."""
    rank = torch.distributed.get_rank()
    layer = torch.nn.SyncBatchNorm(2)
    x = torch.cos(torch.arange(24.0).reshape(4, 2, 3))[2 * rank : 2 * rank + 2].requires_grad_()
    y = layer(x)
    (y * torch.arange(24.0).reshape(4, 2, 3)[2 * rank : 2 * rank + 2]).sum().backward()
    return [t.detach().numpy() for t in (y, x.grad, layer.running_mean, layer.running_var)]
