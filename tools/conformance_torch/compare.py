"""Values of PyTorch and of treadle.torch: from one library to the other, and compared."""

import collections
import itertools

import numpy
import torch

import treadle.torch as ours

# (relative, absolute) distance that results may have.
CLOSE = {
    "float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2), "float32": (1e-4, 2e-5), "complex64": (1e-4, 2e-5),
    "float64": (1e-7, 1e-7), "complex128": (1e-7, 1e-7),
}  # fmt: skip


# ---- from one library to the other ----


def converted(x):
    """PyTorch's value as treadle.torch's: tensors with their strides, dtypes and formats by name."""
    if isinstance(x, torch.Tensor):
        return _tensor(x)
    if isinstance(x, (torch.dtype, torch.memory_format, torch.layout)):
        return getattr(ours, str(x).removeprefix("torch."))
    if isinstance(x, torch.device):
        return ours.device(str(x))
    if isinstance(x, torch.Size):
        return ours.Size(x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(converted, x))
    if isinstance(x, (list, tuple)):
        return type(x)(map(converted, x))
    if isinstance(x, torch.nn.TransformerEncoderLayer):
        return _encoder_layer(x)
    if callable(x) and hasattr(ours.nn.functional, getattr(x, "__name__", "")):
        return getattr(ours.nn.functional, x.__name__)
    if isinstance(x, torch.nn.PairwiseDistance):
        return ours.nn.PairwiseDistance(x.norm, x.eps, x.keepdim)
    if isinstance(x, dict):
        return {k: converted(v) for k, v in x.items()}
    return x


def _encoder_layer(x):
    a = x.self_attn
    rest = {"batch_first": a.batch_first, "norm_first": x.norm_first, "bias": x.linear1.bias is not None}
    sizes = (a.embed_dim, a.num_heads, x.linear1.out_features)
    return ours.nn.TransformerEncoderLayer(*sizes, x.dropout.p, converted(x.activation), x.norm1.eps, **rest)


def _tensor(x):
    data = x.detach().resolve_conj().resolve_neg()
    dtype = getattr(ours, str(x.dtype).removeprefix("torch."))
    base = data.view(torch.int16) if x.dtype is torch.bfloat16 else data
    flat = numpy.array(base.numpy(), copy=True, order="K")
    r = ours.from_numpy(flat)
    r = r.view(dtype) if x.dtype is torch.bfloat16 else r
    return r.requires_grad_() if x.requires_grad else r


def array(x):
    """A tensor of either library as a NumPy array that can be compared."""
    x = x.detach()
    if "bfloat16" in str(x.dtype):
        x = x.float()
    return numpy.array((x.clone().resolve_conj().resolve_neg() if isinstance(x, torch.Tensor) else x).cpu().numpy())


# ---- comparison ----


def leaves(x):
    """The values in a tree of results, in order."""
    if isinstance(x, (list, tuple)):
        return list(itertools.chain.from_iterable(map(leaves, x)))
    return [x]


def apart(a, b, drawn=False):
    """How PyTorch's result and ours differ; None: they do not."""
    left, right = leaves(a), leaves(b)
    if len(left) != len(right):
        return f"{len(left)} results, ours {len(right)}"
    for x, y in zip(left, right, strict=True):
        found = _apart(x, y, drawn)
        if found:
            return found
    return None


def _apart(x, y, drawn):
    if not isinstance(x, torch.Tensor):
        if isinstance(x, float) and isinstance(y, (int, float)):
            return None if numpy.isclose(x, y, equal_nan=True) else f"{x}, ours {y}"
        return None if str(x) == str(y) else f"{x}, ours {y}"
    if not isinstance(y, ours.Tensor):
        return f"a tensor, ours {type(y).__name__}"
    if str(x.dtype) != str(y.dtype):
        return f"{x.dtype}, ours {y.dtype}"
    if tuple(x.shape) != tuple(y.shape):
        return f"shape {tuple(x.shape)}, ours {tuple(y.shape)}"
    if drawn:
        return None
    rtol, atol = CLOSE.get(str(x.dtype).removeprefix("torch."), (0, 0))
    p, q = array(x), array(y)
    if not numpy.allclose(p, q, rtol=rtol, atol=atol, equal_nan=True):
        with numpy.errstate(all="ignore"):
            bad = ~numpy.isclose(p, q, rtol=rtol, atol=atol, equal_nan=True)
        return f"{p[bad][:2].tolist()}, ours {q[bad][:2].tolist()}, of {bad.sum()} in {bad.size}"
    return None


# ---- gradients ----


def _weighted(lib, outs):
    """A number that depends on all elements of results that have a history."""
    total = None
    for k, t in enumerate(outs):
        n = t.numel()
        w = lib.from_numpy(numpy.cos(numpy.arange(n) * 0.7 + k).reshape(tuple(t.shape)).astype("f8"))
        part = (t * w).sum()
        part = lib.view_as_real(part).sum() if part.is_complex() else part
        total = part if total is None else total + part
    return total


def _history(lib, tree):
    return [t for t in leaves(tree) if isinstance(t, lib.Tensor) and t.requires_grad]


def gradients(lib, call, wanted, kinds):
    """[first gradients, second gradients] of what call() gives, as far as kinds says; None where there are none."""
    wanted = [t for t in leaves(wanted) if isinstance(t, lib.Tensor) and t.requires_grad]
    if not wanted:
        return []
    outs = _history(lib, call())
    if not outs:
        return []
    found, total = [], _weighted(lib, outs)
    for kind in kinds:
        again = kind == "grad" and "grad2" in kinds
        got = lib.autograd.grad(total, wanted, create_graph=again, allow_unused=True)
        found.append(list(got))
        deeper = [g for g in got if g is not None and g.requires_grad]
        if not again or not deeper:
            break
        total = _weighted(lib, deeper)
    return found


# ---- what was found ----


class Counts:
    """What was found of one operator or module; each: it is printed at once."""

    def __init__(self, name="", each=False):
        self.name, self.each = name, each
        self.tried = collections.Counter()
        self.bad = collections.Counter()
        self.notes = {}

    def add(self, kind, dtype, sort, text):
        self.bad[kind, sort] += 1
        if self.each:
            print(f"{self.name} {kind} {sort} {dtype}: {text}")
        self.notes.setdefault((kind, sort), f"{dtype}: {text}"[:220])


    def refusal(self, theirs, call):
        """PyTorch refuses with the exception `theirs` what call does: a handler for it has to catch ours."""
        self.tried["error"] += 1
        try:
            for t in leaves(call()):
                if isinstance(t, ours.Tensor) and t.layout is ours.strided:
                    array(t)
        except Exception as e:
            if type(theirs).__name__.lstrip("_") not in [c.__name__ for c in type(e).__mro__]:
                self.add("error", "-", "class", f"{one_line(theirs)}; ours {one_line(e)}")
        else:
            self.add("error", "-", "accepted", one_line(theirs))

    def gradients(self, dtype, kinds, theirs, call):
        """PyTorch's gradients beside ours, which call() gives."""
        got = []
        try:
            got = call()
        except Exception as e:
            if theirs:
                self.tried[kinds[0]] += 1
                self.add(kinds[0], dtype, "raise", one_line(e))
            return
        for kind, a, b in itertools.zip_longest(kinds[: len(theirs)], theirs, got[: len(theirs)]):
            self.tried[kind] += 1
            if b is None:
                if any(g is not None and bool((g != 0).any()) for g in a):
                    self.add(kind, dtype, "value", "no gradients, ours")
                continue
            pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None or y is not None]
            zero = [x if x is not None else torch.zeros(tuple(y.shape), dtype=getattr(torch, str(y.dtype)[6:]))
                    for x, y in pairs]  # fmt: skip
            mine = [y if y is not None else converted(torch.zeros_like(x)) for x, y in pairs]
            found = apart(zero, mine)
            if found:
                self.add(kind, dtype, "value", found)


def one_line(e):
    return f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"[:160]


