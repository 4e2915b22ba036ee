"""PyTorch's samples of its modules (`module_db`): outputs, buffers and gradients, in training and in evaluation, and
what it refuses."""

import copy
import warnings

import torch
from compare import apart, converted, gradients, leaves, one_line
from torch.testing._internal.common_modules import ModuleErrorEnum, module_db

import treadle.torch as ours

# Outputs of these are drawn in training: only dtype and shape are compared.
DRAWN = ("RReLU", "FractionalMaxPool2d", "FractionalMaxPool3d")


def label(info):
    return info.module_cls.__module__.split(".modules")[0].removeprefix("torch.") + "." + info.module_cls.__name__


def named():
    return {label(info): info for info in module_db}


def _draws(m):
    rates = [float(getattr(s, "p", 0) or 0) for s in m.modules() if isinstance(s, torch.nn.modules.dropout._DropoutNd)]
    rates += [s.dropout for s in m.modules() if isinstance(getattr(s, "dropout", None), float)]
    return m.training and (any(rates) or type(m).__name__ in DRAWN)


def _built(cls, given, change, dtype, training):
    m = cls(*change(list(given.args)), **change(given.kwargs))
    return m.to(dtype).train(training)


class _Pair:
    """A module of both libraries with the same parameters and buffers, and inputs for it."""

    def __init__(self, info, sample, dtype, training):
        torch.manual_seed(7)
        self.sample = sample
        cls = info.module_cls
        self.theirs = _built(cls, copy.deepcopy(sample.constructor_input), lambda x: x, dtype, training)
        self.lazy = any(map(torch.nn.parameter.is_lazy, self.theirs.parameters()))
        if self.lazy:  # parameters get their shapes from a call
            self.theirs(*copy.deepcopy(sample.forward_input.args))
        self.state = copy.deepcopy(self.theirs.state_dict())
        self.make = lambda: _built(getattr(ours.nn, cls.__name__), sample.constructor_input, converted,
                                   converted(dtype), training)  # fmt: skip

    def ours(self):
        m = self.make()
        if self.lazy:
            m(*self.inputs(converted)[0])
        m.load_state_dict(converted(dict(self.state)))
        return m

    def inputs(self, change=copy.deepcopy):
        return change(list(self.sample.forward_input.args)), change(self.sample.forward_input.kwargs)


def _outcome(m, args, kwargs):
    """The outputs, and the buffers that the call may have changed."""
    return leaves(m(*args, **kwargs)), [b for _, b in m.named_buffers()]


def check_forward(counts, pair, dtype):
    """Do both agree?"""
    try:
        theirs = _outcome(pair.theirs, *pair.inputs())
    except Exception:
        return False  # PyTorch refuses the sample
    counts.tried["forward"] += 1
    try:
        found = apart(theirs, _outcome(pair.ours(), *pair.inputs(converted)), _draws(pair.theirs))
    except Exception as e:
        counts.add("forward", dtype, "raise", one_line(e))
        return False
    if found:
        counts.add("forward", dtype, "value", found)
    return not found


def check_gradients(counts, info, pair, dtype):
    kinds = ("grad", "grad2") if info.supports_gradgrad else ("grad",)

    def of(lib, m, args, kwargs):
        wanted = [args, list(kwargs.values()), list(m.parameters())]
        return gradients(lib, lambda: leaves(m(*args, **kwargs)), wanted, kinds)

    pair.theirs.load_state_dict(pair.state)
    try:
        theirs = of(torch, pair.theirs, *pair.inputs())
    except Exception:
        return
    counts.gradients(dtype, kinds, theirs, lambda: of(ours, pair.ours(), *pair.inputs(converted)))


def check_errors(counts, info, training):
    """What PyTorch refuses to construct or to compute."""
    if info.module_error_inputs_func is None:
        return
    for error in info.module_error_inputs_func(info, "cpu", torch.float64, requires_grad=False, training=training):
        sample = error.module_error_input

        def run(cls, change, sample=sample, on=error.error_on):
            m = cls(*change(list(sample.constructor_input.args)), **change(sample.constructor_input.kwargs))
            if on is not ModuleErrorEnum.CONSTRUCTION_ERROR:
                return m(*change(list(sample.forward_input.args)), **change(sample.forward_input.kwargs))

        try:
            run(info.module_cls, copy.deepcopy)
        except Exception as e:
            counts.refusal(e, lambda run=run: run(getattr(ours.nn, info.module_cls.__name__), converted))


def check(counts, info, dtypes, limit):
    """Fills the Counts of one module."""
    if not hasattr(ours.nn, info.module_cls.__name__):
        counts.tried["forward"] = 1
        counts.add("forward", "-", "missing", info.module_cls.__name__)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for training in (True, False):
            for dtype in info.dtypes:
                name = str(dtype).removeprefix("torch.")
                if name not in dtypes:
                    continue
                torch.manual_seed(7)
                grads = name in ("float64", "complex128")
                made = info.module_inputs_func(info, "cpu", dtype, grads, training)
                for sample in made[: 2 * limit]:
                    if sample.forward_input is None:
                        continue
                    pair = _Pair(info, sample, dtype, training)
                    if check_forward(counts, pair, name) and grads and not _draws(pair.theirs):
                        check_gradients(counts, info, pair, name)
            check_errors(counts, info, training)
