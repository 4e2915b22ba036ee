"""Convolutions and pools as modules, padding, resampling."""

from .... import torch
from ... import _modules
from .. import functional as F
from .._convolve import padded_conv
from .._windows import spread
from ..parameter import Parameter
from .linear import fill_default
from .module import Module


class _ConvNd(Module):
    """The base of convolutions: weights, bias, and the numbers of their geometry."""

    rank = transposed = None

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                "padding_mode must be one of {'zeros', 'reflect', 'replicate', 'circular'}, but got "
                f"padding_mode='{padding_mode}'"
            )
        self.in_channels, self.out_channels, self.groups, self.padding_mode = (
            in_channels,
            out_channels,
            groups,
            padding_mode,
        )
        self.kernel_size = spread(kernel_size, self.rank, "kernel_size")
        self.stride, self.dilation = spread(stride, self.rank, "stride"), spread(dilation, self.rank, "dilation")
        if self.padding_of_same and padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
        self.padding = padding if isinstance(padding, str) else spread(padding, self.rank, "padding")
        self.output_padding = (0,) * self.rank
        self._reversed_padding_repeated_twice = tuple(n for pair in self._margins()[::-1] for n in pair)
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = Parameter(torch.empty(first, second // groups, *self.kernel_size, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    padding_of_same = True

    def _margins(self):
        """(before, after) of each dim's padding."""
        if isinstance(self.padding, str):
            whole = [d * (k - 1) * (self.padding == "same") for d, k in zip(self.dilation, self.kernel_size)]
            return [(n // 2, n - n // 2) for n in whole]
        return [(n, n) for n in self.padding]

    def reset_parameters(self):
        fill_default(self.weight, self.bias)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):  # PyTorch's name: subclasses put others in its place
        return padded_conv(
            self.rank,
            input,
            weight,
            bias,
            self.stride,
            self.padding,
            self.dilation,
            self.groups,
            self.padding_mode,
        )

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        ones = (1,) * self.rank
        if self.padding != (0,) * self.rank:
            text += f", padding={self.padding}"
        text += f", dilation={self.dilation}" * (self.dilation != ones)
        if self.transposed and any(self.output_padding):
            text += f", output_padding={self.output_padding}"
        text += f", groups={self.groups}" * (self.groups != 1) + ", bias=False" * (self.bias is None)
        return text + f", padding_mode={self.padding_mode}" * (self.padding_mode != "zeros")


class _ConvTransposeNd(_ConvNd):
    transposed = True
    padding_of_same = False

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )
        self.output_padding = spread(output_padding, self.rank, "output_padding")

    def _output_padding(
        self, input, output_size, stride, padding, kernel_size, num_spatial_dims=None, dilation=None
    ):
        """The additional padding at the end that leads to output_size."""
        if output_size is None:
            return self.output_padding
        wanted = tuple(output_size)[-self.rank :]
        dilation = (1,) * self.rank if dilation is None else dilation
        numbers = zip(input.shape[-self.rank :], kernel_size, stride, padding, dilation)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, k, s, p, d in numbers]
        if any(not m <= w < m + s for w, m, s in zip(wanted, least, stride)):
            raise ValueError(
                f"requested an output size of {list(wanted)}, but valid sizes range from {least} to "
                f"{[m + s - 1 for m, s in zip(least, stride)]} (for an input of {list(input.shape)[2:]})"
            )
        return tuple(w - m for w, m in zip(wanted, least))

    def forward(self, input, output_size=None):
        function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.rank - 1]
        numbers = self.stride, self.padding, self.kernel_size, self.rank, self.dilation
        return function(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._output_padding(input, output_size, *numbers),
            self.groups,
            self.dilation,
        )


class _Pool(Module):
    """A pool of a row of the table, which gives its function's parameters by name."""

    def __init__(self, kernel_size, *args, **kwargs):
        super().__init__()
        names = list(self._options)
        values = {**self._options, **dict(zip(names, args)), **kwargs}
        if len(args) > len(names) or len(values) > len(names):
            raise TypeError(f"{type(self).__name__}: parameters are kernel_size, {', '.join(names)}")
        self.kernel_size = kernel_size
        for name, value in values.items():
            setattr(self, name, value)
        if self.stride is None:
            self.stride = kernel_size
        if self.as_tuples:
            for name in ("kernel_size", "stride", "padding"):
                setattr(self, name, spread(getattr(self, name), 1, name))

    as_tuples = False  # AvgPool1d keeps tuples

    def forward(self, input):
        return self._call(input, self.kernel_size, **{name: getattr(self, name) for name in self._options})

    def extra_repr(self):
        shown = ["kernel_size", *(n for n in ("stride", "padding", "dilation", "ceil_mode") if n in self._options)]
        shown = shown if "dilation" in shown else [n for n in shown if n != "ceil_mode"]
        return ", ".join(f"{n}={getattr(self, n)}" for n in shown)


class _MaxPoolNd(_Pool):
    """The base of MaxPool1d and its like."""


class _AvgPoolNd(_Pool):
    """The base of AvgPool1d and its like."""


class _Adaptive(Module):
    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return self._call(input, self.output_size)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class _AdaptiveAvgPoolNd(_Adaptive):
    """The base of AdaptiveAvgPool1d and its like. PyTorch has bases of these names, for which programs look."""


class _AdaptiveMaxPoolNd(_Adaptive):
    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input):
        return self._call(input, self.output_size, self.return_indices)


_MODES = {
    "Reflection": "reflect",
    "Replication": "replicate",
    "Circular": "circular",
    "Constant": "constant",
    "Zero": "constant",
}


class _PadNd(Module):
    """Padding of the last dims."""

    def __init__(self, padding, value=0.0):
        super().__init__()
        self.padding = (padding,) * (2 * self.rank) if isinstance(padding, int) else tuple(padding)
        if self.mode == "constant":
            self.value = value

    def forward(self, input):
        if self.mode == "circular" and input.dim() not in (self.rank + 1, self.rank + 2):
            raise ValueError(f"expected {self.rank + 1}D or {self.rank + 2}D input (got {input.dim()}D input)")
        return F.pad(input, self.padding, self.mode, self.value if self.valued else None)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}" if self.valued else str(self.padding)


class _ConstantPadNd(_PadNd):
    """The base of ConstantPad1d and its like."""


class _ReflectionPadNd(_PadNd):
    """The base of ReflectionPad1d and its like."""


class _ReplicationPadNd(_PadNd):
    """The base of ReplicationPad1d and its like."""


class _CircularPadNd(_PadNd):
    """The base of CircularPad1d and its like."""


class Upsample(Module):
    """Resamples (N, C, *space) to size, or by scale_factor."""

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, align_corners
        self.recompute_scale_factor, self.name = recompute_scale_factor, type(self).__name__

    def forward(self, input):
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self):
        first = f"scale_factor={float(self.scale_factor)!r}" if self.scale_factor is not None else f"size={self.size!r}"
        return f"{first}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resamples (N, C, H, W) to size, or by scale_factor, taking the nearest elements."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Resamples (N, C, H, W) to size, or by scale_factor, bilinearly. Corners stay corners."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "bilinear", True)


class Unfold(Module):
    """Windows as columns."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Module):
    """Columns, added up into windows."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input):
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class _LPPoolNd(Module):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input):
        return self._call(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        names = ("norm_type", "kernel_size", "stride", "ceil_mode")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class _MaxUnpoolNd(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = spread(kernel_size, self.rank, "kernel_size")
        self.stride = self.kernel_size if stride is None else spread(stride, self.rank, "stride")
        self.padding = spread(padding, self.rank, "padding")

    def forward(self, input, indices, output_size=None):
        return self._call(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


def _class(name, base, doc, **members):
    globals()[name] = type(name, (base,), {"__doc__": doc, "__module__": __name__, **members})
    __all__.append(name)


__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d", "Unfold", "Fold"]
_MAX = {"stride": None, "padding": 0, "dilation": 1, "return_indices": False, "ceil_mode": False}
_AVG = {"stride": None, "padding": 0, "ceil_mode": False, "count_include_pad": True}
for _n in (1, 2, 3):
    _class(f"Conv{_n}d", _ConvNd, f"Correlation of (N, C, {_n} dims) with trained weights.", rank=_n, transposed=False)
    _class(f"ConvTranspose{_n}d", _ConvTransposeNd, f"The adjoint of Conv{_n}d.", rank=_n)
    _class(
        f"MaxPool{_n}d",
        _MaxPoolNd,
        "The largest element of each window.",
        _options=_MAX,
        _call=staticmethod(getattr(F, f"max_pool{_n}d")),
    )
    _class(
        f"AvgPool{_n}d",
        _AvgPoolNd,
        "The mean of each window.",
        _call=staticmethod(getattr(F, f"avg_pool{_n}d")),
        _options=_AVG if _n == 1 else {**_AVG, "divisor_override": None},
        as_tuples=_n == 1,
    )
    _class(f"LPPool{_n}d", _LPPoolNd, "The norm of each window.", _call=staticmethod(getattr(F, f"lp_pool{_n}d")))
    _class(
        f"MaxUnpool{_n}d",
        _MaxUnpoolNd,
        f"The maxima that MaxPool{_n}d found, where they stood.",
        _call=staticmethod(getattr(F, f"max_unpool{_n}d")),
        rank=_n,
    )
    for _kind in ("Avg", "Max"):
        _class(
            f"Adaptive{_kind}Pool{_n}d",
            {"Avg": _AdaptiveAvgPoolNd, "Max": _AdaptiveMaxPoolNd}[_kind],
            f"Pools the last {_n} dims to output_size.",
            _call=staticmethod(getattr(F, f"adaptive_{_kind.lower()}_pool{_n}d")),
        )
    for _kind, _mode in _MODES.items():
        _class(
            f"{_kind}Pad{_n}d",
            globals()[f"ConstantPad{_n}d"] if _kind == "Zero" else globals()[f"_{_kind}PadNd"],
            f"Padding of the last {_n} dims: {_mode}.",
            rank=_n,
            mode=_mode,
            valued=_kind == "Constant",
        )


__getattr__, __dir__ = _modules.refusing("torch.nn.modules.conv")
