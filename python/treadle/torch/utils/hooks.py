"""``torch.utils.hooks``: handles of hooks, and hooks that are not pickled with a tensor."""

import warnings

from .. import _modules
from ..nn.modules._hooks import Handle as RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f):
    """Mark a hook as one that warn_if_has_hooks does not mention."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    """Warn of each hook of a tensor, because hooks are not saved."""
    for hook in (getattr(tensor, "_backward_hooks", None) or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )


__getattr__, __dir__ = _modules.refusing("torch.utils.hooks")
