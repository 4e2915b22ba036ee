"""Training programs as strangers write them: each gives its losses, from weights and data that NumPy draws.

`python torch_losses.py torch_losses.json` with PyTorch writes what test_torch_losses.py compares with.
"""

import copy
import io
import json
import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.prune


class Draws:
    """NumPy's draws as tensors of the dtype that the program is asked in."""

    def __init__(self, dtype):
        self.rng, self.dtype = np.random.default_rng(5), dtype

    def normal(self, *shape):
        return torch.tensor(self.rng.standard_normal(shape), dtype=self.dtype)

    def classes(self, n, *shape):
        return torch.tensor(self.rng.integers(0, n, shape))

    def filled(self, module):
        """The module in the dtype, with weights of NumPy's."""
        module.to(self.dtype)
        with torch.no_grad():
            for p in module.parameters():
                p.copy_(self.normal(*p.shape) * 0.3)
        return module


def halves(draw):
    """Mixed precision: products in bfloat16 and a scaler; what is left to the weights is of their own dtype."""
    model = draw.filled(nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Hardswish(), nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=2)
    x, y = (draw.normal(16, 6) * 4).round() / 4, draw.normal(16, 1)
    for step in range(5):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            yield float(model(x).dtype is torch.bfloat16)
            with torch.autocast("cpu", enabled=False):
                loss = F.mse_loss(model(x), y) * (math.inf if step == 2 else 1)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        yield from (scaler.get_scale(), float(norm.isfinite()), loss.nan_to_num(posinf=0.0))


def groups_and_schedules(draw):
    """Groups of parameters, accumulated gradients, clipping, two schedules in turn, an average of the weights."""
    body = [nn.Linear(8, 16, bias=False), nn.BatchNorm1d(16), nn.GELU(), nn.Dropout(0.0)]
    model = draw.filled(nn.Sequential(*body, nn.Linear(16, 3)))
    no_decay = [p for n, p in model.named_parameters() if p.ndim < 2]
    decay = [p for n, p in model.named_parameters() if p.ndim >= 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0, "lr": 3e-2}]
    optimizer = torch.optim.AdamW(groups, lr=1e-2)
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=3)
    cosine = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3, 2)
    schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, cosine], [3])
    average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    x, y = draw.normal(32, 8), draw.classes(3, 32)
    for _ in range(8):
        for part in range(2):
            rows = slice(16 * part, 16 * part + 16)
            loss = F.cross_entropy(model(x[rows]), y[rows], label_smoothing=0.1) / 2
            loss.backward()
            yield loss
        yield nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        schedule.step()
        average.update_parameters(model)
        yield schedule.get_last_lr()[0]
    average.eval()
    yield F.cross_entropy(average(x), y)


class Block(nn.Module):
    def __init__(self, channels, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 2 * channels, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(2 * channels)
        self.conv2 = nn.Conv2d(2 * channels, 2 * channels, 3, 1, 1, groups=2, bias=False)
        self.norm2 = nn.GroupNorm(2, 2 * channels)
        self.short = nn.Conv2d(channels, 2 * channels, 1, stride)

    def forward(self, x):
        y = F.leaky_relu(self.norm1(self.conv1(x)), 0.1)
        return F.elu(self.norm2(self.conv2(y)) + self.short(x), inplace=True)


def images_and_hooks(draw):
    """A convolutional network; hooks read features, scale gradients and watch modules; SGD with Nesterov's momentum."""
    model = draw.filled(nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"), Block(4, 2), Block(8, 2),
                                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)))  # fmt: skip
    seen = {}
    model[1].register_forward_hook(lambda m, args, out: seen.update(mean=out.detach().abs().mean()))
    model[2].register_full_backward_hook(lambda m, gi, go: (gi[0] * 0.5,))
    model[0].register_forward_pre_hook(lambda m, args: (args[0] - args[0].mean(),))
    model[5].weight.register_hook(lambda g: g.clamp(-0.1, 0.1))
    model[2].conv1.weight.register_post_accumulate_grad_hook(lambda p: seen.update(norm=p.grad.norm()))
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 4], 0.3)
    x, y = draw.normal(6, 3, 12, 12).to(memory_format=torch.channels_last), draw.classes(5, 6)
    for _ in range(6):
        optimizer.zero_grad()
        loss = nn.CrossEntropyLoss(weight=torch.linspace(0.5, 1.5, 5, dtype=draw.dtype))(model(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        yield from (loss, seen["mean"], seen["norm"])
    model.eval()
    with torch.inference_mode():
        yield model(x).logsumexp(1).mean()


def resumed(draw):
    """Training that stops, is saved, and goes on from the file as if it had not."""
    def build():
        return nn.ModuleDict({"body": nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 12), nn.SiLU()),
                              "head": nn.Linear(12, 1)}).to(draw.dtype)  # fmt: skip

    def optimizers(model):
        o = torch.optim.Adam(model.parameters(), 0.02, amsgrad=True)
        return o, torch.optim.lr_scheduler.ReduceLROnPlateau(o, factor=0.5, patience=0)

    def step(model, o, schedule, x, y):
        hidden = torch.utils.checkpoint.checkpoint(model["body"], x, use_reentrant=False)
        loss = F.smooth_l1_loss(model["head"](hidden)[:, 0], y, beta=0.5)
        o.zero_grad()
        loss.backward()
        o.step()
        schedule.step(loss.item())
        return loss

    model = draw.filled(build())
    o, schedule = optimizers(model)
    x, y = draw.normal(20, 6), draw.normal(20)
    for _ in range(4):
        yield step(model, o, schedule, x, y)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": o.state_dict(), "schedule": schedule.state_dict()}, file)
    for p in model.parameters():
        p.data.zero_()
    file.seek(0)
    saved = torch.load(file, weights_only=True)
    model = build()
    o, schedule = optimizers(model)
    yield float(len(model.load_state_dict(saved["model"]).missing_keys))
    o.load_state_dict(saved["optimizer"])
    schedule.load_state_dict(saved["schedule"])
    for _ in range(6):
        yield step(model, o, schedule, x, y)
        yield o.param_groups[0]["lr"]


class Rounded(torch.autograd.Function):
    """Rounds; the gradient goes straight through."""

    @staticmethod
    def forward(ctx, x, steps):
        ctx.save_for_backward(x)
        return (x * steps).round() / steps

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (g * (x.abs() < 1) if ctx.needs_input_grad[0] else None), None


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(x, beta):
        return x * torch.sigmoid(beta * x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, beta = ctx.saved_tensors
        s = torch.sigmoid(beta * x)
        return g * (s + x * beta * s * (1 - s)), (g * x * x * s * (1 - s)).sum()


def own_functions(draw):
    """Functions of autograd with a backward of their own, in a critic with a penalty on its gradient."""
    critic = draw.filled(nn.Sequential(nn.Linear(4, 16), nn.Linear(16, 1)))
    beta = nn.Parameter(torch.tensor(1.5, dtype=draw.dtype))
    optimizer = torch.optim.RMSprop([*critic.parameters(), beta], 1e-2, centered=True, momentum=0.5)
    real, fake = draw.normal(10, 4), draw.normal(10, 4) + 1
    for _ in range(6):
        def score(x):
            return critic[1](Swish.apply(critic[0](x), beta)).squeeze(1)

        between = (0.3 * real + 0.7 * fake).requires_grad_()
        (slope,) = torch.autograd.grad(score(between).sum(), between, create_graph=True)
        penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
        loss = score(Rounded.apply(fake * beta, 4)).mean() - score(real).mean() + 10 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield from (loss, penalty, beta)


class Skew(nn.Module):
    def forward(self, w):
        upper = w.triu(1)
        return upper - upper.mT

    def right_inverse(self, w):
        return w.triu(1)


class Rotation(nn.Module):
    def forward(self, w):
        return torch.linalg.matrix_exp(w)


def constrained(draw):
    """Weights behind parametrizations: rotations, norms and directions apart, spectral norms; Adadelta, weights pruned."""
    model = nn.Sequential(nn.Linear(5, 5, bias=False), nn.Linear(5, 7), nn.ReLU6(), nn.Linear(7, 7), nn.Linear(7, 2))
    draw.filled(model)
    nn.utils.parametrize.register_parametrization(model[0], "weight", Skew())
    nn.utils.parametrize.register_parametrization(model[0], "weight", Rotation(), unsafe=True)
    nn.utils.parametrizations.weight_norm(model[1], dim=0)
    nn.utils.prune.l1_unstructured(model[4], "weight", 4)
    optimizer = torch.optim.Adadelta(model.parameters(), 1.0, rho=0.8)
    x, y = draw.normal(12, 5), draw.normal(12, 2)
    for _ in range(6):
        loss = F.huber_loss(model(x), y, delta=0.7) + 0.01 * sum(p.abs().sum() for p in model.parameters())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss
    q = model[0].weight
    yield (q @ q.mT - torch.eye(5, dtype=draw.dtype)).abs().max() + 1
    nn.utils.parametrize.remove_parametrizations(model[1], "weight")
    nn.utils.prune.remove(model[4], "weight")
    yield from (F.mse_loss(model(x), y), float((model[4].weight == 0).sum()), model[1].weight.norm())


def policy(draw):
    """Proximal policy optimization on made-up episodes: generalized advantages, clipped ratios and values, entropy."""
    body = draw.filled(nn.Sequential(nn.Linear(4, 16), nn.Tanh()))
    actor, critic = draw.filled(nn.Linear(16, 3)), draw.filled(nn.Linear(16, 1))
    parameters = [*body.parameters(), *actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.NAdam(parameters, 3e-3, eps=1e-5)
    states, actions, rewards = draw.normal(24, 4), draw.classes(3, 24), draw.normal(24)
    dones = (torch.arange(24) % 8 == 7).to(draw.dtype)
    with torch.no_grad():
        h = body(states)
        old = torch.distributions.Categorical(logits=actor(h)).log_prob(actions)
        values = critic(h).squeeze(-1)
        advantages, last = torch.zeros_like(rewards), 0.0
        for t in reversed(range(24)):
            after = values[t + 1] if t < 23 else 0.0
            delta = rewards[t] + 0.99 * after * (1 - dones[t]) - values[t]
            advantages[t] = last = delta + 0.99 * 0.95 * (1 - dones[t]) * last
        returns = advantages + values
    for _ in range(4):
        for rows in torch.tensor(draw.rng.permutation(24)).split(8):
            h = body(states[rows])
            chosen = torch.distributions.Categorical(logits=actor(h))
            ratio = (chosen.log_prob(actions[rows]) - old[rows]).exp()
            a = advantages[rows]
            a = (a - a.mean()) / (a.std() + 1e-8)
            gain = torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
            v = critic(h).squeeze(-1)
            near = values[rows] + (v - values[rows]).clamp(-0.2, 0.2)
            lost = torch.max((v - returns[rows]) ** 2, (near - returns[rows]) ** 2).mean()
            loss = -gain + 0.5 * lost - 0.01 * chosen.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(parameters, 0.5)
            optimizer.step()
            yield loss


def graphs(draw):
    """Attention over the edges of a graph by index_add_, scatter_reduce and gathered rows; degrees as norms."""
    n, edges = 14, 40
    source, target = draw.classes(n, edges), draw.classes(n, edges)
    x, y = draw.normal(n, 6), draw.classes(3, n)
    own, attend = draw.filled(nn.Linear(6, 8)), draw.filled(nn.Bilinear(8, 8, 1))
    out = draw.filled(nn.Linear(16, 3))
    optimizer = torch.optim.Adagrad([*own.parameters(), *attend.parameters(), *out.parameters()], 0.1)
    degree = torch.bincount(target, minlength=n).clamp(min=1).to(draw.dtype)
    for _ in range(6):
        h = own(x)
        score = F.leaky_relu(attend(h[source], h[target]).squeeze(-1), 0.2)
        top = torch.full((n,), -math.inf, dtype=draw.dtype).scatter_reduce(0, target, score, "amax")
        weight = (score - top[target]).exp()
        total = torch.zeros(n, dtype=draw.dtype).index_add_(0, target, weight)
        weight = weight / (total[target] + 1e-16)
        summed = torch.zeros(n, 8, dtype=draw.dtype).index_add_(0, target, h[source] * weight[:, None])
        mean = torch.zeros(n, 8, dtype=draw.dtype).scatter_add(0, target[:, None].expand(-1, 8), h[source])
        logits = out(torch.cat([summed.relu(), mean / degree.sqrt()[:, None]], 1))
        loss = F.nll_loss(logits.log_softmax(-1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield from (loss, own.weight.grad.norm())


def sequences(draw):
    """Words of several lengths, packed, through LSTM and GRU both ways; a loss of alignments beside a loss of classes."""
    words = draw.filled(nn.Embedding(12, 6, padding_idx=0))
    lstm = draw.filled(nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True))
    gru = draw.filled(nn.GRU(10, 7))
    tags, symbols = draw.filled(nn.Linear(7, 4)), draw.filled(nn.Linear(7, 5))
    modules = [words, lstm, gru, tags, symbols]
    optimizer = torch.optim.Adamax([p for m in modules for p in m.parameters()], 1e-2)
    lengths = torch.tensor([3, 7, 5, 6])
    text = draw.classes(11, 4, 7) + 1
    text[torch.arange(7)[None] >= lengths[:, None]] = 0
    classes, symbols_of, counts = draw.classes(4, 4), draw.classes(4, 4, 3) + 1, torch.tensor([1, 3, 2, 3])
    for _ in range(5):
        packed = nn.utils.rnn.pack_padded_sequence(words(text), lengths, batch_first=True, enforce_sorted=False)
        out, (h, c) = lstm(packed)
        out, last = gru(out)
        padded, _ = nn.utils.rnn.pad_packed_sequence(out)
        hidden = (torch.arange(7)[:, None] >= lengths)[..., None]
        pooled = padded.masked_fill(hidden, -1e9).amax(0) + last[0]
        aligned = F.ctc_loss(symbols(padded).log_softmax(-1), symbols_of, lengths, counts, zero_infinity=True)
        loss = F.cross_entropy(tags(pooled), classes) + 0.3 * aligned + 0.1 * (h.pow(2).mean() + c.abs().mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield from (loss, words.weight.grad[0].abs().sum() + 1)


def transformed(draw):
    """torch.func: an adapted learner's gradient of gradients, gradients of each sample, Jacobians and a Hessian."""
    model = draw.filled(nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 2)))
    params = {k: p.detach() for k, p in model.named_parameters()}
    tasks, targets = draw.normal(4, 5, 3), draw.normal(4, 5, 2)

    def lost(params, x, y):
        return F.mse_loss(torch.func.functional_call(model, params, (x,)), y)

    def adapted(params, x, y):
        g = torch.func.grad(lost)(params, x[:3], y[:3])
        return lost({k: p - 0.1 * g[k] for k, p in params.items()}, x[3:], y[3:])

    def whole(params):
        return torch.func.vmap(adapted, (None, 0, 0))(params, tasks, targets).mean()

    for _ in range(5):
        grads, loss = torch.func.grad_and_value(whole)(params)
        params = {k: p - 0.2 * grads[k] for k, p in params.items()}
        yield loss
    each = torch.func.vmap(torch.func.grad(lost), (None, 0, 0))(params, tasks[0][:, None], targets[0][:, None])
    yield torch.stack([g.flatten(1).norm(dim=1) for g in each.values()]).sum()

    def f(x):
        return torch.func.functional_call(model, params, (x,)).tanh()

    x, v = tasks[1, 0], targets[1].flatten()[:3]
    jacobian = torch.func.jacrev(f)(x)
    yield (torch.func.jacfwd(f)(x) - jacobian).abs().sum() + 1
    yield torch.func.hessian(lambda x: f(x).square().sum())(x).norm()
    out, tangent = torch.func.jvp(f, (x,), (v,))
    _, pull = torch.func.vjp(f, x)
    yield from (jacobian.norm(), tangent @ out, pull(out)[0].norm())


def words_after_words(draw):
    """A small language model: tied weights, causal attention, an encoder with masks, LBFGS at the end."""
    size, heads, length = 8, 2, 6
    table = draw.filled(nn.Embedding(11, size))
    layer = nn.TransformerEncoderLayer(size, heads, 16, 0.0, "gelu", batch_first=True, norm_first=True)
    encoder = draw.filled(nn.TransformerEncoder(layer, 2, nn.LayerNorm(size), enable_nested_tensor=False))
    mix = draw.filled(nn.Linear(size, 3 * size))
    parameters = [*table.parameters(), *encoder.parameters(), *mix.parameters()]
    optimizer = torch.optim.RAdam(parameters, 1e-2, decoupled_weight_decay=True, weight_decay=1e-2)
    text = draw.classes(11, 5, length + 1)
    mask = nn.Transformer.generate_square_subsequent_mask(length, dtype=draw.dtype)
    hidden = torch.zeros(5, length, dtype=torch.bool)
    hidden[0, 4:] = True

    def lost():
        x = table(text[:, :-1]) * math.sqrt(size)
        q, k, v = mix(x).view(5, length, 3, heads, size // heads).permute(2, 0, 3, 1, 4)
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(5, length, size)
        x = encoder(x, mask, torch.zeros(5, length, dtype=draw.dtype).masked_fill(hidden, -math.inf), is_causal=True)
        logits = F.linear(x, table.weight)
        return F.cross_entropy(logits.flatten(0, 1), text[:, 1:].masked_fill(hidden, -100).flatten())

    for _ in range(5):
        optimizer.zero_grad()
        loss = lost()
        loss.backward()
        optimizer.step()
        yield loss
    last = torch.optim.LBFGS(parameters, 0.5, max_iter=3, line_search_fn="strong_wolfe")

    def closure():
        last.zero_grad()
        loss = lost()
        loss.backward()
        return loss

    yield from (last.step(closure) for _ in range(2))


def generated(draw):
    """A variational autoencoder of distributions, its decoder copied and frozen, with flows between them."""
    encode, decode = draw.filled(nn.Linear(7, 6)), draw.filled(nn.Linear(3, 7))
    frozen = copy.deepcopy(decode).requires_grad_(False)
    optimizer = torch.optim.ASGD([*encode.parameters(), *decode.parameters()], 0.05)
    x, noise = draw.normal(9, 7).sigmoid(), draw.normal(5, 9, 3)
    prior = torch.distributions.Independent(torch.distributions.Normal(torch.zeros(3, dtype=draw.dtype), 1.0), 1)
    for eps in noise:
        mean, spread = encode(x).chunk(2, 1)
        q = torch.distributions.Independent(torch.distributions.Normal(mean, F.softplus(spread) + 1e-3), 1)
        z = mean + q.base_dist.stddev * eps
        seen = torch.distributions.ContinuousBernoulli(logits=decode(z)).log_prob(x.clamp(0.01, 0.99)).sum(1)
        kl = torch.distributions.kl_divergence(q, prior)
        flow = torch.distributions.TransformedDistribution(prior, [torch.distributions.transforms.TanhTransform()])
        loss = (kl - seen).mean() + F.l1_loss(frozen(z), decode(z)) - 0.01 * flow.log_prob(z.tanh() * 0.99).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss


def every_optimizer(draw):
    """The same small model with each optimizer; Muon where all parameters are matrices."""
    each = [("SGD", {"momentum": 0.9, "dampening": 0.1}), ("SGD", {"maximize": True}), ("Adam", {"weight_decay": 0.1}),
            ("AdamW", {"amsgrad": True}), ("RMSprop", {"alpha": 0.9}), ("Adagrad", {"lr_decay": 0.1}), ("Adadelta", {}),
            ("Adamax", {}), ("NAdam", {"decoupled_weight_decay": True, "weight_decay": 0.1}), ("RAdam", {}),
            ("ASGD", {"t0": 2, "alpha": 0.6}), ("Rprop", {}), ("Adafactor", {}), ("LBFGS", {"max_iter": 3}), ("Muon", {})]  # fmt: skip
    x, y = draw.normal(12, 5), draw.normal(12, 2)
    for name, options in each:
        bias = name != "Muon"
        model = draw.filled(nn.Sequential(nn.Linear(5, 4, bias), nn.Tanh(), nn.Linear(4, 2, bias)))
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.05, **options)

        def closure(model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            return loss

        yield from (optimizer.step(closure) for _ in range(5))


def every_schedule(draw):
    """The rates and momenta that each schedule sets, also after a change of schedules within a warm-up."""
    of = torch.optim.lr_scheduler
    linear, cosine = of.LinearLR, of.CosineAnnealingLR
    each = [lambda o: of.StepLR(o, 2, 0.5), lambda o: of.MultiStepLR(o, [1, 3, 3], 0.5),
            lambda o: of.ExponentialLR(o, 0.9), lambda o: cosine(o, 4, 0.01), lambda o: linear(o, 0.3, 1, 4),
            lambda o: of.ConstantLR(o, 0.2, 2), lambda o: of.PolynomialLR(o, 5, 2.0),
            lambda o: of.CyclicLR(o, 0.01, 0.2, 2, mode="triangular2"), lambda o: of.OneCycleLR(o, 0.3, total_steps=12),
            lambda o: of.LambdaLR(o, lambda e: 1 / (1 + e)), lambda o: of.MultiplicativeLR(o, lambda e: 0.9),
            lambda o: of.ChainedScheduler([of.ConstantLR(o, 0.5, 2), of.ExponentialLR(o, 0.9)]),
            lambda o: torch.optim.swa_utils.SWALR(o, 0.5, 3)]  # fmt: skip
    for late in (lambda o: cosine(o, 5, 0.01), lambda o: of.StepLR(o, 2), lambda o: of.MultiStepLR(o, [2]),
                 lambda o: of.ExponentialLR(o, 0.5), lambda o: of.PolynomialLR(o, 3), lambda o: of.ConstantLR(o)):  # fmt: skip
        each.append(lambda o, late=late: of.SequentialLR(o, [linear(o), late(o)], [3]))
    for make in each:
        optimizer = torch.optim.SGD([nn.Parameter(draw.normal(2))], 0.1, momentum=0.9)
        schedule = make(optimizer)
        for _ in range(9):
            optimizer.step()
            schedule.step()
            yield from (optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["momentum"])


def older_norms(draw):
    """nn.utils.spectral_norm and weight_norm from a state, and a kept gradient beside hooks."""
    layer = nn.utils.spectral_norm(nn.Linear(4, 3)).to(draw.dtype)
    u, v = F.normalize(draw.normal(3), dim=0), F.normalize(draw.normal(4), dim=0)
    layer.load_state_dict({"weight_orig": draw.normal(3, 4), "bias": draw.normal(3), "weight_u": u, "weight_v": v})
    last = nn.utils.weight_norm(nn.Linear(3, 2).to(draw.dtype), dim=None)
    draw.filled(last)
    x = draw.normal(5, 4)
    for _ in range(3):
        middle = layer(x).tanh()
        middle.retain_grad()
        middle.register_hook(lambda g: g * 2)
        loss = last(middle).pow(2).sum()
        loss.backward()
        yield from (loss, middle.grad.norm(), layer.weight_orig.grad.norm(), last.weight_g.grad, last.weight_v.grad.norm())
    layer.eval()
    yield layer(x).sum()


PROGRAMS = [halves, groups_and_schedules, images_and_hooks, resumed, own_functions, constrained, policy, graphs, sequences,
            transformed, words_after_words, generated, every_optimizer, every_schedule, older_norms]  # fmt: skip


def losses(program, dtype):
    return [float(v.detach() if isinstance(v, torch.Tensor) else v) for v in program(Draws(dtype))]


def main():
    values = {p.__name__: {str(d): losses(p, d) for d in (torch.float32, torch.float64)} for p in PROGRAMS}
    rows = [f"{json.dumps(name)}: {json.dumps(of)}" for name, of in values.items()]
    pathlib.Path(sys.argv[1]).write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
