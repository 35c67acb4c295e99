"""Linear layers with fake quantization, and what puts them in a model. Mirrors torchao 0.12 (``quantization/qat/linear.py``)."""

import torch
from torch import nn
from torch.nn import functional as F
from torchao.quantization.qat.api import FakeQuantizeConfig
from torchao.quantization.qat.fake_quantizer import FakeQuantizer


class FakeQuantizedLinear(nn.Linear):
    def __init__(self, in_features, out_features, bias=False, activation_config=None, weight_config=None, *args, **kwargs):
        super().__init__(in_features, out_features, bias, *args, **kwargs)
        self.activation_fake_quantizer = None if activation_config is None else FakeQuantizer(activation_config)
        self.weight_fake_quantizer = None if weight_config is None else FakeQuantizer(weight_config)

    def forward(self, x):
        if self.activation_fake_quantizer is not None:
            x = self.activation_fake_quantizer(x)
        weight = self.weight if self.weight_fake_quantizer is None else self.weight_fake_quantizer(self.weight)
        return F.linear(x, weight, self.bias)


class Int8DynActInt4WeightQATLinear(FakeQuantizedLinear):
    pass


class Int8DynActInt4WeightQATQuantizer:
    """Every linear layer whose input the group size divides gets rows rounded to 8 bits and groups of its weight rounded to 4."""

    def __init__(self, groupsize=256, padding_allowed=False, precision=torch.float32, scales_precision=torch.float32):
        self.groupsize = groupsize
        self.scales_precision = scales_precision

    def get_activation_fake_quantize_config(self):
        return FakeQuantizeConfig(torch.int8, "per_token", scale_precision=torch.float32)

    def get_weight_fake_quantize_config(self):
        return FakeQuantizeConfig(torch.int8, group_size=self.groupsize, scale_precision=self.scales_precision)

    def prepare(self, model, *args, **kwargs):
        for name, child in list(model.named_children()):
            if isinstance(child, nn.Linear) and child.in_features % self.groupsize == 0:
                setattr(model, name, self.replaced(child))
            else:
                self.prepare(child)
        return model

    def replaced(self, linear):
        made = Int8DynActInt4WeightQATLinear(
            linear.in_features, linear.out_features, False, self.get_activation_fake_quantize_config(), self.get_weight_fake_quantize_config(),
            device="meta",
        )  # fmt: skip
        made.weight = linear.weight
        made.bias = linear.bias
        return made

    def convert(self, model, *args, **kwargs):
        return model


def enable_linear_fake_quant(module, enabled=True):
    if isinstance(module, FakeQuantizedLinear):
        for quantizer in (module.activation_fake_quantizer, module.weight_fake_quantizer):
            if quantizer is not None:
                quantizer.enabled = enabled


def disable_linear_fake_quant(module):
    enable_linear_fake_quant(module, False)
