"""scipy.cluster: vq and hierarchy, on the host."""

from . import hierarchy, vq

__all__ = ["hierarchy", "vq"]
