"""ConvNeXt of timm. Mirrors timm 1.0.31 (``models/convnext.py``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.stochastic import StochasticDepth, rates
from torch import nn

#: Channels and blocks of the four stages.
SIZES = {
    "tiny": ((96, 192, 384, 768), (3, 3, 9, 3)),
    "small": ((96, 192, 384, 768), (3, 3, 27, 3)),
    "base": ((128, 256, 512, 1024), (3, 3, 27, 3)),
    "large": ((192, 384, 768, 1536), (3, 3, 27, 3)),
    "xlarge": ((256, 512, 1024, 2048), (3, 3, 27, 3)),
}


class TimmConvNeXtConfig:
    def __init__(self, size="tiny", in_chans=3, num_classes=1000, drop_rate=0.0, drop_path_rate=0.0):
        self.size = size
        self.in_chans = in_chans
        self.num_classes = num_classes
        self.drop_rate = drop_rate
        self.drop_path_rate = drop_path_rate


class LayerNorm2d(nn.LayerNorm):
    """Over the channels of pictures."""

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = nn.functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        x = x.permute(0, 3, 1, 2)
        return x


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Linear(width, 4 * width)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x):
        x = self.fc1(x)
        x = self.act(x)
        x = self.fc2(x)
        return x


class ConvNeXtBlock(nn.Module):
    def __init__(self, width, rate):
        super().__init__()
        self.gamma = nn.Parameter(1e-6 * torch.ones(width))
        self.conv_dw = nn.Conv2d(width, width, kernel_size=7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.mlp = Mlp(width)
        self.drop_path = StochasticDepth(rate) if rate > 0.0 else nn.Identity()

    def forward(self, x):
        shortcut = x
        x = self.conv_dw(x)
        x = x.permute(0, 2, 3, 1)
        x = self.norm(x)
        x = self.mlp(x)
        x = x.permute(0, 3, 1, 2)
        x = x.mul(self.gamma.reshape(1, -1, 1, 1))
        x = self.drop_path(x) + shortcut
        return x


class ConvNeXtStage(nn.Module):
    def __init__(self, inputs, width, each):
        super().__init__()
        self.downsample = nn.Identity()
        if inputs != width:
            self.downsample = nn.Sequential(LayerNorm2d(inputs, eps=1e-6), nn.Conv2d(inputs, width, kernel_size=2, stride=2))
        self.blocks = nn.Sequential(*[ConvNeXtBlock(width, rate) for rate in each])

    def forward(self, x):
        x = self.downsample(x)
        x = self.blocks(x)
        return x


class Head(nn.Module):
    def __init__(self, width, config):
        super().__init__()
        self.global_pool = nn.AdaptiveAvgPool2d(1)
        self.norm = LayerNorm2d(width, eps=1e-6)
        self.flatten = nn.Flatten(1)
        self.drop = nn.Dropout(config.drop_rate)
        self.fc = nn.Linear(width, config.num_classes) if config.num_classes > 0 else nn.Identity()

    def forward(self, x):
        x = self.global_pool(x)
        x = self.norm(x)
        x = self.flatten(x)
        x = self.drop(x)
        x = self.fc(x)
        return x


class TimmConvNeXt(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        widths, counts = SIZES[config.size]
        self.stem = nn.Sequential(nn.Conv2d(config.in_chans, widths[0], kernel_size=4, stride=4), LayerNorm2d(widths[0], eps=1e-6))
        every = rates(config.drop_path_rate, sum(counts))
        stages, before = [], widths[0]
        for width, count in zip(widths, counts):
            stages.append(ConvNeXtStage(before, width, every[:count]))
            every, before = every[count:], width
        self.stages = nn.Sequential(*stages)
        self.norm_pre = nn.Identity()
        self.num_features = before
        self.head = Head(before, config)

    def get_classifier(self):
        return self.head.fc

    def reset_classifier(self, num_classes, global_pool=None):
        self.head.fc = nn.Linear(self.num_features, num_classes) if num_classes > 0 else nn.Identity()

    def forward_features(self, x):
        x = self.stem(x)
        x = self.stages(x)
        return self.norm_pre(x)

    def forward(self, x):
        x = self.forward_features(x)
        return self.head(x)


def build(config):
    """The classifier: what ``timm.create_model("convnext_tiny")`` and its like give."""
    return TimmConvNeXt(config)
