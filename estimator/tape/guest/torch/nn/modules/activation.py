"""Activation functions as modules."""

import torch.nn.functional as F
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter
import torch


class ReLU(Module):
    """``max(0, x)``."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.relu(input, inplace=self.inplace)


class ReLU6(ReLU):
    """``min(max(0, x), 6)``."""

    def forward(self, input):
        return F.relu6(input, inplace=self.inplace)


class SiLU(ReLU):
    """``x * sigmoid(x)``."""

    def forward(self, input):
        return F.silu(input, inplace=self.inplace)


class Mish(ReLU):
    """``x * tanh(softplus(x))``."""

    def forward(self, input):
        return F.mish(input, inplace=self.inplace)


class Hardswish(ReLU):
    """``x * relu6(x + 3) / 6``."""

    def forward(self, input):
        return F.hardswish(input, inplace=self.inplace)


class Hardsigmoid(ReLU):
    """``relu6(x + 3) / 6``."""

    def forward(self, input):
        return F.hardsigmoid(input, inplace=self.inplace)


class SELU(ReLU):
    """Scaled exponential linear units."""

    def forward(self, input):
        return F.selu(input, inplace=self.inplace)


class GELU(Module):
    """``x`` times the normal distribution's mass below it."""

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)


class ELU(Module):
    """Exponential linear units."""

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input):
        return F.elu(input, self.alpha, inplace=self.inplace)


class CELU(ELU):
    """Continuous exponential linear units."""

    def forward(self, input):
        return F.celu(input, self.alpha, inplace=self.inplace)


class LeakyReLU(Module):
    """With a slope below zero."""

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, inplace=self.inplace)


class Hardtanh(Module):
    """Cut off at both ends."""

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.hardtanh(input, inplace=self.inplace)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input):
        return torch.tanh(input)


class Sigmoid(Module):
    """The logistic function."""

    def forward(self, input):
        return torch.sigmoid(input)


class Softsign(Module):
    """``x / (1 + |x|)``."""

    def forward(self, input):
        return F.softsign(input)


class Tanhshrink(Module):
    """``x - tanh(x)``."""

    def forward(self, input):
        return F.tanhshrink(input)


class Softshrink(Module):
    """Zero near zero."""

    def __init__(self, lambd=0.5):
        super().__init__()

    def forward(self, input):
        return F.softshrink(input)


class Hardshrink(Softshrink):
    """Zero near zero."""

    def forward(self, input):
        return F.hardshrink(input)


class Threshold(Module):
    """A number below a threshold."""

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.threshold(input, 0, 0, inplace=self.inplace)


class LogSigmoid(Module):
    """Its logarithm."""

    def forward(self, input):
        return F.logsigmoid(input)


class Softplus(Module):
    """``log(1 + exp(x))``."""

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta = beta

    def forward(self, input):
        return F.softplus(input, self.beta)


class Softmax(Module):
    """Sums to one over ``dim``."""

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.softmax(input, self.dim)


class Softmin(Softmax):
    """Of the negated input."""

    def forward(self, input):
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """Over the channels."""

    def forward(self, input):
        return F.softmax(input, -3)


class LogSoftmax(Softmax):
    """Its logarithm."""

    def forward(self, input):
        return F.log_softmax(input, self.dim)


class PReLU(Module):
    """With a learned slope below zero."""

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(torch.empty(num_parameters, device=device, dtype=dtype))

    def forward(self, input):
        return F.prelu(input, self.weight)


class GLU(Module):
    """One half times the sigmoid of the other."""

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)
