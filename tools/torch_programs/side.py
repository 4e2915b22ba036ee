"""side.py STEPS OUT SCRIPT ARGUMENT… - runs SCRIPT, unedited, and writes the losses of its first STEPS backward passes.

Whichever library torch means, weights, noise, masks of dropout and the order of data are drawn by NumPy, so that both
do the same. The environment's TORCH_PROGRAMS_DOUBLE=1 makes all float32 float64.
"""

import functools
import inspect
import json
import math
import os
import random
import runpy
import sys
import types

import numpy as np
import torch
import torch.distributions
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import RandomSampler

STEPS, OUT, SCRIPT = int(sys.argv[1]), sys.argv[2], sys.argv[3]
T = torch.Tensor
# A stream for each use: modules may draw other numbers of values for their first weights, which are replaced.
NOISE, FILLS, ORDER, MASKS = map(np.random.default_rng, (5, 6, 7, 8))
losses = []


def begin_again():
    """Every stream from its beginning: a model that fails leaves the next one's draws alone."""
    for stream, seed in ((NOISE, 5), (FILLS, 6), (ORDER, 7), (MASKS, 8)):
        stream.bit_generator.state = np.random.default_rng(seed).bit_generator.state


sys.modules["streams"] = types.SimpleNamespace(begin_again=begin_again)


def finish():
    with open(OUT, "w") as f:
        json.dump(losses, f)


# ---- what is drawn ----


def given(a, dtype=None, device=None, requires_grad=False, like=None, **_):
    """NumPy's values as a tensor."""
    dtype = dtype or (torch.get_default_dtype() if like is None else like.dtype)
    r = torch.from_numpy(np.ascontiguousarray(a)).to(dtype)
    device = device or (None if like is None else like.device)
    r = r if device is None else r.to(device)
    return r.requires_grad_() if requires_grad else r


def shape_of(size):
    return tuple(int(n) for n in (size[0] if len(size) == 1 and not isinstance(size[0], int) else size))


def of_shape(draw):
    def make(*a, size=None, generator=None, out=None, **k):
        return given(draw(shape_of(a if size is None else (size,))), **k)

    return make


def of_tensor(draw):
    return lambda x, **k: given(draw(tuple(x.shape)), like=x, **k)


def into(draw):
    def fill(self, *a, generator=None, **k):
        with torch.no_grad():
            self.copy_(given(np.asarray(draw(tuple(self.shape), *a, **k)), like=self).reshape(tuple(self.shape)))
        return self

    return fill


def randint(*a, generator=None, dtype=None, size=None, device=None, low=0, high=None, **_):
    a = list(a)
    size = a.pop() if size is None else size
    low, high = [low, *a][-2:] if high is None else (a[0] if a else low, high)
    return given(NOISE.integers(low, high, shape_of((size,))), dtype=dtype or torch.int64, device=device)


def normal(mean, std=1.0, size=None, **k):
    shapes = [tuple(getattr(x, "shape", ())) for x in (mean, std)]
    draw = given(NOISE.standard_normal(tuple(size) if size is not None else np.broadcast_shapes(*shapes)))
    return mean + std * draw


def picked(p, count, replacement, rng):
    q = p.detach().cpu().double().numpy()
    rows = q.reshape(-1, q.shape[-1])
    r = [rng.choice(rows.shape[-1], count, replace=replacement, p=row / row.sum()) for row in rows]
    return given(np.array(r).reshape(*q.shape[:-1], count), dtype=torch.int64, device=p.device)


def multinomial(p, num_samples, replacement=False, **_):
    return picked(p, num_samples, replacement, NOISE)


def bernoulli(x, *_, **__):
    return given((NOISE.random(tuple(x.shape)) < x.detach().cpu().double().numpy()) * 1.0, like=x)


torch.randn, torch.randn_like = of_shape(NOISE.standard_normal), of_tensor(NOISE.standard_normal)
torch.rand, torch.rand_like = of_shape(NOISE.random), of_tensor(NOISE.random)
torch.randint, torch.normal = randint, normal
torch.multinomial = T.multinomial = multinomial
torch.bernoulli = T.bernoulli = bernoulli
torch.randperm = lambda n, generator=None, dtype=None, **_: given(ORDER.permutation(n), dtype=dtype or torch.int64)
T.normal_ = into(lambda s, mean=0, std=1: mean + std * FILLS.standard_normal(s))
T.uniform_ = into(lambda s, a=0, b=1, **k: k.get("from", a) + (k.get("to", b) - k.get("from", a)) * FILLS.random(s))
T.bernoulli_ = into(lambda s, p=0.5: (MASKS.random(s) < (p.cpu().numpy() if hasattr(p, "cpu") else p)) * 1.0)
T.exponential_ = into(lambda s, lambd=1: FILLS.exponential(1 / lambd, s))
T.random_ = into(lambda s, a=0, b=None: FILLS.integers(*((a, b) if b is not None else (0, a or 2**20)), s))


def dropout(input, p=0.5, training=True, inplace=False, dims=None):
    if not training or not p:
        return input
    shape = tuple(input.shape) if dims is None else tuple(input.shape[:dims]) + (1,) * (input.ndim - dims)
    return input * given((MASKS.random(shape) >= p) / (1 - p), like=input)


channels = functools.partial(dropout, dims=2)
F.dropout, F.dropout1d, F.dropout2d, F.dropout3d = dropout, channels, channels, channels
torch.dropout = lambda x, p, train: dropout(x, p, train)
nn.Dropout.forward = lambda self, x: dropout(x, self.p, self.training)
for kind in (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d):
    kind.forward = lambda self, x: channels(x, self.p, self.training)
attention = F.scaled_dot_product_attention
F.scaled_dot_product_attention = lambda q, k, v, attn_mask=None, dropout_p=0.0, *a, **kw: attention(
    q, k, v, attn_mask, 0.0, *a, **kw
)


def undropped(kind):
    """Modules that draw inside of the library do without."""
    made = kind.__init__

    def init(self, *a, **k):
        made(self, *a, **k)
        if isinstance(getattr(self, "dropout", None), float):
            self.dropout = 0.0

    kind.__init__ = init


for kind in (nn.LSTM, nn.GRU, nn.RNN, nn.MultiheadAttention):
    undropped(kind)


def order(self):
    n = len(self.data_source)
    if self.replacement:
        return (int(ORDER.integers(0, n)) for _ in range(self.num_samples))
    return iter(ORDER.permutation(n).tolist())


RandomSampler.__iter__ = order


def sample_normal(self, sample_shape=()):
    draw = MASKS.standard_normal(tuple(sample_shape) + tuple(self.loc.shape))
    return self.loc + self.scale * given(draw, like=self.loc)


def sample_categorical(self, sample_shape=()):
    p = self.probs.detach().cpu().double().numpy()
    u = MASKS.random(tuple(sample_shape) + p.shape[:-1])
    r = (u[..., None] > np.cumsum(p / p.sum(-1, keepdims=True), -1)).sum(-1)
    return given(r, dtype=torch.int64, device=self.probs.device)


torch.distributions.Categorical.sample = sample_categorical
torch.distributions.Normal.rsample = sample_normal
torch.distributions.Normal.sample = lambda self, sample_shape=(): sample_normal(self, sample_shape).detach()

# ---- weights ----

weighed = {}


def weigh(groups):
    """Parameters that were drawn get NumPy's values, those of one value keep it."""
    count = 0
    for group in groups:
        held = group["params"] if isinstance(group, dict) else group[1] if isinstance(group, tuple) else group
        for p in [held] if isinstance(held, T) else list(held):
            count += 1
            a = p.detach().cpu().numpy()
            if id(p) not in weighed and a.dtype.kind == "f" and a.size > 1 and np.ptp(a):
                fan = max(1, math.prod(a.shape[1:])) if a.ndim > 1 else 100
                draw = np.random.default_rng(count).standard_normal(a.shape)
                with torch.no_grad():
                    p.copy_(given(draw * min(0.5, 1 / math.sqrt(fan)), like=p))
            weighed[id(p)] = p


def weighing(kind):
    made = kind.__init__

    @functools.wraps(made)
    def init(self, params, *a, **k):
        params = list(params)
        weigh(params)
        made(self, params, *a, **k)

    init.__signature__ = inspect.signature(made)
    kind.__init__ = init


for kind in {id(k): k for k in (getattr(torch.optim, n) for n in dir(torch.optim)) if isinstance(k, type)}.values():
    if issubclass(kind, torch.optim.Optimizer) and kind is not torch.optim.Optimizer:
        weighing(kind)

# ---- data, logs, the end ----


def synthetic():
    """Torchvision's data sets, of noise."""
    from PIL import Image
    from torchvision import datasets

    class Grey(torch.utils.data.Dataset):
        shape = (28, 28)

        def __init__(self, root=None, train=True, transform=None, target_transform=None, download=False, **_):
            r = np.random.default_rng(11)
            self.images = r.integers(0, 256, (64, *self.shape), dtype=np.uint8)
            self.labels = r.integers(0, 10, 64).tolist()
            self.data, self.targets = torch.from_numpy(self.images), torch.tensor(self.labels)
            self.classes = [str(i) for i in range(10)]
            self.transform, self.target_transform = transform, target_transform

        def __len__(self):
            return len(self.images)

        def __getitem__(self, i):
            x, y = Image.fromarray(self.images[i]), self.labels[i]
            x = self.transform(x) if self.transform else x
            return x, self.target_transform(y) if self.target_transform else y

    class Colour(Grey):
        shape = (32, 32, 3)

    datasets.MNIST = datasets.FashionMNIST = Grey
    datasets.CIFAR10 = datasets.ImageFolder = Colour


synthetic()


class SummaryWriter:
    """Writes nothing."""

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, name):
        return lambda *_, **__: None


def without_logs():
    try:
        import torch.utils.tensorboard as made
    except ImportError:  # PyTorch's asks for the package tensorboard
        made = sys.modules["torch.utils.tensorboard"] = types.ModuleType("torch.utils.tensorboard")
    made.SummaryWriter = SummaryWriter


without_logs()
backward = T.backward


def counted(self, *a, **k):
    losses.append(self.detach().double().sum().item())
    backward(self, *a, **k)
    if len(losses) >= STEPS:
        finish()
        sys.stdout.flush()
        os._exit(0)


T.backward = counted
if os.environ.get("TORCH_PROGRAMS_DOUBLE"):
    torch.set_default_dtype(torch.float64)
    T.float = T.double
    torch.float = torch.float32 = torch.float64
    torch.FloatTensor = torch.DoubleTensor
random.seed(3)
np.random.seed(3)
torch.manual_seed = torch.seed = lambda *_: None
sys.argv = [SCRIPT, *sys.argv[4:]]
sys.path.insert(0, os.path.dirname(os.path.abspath(SCRIPT)))
try:
    runpy.run_path(SCRIPT, run_name="__main__")
finally:
    finish()
