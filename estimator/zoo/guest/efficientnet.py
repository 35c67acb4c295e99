"""EfficientNets, first and second version. Mirrors torchvision 0.29.1 (``models/efficientnet.py``): parameter names and the operations of a training step, in their order."""

import math

from preflight_zoo.pooled import PooledClassifier, SqueezeExcitation
from preflight_zoo.stochastic import StochasticDepth
from torch import nn


class EfficientNetConfig:
    def __init__(self, variant="b0", num_classes=1000, dropout=None, stochastic_depth_prob=0.2):
        self.variant = variant
        self.num_classes = num_classes
        self.dropout = VARIANTS[variant][2] if dropout is None else dropout
        self.stochastic_depth_prob = stochastic_depth_prob


#: Width, depth, dropout and the epsilon and momentum of batch normalisation.
VARIANTS = {
    "b0": (1.0, 1.0, 0.2, 1e-5),
    "b1": (1.0, 1.1, 0.2, 1e-5),
    "b2": (1.1, 1.2, 0.3, 1e-5),
    "b3": (1.2, 1.4, 0.3, 1e-5),
    "b4": (1.4, 1.8, 0.4, 1e-5),
    "b5": (1.6, 2.2, 0.4, 1e-3),
    "b6": (1.8, 2.6, 0.5, 1e-3),
    "b7": (2.0, 3.1, 0.5, 1e-3),
    "v2_s": (1.0, 1.0, 0.2, 1e-3),
    "v2_m": (1.0, 1.0, 0.3, 1e-3),
    "v2_l": (1.0, 1.0, 0.4, 1e-3),
}
#: Of each stage of the second version: expansion, stride, channels before and after, blocks; the first three stages fuse their convolutions.
SECOND = {
    "v2_s": ((1, 1, 24, 24, 2), (4, 2, 24, 48, 4), (4, 2, 48, 64, 4), (4, 2, 64, 128, 6), (6, 1, 128, 160, 9), (6, 2, 160, 256, 15)),
    "v2_m": (
        (1, 1, 24, 24, 3), (4, 2, 24, 48, 5), (4, 2, 48, 80, 5), (4, 2, 80, 160, 7), (6, 1, 160, 176, 14), (6, 2, 176, 304, 18), (6, 1, 304, 512, 5),
    ),
    "v2_l": (
        (1, 1, 32, 32, 4), (4, 2, 32, 64, 7), (4, 2, 64, 96, 7), (4, 2, 96, 192, 10), (6, 1, 192, 224, 19), (6, 2, 224, 384, 25), (6, 1, 384, 640, 7),
    ),
}  # fmt: skip
FUSED_STAGES = 3
#: Channels before the classifier in the second version.
LAST = 1280
#: Of each stage: expansion, kernel, stride, channels before and after, blocks.
STAGES = (
    (1, 3, 1, 32, 16, 1),
    (6, 3, 2, 16, 24, 2),
    (6, 5, 2, 24, 40, 2),
    (6, 3, 2, 40, 80, 3),
    (6, 5, 1, 80, 112, 3),
    (6, 5, 2, 112, 192, 4),
    (6, 3, 1, 192, 320, 1),
)


def divisible(count, by=8):
    """The nearest multiple that is not more than a tenth below."""
    made = max(by, int(count + by / 2) // by * by)
    return made + by if made < 0.9 * count else made


def convolution(inputs, outputs, kernel=3, stride=1, groups=1, eps=1e-5, activation=True):
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs, eps=eps),
    ]
    if activation:
        layers.append(nn.SiLU(inplace=True))
    return nn.Sequential(*layers)


class MBConv(nn.Module):
    def __init__(self, expansion, kernel, stride, inputs, outputs, rate, eps):
        super().__init__()
        self.adds = stride == 1 and inputs == outputs
        width = divisible(inputs * expansion)
        layers = []
        if width != inputs:
            layers.append(convolution(inputs, width, 1, eps=eps))
        layers.append(convolution(width, width, kernel, stride, groups=width, eps=eps))
        layers.append(SqueezeExcitation(width, max(1, inputs // 4), nn.SiLU(inplace=True), nn.Sigmoid()))
        layers.append(convolution(width, outputs, 1, eps=eps, activation=False))
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(rate)

    def forward(self, x):
        result = self.block(x)
        if self.adds:
            result = self.stochastic_depth(result)
            result += x
        return result


class FusedMBConv(nn.Module):
    """The widening and the spatial convolution in one."""

    def __init__(self, expansion, kernel, stride, inputs, outputs, rate, eps):
        super().__init__()
        self.adds = stride == 1 and inputs == outputs
        width = divisible(inputs * expansion)
        if width == inputs:
            layers = [convolution(inputs, outputs, kernel, stride, eps=eps)]
        else:
            layers = [convolution(inputs, width, kernel, stride, eps=eps), convolution(width, outputs, 1, eps=eps, activation=False)]
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(rate)

    def forward(self, x):
        result = self.block(x)
        if self.adds:
            result = self.stochastic_depth(result)
            result += x
        return result


def stages_of(variant):
    """Of each stage: its kind of block, expansion, kernel, stride, channels before and after, blocks."""
    if variant in SECOND:
        return [(FusedMBConv if place < FUSED_STAGES else MBConv, e, 3, s, i, o, n) for place, (e, s, i, o, n) in enumerate(SECOND[variant])]
    width, depth, _, _ = VARIANTS[variant]
    return [(MBConv, e, k, s, divisible(i * width), divisible(o * width), math.ceil(n * depth)) for e, k, s, i, o, n in STAGES]


class EfficientNet(PooledClassifier):
    def __init__(self, config):
        super().__init__()
        eps = VARIANTS[config.variant][3]
        stages = stages_of(config.variant)
        total = sum(stage[-1] for stage in stages)
        layers = [convolution(3, stages[0][4], 3, 2, eps=eps)]
        place = 0
        for kind, expansion, kernel, stride, inputs, outputs, count in stages:
            blocks = []
            for index in range(count):
                first = index == 0
                rate = config.stochastic_depth_prob * place / total
                blocks.append(kind(expansion, kernel, stride if first else 1, inputs if first else outputs, outputs, rate, eps))
                place += 1
            layers.append(nn.Sequential(*blocks))
        last = LAST if config.variant in SECOND else 4 * outputs
        layers.append(convolution(outputs, last, 1, eps=eps))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(p=config.dropout, inplace=True), nn.Linear(last, config.num_classes))


def build(config):
    """The classifier of that variant: what ``torchvision.models.efficientnet_b0()`` and its like give."""
    return EfficientNet(config)
