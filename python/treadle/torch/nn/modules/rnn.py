"""Recurrent layers: cells, which compute one step, and layers, which run cells along a sequence."""

import math
import numbers
import warnings
from types import MappingProxyType

from .... import torch
from ...._public import dir_of as _dir_of
from .. import functional as F
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from . import _sequence
from ._sequence import FUNCTIONS as _FUNCTIONS
from ._sequence import MODES as _MODES
from .module import Module


class RNNCellBase(Module):
    """The base of cells: weights weight_ih (num_chunks * hidden_size, input_size), weight_hh, and their biases."""

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        n = num_chunks * hidden_size
        for name, shape in (
            ("weight_ih", (n, input_size)),
            ("weight_hh", (n, hidden_size)),
            ("bias_ih", (n,)),
            ("bias_hh", (n,)),
        ):
            made = bias or name.startswith("weight")
            self.register_parameter(name, Parameter(torch.empty(*shape, device=device, dtype=dtype)) if made else None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        return f"{self.input_size}, {self.hidden_size}" + ", bias=False" * (not self.bias)


class _Cell(RNNCellBase):
    """A cell that computes one step of a recurrence."""

    mode = None

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, _MODES[self.mode][0], device, dtype)

    def _step(self, input, states, function=None):
        if input.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(-1)} expected {self.input_size}")
        if states is None:
            zeros = torch.zeros(*input.shape[:-1], self.hidden_size, dtype=input.dtype, device=input.device)
            states = (zeros,) * _MODES[self.mode][1]
        for i, s in enumerate(states):
            if s.dim() not in (1, 2):
                what = "hidden" if len(states) == 1 else f"hx[{i}]"
                raise ValueError(f"{type(self).__name__}: Expected {what} to be 1D or 2D, got {s.dim()}D instead")
        gates_x = F.linear(input, self.weight_ih, self.bias_ih)
        if states[0].dtype is not gates_x.dtype:  # autocast has changed the dtype of the gates
            states = tuple(s.to(gates_x.dtype) for s in states)
        return _MODES[self.mode][2](gates_x, F.linear(states[0], self.weight_hh, self.bias_hh), states, function)


class RNNCell(_Cell):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh); nonlinearity: "tanh" or "relu"."""

    mode = "RNN_TANH"

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity: {nonlinearity}")
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        function = torch.tanh if self.nonlinearity == "tanh" else torch.relu
        return self._step(input, None if hx is None else (hx,), function)[0]

    def extra_repr(self):
        return super().extra_repr() + ", nonlinearity=relu" * (self.nonlinearity != "tanh")


class GRUCell(_Cell):
    """One step of a gated recurrent unit: (input, h) to h'."""

    mode = "GRU"

    def forward(self, input, hx=None):
        return self._step(input, None if hx is None else (hx,))[0]


class LSTMCell(_Cell):
    """One step of a long short-term memory: (input, (h, c)) to (h', c')."""

    mode = "LSTM"

    def forward(self, input, hx=None):
        return self._step(input, hx)


class RNNBase(Module):
    """The base of layers that run cells along a sequence. The sequence is (length, batch, features), with the batch
    first, without a batch, or packed."""

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        _check_sizes(mode, hidden_size, num_layers, dropout, proj_size)
        for name, value in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(value, bool):
                raise TypeError(f"{name} should be of type bool, got: {type(value).__name__}")
        if input_size <= 0:
            raise ValueError(f"input_size must be greater than zero, got {input_size}")
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, float(dropout), bidirectional
        self.proj_size = proj_size
        n, out = _MODES[mode][0] * hidden_size, self._width
        self._flat_weights_names = []
        for layer in range(num_layers):
            for end in self._ends:
                width = input_size if layer == 0 else out * len(self._ends)
                shapes = {"weight_ih": (n, width), "weight_hh": (n, out)}
                shapes.update({"bias_ih": (n,), "bias_hh": (n,)} if bias else {})
                shapes.update({"weight_hr": (proj_size, hidden_size)} if proj_size else {})
                for name, shape in shapes.items():
                    value = Parameter(torch.empty(*shape, device=device, dtype=dtype))
                    self._flat_weights_names.append(f"{name}_l{layer}{end}")
                    self.register_parameter(self._flat_weights_names[-1], value)
        self.reset_parameters()

    @property
    def _ends(self):
        return ("", "_reverse") if self.bidirectional else ("",)

    @property
    def _width(self):
        """The number of features in the output of one direction."""
        return self.proj_size or self.hidden_size

    @property
    def all_weights(self):
        """The parameters, in one list for each layer and direction."""
        ends = [f"_l{layer}{end}" for layer in range(self.num_layers) for end in self._ends]
        return [[p for k, p in self._parameters.items() if k[k.index("_l") :] == end] for end in ends]

    # PyTorch's list of the weights. A program that computes weights puts them there, whatever the attributes are.

    _computed = MappingProxyType({})

    @property
    def _flat_weights(self):
        return [self._weight(k) for k in self._flat_weights_names]

    @_flat_weights.setter
    def _flat_weights(self, weights):
        given = zip(self._flat_weights_names, weights, strict=True)
        self.__dict__["_computed"] = {k: w for k, w in given if w is not getattr(self, k, None)}

    def _weight(self, name):
        found = self._computed.get(name)
        return getattr(self, name, None) if found is None else found

    def __setattr__(self, name, value):
        if name in self._computed:
            del self._computed[name]
        super().__setattr__(name, value)

    def _apply(self, fn, recurse=True):
        self.__dict__.pop("_computed", None)
        return super()._apply(fn, recurse)

    def reset_parameters(self):
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self):
        """Does nothing: the weights need not be adjacent in memory."""

    def _run(self, x, sizes, first, layer, end):
        """Run one direction of one layer over the steps of x. x is (length, batch, features), or has the rows of all
        steps one after another, with `sizes` rows in each step. Returns the outputs in the layout of x, and the last
        states of all sequences."""
        names = ("weight_ih", "bias_ih", "weight_hh", "bias_hh", "weight_hr")
        w_x, b_x, weight, bias, down = (self._weight(f"{name}_l{layer}{end}") for name in names)
        gates = F.linear(x, w_x, b_x)  # of all steps in one product
        if first[0].dtype is not gates.dtype:  # autocast has changed the dtype of the gates
            first = tuple(s.to(gates.dtype) for s in first)
        if sizes is None and down is None:
            done = _sequence.run(self.mode, bool(end), gates, weight, bias, first)
            if done is not None:
                return done
        step, function = _MODES[self.mode][2], _FUNCTIONS.get(self.mode)
        steps = gates.unbind(0) if sizes is None else gates.split(sizes)
        steps, outputs, over = steps[::-1] if end else steps, [], []
        states = first if sizes is None else tuple(s[: steps[0].size(0)] for s in first)
        for now in steps:
            count, before = now.size(0), states[0].size(0)
            if count < before:  # the shortest sequences have ended and keep their states
                over.append(tuple(s[count:] for s in states))
                states = tuple(s[:count] for s in states)
            elif count > before:  # from the end, shorter sequences begin at a later step
                states = tuple(torch.cat([s, f[before:count]]) for s, f in zip(states, first, strict=True))
            states = step(now, F.linear(states[0], weight, bias), states, function)
            if down is not None:
                states = (F.linear(states[0], down), *states[1:])
            outputs.append(states[0])
        if over:
            states = tuple(torch.cat(parts) for parts in zip(states, *reversed(over), strict=True))
        outputs = outputs[::-1] if end else outputs
        return torch.stack(outputs) if sizes is None else torch.cat(outputs), states

    def _first(self, hx, x, batch, dims):
        """The initial states: hx after a check, or zeros."""
        shapes = [(self.num_layers * len(self._ends), batch, width) for width in (self._width, self.hidden_size)]
        count = _MODES[self.mode][1]
        if hx is None:
            return tuple(torch.zeros(s, dtype=x.dtype, device=x.device) for s in shapes[:count])
        given = tuple(hx) if count == 2 else (hx,)
        if dims is not None and any(s.dim() != dims for s in given):
            found = ", ".join(f"{s.dim()}-D" for s in given)
            kind, both = "batched 3-D" if dims == 3 else "unbatched 2-D", "and cx " * (count == 2)
            raise RuntimeError(
                f"For {kind} input, hx {both}should also "
                + (f"be {dims}-D but got ({found}) tensors" if count == 2 else f"be {dims}-D but got {found} tensor")
            )
        given = tuple(s.unsqueeze(1) for s in given) if dims == 2 else given
        for i, (s, shape) in enumerate(zip(given, shapes)):
            if tuple(s.shape) != shape:
                which = f"[{i}]" if count == 2 else ""
                raise RuntimeError(f"Expected hidden{which} size {shape}, got {list(s.shape)}")
        return given

    def forward(self, input, hx=None):
        """(output, last states). The states are (layers * directions, batch, hidden). A PackedSequence gives a
        PackedSequence."""
        packed = isinstance(input, PackedSequence)
        x = input.data if packed else input
        if not packed and input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D tensor instead")
        if x.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {x.size(-1)}"
            )
        if x.dtype is not self.weight_ih_l0.dtype and not torch.is_autocast_enabled(x.device.type):
            raise ValueError(
                f"RNN input dtype ({x.dtype}) does not match weight dtype ({self.weight_ih_l0.dtype}). Convert input: "
                f"input.to({self.weight_ih_l0.dtype}), or convert model: model.to({x.dtype})"
            )
        sizes = input.batch_sizes.tolist() if packed else None
        batched = packed or input.dim() == 3
        if not packed:
            x = input if batched else input.unsqueeze(1)
            x = x.transpose(0, 1) if batched and self.batch_first else x
        given = self._first(hx, x, sizes[0] if packed else x.size(1), None if packed else input.dim())
        if packed and hx is not None and input.sorted_indices is not None:
            given = tuple(s.index_select(1, input.sorted_indices) for s in given)
        x, last = self._layers(x, sizes, given)
        if packed:
            x = PackedSequence(x, *input[1:])
            if input.unsorted_indices is not None:
                last = tuple(s.index_select(1, input.unsorted_indices) for s in last)
        elif not batched:
            x, last = x.squeeze(1), tuple(s.squeeze(1) for s in last)
        elif self.batch_first:
            x = x.transpose(0, 1)
        return x, last if len(last) == 2 else last[0]

    def _layers(self, x, sizes, given):
        last = []
        for layer in range(self.num_layers):
            if layer and self.dropout and self.training:
                x = F.dropout(x, self.dropout)
            parts = []
            for end in self._ends:
                part, states = self._run(x, sizes, tuple(s[len(last)] for s in given), layer, end)
                parts.append(part)
                last.append(states)
            x = parts[0] if len(parts) == 1 else torch.cat(parts, -1)
        return x, tuple(torch.stack(states) for states in zip(*last, strict=True))

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}" + f", proj_size={self.proj_size}" * bool(self.proj_size)
        text += f", num_layers={self.num_layers}" * (self.num_layers != 1)
        text += ", bias=False" * (not self.bias) + ", batch_first=True" * bool(self.batch_first)
        text += f", dropout={self.dropout}" * bool(self.dropout)
        return text + ", bidirectional=True" * bool(self.bidirectional)


def _check_sizes(mode, hidden_size, num_layers, dropout, proj_size):
    if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    if not isinstance(hidden_size, int):
        raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
    if proj_size and mode != "LSTM":
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """Layers of RNNCells; nonlinearity: "tanh" or "relu"."""

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", *args, **kwargs):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Layers of LSTMCells: output, (h, c)."""

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Layers of GRUCells: output, h."""

    def __init__(self, *args, **kwargs):
        super().__init__("GRU", *args, **kwargs)


__dir__ = _dir_of(__name__)
