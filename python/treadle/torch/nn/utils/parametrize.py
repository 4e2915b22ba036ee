"""``torch.nn.utils.parametrize``: parameters and buffers that are computed from others at each access."""

from contextlib import contextmanager, suppress

from .... import torch
from ...._public import dir_of as _dir_of
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

_cache = {"depth": 0, "values": {}}


@contextmanager
def cached():
    """Inside of this context a parametrized tensor is computed once and kept."""
    _cache["depth"] += 1
    try:
        yield
    finally:
        _cache["depth"] -= 1
        if not _cache["depth"]:
            _cache["values"] = {}


def _register(module, name, value):
    """Register value: as a parameter if it is one, else as a buffer."""
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


class ParametrizationList(ModuleList):
    """Modules that are applied one after another to compute a tensor from `original`. If the first of them takes
    several tensors, these are original0, original1, …"""

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        start = original
        with torch.no_grad(), suppress(NotImplementedError):  # the original stays what it is then
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    start = module.right_inverse(start)
        self.is_tensor = isinstance(start, torch.Tensor)
        self.ntensors = 1 if self.is_tensor else len(start)
        as_parameter = isinstance(original, Parameter)
        for name, value in zip(self._names(), (start,) if self.is_tensor else start, strict=True):
            if not isinstance(value, torch.Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                    f"{type(value).__name__}"
                )
            _register(self, name, Parameter(value, original.requires_grad) if as_parameter else value)
        if not unsafe:
            self._check(original)

    def _names(self):
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def _check(self, original):
        made = self()
        if not isinstance(made, torch.Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
        for what in ("dtype", "shape"):
            have, want = getattr(made, what), getattr(original, what)
            if have != want:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {want}\nparametrized {what}: {have}"
                )

    def right_inverse(self, value):
        """Set the originals so that the tensor becomes value, as far as the modules' right_inverse can do that."""
        with torch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            for name, v in zip(self._names(), (value,) if self.is_tensor else value, strict=True):
                own = getattr(self, name)
                if own.dtype != v.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {v.dtype} while `{name}` has "
                        f"dtype {own.dtype}"
                    )
                own.data = v.detach().clone()

    def forward(self):
        first, *rest = self
        value = first(*(getattr(self, name) for name in self._names()))
        for module in rest:
            value = module(value)
        return value


def _read(module, name):
    if not _cache["depth"]:
        return module.parametrizations[name]()
    key = id(module), name
    if key not in _cache["values"]:
        _cache["values"][key] = module.parametrizations[name]()
    return _cache["values"][key]


def _inject(module, name):
    """Give the module a class of its own, in which `name` is a property."""
    cls = type(module)
    if not is_parametrized(module):
        module.parametrizations = ModuleDict()
        cls = type("Parametrized" + cls.__name__, (cls,), {"__module__": cls.__module__, "_plain_class": cls})
        module.__class__ = cls
    setattr(
        cls,
        name,
        property(lambda self: _read(self, name), lambda self, v: self.parametrizations[name].right_inverse(v)),
    )


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Let module's parameter or buffer tensor_name be parametrization(original) from now on. Returns module.

    A parametrization is a module. If it has a right_inverse, this makes the original from the present value, and from
    values that are assigned later. Several parametrizations of one name are applied one after another. unsafe: dtype
    and shape may change. Raises ValueError if there is no such tensor, or if the parametrization changes its dtype or
    shape.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        chain = module.parametrizations[tensor_name]
        before = getattr(module, tensor_name)
        if hasattr(parametrization, "right_inverse"):
            with torch.no_grad():
                chain.right_inverse(parametrization.right_inverse(before))
        chain.append(parametrization)
        if not (unsafe or chain.unsafe):
            try:
                chain._check(before)
            except ValueError:
                chain.pop(len(chain) - 1)
                raise
        chain.unsafe |= unsafe
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        original = getattr(module, tensor_name)
        chain = ParametrizationList([parametrization], original, unsafe)
        delattr(module, tensor_name)
        _inject(module, tensor_name)
        module.parametrizations[tensor_name] = chain
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def is_parametrized(module, tensor_name=None):
    """Does the module have a parametrization, or one of tensor_name?"""
    chains = module.__dict__["_modules"].get("parametrizations")
    if chains is None or not isinstance(chains, ModuleDict):
        return False
    return len(chains) > 0 if tensor_name is None else tensor_name in chains


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """module without the parametrizations of tensor_name. The tensor keeps its present value, or gets its original
    back.

    Raises ValueError if there are none, or if it has several originals and leave_parametrized is False.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    trained = any(isinstance(p, Parameter) for p in chain._parameters.values())
    if leave_parametrized:
        with torch.no_grad():
            value = getattr(module, tensor_name).detach().clone()
        value = Parameter(value, chain._parameters[chain._names()[0]].requires_grad) if trained else value
    elif chain.is_tensor:
        value = chain.original
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    cls = type(module)
    delattr(cls, tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, value)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = cls._plain_class
    return module


def type_before_parametrizations(module):
    """The module's class before its parametrizations."""
    return type(module)._plain_class if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """to_module, with from_module's parametrizations (only those of tensor_name if given) and their originals."""
    if not is_parametrized(from_module):
        return to_module
    for name in [tensor_name] if tensor_name else list(from_module.parametrizations):
        chain = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            _register(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for parametrization in chain:
            register_parametrization(to_module, name, parametrization, unsafe=True)
        for own in chain._names():
            getattr(to_module.parametrizations[name], own).data = getattr(chain, own).detach().clone()
    return to_module


__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

__dir__ = _dir_of(__name__)
