"""PyTorch's samples of its operators (`op_db`): results, gradients, and the inputs that it refuses."""

import copy
import itertools
import types
import warnings

import numpy
import torch
from compare import apart, converted, gradients, leaves, one_line
from torch.testing._internal.common_methods_invocations import op_db

import treadle.torch as ours

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


def _operands(sample):
    return [sample.input, list(sample.args), sample.kwargs]


def check_gradients(counts, op, f, sample, dtype):
    kinds = ("grad", "grad2") if op.supports_gradgrad else ("grad",)

    def of(lib, f, operands):
        wanted = [operands[0], operands[1], list(operands[2].values())]
        return gradients(lib, lambda: _processed(sample, f(operands[0], *operands[1], **operands[2])), wanted, kinds)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = of(torch, op.op, _operands(copy.deepcopy(sample)))
        except Exception:
            return
        counts.gradients(dtype, kinds, theirs, lambda: of(ours, f, converted(_operands(sample))))


def check_errors(counts, op, f):
    """The inputs that PyTorch refuses."""
    if op.error_inputs_func is None:
        return
    for error in op.error_inputs("cpu"):
        sample = error.sample_input
        try:
            given = converted(_operands(sample))
        except Exception:  # no such tensors here
            continue
        try:
            made(op.op, copy.deepcopy(sample), lambda x: x)
        except Exception as e:
            counts.refusal(e, lambda given=given: f(given[0], *given[1], **given[2]))


def check(counts, op, dtypes, limit):
    """Fills the Counts of one operator."""
    try:
        f = ours_of(op)
    except AttributeError as e:
        counts.tried["forward"] = 1
        counts.add("forward", "-", "missing", str(e))
        return
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_errors(counts, op, f)


def label(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def named():
    """{label: what checks it} of all operators that are not left out."""
    return {label(op): op for op in op_db if not op.name.startswith(LEFT_OUT)}
