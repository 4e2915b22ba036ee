"""torch.distributed.checkpoint.state_dict: states of models and optimizers. Each process holds them whole."""

import dataclasses

from ...._public import dir_of as _dir_of


@dataclasses.dataclass
class StateDictOptions:
    """PyTorch's options. Only strict has an effect, because values are whole."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _inner(model):
    """The module within a data-parallel one."""
    from ...nn.parallel import DataParallel, DistributedDataParallel

    return model.module if isinstance(model, (DataParallel, DistributedDataParallel)) else model


def _several(optimizers):
    return tuple(optimizers) if isinstance(optimizers, (list, tuple)) else (optimizers,)


def get_model_state_dict(model, *, submodules=None, options=None):
    """The model's state. Names are those that the model has outside of data-parallel modules."""
    return _inner(model).state_dict()


def get_optimizer_state_dict(model, optimizers, *, submodules=None, options=None):
    """The optimizer's state; for several optimizers a dict by their numbers."""
    found = [o.state_dict() for o in _several(optimizers)]
    return found[0] if len(found) == 1 else dict(enumerate(found))


def get_state_dict(model, optimizers, *, submodules=None, options=None):
    """(the model's state, the optimizers')."""
    return get_model_state_dict(model), get_optimizer_state_dict(model, optimizers)


def set_model_state_dict(model, model_state_dict, *, options=None):
    """Load the model's state. Returns which keys were missing or unexpected."""
    return _inner(model).load_state_dict(model_state_dict, strict=options is None or options.strict)


def set_optimizer_state_dict(model, optimizers, optim_state_dict, *, options=None):
    """Loads the optimizers' states."""
    many = _several(optimizers)
    for i, o in enumerate(many):
        o.load_state_dict(optim_state_dict if len(many) == 1 else optim_state_dict[i])


def set_state_dict(model, optimizers, *, model_state_dict, optim_state_dict, options=None):
    """Loads both."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)


__dir__ = _dir_of(__name__)
