"""torch.library: operations that a program defines, called as torch.ops.namespace.name.

An operation is defined by a Python function. Kinds of devices may have functions of their own. Fake functions are
accepted and never called.
"""

import inspect
import re
import types

from ... import torch
from .. import _modules

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "impl", "impl_abstract",
    "infer_schema", "register_autocast", "register_autograd", "register_fake", "register_kernel", "register_vmap",
    "triton_op",
]  # fmt: skip

_defined = {}  # "namespace::name": CustomOpDef


class _Namespace(types.SimpleNamespace):
    """The namespace torch.ops.<namespace>."""

    def __init__(self, name):
        super().__init__(_name=name)

    def __getattr__(self, name):
        found = _defined.get(f"{self.__dict__['_name']}::{name}")
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self.__dict__['_name']}' object has no attribute '{name}'")
        return found


class _Overload:
    """torch.ops.aten.name.overload: a function of torch's or a method of that name, called unchanged."""

    def __init__(self, packet, name):
        self._packet, self._name = packet, name
        self.__name__ = f"{packet.__name__}.{name}"

    overloadpacket = property(lambda self: self._packet)

    def name(self):
        """aten::name.overload."""
        return f"aten::{self._packet.__name__}" + ("" if self._name == "default" else f".{self._name}")

    def __call__(self, *args, **kwargs):
        return self._packet(*args, **kwargs)

    def __repr__(self):
        return f"<OpOverload(op='aten.{self._packet.__name__}', overload='{self._name}')>"


class _Packet:
    """torch.ops.aten.<name>."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__dict__[name] = _Overload(self, name)
        return found

    def overloads(self):
        """The overloads that a program has used."""
        return [name for name, value in vars(self).items() if isinstance(value, _Overload)]

    def __call__(self, *args, **kwargs):
        name = self.__name__
        if name.startswith("sym_"):  # sizes and strides are ordinary numbers
            return getattr(args[0], name.removeprefix("sym_"))(*args[1:], **kwargs)
        for home in (torch, torch.nn.functional, torch.special, torch.linalg, torch.Tensor):
            f = None if home is torch.Tensor and not args else getattr(home, name, None)
            if callable(f):
                return f(*args, **kwargs)
        raise NotImplementedError(f"torch.ops.aten.{name}: there is no function or method of that name")

    def __repr__(self):
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class _Aten:
    """torch.ops.aten: PyTorch's operations by their internal names, one object for each."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__dict__[name] = _Packet(name)
        return found


class _Ops:
    """torch.ops: PyTorch's own operations (aten), and the namespaces that torch.library defines."""

    aten = _Aten()

    loaded_libraries = frozenset()

    def load_library(self, path):
        """Raise OSError: compiled code works with PyTorch's own tensors only. Libraries with a fallback continue
        without it."""
        raise OSError(f"torch.ops.load_library: {path} holds C++ code for PyTorch's own tensors, which are not there")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Namespace(name)


ops = _Ops()


class CustomOpDef:
    """An operation: a function for each kind of device, and a backward formula."""

    def __init__(self, name, fn=None, schema=None, mutates_args=()):
        self._qualname, self._schema, self._mutates = name, schema, mutates_args
        self._kernels = {} if fn is None else {None: fn}
        self._backward = self._setup = None
        self.__name__ = name.rpartition("::")[2]
        self.__doc__ = None if fn is None else fn.__doc__

    default = property(lambda self: self, doc="The operation itself.")

    def _kernel(self, args, kwargs):
        kind = next((a.device.type for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)), "cpu")
        found = self._kernels.get(kind) or self._kernels.get(None)
        if found is None:
            raise NotImplementedError(f"{self._qualname}: no function is registered for {kind!r}")
        return found

    def __call__(self, *args, **kwargs):
        kernel = self._kernel(args, kwargs)
        if self._backward is None or not torch.is_grad_enabled():
            return kernel(*args, **kwargs)
        if kwargs:
            bound = inspect.signature(kernel).bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        op = self

        class Call(torch.autograd.Function):
            @staticmethod
            def forward(ctx, *given):
                result = kernel(*given)
                if op._setup is not None:
                    op._setup(ctx, given, result)
                return result

            @staticmethod
            def backward(ctx, *grads):
                return op._backward(ctx, *grads)

        return Call.apply(*args)

    def register_kernel(self, device_types, fn=None, /):
        """Let fn handle tensors on these kinds of devices ("cpu", "cuda"; None: any)."""

        def enter(f):
            for kind in (device_types,) if isinstance(device_types, (str, type(None))) else device_types:
                self._kernels[kind] = f
            return f

        return enter if fn is None else enter(fn)

    def register_fake(self, fn, /):
        """Accepted and not called: shapes are known without it."""
        return fn

    register_vmap = register_torch_dispatch = register_fake

    def register_autograd(self, backward, /, *, setup_context=None):
        """Set the backward formula backward(ctx, *gradients), which returns the gradients of the arguments.
        setup_context(ctx, inputs, output) saves values for it."""
        self._backward, self._setup = backward, setup_context

    def register_autocast(self, device_type, cast_inputs):
        """Raise NotImplementedError: the function can cast its arguments itself."""
        raise NotImplementedError(f"{self._qualname}: register_autocast is not there: cast within the function")


def _checked(name):
    if not re.fullmatch(r"[\w.]+::[\w.]+", name):
        raise ValueError(f"{name!r} is no name of an operation: write 'namespace::name'")
    return name


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Define the operation "namespace::name" by a function; without one this is a decorator. Raises ValueError for an
    invalid name."""
    _checked(name)

    def enter(f):
        made = CustomOpDef(name, None, schema or infer_schema(f, mutates_args=mutates_args), mutates_args)
        made.__doc__ = f.__doc__
        made.register_kernel(device_types, f)
        _defined[name] = made
        return made

    return enter if fn is None else enter(fn)


triton_op = custom_op

_TYPES = {torch.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", "Tensor": "Tensor"}


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The schema of a function, from its annotations. Raises ValueError for a parameter whose type operations cannot
    take."""
    signature, parts = inspect.signature(prototype_function), []
    for p in signature.parameters.values():
        if p.annotation is p.empty:
            raise ValueError(f"infer_schema(func): Parameter {p.name} must have a type annotation.")
        kind = _TYPES.get(p.annotation, str(p.annotation).replace("typing.", ""))
        written = "(a!)" if mutates_args == "unknown" or p.name in mutates_args else ""
        parts.append(f"{kind}{written} {p.name}" + ("" if p.default is p.empty else f"={p.default}"))
    result = signature.return_annotation
    result = "()" if result in (None, signature.empty) else _TYPES.get(result, str(result))
    return f"{op_name or ''}({', '.join(parts)}) -> {result}"


def _find(op):
    """The CustomOpDef that a program means by the object or by its name."""
    if isinstance(op, CustomOpDef):
        return op
    name = _checked(op.partition(".")[0] if "." in op.rpartition("::")[2] else op)
    return _defined.setdefault(name, CustomOpDef(name))


def define(qualname, schema, *, lib=None, tags=()):
    """Define an operation. impl() gives its functions."""
    _defined.setdefault(_checked(qualname), CustomOpDef(qualname)).__dict__["_schema"] = schema


_KINDS = {"CPU": "cpu", "CUDA": "cuda", "CompositeExplicitAutograd": None, "CompositeImplicitAutograd": None, "": None,
          "default": None}  # fmt: skip


def impl(qualname, types, func=None, *, lib=None):
    """Set the function of an operation for kinds of devices ("cpu", "cuda", "default")."""
    given = (types,) if isinstance(types, str) else types
    kinds = [_KINDS.get(t, t) for t in given]
    return _find(qualname).register_kernel(kinds, func) if func is not None else _find(qualname).register_kernel(kinds)


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """CustomOpDef.register_kernel."""
    return _find(op).register_kernel(device_types, func)


def register_fake(op, func=None, /, *, lib=None, allow_override=True, **unused):
    """Noted: shapes are known without it."""
    return (lambda f: f) if func is None else func


impl_abstract = register_fake


def register_vmap(op, func=None, /, *, lib=None):
    """Accepted and not called: torch.func.vmap maps the operations that the function uses."""
    return (lambda f: f) if func is None else func


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """CustomOpDef.register_autograd."""
    _find(op).register_autograd(backward, setup_context=setup_context)


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """CustomOpDef.register_autocast."""
    _find(op).register_autocast(device_type, cast_inputs)


def fallthrough_kernel():
    """Raise NotImplementedError. The name stands for "no function of its own"; nothing calls it."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def get_ctx():
    """Raise RuntimeError: fake functions are never called."""
    raise RuntimeError("torch.library.get_ctx: fake functions are not asked here, so there is no context")


class Library:
    """Library("namespace", "DEF"), with define("name(Tensor x) -> Tensor") and impl("name", function, "CPU")."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema, alias_analysis="", *, tags=()):
        """Define an operation by its schema, and return its name."""
        name = schema.partition("(")[0].strip()
        define(f"{self.ns}::{name}", schema)
        return name

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=True):
        """Set the function of an operation for a kind of device."""
        key = dispatch_key or self.dispatch_key
        if key not in _KINDS:
            raise NotImplementedError(f"Library.impl: the key {key!r}: give one of {', '.join(k for k in _KINDS if k)}")
        name = op_name if isinstance(op_name, str) else op_name.__name__
        _find(name if "::" in name else f"{self.ns}::{name}").register_kernel(_KINDS[key], fn)


__getattr__, __dir__ = _modules.refusing("torch.library")
