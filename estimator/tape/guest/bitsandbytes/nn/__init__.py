"""Linear layers with weights in 4 or 8 bits. Mirrors bitsandbytes 0.50.2 (``nn/modules.py``, ``autograd/_functions.py``, ``functional.py``).

Packed weights are frozen. A product restores the whole weight for a moment, in the forward and again in the backward, and keeps no input in 4 bits; in
8 bits it keeps its input. Outliers of 8-bit layers depend on the numbers and are left out.
"""

import torch
from torch import nn
from torch.nn import functional as F

#: Weights that share a scale, and scales that share one where they are quantized themselves.
BLOCK, NESTED_BLOCK = 64, 256
#: Rows up to which one kernel multiplies packed weights without restoring them, whatever the card.
FUSED_ROWS = 4


class QuantState:
    """Scales of a packed weight and the table of its sixteen values; ``nested``: the scales are packed too."""

    def __init__(self, shape, dtype, nested, device):
        self.shape = shape
        self.dtype = dtype
        self.nested = nested
        blocks = (shape[0] * shape[1] + BLOCK - 1) // BLOCK
        self.code = torch.empty(16, dtype=torch.float32, device=device)
        self.absmax = torch.empty(blocks, dtype=torch.uint8 if nested else torch.float32, device=device)
        if nested:
            self.offset = torch.empty((), dtype=torch.float32, device=device)
            self.scales_of_scales = torch.empty((blocks + NESTED_BLOCK - 1) // NESTED_BLOCK, dtype=torch.float32, device=device)

    def scales(self):
        if not self.nested:
            return self.absmax
        restored = torch.empty_like(self.absmax, dtype=torch.float32)
        return restored + self.offset

    def restored(self, dtype):
        scales = self.scales()
        return torch.empty(self.shape, dtype=dtype, device=scales.device)


class MatMul4Bit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, state):
        ctx.state = state
        if x.numel() // x.shape[-1] <= FUSED_ROWS:
            return torch.empty((*x.shape[:-1], state.shape[0]), dtype=x.dtype, device=x.device)
        return F.linear(x, state.restored(x.dtype), bias)

    @staticmethod
    def backward(ctx, gradient):
        return torch.matmul(gradient, ctx.state.restored(ctx.state.dtype).to(gradient.dtype)), None, None, None


class Linear4bit(nn.Linear):
    """``y = x @ W.T + b`` in ``compute_dtype``; the result has the input's type."""

    def __init__(
        self, input_features, output_features, bias=True, compute_dtype=None, compress_statistics=True, quant_type="fp4", quant_storage=torch.uint8,
        device=None, weight_dtype=torch.float16,
    ):  # fmt: skip
        nn.Module.__init__(self)
        self.in_features = input_features
        self.out_features = output_features
        self.compute_dtype = compute_dtype
        device = "cuda" if device is None else device
        packed = torch.empty((input_features * output_features + 1) // (2 * quant_storage.itemsize), 1, dtype=quant_storage, device=device)
        self.weight = nn.Parameter(packed, requires_grad=False)
        self.weight.stands_for = (output_features, input_features)
        self.quant_state = QuantState((output_features, input_features), weight_dtype, compress_statistics, device)
        self.bias = nn.Parameter(torch.empty(output_features, dtype=weight_dtype, device=device), requires_grad=False) if bias else None

    def forward(self, x):
        given = x.dtype
        if self.compute_dtype is not None:
            x = x.to(self.compute_dtype)
        bias = self.bias
        if bias is not None:
            if bias.dtype != x.dtype:
                bias.data = bias.data.to(x.dtype)
            bias = bias.to(x.dtype)
        return MatMul4Bit.apply(x, self.weight, bias, self.quant_state).to(given)


class LinearNF4(Linear4bit):
    pass


class LinearFP4(Linear4bit):
    pass


class MatMul8bitLt(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, layer):
        shape = x.shape
        if len(shape) == 3:
            x = x.reshape(-1, shape[-1])
        low = x.to(torch.float16)
        scales = torch.empty(low.shape[0], dtype=torch.float32, device=x.device)
        codes = torch.empty(low.shape, dtype=torch.int8, device=x.device)
        if layer.threshold > 0.0:
            outliers = low.abs() >= layer.threshold
            outliers = None
        low = None
        sums = torch.empty((codes.shape[0], weight.shape[0]), dtype=torch.int32, device=x.device)
        output = torch.empty(sums.shape, dtype=torch.float16, device=x.device).to(x.dtype)
        sums = None
        ctx.layer = layer
        ctx.kept = x
        ctx.shape = shape
        return output.reshape(*shape[:-1], weight.shape[0])

    @staticmethod
    def backward(ctx, gradient):
        if len(gradient.shape) == 3:
            gradient = gradient.reshape(-1, gradient.shape[-1]).contiguous()
        dtype = ctx.kept.dtype
        restored = ctx.layer.weight.to(dtype, copy=True).mul_(ctx.layer.scales.unsqueeze(1).mul(1.0 / 127.0))
        return torch.matmul(gradient.to(dtype), restored).view(ctx.shape), None, None, None


class Linear8bitLt(nn.Linear):
    """``y = x @ W.T + b`` with weights, and for the product inputs, of one byte."""

    def __init__(self, input_features, output_features, bias=True, has_fp16_weights=True, threshold=0.0, index=None, device=None, weight_dtype=torch.float16):
        nn.Module.__init__(self)
        self.in_features = input_features
        self.out_features = output_features
        self.threshold = threshold
        device = "cuda" if device is None else device
        self.weight = nn.Parameter(torch.empty(output_features, input_features, dtype=torch.int8, device=device), requires_grad=False)
        self.scales = torch.empty(output_features, dtype=torch.float32, device=device)
        self.bias = nn.Parameter(torch.empty(output_features, dtype=weight_dtype, device=device), requires_grad=False) if bias else None

    def forward(self, x):
        if self.bias is not None and self.bias.dtype != x.dtype:
            self.bias.data = self.bias.data.to(x.dtype)
        return MatMul8bitLt.apply(x, self.weight, self.bias, self)
