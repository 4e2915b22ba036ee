"""``Module``: parameters, buffers and submodules by name, the state dictionary, hooks, devices and dtypes."""

import functools
import itertools
from collections import OrderedDict, namedtuple

from .... import torch
from ... import _modules
from ..parameter import Buffer, Parameter
from ._hooks import FLAGS, Handle, _WrappedHook, grad_hooked

_KINDS = ("_parameters", "_buffers", "_modules")
_forward_hooks, _forward_pre_hooks = OrderedDict(), OrderedDict()  # hooks of all modules


class _IncompatibleKeys(namedtuple("IncompatibleKeys", "missing_keys unexpected_keys")):
    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


def _indented(text):
    first, *rest = text.split("\n")
    return "\n".join([first, *("  " + line for line in rest)])


class Module:
    """The base of everything that has parameters. A subclass creates them in ``__init__`` and computes in ``forward``.

    ``parameters()``, ``to()`` and ``state_dict()`` find attributes that are Parameters, Modules or Buffers. An
    assignment of one before ``super().__init__()`` raises AttributeError.
    """

    dump_patches = False
    _version = 1
    call_super_init = False

    def __init__(self, *args, **kwargs):
        if not self.call_super_init and (args or kwargs):
            name = f"{type(self).__name__}.__init__()"
            raise TypeError(
                f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'"
                if kwargs
                else f"{name} takes 1 positional argument but {len(args) + 1} were given"
            )
        put = functools.partial(object.__setattr__, self)
        put("training", True)
        for name in ("_parameters", "_buffers", "_modules"):
            put(name, {})
        put("_non_persistent_buffers_set", set())
        for name in (
            "_forward_hooks",
            "_forward_pre_hooks",
            "_backward_hooks",
            "_backward_pre_hooks",
            "_state_dict_hooks",
            "_state_dict_pre_hooks",
            "_load_state_dict_pre_hooks",
            "_load_state_dict_post_hooks",
        ):
            put(name, OrderedDict())
        put("_hooked", False)

    def forward(self, *input):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- attributes ----

    def __getattr__(self, name):
        slots = self.__dict__
        for kind in _KINDS:
            if kind in slots and name in slots[kind]:
                return slots[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        kind = (
            "_parameters"
            if isinstance(value, Parameter)
            else "_modules"
            if isinstance(value, Module)
            else "_buffers"
            if isinstance(value, Buffer)
            else None
        )
        slots = self.__dict__
        if kind:
            if kind not in slots:
                raise AttributeError(f"cannot assign {kind[1:]} before Module.__init__() call")
            self._forget(name, kind)
            if kind == "_buffers":
                self.register_buffer(name, value, value.persistent)
            else:
                slots[kind][name] = value
            return
        for kind, word in zip(_KINDS, ("parameter", "buffer", "child module")):
            if kind in slots and name in slots[kind]:
                if value is not None and not (kind == "_buffers" and isinstance(value, torch.Tensor)):
                    wanted = {
                        "_parameters": "torch.nn.Parameter or None",
                        "_buffers": "torch.Tensor, Buffer or None",
                        "_modules": "torch.nn.Module or None",
                    }[kind]
                    raise TypeError(f"cannot assign '{torch.typename(value)}' as {word} '{name}' ({wanted} expected)")
                slots[kind][name] = value
                return
        object.__setattr__(self, name, value)

    def _forget(self, name, but):
        """Remove the name from all tables but ``but``, in which a value keeps its place."""
        self.__dict__.pop(name, None)
        for kind in _KINDS:
            if kind != but:
                self.__dict__[kind].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name):
        for kind in _KINDS:
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__, *(n for kind in _KINDS for n in self.__dict__[kind])}
        return sorted(n for n in names if not n[0].isdigit())

    def __setstate__(self, state):
        # A pickle may be of another version, or of PyTorch itself. What it lacks is taken from a new module.
        fresh = Module.__new__(Module)
        Module.__init__(fresh)
        self.__dict__.update({**fresh.__dict__, **state})
        if "_hooked" not in state:
            for kind, flags in FLAGS.items():  # PyTorch has these beside the hooks
                named = [state.get(f, {}) for f in flags]
                for k, hook in self.__dict__[kind].items():
                    if not isinstance(hook, tuple):
                        self.__dict__[kind][k] = (hook, *(k in given for given in named))
            self._hooked = any(v for k, v in self.__dict__.items() if k.endswith("_hooks") and "state_dict" not in k)

    def _register(self, kind, name, value, types, word):
        if kind not in self.__dict__:
            raise AttributeError(f"cannot assign {word} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{word} name should be a string. Got {torch.typename(name)}")
        if "." in name:
            raise KeyError(f'{word} name can\'t contain "."' + f", got: {name}" * (word == "module"))
        if name == "":
            raise KeyError(f'{word} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[kind]:
            raise KeyError(f"attribute '{name}' already exists")
        if value is not None and not isinstance(value, types):
            if word == "module":
                raise TypeError(f"{torch.typename(value)} is not a Module subclass")
            raise TypeError(
                f"cannot assign '{torch.typename(value)}' object to {word} '{name}' "
                f"({torch.typename(types)} or None required)"
            )
        self.__dict__[kind][name] = value

    def register_parameter(self, name, param):
        self._register("_parameters", name, param, Parameter, "parameter")

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that belongs to the module's state without being a parameter. ``persistent=False`` leaves it out
        of the state dictionary."""
        self._register("_buffers", name, tensor, torch.Tensor, "buffer")
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name, module):
        self._register("_modules", name, module, Module, "module")

    def register_module(self, name, module):
        self.add_module(name, module)

    def get_submodule(self, target):
        """The module at a path such as "net.0.conv". Raises AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        setattr(parent, name, module)

    def _get_at(self, target, types, word):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found = getattr(module, name, None)
        if not isinstance(found, types) or name not in (*module._parameters, *module._buffers):
            raise AttributeError(f"`{name}` is not {word}")
        return found

    def get_parameter(self, target):
        return self._get_at(target, Parameter, "an nn.Parameter")

    def get_buffer(self, target):
        return self._get_at(target, torch.Tensor, "a buffer")

    # ---- calls ----

    def __call__(self, *args, **kwargs):
        if not (self._hooked or _forward_hooks or _forward_pre_hooks):
            return self.forward(*args, **kwargs)
        return self._call_hooked(args, kwargs)

    _call_impl = __call__

    def _call_hooked(self, args, kwargs):
        for hook, with_kwargs in [*_forward_pre_hooks.values(), *self._forward_pre_hooks.values()]:
            got = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if got is not None and with_kwargs:
                args, kwargs = got
            elif got is not None:
                args = got if isinstance(got, tuple) else (got,)
        done = False
        try:
            result = grad_hooked(self, self.forward, args, kwargs)
            done = True
        finally:
            if not done:  # hooks with always_call see a failed call, too
                for hook, with_kwargs, always in [*_forward_hooks.values(), *self._forward_hooks.values()]:
                    if always:
                        hook(self, args, kwargs, None) if with_kwargs else hook(self, args, None)
        for hook, with_kwargs, _ in [*_forward_hooks.values(), *self._forward_hooks.values()]:
            got = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            result = result if got is None else got
        return result

    def _add_hook(self, hooks, hook, prepend=False):
        self._hooked = True
        return Handle(hooks, hook, prepend)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call hook(module, args) before forward(). What it returns, unless None, replaces the arguments."""
        return self._add_hook(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call hook(module, args, output) after forward(). What it returns, unless None, replaces the output."""
        return self._add_hook(self._forward_hooks, (hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Call hook(module, grad_output) before the module's gradients are computed."""
        return self._add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call hook(module, grad_input, grad_output) when the gradients of the module's inputs exist."""
        return self._add_hook(self._backward_hooks, hook, prepend)

    register_backward_hook = register_full_backward_hook

    # ---- iterating ----

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def _named(self, kind, prefix, recurse, remove_duplicate):
        seen = set()
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in module.__dict__[kind].items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        """(path, member) of what get_members_fn(module) gives for this module and those below, each member once."""
        seen = set()
        below = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in below:
            for name, member in get_members_fn(module):
                if member is not None and member not in seen:
                    if remove_duplicate:
                        seen.add(member)
                    yield f"{path}.{name}" if path else name, member

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        return (b for _, b in self.named_buffers(recurse=recurse))

    def named_children(self):
        return self._named("_modules", "", False, True)

    def children(self):
        return (m for _, m in self.named_children())

    def modules(self):
        return (m for _, m in self.named_modules())

    # ---- changes to the module and all that it holds ----

    def apply(self, fn):
        """Call fn(module) for every submodule, and last for this one. Returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        with torch.no_grad():
            for name, param in self._parameters.items():
                if param is None:
                    continue
                new = fn(param.data)
                if new.is_meta or param.is_meta:  # they are of different classes
                    self._parameters[name] = torch.nn.Parameter(new, param.requires_grad)
                    continue
                if new is not param.data:
                    param.data = new
                if param.grad is not None:
                    param.grad = fn(param.grad)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """to(device), to(dtype), to(device, dtype), to(tensor): convert all parameters and buffers in place. Integers
        keep their dtype.

        memory_format changes the layout of the tensors of its rank.
        """
        device, dtype, _ = _parse_to(args, kwargs)
        last = kwargs.get("memory_format")
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def move(t):
            given = {} if device is None else {"device": device}
            if dtype is not None and (t.is_floating_point() or t.is_complex()):
                given["dtype"] = dtype
            if last is not None and t.dim() == last._rank:
                given["memory_format"] = last
            return t.to(**given) if given else t

        return self._apply(move)

    def cuda(self, device=None):
        return self._apply(lambda t: t.cuda(device))

    def cpu(self):
        return self._apply(lambda t: t.cpu())

    def to_empty(self, *, device, recurse=True):
        """Move all parameters and buffers to a device without their values, which nobody has set there."""
        return self._apply(lambda t: torch.empty_like(t, device=device), recurse=recurse)

    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type))

    def _float_to(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self):
        return self._float_to(torch.float32)

    def double(self):
        return self._float_to(torch.float64)

    def half(self):
        return self._float_to(torch.float16)

    def bfloat16(self):
        return self._float_to(torch.bfloat16)

    def train(self, mode=True):
        """Set training mode (True) or evaluation mode, which Dropout and the batch norms read. Returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for p in self.parameters():
            if p.grad is None:
                continue
            if set_to_none:
                p.grad = None
            else:
                p.grad = torch.zeros_like(p.grad)

    def share_memory(self):
        """Move parameters, their gradients and buffers to memory that other processes see (Tensor.share_memory_)."""
        for t in (*self.parameters(), *self.buffers()):
            t.share_memory_()
            if t.grad is not None:
                t.grad.share_memory_()
        return self

    def compile(self, *args, **kwargs):
        """Does nothing: everything is compiled in any case."""

    # ---- state ----

    def get_extra_state(self):
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state):
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in itertools.chain(self._parameters.items(), self._buffers.items()):
            if value is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + "_extra_state"] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """{path: tensor} of the parameters and persistent buffers. The tensors share memory with the module's."""
        destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = {"version": self._version}
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            got = hook(self, destination, prefix, {"version": self._version})
            destination = destination if got is None else got
        return destination

    def register_state_dict_pre_hook(self, hook):
        return Handle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        return Handle(self._state_dict_hooks, hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook):
        return Handle(self._load_state_dict_pre_hooks, _WrappedHook(hook, self))

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return Handle(self._load_state_dict_pre_hooks, _WrappedHook(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook):
        return Handle(self._load_state_dict_post_hooks, hook)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        known = {
            k: v
            for k, v in itertools.chain(self._parameters.items(), self._buffers.items())
            if v is not None and k not in self._non_persistent_buffers_set
        }
        for name, own in known.items():
            key = prefix + name
            if key in state_dict:
                self._load_one(
                    name, own, key, state_dict[key], local_metadata.get("assign_to_params_buffers"), error_msgs
                )
            elif strict:
                missing_keys.append(key)
        extra = prefix + "_extra_state"
        if type(self).set_extra_state is not Module.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                head = key[len(prefix) :].split(".", 1) if key.startswith(prefix) and key != extra else None
                if head and head[0] not in self._modules and (len(head) > 1 or head[0] not in known):
                    unexpected_keys.append(key)

    def _load_one(self, name, own, key, given, assign, error_msgs):
        if not isinstance(given, torch.Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                f"from checkpoint but received {type(given)}"
            )
            return
        if own.dim() == 0 and tuple(given.shape) == (1,):  # versions before 0.4 had no 0-dimensional tensors
            given = given[0]
        if given.shape != own.shape:
            error_msgs.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                f"the shape in current model is {own.shape}."
            )
            return
        with torch.no_grad():
            if assign and name in self._parameters:
                given = given if isinstance(given, Parameter) else Parameter(given, own.requires_grad)
                self._parameters[name] = given
            elif assign:
                self._buffers[name] = given
            else:
                own.copy_(given)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy the values of a state dictionary into the module. Raises RuntimeError, with names, for missing or
        unexpected keys (unless ``strict=False``) and for shapes that differ. Returns what was missing and unexpected.
        """
        if not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None) or {}
        state_dict = OrderedDict(state_dict)

        def load(module, prefix):
            local = {**metadata.get(prefix[:-1], {}), **({"assign_to_params_buffers": True} if assign else {})}
            module._load_from_state_dict(state_dict, prefix, local, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    load(child, f"{prefix}{name}.")
            keys = _IncompatibleKeys(missing, unexpected)
            for hook in module._load_state_dict_post_hooks.values():
                hook(module, keys)

        load(self, "")
        if strict and unexpected:
            errors.insert(0, "Unexpected key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in unexpected)))
        if strict and missing:
            errors.insert(0, "Missing key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in missing)))
        if errors:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors))
            )
        return _IncompatibleKeys(missing, unexpected)

    # ---- text ----

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): " + _indented(repr(module)) for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


def _parse_to(args, kwargs):
    """(device or None, dtype or None, non_blocking) of the arguments of ``to``."""
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    if kwargs.get("tensor") is not None:
        args = (kwargs["tensor"], *args)
    for arg in args:
        if isinstance(arg, torch.Tensor):
            device, dtype = arg.device, arg.dtype
        elif isinstance(arg, torch.dtype):
            dtype = arg
        elif isinstance(arg, bool):
            break  # what follows are non_blocking and copy
        elif arg is not None:
            device = torch.device(arg)
    return device, dtype, kwargs.get("non_blocking", False)


def register_module_forward_pre_hook(hook):
    """Call hook(module, args) before the forward() of every module."""
    return Handle(_forward_pre_hooks, (hook, False))


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call hook(module, args, output) after the forward() of every module."""
    return Handle(_forward_hooks, (hook, with_kwargs, always_call))


__getattr__, __dir__ = _modules.refusing("torch.nn.modules.module")
