"""PyTorch's own samples of its operators (its `op_db`) on treadle.torch, compared with PyTorch on the CPU.

    conformance_torch.py [--slice K/N] [--dtypes NAME,…] [--samples N] [--known FILE] [--report FILE [--quiet]] [OP…]
    conformance_torch.py [--known FILE] --summary FILE

Each operator gets its samples in every dtype that both have: the result is compared in dtype, shape and values; for
float64 and complex128 also the first and second gradients of a weighted sum of the results.  A sample that PyTorch
itself refuses is passed over.  Three kinds of deviation are counted: `value` (another result, and no exception: the
silent ones), `raise` (an exception where PyTorch gives a result) and `missing` (no such name).

Operators in the file of known deviations may deviate in the ways that it names; any other deviation makes the exit
status 1, and so does a known one that is met no more in a run of all dtypes and samples.  --report adds what was found
to a file, from which --summary makes the report of several slices.
"""

import argparse
import collections
import copy
import itertools
import json
import pathlib
import sys
import types
import warnings

import numpy
import torch
from torch.testing._internal.common_methods_invocations import op_db

import treadle.torch as ours

KINDS = ("forward", "grad", "grad2")
DTYPES = (
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
)
# (relative, absolute) distance that results may have.
CLOSE = {
    "float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2), "float32": (1e-4, 2e-5), "complex64": (1e-4, 2e-5),
    "float64": (1e-7, 1e-7), "complex128": (1e-7, 1e-7),
}  # fmt: skip
# Results of these are drawn: only dtype and shape are compared.  Memory of the empty ones holds anything.
DRAWN = set(
    "bernoulli cauchy exponential geometric log_normal normal multinomial rand_like randint randint_like randn "
    "randn_like uniform empty empty_like empty_permuted empty_strided new_empty new_empty_strided "
    "native_dropout_backward "
    "nn.functional.alpha_dropout nn.functional.dropout nn.functional.dropout2d nn.functional.dropout3d "
    "nn.functional.feature_alpha_dropout nn.functional.rrelu nn.functional.fractional_max_pool2d "
    "nn.functional.fractional_max_pool3d svd_lowrank pca_lowrank resize_ resize_as_".split()
)
# Not functions of strided tensors that treadle.torch means to have: sparse and nested tensors, PyTorch's internals.
# Nor complex32, which no operation computes in.
LEFT_OUT = (
    "_", "jiterator", "sparse.", "masked.", "torch.ops.", "ops.aten", "to_sparse", "nested", "torch._", "native_",
    "chalf", "max_pool2d_with_indices_backward",
)  # fmt: skip
# Which of equal elements these name is not said: what stands at the indices is compared in their place.
TIES = {"argsort", "kthvalue", "mode", "sort", "topk"}


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
    if callable(x) and hasattr(ours.nn.functional, getattr(x, "__name__", "")):
        return getattr(ours.nn.functional, x.__name__)
    if isinstance(x, torch.nn.PairwiseDistance):
        return ours.nn.PairwiseDistance(x.norm, x.eps, x.keepdim)
    if isinstance(x, dict):
        return {k: converted(v) for k, v in x.items()}
    return x


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


# ---- calls ----


def ours_of(op):
    """The function of treadle.torch that the operator is; AttributeError: it has none."""
    f = op.op
    inner = getattr(f, "__module__", None) or ""
    if isinstance(f, types.FunctionType) and inner.startswith("torch.testing"):
        scope = {**f.__globals__, "torch": ours, "F": ours.nn.functional, "np": numpy}
        return types.FunctionType(f.__code__, scope, f.__name__, f.__defaults__, f.__closure__)
    name = op.name
    place = ours
    if isinstance(f, types.MethodDescriptorType) and not hasattr(ours, name):
        place = ours.Tensor
    for part in name.split("."):
        place = getattr(place, part)
    return place if callable(place) else getattr(ours.Tensor, name)  # cfloat is a dtype's name and a method's


def made(f, sample, change):
    """f of the sample, as PyTorch's (change: identity) or ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(change(sample.input), *change(list(sample.args)), **change(sample.kwargs))


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


def gradients(lib, f, sample, kinds):
    """[first gradients, second gradients], as far as kinds says; None where there are none."""
    args = [sample.input, list(sample.args), sample.kwargs]
    if lib is ours:
        args = [converted(a) for a in args]
    flat = leaves(args[0]) + leaves(args[1]) + leaves(list(args[2].values()))
    wanted = [t for t in flat if isinstance(t, lib.Tensor) and t.requires_grad]
    if not wanted:
        return []
    outs = _history(lib, f(args[0], *args[1], **args[2]))
    if not outs:
        return []
    found, total = [], _weighted(lib, outs)
    for kind in kinds:
        again = kind == "grad" and "grad2" in kinds
        got = lib.autograd.grad(total, wanted, create_graph=again, allow_unused=True)
        found.append([None if g is None else g for g in got])
        deeper = [g for g in got if g is not None and g.requires_grad]
        if not again or not deeper:
            break
        total = _weighted(lib, deeper)
    return found


class Counts:
    """What was found of one operator."""

    def __init__(self):
        self.tried = collections.Counter()
        self.bad = collections.Counter()
        self.notes = {}

    def add(self, kind, dtype, sort, text):
        self.bad[kind, sort] += 1
        self.notes.setdefault((kind, sort), f"{dtype}: {text}"[:220])


def one_line(e):
    return f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"[:160]


def check_forward(counts, op, f, sample, dtype, drawn):
    try:
        theirs = made(op.op, copy.deepcopy(sample), lambda x: x)
    except Exception:
        return False  # PyTorch refuses the sample
    counts.tried["forward"] += 1
    try:
        got = made(f, sample, converted)
        if op.name in TIES and not sample.kwargs.get("stable"):
            theirs, got = _untied(op, sample, theirs), _untied(op, sample, got)
        found = apart(_processed(sample, theirs), _processed(sample, got), drawn)
    except Exception as e:
        counts.add("forward", dtype, "raise", one_line(e))
        return True
    if found:
        counts.add("forward", dtype, "value", found)
    return not found


def _untied(op, sample, result):
    """The result with the elements of the input for their indices."""
    values, indices = result if isinstance(result, (tuple, list)) else (None, result)
    lib = torch if isinstance(indices, torch.Tensor) else ours
    x = (sample.input if lib is torch else converted(sample.input)).detach()
    numbers = [a for a in sample.args if isinstance(a, int) and not isinstance(a, bool)]
    numbers = numbers[op.name in ("kthvalue", "topk") and "k" not in sample.kwargs :]
    dim = sample.kwargs.get("dim", numbers[0] if numbers else -1)
    if indices.ndim < x.ndim:
        found = lib.gather(x, dim, indices.unsqueeze(dim)).squeeze(dim)
    else:
        found = lib.gather(x, dim, indices) if x.ndim else x
    return found if values is None else (values, found)


def _processed(sample, result):
    """What of the result is determined: of a decomposition without the free signs, where the sample says how."""
    process = sample.output_process_fn_grad
    if not isinstance(process, types.FunctionType):
        return result
    lib = ours if any(isinstance(t, ours.Tensor) for t in leaves(result)) else torch
    again = types.FunctionType(process.__code__, {**process.__globals__, "torch": lib}, "process",
                               process.__defaults__, process.__closure__)  # fmt: skip
    return again(result)


def check_gradients(counts, op, f, sample, dtype):
    kinds = ("grad", "grad2") if op.supports_gradgrad else ("grad",)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = gradients(torch, lambda *a, **k: _processed(sample, op.op(*a, **k)), copy.deepcopy(sample), kinds)
        except Exception:
            return
        got = []
        try:
            got = gradients(ours, lambda *a, **k: _processed(sample, f(*a, **k)), sample, kinds)
        except Exception as e:
            if theirs:
                counts.tried[kinds[0]] += 1
                counts.add(kinds[0], dtype, "raise", one_line(e))
            return
    for kind, a, b in itertools.zip_longest(kinds[: len(theirs)], theirs, got[: len(theirs)]):
        counts.tried[kind] += 1
        if b is None:
            if any(g is not None and bool((g != 0).any()) for g in a):
                counts.add(kind, dtype, "value", "no gradients, ours")
            continue
        pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None or y is not None]
        zero = [x if x is not None else torch.zeros(tuple(y.shape), dtype=getattr(torch, str(y.dtype)[6:]))
                for x, y in pairs]  # fmt: skip
        mine = [y if y is not None else converted(torch.zeros_like(x)) for x, y in pairs]
        found = apart(zero, mine)
        if found:
            counts.add(kind, dtype, "value", found)


def check(op, dtypes, limit):
    """The Counts of one operator."""
    counts = Counts()
    try:
        f = ours_of(op)
    except AttributeError as e:
        counts.tried["forward"] = 1
        counts.add("forward", "-", "missing", str(e))
        return counts
    for name in dtypes:
        dtype = getattr(torch, name)
        if dtype not in op.supported_dtypes("cpu"):
            continue
        grads = name in ("float64", "complex128") and op.supports_autograd and op.name not in DRAWN
        try:
            torch.manual_seed(7)
            numpy.random.seed(7)
            samples = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=grads), limit))
        except Exception:  # a dtype that the sample's maker does not know
            continue
        for sample in samples:
            attends = op.name == "nn.functional.multi_head_attention_forward"
            drawn = op.name in DRAWN or sample.kwargs.get("dropout_p", 0) > 0 or attends and sample.kwargs["training"]
            if check_forward(counts, op, f, sample, name, drawn) and grads and not drawn:
                check_gradients(counts, op, f, sample, name)
    return counts


# ---- known deviations and reports ----


def label(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def read_known(path):
    """{operator: {"forward value", …}} of lines `operator kind sort, kind sort: reason`."""
    known = {}
    for line in pathlib.Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            head, _, reason = line.partition(": ")
            name, *ways = head.replace(",", " ").split()
            if not reason or not ways or len(ways) % 2:
                sys.exit(f"{path}: expected `operator kind sort[, kind sort]: reason`, found {line!r}")
            known[name] = {f"{a} {b}" for a, b in zip(ways[::2], ways[1::2], strict=True)}
    return known


def chosen(args):
    ops = [op for op in op_db if not op.name.startswith(LEFT_OUT)]
    if args.ops:
        return [op for op in ops if op.name in args.ops or label(op) in args.ops]
    k, n = map(int, args.slice.split("/"))
    return ops[k::n]


def report(results, known, complete):
    """Prints the counts; the number of operators with deviations that are not known."""
    total, strange = Counts(), 0
    for name, c in results.items():
        total.tried.update(c.tried)
        total.bad.update(c.bad)
        ways = {f"{kind} {sort}" for kind, sort in c.bad}
        new = sorted(ways - known.get(name, set()))
        gone = sorted(known.get(name, set()) - ways) if complete else []
        strange += bool(new or gone)
        for way in new:
            kind, sort = way.split()
            print(f"{name} {kind} {sort} {c.bad[kind, sort]}/{c.tried[kind]}: {c.notes[kind, sort]}")
        for way in gone:
            print(f"{name} {way}: in the file of known deviations, but met no more")
    clean = sum(not c.bad for c in results.values())
    print(f"{len(results)} operators, {clean} without a deviation")
    for kind in KINDS:
        sorts = ", ".join(f"{n} {sort}" for (k, sort), n in sorted(total.bad.items()) if k == kind)
        print(f"{kind}: {total.tried[kind]} samples; deviating: {sorts or 'none'}")
    return strange


def reported(path):
    """{operator: Counts} of a file that --report wrote."""
    results = {}
    for name, tried, bad, notes in map(json.loads, pathlib.Path(path).read_text().splitlines()):
        c = results[name] = Counts()
        c.tried.update(tried)
        c.bad.update({tuple(k.split()): n for k, n in bad.items()})
        c.notes = {tuple(k.split()): text for k, text in notes.items()}
    return results


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--slice", default="0/1")
    p.add_argument("--dtypes", default=",".join(DTYPES))
    p.add_argument("--samples", type=int, default=20)
    p.add_argument("--known")
    p.add_argument("--report")
    p.add_argument("--quiet", action="store_true", help="only write the report")
    p.add_argument("--summary")
    p.add_argument("ops", nargs="*")
    args = p.parse_args()
    known = read_known(args.known) if args.known else {}
    if args.summary:
        sys.exit(bool(report(reported(args.summary), known, True)))
    torch.set_num_threads(1)
    results = {}
    for op in chosen(args):
        results[label(op)] = check(op, args.dtypes.split(","), args.samples)
        if args.report:
            c = results[label(op)]
            with open(args.report, "a") as f:
                row = [label(op), dict(c.tried), {" ".join(k): v for k, v in c.bad.items()},
                       {" ".join(k): v for k, v in c.notes.items()}]  # fmt: skip
                f.write(json.dumps(row) + "\n")
    complete = args.dtypes == ",".join(DTYPES) and args.samples == p.get_default("samples")
    if not args.quiet:
        sys.exit(bool(report(results, known, complete)))


if __name__ == "__main__":
    main()
