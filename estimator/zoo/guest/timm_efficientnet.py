"""EfficientNets of timm. Mirrors timm 1.0.31 (``models/efficientnet.py``): parameter names and the operations of a training step, in their order."""

import math

from preflight_zoo.efficientnet import STAGES, VARIANTS, divisible
from preflight_zoo.stochastic import StochasticDepth
from preflight_zoo.timm_resnet import GlobalPool
from torch import nn
from torch.utils.checkpoint import checkpoint


class TimmEfficientNetConfig:
    def __init__(self, variant="b0", num_classes=1000, in_chans=3, drop_rate=0.0, drop_path_rate=0.0):
        self.variant = variant
        self.num_classes = num_classes
        self.in_chans = in_chans
        self.drop_rate = drop_rate
        self.drop_path_rate = drop_path_rate


#: The variants that the library builds from the shared stages.
SIZES = ("b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7")


class BatchNormAct2d(nn.BatchNorm2d):
    """Batch normalisation with the activation in place."""

    def __init__(self, channels, activates=True):
        super().__init__(channels)
        self.act = nn.SiLU(inplace=True) if activates else None

    def forward(self, x):
        x = super().forward(x)
        return x if self.act is None else self.act(x)


class SqueezeExcite(nn.Module):
    """Every channel weighed by what all channels hold on average."""

    def __init__(self, channels, squeezed):
        super().__init__()
        self.conv_reduce = nn.Conv2d(channels, squeezed, 1)
        self.act1 = nn.SiLU(inplace=True)
        self.conv_expand = nn.Conv2d(squeezed, channels, 1)
        self.gate = nn.Sigmoid()

    def forward(self, x):
        x_se = x.mean((2, 3), keepdim=True)
        x_se = self.conv_reduce(x_se)
        x_se = self.act1(x_se)
        x_se = self.conv_expand(x_se)
        return x * self.gate(x_se)


def convolution(inputs, outputs, kernel=1, stride=1, groups=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False)


class DepthwiseSeparableConv(nn.Module):
    """The block of the first stage, which does not widen."""

    def __init__(self, inputs, outputs, kernel, stride, expansion, rate):
        super().__init__()
        self.has_skip = stride == 1 and inputs == outputs
        self.conv_dw = convolution(inputs, inputs, kernel, stride, inputs)
        self.bn1 = BatchNormAct2d(inputs)
        self.se = SqueezeExcite(inputs, round(inputs * 0.25))
        self.conv_pw = convolution(inputs, outputs)
        self.bn2 = BatchNormAct2d(outputs, False)
        self.drop_path = StochasticDepth(rate) if rate else nn.Identity()

    def forward(self, x):
        shortcut = x
        x = self.conv_dw(x)
        x = self.bn1(x)
        x = self.se(x)
        x = self.conv_pw(x)
        x = self.bn2(x)
        if self.has_skip:
            x = self.drop_path(x) + shortcut
        return x


class InvertedResidual(nn.Module):
    """Wide inside, narrow at both ends."""

    def __init__(self, inputs, outputs, kernel, stride, expansion, rate):
        super().__init__()
        self.has_skip = stride == 1 and inputs == outputs
        width = divisible(inputs * expansion)
        self.conv_pw = convolution(inputs, width)
        self.bn1 = BatchNormAct2d(width)
        self.conv_dw = convolution(width, width, kernel, stride, width)
        self.bn2 = BatchNormAct2d(width)
        self.se = SqueezeExcite(width, round(width * 0.25 / expansion))
        self.conv_pwl = convolution(width, outputs)
        self.bn3 = BatchNormAct2d(outputs, False)
        self.drop_path = StochasticDepth(rate) if rate else nn.Identity()

    def forward(self, x):
        shortcut = x
        x = self.conv_pw(x)
        x = self.bn1(x)
        x = self.conv_dw(x)
        x = self.bn2(x)
        x = self.se(x)
        x = self.conv_pwl(x)
        x = self.bn3(x)
        if self.has_skip:
            x = self.drop_path(x) + shortcut
        return x


class EfficientNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.grad_checkpointing = False
        width, depth = VARIANTS[config.variant][0], VARIANTS[config.variant][1]
        inputs = divisible(32 * width)
        self.conv_stem = convolution(config.in_chans, inputs, 3, 2)
        self.bn1 = BatchNormAct2d(inputs)
        counts = [math.ceil(stage[5] * depth) for stage in STAGES]
        stages, place = [], 0
        for (expansion, kernel, stride, _, outputs, _), count in zip(STAGES, counts):
            kind, blocks, outputs = DepthwiseSeparableConv if expansion == 1 else InvertedResidual, [], divisible(outputs * width)
            for index in range(count):
                rate = config.drop_path_rate * place / sum(counts)
                blocks.append(kind(inputs, outputs, kernel, stride if index == 0 else 1, expansion, rate))
                inputs = outputs
                place += 1
            stages.append(nn.Sequential(*blocks))
        self.blocks = nn.Sequential(*stages)
        self.num_features = divisible(1280 * width)
        self.conv_head = convolution(inputs, self.num_features)
        self.bn2 = BatchNormAct2d(self.num_features)
        self.global_pool = GlobalPool()
        self.reset_classifier(config.num_classes)

    def set_grad_checkpointing(self, enable=True):
        self.grad_checkpointing = enable

    def reset_classifier(self, num_classes, global_pool=None):
        self.classifier = nn.Linear(self.num_features, num_classes) if num_classes > 0 else nn.Identity()

    def forward_features(self, x):
        x = self.conv_stem(x)
        x = self.bn1(x)
        for stage in self.blocks:
            for block in stage:
                x = checkpoint(block, x, use_reentrant=False) if self.grad_checkpointing else block(x)
        x = self.conv_head(x)
        return self.bn2(x)

    def forward_head(self, x, pre_logits=False):
        x = self.global_pool(x)
        if self.config.drop_rate:
            x = nn.functional.dropout(x, p=self.config.drop_rate, training=self.training)
        return x if pre_logits else self.classifier(x)

    def forward(self, x):
        x = self.forward_features(x)
        return self.forward_head(x)


def build(config):
    """The classifier: what ``timm.create_model("efficientnet_b0")`` and its like give."""
    return EfficientNet(config)
