"""Short programs, and what they print or which exception ends them: `python torch_outcomes.py torch_outcomes.json` with
PyTorch writes it, and test_torch_outcomes.py runs the same programs here."""

import contextlib
import io
import json
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F

# Expressions of a 3 × 3 leaf x. A pass through some needs what the pass before it has freed.
PASSED = """
x * 3; x + 3; 3 - x; x / 3; 3 / x; x ** 2; x ** 3.0; 2 ** x; -x; x.exp(); x.sin(); x.relu(); x.tanh(); x.abs(); x.sqrt()
x.mean(0); x.sum(1); x.prod(0); x.amax(0); x.max(); x.var(0); x.std(); x.norm(); x.logsumexp(0); x.cumsum(0)
x.softmax(0); x.log_softmax(0); F.gelu(x); F.silu(x); F.softplus(x); F.elu(x); F.leaky_relu(x); F.hardtanh(x)
x.view(9); x.reshape(1, 9); x.t(); x[0]; x[1:, ::2]; x[[0, 2]]; x.flatten(); x.expand(2, 3, 3); x.repeat(2, 1); x.flip(0)
x.squeeze(); x[None]; x.unbind()[0]; x.split(2)[0]; x.chunk(2)[1]; x.movedim(0, 1); x.roll(1, 0); x.clone(); x.double()
torch.cat([x, x]); torch.stack([x, x]); torch.where(x > 0, x, 0.0); x.masked_fill(x > 0, 1.0); F.pad(x, (1, 1))
x @ x; x.mm(x); x.mv(torch.ones(3)); torch.einsum("ij,jk->ik", x, torch.ones(3, 3)); F.linear(x, torch.ones(2, 3))
x.inverse(); x.det(); torch.linalg.solve(x + 5, x); x.sort()[0]; x.topk(2)[0]; x.kthvalue(1)[0]; x.cummax(0)[0]
F.mse_loss(x, torch.ones(3, 3)); F.l1_loss(x, torch.ones(3, 3)); F.cross_entropy(x, torch.tensor([0, 1, 2]))
F.nll_loss(x, torch.tensor([0, 1, 2])); F.binary_cross_entropy_with_logits(x, torch.ones(3, 3)); F.layer_norm(x, (3,))
F.conv2d(x[None, None], torch.ones(1, 1, 2, 2)); F.max_pool2d(x[None, None], 2); F.avg_pool2d(x[None, None], 2)
F.embedding(torch.tensor([0, 1]), x); F.normalize(x); F.glu(x.repeat(1, 2)); x.clamp(-1, 1); torch.fft.fft(x).abs()
F.unfold(x[None, None], 2); F.dropout(x, 0.0); F.pixel_shuffle(x.repeat(4, 1).reshape(1, 4, 3, 3), 2); x.round(); x.diff()
F.scaled_dot_product_attention(x, x, x); F.batch_norm(x, None, None, training=True); torch.maximum(x, x * 2)
torch.atan2(x, x + 1); torch.addmm(x, x, x); torch.outer(x[0], x[1]); x.trace(); x.diagonal(); x.detach().clone() + x
""".replace("\n", ";").split(";")

PROGRAMS = """
p = nn.Parameter(torch.zeros(3)); p.grad = torch.zeros(4)
---
for a in ("float32", "float64", "bfloat16", "complex64"):
    for b in ("float32", "float64", "float16", "complex64", "int64", "int16", "bool", "uint8"):
        p = torch.zeros(3, dtype=getattr(torch, a), requires_grad=True)
        try:
            p.grad = torch.zeros(3, dtype=getattr(torch, b))
            print(a, b, p.grad.dtype)
        except RuntimeError as e:
            print(a, b, e)
---
p = nn.Parameter(torch.zeros(3)); p.grad = 3
---
p = torch.zeros(3, requires_grad=True)
p.grad_dtype = torch.float64
p.grad = torch.ones(3).double()
p.sum().backward()
print(p.grad, p.grad_dtype, torch.zeros(2).grad_dtype)
p.grad = None
p.sum().backward()
print(p.grad)
p.grad = torch.ones(3)
---
p = torch.zeros(3, requires_grad=True); p.grad_dtype = None; p.grad = torch.ones(3).double(); print(p.grad, p.grad_dtype)
---
p = torch.zeros(3, requires_grad=True); p.grad_dtype = 3
---
x = torch.zeros(3, requires_grad=True); x.register_hook(lambda g: g[:2]); x.sum().backward()
---
x = torch.zeros(3, requires_grad=True); x.register_hook(lambda g: g.double()); x.sum().backward()
---
x = torch.zeros(3, requires_grad=True); x.register_hook(lambda g: 3); x.sum().backward()
---
x = torch.zeros(3, requires_grad=True); y = x * 2; y.register_hook(lambda g: g[:2]); y.sum().backward()
---
x = torch.zeros(3, requires_grad=True); x.register_post_accumulate_grad_hook(lambda p: 3); x.sum().backward()
---
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.factor = 2
        return x * 2
    @staticmethod
    def backward(ctx, g):
        print(len(ctx.saved_tensors))
        return g * ctx.factor
x = torch.zeros(3, requires_grad=True)
y = Twice.apply(x).sum()
y.backward(retain_graph=True)
y.backward()
print(x.grad)
y.backward()
---
class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
x = torch.zeros(3, requires_grad=True)
y = Plain.apply(x).sum()
y.backward()
y.backward()
print(x.grad)
---
class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return 3
Wrong.apply(torch.zeros(3, requires_grad=True)).sum().backward()
---
layer = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(36, 2))
loss = layer(torch.ones(2, 3, 5, 5)).sum(); loss.backward(); loss.backward()
---
cell = nn.LSTM(3, 4)
out, state = cell(torch.ones(2, 1, 3)); out.sum().backward()
out, state = cell(torch.ones(2, 1, 3), state); out.sum().backward()
---
for name in "Adadelta Adagrad Adam AdamW Adamax ASGD NAdam RAdam RMSprop Rprop SGD Adafactor".split():
    p = nn.Parameter(torch.ones(3, 2))
    optimizer = getattr(torch.optim, name)([p], lr=0.1)
    p.sum().backward()
    optimizer.step()
    state = optimizer.state[p]
    print(name, {k: (v.dtype, tuple(v.shape)) for k, v in state.items()})
    if "step" in state:
        state["step"].fill_(10)
        optimizer.step()
        print(state["step"], state.get("step"), [t.dim() for t in state.values()], p)
        state["step"] += 5
        optimizer.step()
        print(state["step"], optimizer.state_dict()["state"][0]["step"], p)
---
class Own(torch.optim.Adam):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["step"] = state.get("step", 0) + 1
                print(state["step"], 0.9 ** state["step"], [0, 1, 2][state["step"]])
p = nn.Parameter(torch.ones(3))
optimizer = Own([p])
optimizer.step()
optimizer.step()
---
m=nn.Linear(2,2)
m.register_full_backward_hook(lambda m,gi,go: (gi[0],gi[0]))
m(torch.zeros(1,2,requires_grad=True)).sum().backward()
---
m=nn.Linear(2,2)
m.register_full_backward_pre_hook(lambda m,go: (go[0],go[0]))
m(torch.zeros(1,2,requires_grad=True)).sum().backward()
---
m=nn.Linear(2,2)
m.register_full_backward_hook(lambda m,gi,go: print(gi,go))
m(torch.zeros(1,2)).sum().backward()
---
m=nn.Linear(2,2)
m.register_full_backward_hook(lambda m,gi,go: (None,))
m(torch.zeros(1,2)).sum().backward()
---
m=nn.Linear(2,2)
m.register_full_backward_hook(lambda m,gi,go: (gi[0][:,:1],))
m(torch.zeros(1,2,requires_grad=True)).sum().backward()
---
m=nn.Linear(2,2)
m.register_full_backward_hook(lambda m,gi,go: 3)
m(torch.zeros(1,2,requires_grad=True)).sum().backward()
---
m=nn.Linear(2,2)
m.register_full_backward_hook(lambda m,gi,go: gi[0]*2)
x=torch.zeros(1,2,requires_grad=True)
m.weight.data.fill_(1.)
m(x).sum().backward()
print(x.grad)
---
m=nn.Linear(2,2)
m.register_full_backward_hook(lambda m,gi,go: [gi[0]*2])
x=torch.zeros(1,2,requires_grad=True)
m.weight.data.fill_(1.)
m(x).sum().backward()
print(x.grad)
---
m=nn.Linear(2,2)
m.register_full_backward_hook(lambda m,gi,go: 3)
m(torch.zeros(1,2)).sum().backward()
---
m=nn.Bilinear(2,2,1)
m.register_full_backward_hook(lambda m,gi,go: print(gi))
a=torch.zeros(1,2,requires_grad=True)
m(a,torch.zeros(1,2)).sum().backward()
---
class M(nn.Module):
    def forward(self,x): return {'a':x*2,'b':x*3}
m=M()
m.register_full_backward_hook(lambda m,gi,go: print(gi,go))
a=torch.zeros(1,2,requires_grad=True)
m(a)['a'].sum().backward()
---
class M(nn.Module):
    def forward(self,x): return [x*2,x*3]
m=M()
m.register_full_backward_hook(lambda m,gi,go: print(gi,go))
a=torch.zeros(1,2,requires_grad=True)
m(a)[0].sum().backward()
---
nn.MaxPool2d(7)(torch.ones(1,512,2,2))
---
nn.AvgPool2d(7)(torch.ones(1,512,2,2))
---
nn.MaxPool3d(7)(torch.ones(1,512,2,2,2))
---
nn.MaxPool2d(7)(torch.ones(512,2,2))
---
torch.bmm(torch.ones(2,3,4),torch.ones(2,3,4))
---
torch.bmm(torch.ones(2,3,4),torch.ones(3,4,3))
---
torch.ones(2,3,4)@torch.ones(2,3,4)
---
torch.ones(2,4)@torch.ones(3)
---
torch.ones(4)@torch.ones(3)
---
torch.ones(5,2,4)@torch.ones(3)
---
nn.Dropout1d().eval()(torch.ones(2, 2, 4, 4))
---
F.pad(torch.ones(4), (1, 1), mode='reflect')
---
nn.BatchNorm2d(3)(torch.ones(1, 2, 5, 5))
---
F.triplet_margin_loss(torch.ones(2, 3), torch.ones(2, 3), torch.ones(3))
---
F.cosine_embedding_loss(torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 1))
---
F.margin_ranking_loss(torch.ones(2, 1), torch.ones(2, 1), torch.ones(2))
---
F.gaussian_nll_loss(torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 2))
---
torch.zeros(()).copy_(torch.ones(1))
---
torch.tensor(1.0).argmax(1)
---
F.layer_norm(torch.ones(2, 3), (3,), torch.ones(1, 3))
---
F.group_norm(torch.ones(2, 4), 2, torch.ones(2))
---
torch.cdist(torch.ones(2, 3), torch.ones(2, 4))
---
torch.inner(torch.ones(3), torch.ones(2, 4))
""".split("\n---\n")


def passes(expression):
    """What a second pass through the expression says: its first words, or that it goes through."""
    x = torch.tensor([[0.5, -1.2, 2.0], [1.5, 0.3, -0.7], [0.9, 1.1, -2.1]], requires_grad=True)
    y = eval(expression, {"torch": torch, "F": F, "x": x})
    ones = torch.ones(y.shape, dtype=y.dtype)
    y.backward(ones)
    try:
        y.backward(ones)
    except RuntimeError as e:
        return str(e)[:50]
    return "goes through"


def outcome(program):
    """What the program prints, and the exception that ends it."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(program, {"torch": torch, "nn": nn, "F": F})
        except Exception as e:
            out.write(f"{type(e).__name__}: {e}")
    return out.getvalue()


def main(path):
    found = {e.strip(): passes(e.strip()) for e in PASSED if e.strip()} | {p.strip(): outcome(p) for p in PROGRAMS}
    with open(path, "w") as f:
        json.dump(found, f, indent=0)
        f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
