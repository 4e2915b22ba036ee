"""Functions that torch and torch.nn.functional both have, but with other parameters, or with the same in another order:
torch.batch_norm(x, weight, bias, mean, var, …) is functional.batch_norm(x, mean, var, weight, bias, …). The table has
torch's parameters, in their order. Reductions are numbers here: 0, 1 and 2 for "none", "mean" and "sum".
"""

import ast
import inspect

from ... import torch

_PARAMETERS = {
    "alpha_dropout": "input p train",
    "batch_norm": "input weight bias running_mean running_var training momentum eps cudnn_enabled",
    "binary_cross_entropy_with_logits": "input target weight=None pos_weight=None reduction=1",
    "cosine_embedding_loss": "input1 input2 target margin=0.0 reduction=1",
    "ctc_loss": "log_probs targets input_lengths target_lengths blank=0 reduction=1 zero_infinity=False",
    "dropout": "input p train",
    "embedding": "weight indices padding_idx=-1 scale_grad_by_freq=False sparse=False",
    "group_norm": "input num_groups weight=None bias=None eps=1e-05 cudnn_enabled=True",
    "hinge_embedding_loss": "input target margin=1.0 reduction=1",
    "instance_norm": "input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled",
    "kl_div": "input target reduction=1 *log_target=False",
    "layer_norm": "input normalized_shape weight=None bias=None eps=1e-05 cudnn_enable=True",
    "margin_ranking_loss": "input1 input2 target margin=0.0 reduction=1",
    "poisson_nll_loss": "input target log_input full eps reduction",
    "rrelu": "input lower=0.125 upper=0.3333333333333333 training=False generator=None",
    "triplet_margin_loss": "anchor positive negative margin=1.0 p=2 eps=1e-06 swap=False reduction=1",
}
_FUNCTIONALS = {"indices": "input", "train": "training"}  # names of nn.functional's parameters
_IGNORED = {"cudnn_enabled", "cudnn_enable", "generator"}
_REDUCTIONS = ("none", "mean", "sum")


def _given(name, value):
    """nn.functional's value for a parameter of torch's."""
    if name == "reduction" and not isinstance(value, str):
        return _REDUCTIONS[value]
    return None if name == "padding_idx" and value == -1 else value


def _parameter(text):
    """The parameter that `name`, `name=default` or, by keyword only, `*name=default` stands for."""
    P = inspect.Parameter
    name, _, default = text.partition("=")
    kind = P.KEYWORD_ONLY if name.startswith("*") else P.POSITIONAL_OR_KEYWORD
    return P(name.lstrip("*"), kind, default=ast.literal_eval(default) if default else P.empty)


def _reordered(name):
    parameters = [_parameter(text) for text in _PARAMETERS[name].split()]
    positional = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]

    def call(*args, **kwargs):
        if len(args) > len(positional):
            raise TypeError(f"{name}() takes {len(positional)} positional arguments but {len(args)} were given")
        given = dict(zip(positional, args, strict=False))
        if twice := given.keys() & kwargs.keys():
            raise TypeError(f"{name}() got multiple values for argument {twice.pop()!r}")
        given |= kwargs
        given = {_FUNCTIONALS.get(k, k): _given(k, v) for k, v in given.items() if k not in _IGNORED}
        return getattr(torch.nn.functional, name)(**given)

    call.__signature__ = inspect.Signature(parameters)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"nn.functional.{name} with torch's order of parameters."
    return call


globals().update({name: _reordered(name) for name in _PARAMETERS})
