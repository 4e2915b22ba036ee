"""Activations, dropout and losses as modules. Each module is a row of a table: its function and its parameters.

A module of a row keeps its parameters as attributes and passes them to the function.
"""

from .... import torch
from ... import _modules
from .. import _reduction
from .. import functional as F
from ..parameter import Parameter
from .module import Module

# name: function, ((parameter, default), …). A parameter without a default is required.
_NONE = object()
_ACTIVATIONS = {
    "CELU": (F.celu, (("alpha", 1.0), ("inplace", False))),
    "ELU": (F.elu, (("alpha", 1.0), ("inplace", False))),
    "GELU": (F.gelu, (("approximate", "none"),)),
    "GLU": (F.glu, (("dim", -1),)),
    "Hardshrink": (F.hardshrink, (("lambd", 0.5),)),
    "Hardsigmoid": (F.hardsigmoid, (("inplace", False),)),
    "Hardswish": (F.hardswish, (("inplace", False),)),
    "Hardtanh": (F.hardtanh, (("min_val", -1.0), ("max_val", 1.0), ("inplace", False))),
    "LeakyReLU": (F.leaky_relu, (("negative_slope", 0.01), ("inplace", False))),
    "LogSigmoid": (F.logsigmoid, ()),
    "LogSoftmax": (F.log_softmax, (("dim", None),)),
    "Mish": (F.mish, (("inplace", False),)),
    "ReLU": (F.relu, (("inplace", False),)),
    "SELU": (F.selu, (("inplace", False),)),
    "SiLU": (F.silu, (("inplace", False),)),
    "Sigmoid": (F.sigmoid, ()),
    "Softmax": (F.softmax, (("dim", None),)),
    "Softmin": (F.softmin, (("dim", None),)),
    "Softplus": (F.softplus, (("beta", 1.0), ("threshold", 20.0))),
    "Softshrink": (F.softshrink, (("lambd", 0.5),)),
    "Softsign": (F.softsign, ()),
    "Tanh": (F.tanh, ()),
    "Tanhshrink": (F.tanhshrink, ()),
    "Threshold": (F.threshold, (("threshold", _NONE), ("value", _NONE), ("inplace", False))),
    "ChannelShuffle": (F.channel_shuffle, (("groups", _NONE),)),
    "PixelShuffle": (F.pixel_shuffle, (("upscale_factor", _NONE),)),
    "PixelUnshuffle": (F.pixel_unshuffle, (("downscale_factor", _NONE),)),
    "CosineSimilarity": (F.cosine_similarity, (("dim", 1), ("eps", 1e-8))),
    "PairwiseDistance": (F.pairwise_distance, (("p", 2.0), ("eps", 1e-6), ("keepdim", False))),
}
_DROPOUTS = {
    "Dropout": F.dropout,
    "Dropout1d": F.dropout1d,
    "Dropout2d": F.dropout2d,
    "Dropout3d": F.dropout3d,
    "AlphaDropout": F.alpha_dropout,
}
_WEIGHT, _OLD = ("weight", None), (("size_average", None), ("reduce", None))
_MEAN = ("reduction", "mean")
_LOSSES = {
    "BCELoss": (F.binary_cross_entropy, (_WEIGHT, *_OLD, _MEAN)),
    "BCEWithLogitsLoss": (F.binary_cross_entropy_with_logits, (_WEIGHT, *_OLD, _MEAN, ("pos_weight", None))),
    "CosineEmbeddingLoss": (F.cosine_embedding_loss, (("margin", 0.0), *_OLD, _MEAN)),
    "CrossEntropyLoss": (
        F.cross_entropy,
        (_WEIGHT, ("size_average", None), ("ignore_index", -100), ("reduce", None), _MEAN, ("label_smoothing", 0.0)),
    ),
    "CTCLoss": (F.ctc_loss, (("blank", 0), _MEAN, ("zero_infinity", False))),
    "GaussianNLLLoss": (F.gaussian_nll_loss, (("full", False), ("eps", 1e-6), _MEAN)),
    "HingeEmbeddingLoss": (F.hinge_embedding_loss, (("margin", 1.0), *_OLD, _MEAN)),
    "HuberLoss": (F.huber_loss, (_MEAN, ("delta", 1.0))),
    "KLDivLoss": (F.kl_div, (*_OLD, _MEAN, ("log_target", False))),
    "L1Loss": (F.l1_loss, (*_OLD, _MEAN)),
    "MSELoss": (F.mse_loss, (*_OLD, _MEAN)),
    "MarginRankingLoss": (F.margin_ranking_loss, (("margin", 0.0), *_OLD, _MEAN)),
    "MultiLabelMarginLoss": (F.multilabel_margin_loss, (*_OLD, _MEAN)),
    "MultiLabelSoftMarginLoss": (F.multilabel_soft_margin_loss, (_WEIGHT, *_OLD, _MEAN)),
    "MultiMarginLoss": (F.multi_margin_loss, (("p", 1), ("margin", 1.0), _WEIGHT, *_OLD, _MEAN)),
    "NLLLoss": (F.nll_loss, (_WEIGHT, ("size_average", None), ("ignore_index", -100), ("reduce", None), _MEAN)),
    "PoissonNLLLoss": (
        F.poisson_nll_loss,
        (("log_input", True), ("full", False), ("size_average", None), ("eps", 1e-8), ("reduce", None), _MEAN),
    ),
    "SmoothL1Loss": (F.smooth_l1_loss, (*_OLD, _MEAN, ("beta", 1.0))),
    "SoftMarginLoss": (F.soft_margin_loss, (*_OLD, _MEAN)),
    "TripletMarginLoss": (
        F.triplet_margin_loss,
        (("margin", 1.0), ("p", 2.0), ("eps", 1e-6), ("swap", False), *_OLD, _MEAN),
    ),
    "TripletMarginWithDistanceLoss": (
        F.triplet_margin_with_distance_loss,
        (("distance_function", None), ("margin", 1.0), ("swap", False), _MEAN),
    ),
}
# The parameters that repr() shows, if these are not simply those that differ from "inplace=False".
_SHOWN = {
    "LeakyReLU": ("negative_slope",),
    "Hardtanh": ("min_val", "max_val"),
    "Threshold": ("threshold", "value"),
    "CELU": ("alpha",),
    "ELU": ("alpha",),
    "GELU": ("approximate",),
    "GLU": ("dim",),
    "Softmax": ("dim",),
    "LogSoftmax": ("dim",),
    "Softmin": ("dim",),
    "Softplus": ("beta", "threshold"),
    "Hardshrink": (),
    "Softshrink": (),
    "ChannelShuffle": ("groups",),
    "PixelShuffle": ("upscale_factor",),
    "PixelUnshuffle": ("downscale_factor",),
}
_BARE = {"Hardshrink": "lambd", "Softshrink": "lambd"}  # shown without the parameter's name


_REFUSED = {"delta": complex, "dim": (bool, float)}  # types that a parameter must not have


class _Loss(Module):
    """The base of a program's own losses. reduction is "mean", "sum" or "none"; size_average and reduce are its
    deprecated forms."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        if size_average is not None or reduce is not None:  # PyTorch's parameters before 0.4
            reduction = _reduction.legacy_get_string(size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """The base of losses with a weight for each class."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class _OfRow(Module):
    """A module of a row of the table. _function and _options come from the row."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        names = [name for name, _ in self._options]
        if len(args) > len(names):
            raise TypeError(
                f"{type(self).__name__}.__init__() takes from 1 to {len(names) + 1} positional arguments but "
                f"{len(args) + 1} were given"
            )
        values = {**dict(self._options), **dict(zip(names, args)), **kwargs}
        if len(values) > len(names):
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                f"'{next(k for k in kwargs if k not in names)}'"
            )
        old = {k: values.pop(k) for k in ("size_average", "reduce") if k in names}
        if any(v is not None for v in old.values()):
            values["reduction"] = _reduction.legacy_get_string(**old)
        for name in values:
            if values[name] is _NONE:
                raise TypeError(f"{type(self).__name__}.__init__() missing required argument: '{name}'")
            if name in _REFUSED and isinstance(values[name], _REFUSED[name]):
                raise TypeError(f"{type(self).__name__}: {name} is not to be a {type(values[name]).__name__}")
            self._keep(name, values[name])

    def _keep(self, name, value):
        if isinstance(value, torch.Tensor) or name in ("weight", "pos_weight"):
            self.register_buffer(name, value)
        else:
            setattr(self, name, value)

    def forward(self, *inputs, **named):
        if named and type(self).__name__ == "PoissonNLLLoss":  # an option of the function has its operand's name
            named = {"input" if k == "log_input" else k: v for k, v in named.items()}
        return self._call(*inputs, **named, **{name: getattr(self, name) for name in self._passed})

    def extra_repr(self):
        name = type(self).__name__
        if name in _BARE:
            return str(getattr(self, _BARE[name]))
        shown = [f"{k}={getattr(self, k)!r}" for k in _SHOWN.get(name, ())]
        return ", ".join(shown + ["inplace=True"] * bool(getattr(self, "inplace", False)))


def _make(name, function, options, bases=(_OfRow,)):
    first = (function.__doc__ or "").strip().split("\n")[0]
    members = {
        "_call": staticmethod(function),
        "_options": options,
        "_passed": tuple(name for name, _ in options if (name, None) not in _OLD),
        "__doc__": f"{first or name}  Parameters: " + (", ".join(k for k, _ in options) or "none") + ".",
        "__module__": __name__,
    }
    if len(options) == 0 or options == (("inplace", False),):  # the fast ones, which pass no dict of parameters
        scope, own = vars(F), function.__name__  # a program may put another function there
        members["forward"] = (
            (lambda self, input: scope[own](input))
            if not options
            else (lambda self, input: scope[own](input, inplace=True) if self.inplace else scope[own](input))
        )
    return type(name, bases, members)


class _Dropout(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return self._call(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


for _name, (_function, _options) in _ACTIVATIONS.items():
    globals()[_name] = _make(_name, _function, _options)
for _name, (_function, _options) in _LOSSES.items():
    _weighted = _WEIGHT in _options and "WithLogits" not in _name
    globals()[_name] = _make(_name, _function, _options, (_OfRow, _WeightedLoss if _weighted else _Loss))
for _name, _function in _DROPOUTS.items():
    globals()[_name] = type(
        _name, (_Dropout,), {"_call": staticmethod(_function), "__doc__": _function.__doc__, "__module__": __name__}
    )


class ReLU6(Hardtanh):  # noqa: F821 - made above
    """Numbers below 0 become 0, those above 6 become 6. Parameters: inplace."""

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)


# PyTorch keeps p under this name.
PairwiseDistance.p = property(lambda self: self.norm, lambda self, p: setattr(self, "norm", p))  # noqa: F821 - made above
_DropoutNd = _Dropout


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)


class PReLU(Module):
    """x where positive, else a trained slope times x. There is one slope, or one for each channel."""

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(
            torch.full((num_parameters,), init, device=device, dtype=dtype or torch.get_default_dtype())
        )
        if type(self).reset_parameters is not PReLU.reset_parameters:
            self.reset_parameters()

    def reset_parameters(self):
        with torch.no_grad():
            self.weight.fill_(self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """Leaky ReLU. In training its slope is drawn at random."""

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, inplace=self.inplace)

    def extra_repr(self):
        return f"lower={self.lower}, upper={self.upper}" + ", inplace=True" * self.inplace


__all__ = [*_ACTIVATIONS, *_DROPOUTS, *_LOSSES, "ReLU6", "Softmax2d", "PReLU", "RReLU"]


__getattr__, __dir__ = _modules.refusing("torch.nn.modules.activation")
