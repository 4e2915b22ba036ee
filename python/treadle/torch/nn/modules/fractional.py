"""Pools whose windows begin at random places, as modules."""

from ...._public import dir_of as _dir_of
from .._fractional import fractional_max_pool2d, fractional_max_pool3d
from .module import Module

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d"]


class _FractionalMaxPool(Module):
    """kernel_size, and output_size or output_ratio. ValueError: both or none of these, or a ratio outside (0, 1)."""

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        self.kernel_size, self.output_size, self.output_ratio = kernel_size, output_size, output_ratio
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        name = type(self).__name__
        if (output_size is None) == (output_ratio is None):
            few = "only one of output_size and output_ratio may be specified"
            none = f"{name} requires specifying either an output size, or a pooling ratio"
            raise ValueError(none if output_size is None else few)
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,)
        if output_ratio is not None and not all(0 < r < 1 for r in ratios):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        return self._call(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows (H, W) that begin at random places."""

    _call = staticmethod(fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows (D, H, W) that begin at random places."""

    _call = staticmethod(fractional_max_pool3d)


__dir__ = _dir_of(__name__)
