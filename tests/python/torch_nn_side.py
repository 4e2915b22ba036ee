"""Evaluates the table of torch_nn_cases.py with PyTorch or with treadle.torch. A tensor's outcome is its dtype, its shape and
two weighted sums.

`python torch_nn_side.py torch_nn_values.txt` writes PyTorch's outcomes, which the tests compare with.
"""

import json
import math
import sys
import warnings

import numpy
import torch_nn_cases


def numbers(n, seed):
    """n fixed numbers between -1 and 1, all different."""
    return numpy.sin(numpy.arange(1, n + 1) * 1.7 + seed * 0.61)


class Scope(dict):
    """The names of one expression."""

    def __init__(self, torch):
        nn = torch.nn
        super().__init__(torch=torch, nn=nn, F=nn.functional, inf=math.inf, lambda_=lambda t: 0.9 ** (t % 4),
                         lambda_d=lambda a, b: (a - b).abs().amax(1))
        self.torch, self.leaves, self.modules, self.seed = torch, [], [], 0
        for f in (self.r, self.c, self.k, self.b, self.m, self.e, self.twice, self.same, self.put, self.trained, self.rates,
                  self.clipped, self.packed, self.h, self.z, self.amp, self.scaled, self.sp):
            self[f.__name__] = f

    def c(self, *shape):
        self.seed += 1
        return self.torch.from_numpy(numbers(math.prod(shape), self.seed).reshape(shape).copy())

    def r(self, *shape):
        self.leaves.append(self.c(*shape).requires_grad_())
        return self.leaves[-1]

    def k(self, n, *shape):
        return self.torch.from_numpy(numpy.array((numpy.arange(math.prod(shape)) * 7 + 1) % n).reshape(shape))

    def b(self, *shape):
        return self.c(*shape) > 0.4

    def m(self, module):
        module = module.double()
        for p in module.parameters():
            p.data = self.c(*p.shape) * 0.7
        self.leaves.extend(module.parameters())
        self.modules.append(module)
        return module

    def e(self, module):
        return self.m(module).eval()

    def twice(self, f, *leaves):
        """The gradient of the squares of f's gradients."""
        first = f(*leaves)
        weights = self.torch.from_numpy(numbers(first.numel(), 0.3).reshape(tuple(first.shape)))
        grads = self.torch.autograd.grad((first * first * weights).sum(), leaves, create_graph=True)
        return sum((g * g).sum() for g in grads)

    def same(self, module, x, **options):
        return module(x, x, x, **options)

    def put(self, module, name, value):
        setattr(module, name, value)

    def h(self, *shape):
        return self.c(*shape).float()

    def z(self, *shape):
        return self.c(*shape).bfloat16()

    def sp(self, values, size=(3, 4), places=((2, 0, 2, 1), (1, 3, 1, 0))):
        return self.torch.sparse_coo_tensor(self.torch.tensor(places), values, size)

    def amp(self, f, dtype="bfloat16"):
        """The dtypes of f's results under autocast, and that of the gradient of a float32 leaf through it."""
        leaf = self.h(4, 4).requires_grad_()
        with self.torch.autocast("cpu", dtype=getattr(self.torch, dtype)):
            found = parts(f(leaf) if f.__code__.co_argcount else f())
        if found[0].requires_grad and f.__code__.co_argcount:
            sum(t.sum() for t in found).backward()
        return [str(t.dtype) for t in (*found, *([] if leaf.grad is None else [leaf.grad]))]

    def scaled(self, grads, options):
        """What a GradScaler and an optimizer make of steps with these gradients."""
        torch = self.torch
        scaler = torch.amp.GradScaler("cpu", **options)
        p = self.c(2).requires_grad_()
        optimizer = torch.optim.SGD([p], lr=0.1)
        found = []
        for g in grads:
            optimizer.zero_grad()
            scaler.scale((p * g).sum()).backward()
            scaler.unscale_(optimizer)
            found += [p.grad.clone()] * math.isfinite(g)
            scaler.step(optimizer)
            scaler.update()
            found += [p.detach().clone(), scaler.get_scale()]
        return [*found, sorted(scaler.state_dict().items())]

    def packed(self, input, lengths, enforce_sorted=False, **options):
        return self.torch.nn.utils.rnn.pack_padded_sequence(input, lengths, enforce_sorted=enforce_sorted, **options)

    def model(self):
        nn = self.torch.nn
        net = self.m(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
        x, y = self.c(8, 3), self.c(8, 2)
        return net, lambda: ((net(x) - y) ** 2).mean()

    def trained(self, name, options, steps=6):
        net, loss = self.model()
        optimizer = getattr(self.torch.optim, name)(net.parameters(), **options)

        def closure():
            optimizer.zero_grad()
            now = loss()
            now.backward()
            return now

        losses = [optimizer.step(closure).detach() for _ in range(steps)]
        optimizer.zero_grad()
        return [*losses, *(p.detach() for p in net.parameters())]

    def rates(self, make, **options):
        net, _ = self.model()
        optimizer = self.torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
        schedules = self.torch.optim.lr_scheduler
        plan = getattr(schedules, make)(optimizer, **options) if isinstance(make, str) else make(schedules, optimizer)
        found = []
        for t in range(20):
            optimizer.step()
            found.append(optimizer.param_groups[0]["lr"])
            plan.step(math.cos(t)) if make == "ReduceLROnPlateau" else plan.step()
        return self.torch.tensor(found, dtype=self.torch.float64)

    def clipped(self, most, norm=2.0):
        net, loss = self.model()
        loss().backward()
        total = self.torch.nn.utils.clip_grad_norm_(net.parameters(), most, norm)
        return [total.detach(), *(p.grad.clone() for p in net.parameters())]


def parts(r):
    if getattr(r, "is_sparse", False):
        return [r._indices(), r._values(), repr(tuple(r.shape)), repr(r.is_coalesced())]
    if isinstance(r, (tuple, list)) and not hasattr(r, "numel") and (not hasattr(r, "_fields") or hasattr(r, "batch_sizes")):
        return [p for each in r for p in parts(each)]
    return [r]


def written(t):
    """A tensor as dtype, shape and two sums; anything else as its text."""
    if not hasattr(t, "detach"):
        return repr(t)
    a = (t.to_dense() if t.is_sparse else t).detach().to("cpu")
    a = (a.float() if "bfloat16" in str(t.dtype) else a).numpy().astype("f8").ravel()
    with numpy.errstate(invalid="ignore"):
        sums = [float((a * numbers(a.size, k)).sum()) for k in (0, 5)]
    return [str(t.dtype).removeprefix("torch."), list(t.shape), sums]


def outcome(torch, expression):
    """[results, gradients, buffers]; or the exception as text."""
    scope = Scope(torch)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = parts(eval(expression, scope))
            total = 0
            for i, t in enumerate(found):
                if hasattr(t, "requires_grad") and t.requires_grad:
                    weights = torch.from_numpy(numbers(t.numel(), i + 1).reshape(tuple(t.shape)))
                    total = total + (t * weights).sum()
            if hasattr(total, "backward"):
                total.backward()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    grads = [None if leaf.grad is None else written(leaf.grad) for leaf in scope.leaves]
    return [[written(t) for t in found], grads, [written(b) for module in scope.modules for b in module.buffers()]]


def near(one, other):
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(near, one, other))
    if isinstance(one, float) and isinstance(other, float):
        close = math.isnan(one) == math.isnan(other) and (math.isnan(one) or one == other)
        return close or abs(one - other) <= 1e-8 * max(1.0, abs(other))
    return one == other


def main(path):
    import torch

    with open(path, "w") as out:
        for expression in torch_nn_cases.cases():
            out.write(json.dumps([expression, outcome(torch, expression)], separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
