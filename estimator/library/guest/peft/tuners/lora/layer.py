"""What LoRA adds to a layer. Mirrors peft 0.21.2 (``tuners/lora/layer.py``): what each adapter keeps and computes in a forward."""

import torch
from preflight_host import not_modelled
from torch import nn


def is_convolution(layer):
    return isinstance(layer, (nn.Conv1d, nn.Conv2d, nn.Conv3d))


def is_adapted(layer):
    """Whether LoRA adapts a layer; a table of embeddings or an attention of PyTorch's it does in ways of their own."""
    if isinstance(layer, (nn.Embedding, nn.MultiheadAttention)):
        return False
    return isinstance(layer, nn.Linear) or is_convolution(layer) or type(layer).__name__ == "Conv1D"


class LoraLayer(nn.Module):
    """A linear layer with a product of two thin matrices beside it."""

    def __init__(self, base, config, dtype):
        super().__init__()
        self.base_layer = base
        self.scaling = config.lora_alpha / (config.r**0.5 if config.use_rslora else config.r)
        self.lora_dropout = nn.ModuleDict({"default": nn.Dropout(config.lora_dropout) if config.lora_dropout > 0 else nn.Identity()})
        first, second = self.thin(base, config.r, {"device": base.weight.device, "dtype": dtype})
        self.lora_A = nn.ModuleDict({"default": first})
        self.lora_B = nn.ModuleDict({"default": second})
        self.disable_adapters = False
        if config.use_dora:
            not_modelled("DoRA")

    def thin(self, base, rank, options):
        inputs, outputs = (base.in_features, base.out_features) if isinstance(base, nn.Linear) else base.weight.shape
        return nn.Linear(inputs, rank, bias=False, **options), nn.Linear(rank, outputs, bias=False, **options)

    @property
    def weight(self):
        return self.base_layer.weight

    @property
    def bias(self):
        return self.base_layer.bias

    def forward(self, x, *args, **kwargs):
        result = self.base_layer(x, *args, **kwargs)
        if self.disable_adapters:
            return result
        stored = result.dtype
        first = self.lora_A["default"]
        second = self.lora_B["default"]
        dropout = self.lora_dropout["default"]
        if x.dtype != first.weight.dtype:
            x = x.to(first.weight.dtype)
        result = result + second(first(dropout(x))) * self.scaling
        return result.to(stored)


class LoraConvolution(LoraLayer):
    """A convolution with one to few channels beside it, and one from these to all without a neighbourhood."""

    def thin(self, base, rank, options):
        kind = nn.Conv1d if isinstance(base, nn.Conv1d) else nn.Conv2d if isinstance(base, nn.Conv2d) else nn.Conv3d
        first = kind(base.in_channels, rank, base.kernel_size, base.stride, base.padding, bias=False, **options)
        return first, kind(rank, base.out_channels, 1, 1, bias=False, **options)


class PackedLoraLayer(LoraLayer):
    """Beside a layer with packed weights: what comes out of 4 bits is copied first, and the adapter's part is cast before it is added."""

    def forward(self, x, *args, **kwargs):
        result = self.base_layer(x, *args, **kwargs)
        if self.disable_adapters:
            return result
        if type(self.base_layer).__name__ != "Linear8bitLt":
            result = result.clone()
        first = self.lora_A["default"]
        second = self.lora_B["default"]
        dropout = self.lora_dropout["default"]
        casts = not torch.is_autocast_enabled()
        if casts and x.dtype != first.weight.dtype:
            x = x.to(first.weight.dtype)
        output = second(first(dropout(x))) * self.scaling
        if casts:
            output = output.to(result.dtype)
        return result + output


def switched(model, off):
    """Adapters of a model off, or on again."""
    for module in model.modules():
        if isinstance(module, LoraLayer):
            module.disable_adapters = off
