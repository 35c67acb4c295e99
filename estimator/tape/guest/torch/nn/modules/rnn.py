"""Recurrent layers and cells."""

import torch
import torch.nn.functional as F
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


class RNNBase(Module):
    """A stack of recurrent layers."""

    kind = "rnn"
    gates = 1
    states = 1

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, nonlinearity="tanh",
                 proj_size=0, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self._names = []
        directions = 2 if bidirectional else 1
        for layer in range(num_layers):
            width = input_size if layer == 0 else hidden_size * directions
            for suffix in ("", "_reverse")[:directions]:
                shapes = {"weight_ih": (self.gates * hidden_size, width), "weight_hh": (self.gates * hidden_size, hidden_size)}
                if bias:
                    shapes["bias_ih"] = shapes["bias_hh"] = (self.gates * hidden_size,)
                for name, shape in shapes.items():
                    self.register_parameter(f"{name}_l{layer}{suffix}", Parameter(torch.empty(shape, device=device, dtype=dtype)))
                    self._names.append(f"{name}_l{layer}{suffix}")

    def flatten_parameters(self):
        """Weights lie in one buffer of their size."""

    def forward(self, input, hx=None):
        directions = 2 if self.bidirectional else 1
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if self.batch_first:
            input = input.transpose(0, 1)
        if hx is None:
            zeros = torch.zeros(self.num_layers * directions, input.size(1), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = (zeros,) * self.states
        elif self.states == 1:
            hx = (hx,)
        if not batched:
            hx = tuple(state.unsqueeze(1) if state.dim() == 2 else state for state in hx)
        weights = [getattr(self, name) for name in self._names]
        output, *last = torch._C._recurrent_layers(
            input, hx, weights, (self.kind, self.hidden_size, self.num_layers, directions, self.dropout if self.training else 0.0))
        if self.batch_first:
            output = output.transpose(0, 1)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            last = [state.squeeze(1) for state in last]
        return output, (last[0] if self.states == 1 else tuple(last))


class RNN(RNNBase):
    """One gate."""


class LSTM(RNNBase):
    """Four gates and a cell."""

    kind = "lstm"
    gates = 4
    states = 2


class GRU(RNNBase):
    """Three gates."""

    kind = "gru"
    gates = 3


class RNNCellBase(Module):
    """One step."""

    gates = 1

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.weight_ih = Parameter(torch.empty((self.gates * hidden_size, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(torch.empty((self.gates * hidden_size, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(torch.empty(self.gates * hidden_size, device=device, dtype=dtype))
            self.bias_hh = Parameter(torch.empty(self.gates * hidden_size, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)

    def _zeros(self, input):
        return torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)


class RNNCell(RNNCellBase):
    """One gate."""

    def forward(self, input, hx=None):
        hx = self._zeros(input) if hx is None else hx
        return torch.tanh(F.linear(input, self.weight_ih, self.bias_ih) + F.linear(hx, self.weight_hh, self.bias_hh))


class LSTMCell(RNNCellBase):
    """Four gates and a cell."""

    gates = 4

    def forward(self, input, hx=None):
        if hx is None:
            zeros = self._zeros(input)
            hx = (zeros, zeros)
        gates = F.linear(input, self.weight_ih), F.linear(hx[0], self.weight_hh)
        return torch._C._lstm_cell(*gates, hx[1], self.bias_ih, self.bias_hh)


class GRUCell(RNNCellBase):
    """Three gates."""

    gates = 3

    def forward(self, input, hx=None):
        hx = self._zeros(input) if hx is None else hx
        return torch._C._gru_cell(F.linear(input, self.weight_ih), F.linear(hx, self.weight_hh), hx, self.bias_ih, self.bias_hh)
