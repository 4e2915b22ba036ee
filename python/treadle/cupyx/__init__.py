"""What of cupyx is here: `jit`, kernels in Python, and `scipy`. docs/guide-cupy.md tells what stands for the rest."""

__all__ = ["jit", "scipy"]


def __getattr__(name):
    from importlib import import_module

    if name == "jit":
        return import_module("treadle.cupyx.jit")
    if name == "scipy":
        return import_module("treadle.scipy")
    raise AttributeError(
        f"module 'treadle.cupyx' has no attribute '{name}'; docs/guide-cupy.md tells what stands for it"
    )
