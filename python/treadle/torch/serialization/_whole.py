"""Whole modules and optimizers in files, by PyTorch's names and with its attributes, so that it loads them too."""

import functools
import importlib
import warnings

from ..nn.modules._hooks import FLAGS
from ..optim._counted import Counted

_OWN = "treadle.torch"
# Where PyTorch's pickles find what our classes and functions are called. The first one that has the object counts.
_HOMES = (
    "torch torch.nn torch.nn.functional torch.optim torch.optim.lr_scheduler torch.nn.init torch.linalg torch.special "
    "torch.fft torch.distributions torch.utils.data torch.nn.modules.module torch.nn.modules.batchnorm "
    "torch.nn.modules.conv torch.nn.modules.rnn torch.nn.modules.linear torch.nn.utils.rnn torch.cuda.amp "
    "torch.nn.utils.weight_norm torch.nn.utils.spectral_norm"
).split()


@functools.cache
def home(obj):
    """(module, name) of a class or function of ours in PyTorch; None: it is no part of ours; ("", name): PyTorch has no
    such thing."""
    module, name = getattr(obj, "__module__", None) or "", getattr(obj, "__qualname__", "")
    if not (module == _OWN or module.startswith(_OWN + ".")):
        return None
    if obj is Counted:  # the default of a dict of states
        return "builtins", "dict"
    for place in _HOMES:
        if getattr(importlib.import_module("treadle." + place), name, None) is obj:
            return place, name
    return "", f"{module}.{name}"


def warn_of(name):
    """Tell that only treadle loads the file."""
    warnings.warn(f"torch.save: PyTorch cannot load this file, because it has no {name}", stacklevel=2)


def module_state(module, state):
    """The attributes of a module as PyTorch keeps them: hooks without their flags, which stand in tables of their own,
    and what its classes ask for when they are called or loaded."""
    if "parametrizations" in state.get("_modules", ()):
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )
    state = {k: v for k, v in state.items() if k != "_hooked"}
    for kind, flags in FLAGS.items():
        hooks = state.get(kind, {})
        plain = type(hooks)((k, h[0] if isinstance(h, tuple) else h) for k, h in hooks.items())
        state[kind] = plain
        for i, flag in enumerate(flags, 1):
            state[flag] = type(hooks)((k, True) for k, h in hooks.items() if isinstance(h, tuple) and h[i])
    state["_is_full_backward_hook"] = True if state.get("_backward_hooks") else None
    for kind in type(module).__mro__:
        state |= _MORE.get(kind.__name__, lambda m: {})(module) if kind.__module__.startswith(_OWN) else {}
    return state


# {class: attributes that PyTorch's modules of the kind have, and ours have not}
_MORE = {
    "_ConvNd": lambda m: {"transposed": m.transposed},
    # The weights' names; where they are none, PyTorch makes them anew, and collects the weights.
    "RNNBase": lambda m: {"_all_weights": [[None]]},
    "MultiheadAttention": lambda m: {k: None for k in ("bias_k", "bias_v") if getattr(m, k) is None},
    "TransformerEncoderLayer": lambda m: {
        "activation_relu_or_gelu": {"relu": 1, "gelu": 2}.get(getattr(m.activation, "__name__", ""), 0)
    },
}
