"""ConvNeXt. Mirrors torchvision 0.29.1 (``models/convnext.py``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.stochastic import StochasticDepth, rates
from torch import nn


class ConvNeXtConfig:
    def __init__(self, size="tiny", num_classes=1000, stochastic_depth_prob=None, layer_scale=1e-6):
        self.size = size
        self.num_classes = num_classes
        self.stochastic_depth_prob = SIZES[size][2] if stochastic_depth_prob is None else stochastic_depth_prob
        self.layer_scale = layer_scale


#: Channels and blocks of the four stages, and how often a block is left out at the end.
SIZES = {
    "tiny": ((96, 192, 384, 768), (3, 3, 9, 3), 0.1),
    "small": ((96, 192, 384, 768), (3, 3, 27, 3), 0.4),
    "base": ((128, 256, 512, 1024), (3, 3, 27, 3), 0.5),
    "large": ((192, 384, 768, 1536), (3, 3, 27, 3), 0.5),
}


class LayerNorm2d(nn.LayerNorm):
    """Over the channels of pictures."""

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = nn.functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        x = x.permute(0, 3, 1, 2)
        return x


class Permute(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return torch.permute(x, self.dims)


class CNBlock(nn.Module):
    def __init__(self, width, layer_scale, rate):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(width, width, kernel_size=7, padding=3, groups=width, bias=True),
            Permute((0, 2, 3, 1)),
            nn.LayerNorm(width, eps=1e-6),
            nn.Linear(width, 4 * width, bias=True),
            nn.GELU(),
            nn.Linear(4 * width, width, bias=True),
            Permute((0, 3, 1, 2)),
        )
        self.layer_scale = nn.Parameter(torch.ones(width, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(rate)

    def forward(self, x):
        result = self.layer_scale * self.block(x)
        result = self.stochastic_depth(result)
        result += x
        return result


class ConvNeXt(nn.Module):
    def __init__(self, config):
        super().__init__()
        widths, counts, _ = SIZES[config.size]
        each = iter(rates(config.stochastic_depth_prob, sum(counts)))
        layers = [nn.Sequential(nn.Conv2d(3, widths[0], kernel_size=4, stride=4, padding=0, bias=True), LayerNorm2d(widths[0], eps=1e-6))]
        for place, width in enumerate(widths):
            layers.append(nn.Sequential(*[CNBlock(width, config.layer_scale, next(each)) for _ in range(counts[place])]))
            if place + 1 < len(widths):
                layers.append(nn.Sequential(LayerNorm2d(width, eps=1e-6), nn.Conv2d(width, widths[place + 1], kernel_size=2, stride=2)))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(LayerNorm2d(widths[-1], eps=1e-6), nn.Flatten(1), nn.Linear(widths[-1], config.num_classes))

    def forward(self, x):
        x = self.features(x)
        x = self.avgpool(x)
        x = self.classifier(x)
        return x


def build(config):
    """The classifier of that size: what ``torchvision.models.convnext_tiny()`` and its like give."""
    return ConvNeXt(config)
