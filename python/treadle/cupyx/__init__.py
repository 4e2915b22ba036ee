"""What of cupyx is here: `jit`, kernels written in Python. docs/guide-cupy.md tells what stands for the rest."""

__all__ = ["jit"]


def __getattr__(name):
    if name == "jit":
        from importlib import import_module

        return import_module("treadle.cupyx.jit")
    raise AttributeError(
        f"module 'treadle.cupyx' has no attribute '{name}'; docs/guide-cupy.md tells what stands for it"
    )
