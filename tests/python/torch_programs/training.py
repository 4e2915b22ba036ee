"""What larger programs import: profiler, event files, pruning, averaged weights, hub, jit, distributions, checkpoints."""

import os

import torch
import torch.autograd.profiler as autograd_profiler
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.fx
import torch.nn.utils.prune as prune
import torch.onnx
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.serialization import add_safe_globals, safe_globals
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
from torch.utils.data.sampler import WeightedRandomSampler
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.LazyLinear(8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.LazyLinear(1))
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
model(x)
set_of = TensorDataset(x, y)
loader = DataLoader(set_of, batch_size=16, sampler=WeightedRandomSampler(torch.ones(64), 64))
assert len(list(DistributedSampler(set_of, num_replicas=2, rank=1))) == 32
averaged, optimizer = AveragedModel(model), torch.optim.AdamW(model.parameters(), lr=1e-2)
swa = SWALR(optimizer, swa_lr=5e-3)
with (
    SummaryWriter("runs/one") as writer,
    profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=1, warmup=1, active=2),
        on_trace_ready=lambda p: p.export_chrome_trace("trace.json"),
        record_shapes=True,
    ) as prof,
):
    for step in range(4):
        for a, b in loader:
            with record_function("step"):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(model(a), b)
                loss.backward()
                optimizer.step()
        averaged.update_parameters(model)
        swa.step()
        writer.add_scalar("loss", loss, step)
        prof.step()
update_bn(loader, averaged)
assert os.path.getsize("trace.json") > 100 and os.listdir("runs/one")
print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=3))
with autograd_profiler.profile() as p:
    averaged(x).sum().item()
prune.l1_unstructured(model[0], "weight", amount=0.5)
assert prune.is_pruned(model) and (model[0].weight == 0).sum() == 16
prune.remove(model[0], "weight")
torch.jit.script(model).save("model.ts")
assert torch.equal(torch.jit.load("model.ts")(x), model(x))
with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
    torch.nn.functional.scaled_dot_product_attention(*(torch.randn(1, 2, 4, 8) for _ in range(3)))
with open("hubconf.py", "w") as file:
    file.write("dependencies = ['torch']\nimport torch\n\n\ndef net(n):\n    return torch.nn.Linear(n, 1)\n")
assert torch.hub.load(".", "net", 3, source="local").in_features == 3 and torch.hub.list(".") == ["net"]


class Settings:
    def __init__(self, rate):
        self.rate = rate


torch.save({"settings": Settings(3), "x": x}, "all.pt")
with safe_globals([Settings]):
    assert torch.load("all.pt", weights_only=True)["settings"].rate == 3
add_safe_globals([Settings])
torch.load("all.pt")
os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
dcp.save({"model": model.state_dict()}, checkpoint_id="folder")
state = {"model": model.state_dict()}
dcp.load(state, checkpoint_id="folder")
try:
    torch.onnx.export(model, x, "model.onnx")
except NotImplementedError as error:
    print(error)
assert not isinstance(model, torch.fx.GraphModule) and dist.is_available() and FSDP
print("done")
