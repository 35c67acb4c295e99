"""MobileNet V3. Mirrors torchvision 0.29.1 (``models/mobilenetv3.py``): parameter names and the operations of a training step, in their order."""

from preflight_zoo.efficientnet import divisible
from preflight_zoo.pooled import PooledClassifier, SqueezeExcitation
from torch import nn


class MobileNetV3Config:
    def __init__(self, size="large", num_classes=1000, dropout=0.2):
        self.size = size
        self.num_classes = num_classes
        self.dropout = dropout


#: Of each block: channels before, kernel, channels inside and after, squeezes, hard swish (else ReLU), stride.
BLOCKS = {
    "large": (
        (16, 3, 16, 16, False, False, 1), (16, 3, 64, 24, False, False, 2), (24, 3, 72, 24, False, False, 1), (24, 5, 72, 40, True, False, 2),
        (40, 5, 120, 40, True, False, 1), (40, 5, 120, 40, True, False, 1), (40, 3, 240, 80, False, True, 2), (80, 3, 200, 80, False, True, 1),
        (80, 3, 184, 80, False, True, 1), (80, 3, 184, 80, False, True, 1), (80, 3, 480, 112, True, True, 1), (112, 3, 672, 112, True, True, 1),
        (112, 5, 672, 160, True, True, 2), (160, 5, 960, 160, True, True, 1), (160, 5, 960, 160, True, True, 1),
    ),
    "small": (
        (16, 3, 16, 16, True, False, 2), (16, 3, 72, 24, False, False, 2), (24, 3, 88, 24, False, False, 1), (24, 5, 96, 40, True, True, 2),
        (40, 5, 240, 40, True, True, 1), (40, 5, 240, 40, True, True, 1), (40, 5, 120, 48, True, True, 1), (48, 5, 144, 48, True, True, 1),
        (48, 5, 288, 96, True, True, 2), (96, 5, 576, 96, True, True, 1), (96, 5, 576, 96, True, True, 1),
    ),
}  # fmt: skip
#: Channels before the classifier.
LAST = {"large": 1280, "small": 1024}


def convolution(inputs, outputs, kernel=3, stride=1, groups=1, activation=nn.Hardswish):
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs, eps=0.001, momentum=0.01),
    ]
    if activation is not None:
        layers.append(activation(inplace=True))
    return nn.Sequential(*layers)


class InvertedResidual(nn.Module):
    """Wide inside, narrow at both ends."""

    def __init__(self, inputs, kernel, width, outputs, squeezes, hard, stride):
        super().__init__()
        self.adds = stride == 1 and inputs == outputs
        activation = nn.Hardswish if hard else nn.ReLU
        layers = [] if width == inputs else [convolution(inputs, width, 1, activation=activation)]
        layers.append(convolution(width, width, kernel, stride, width, activation))
        if squeezes:
            layers.append(SqueezeExcitation(width, divisible(width // 4), nn.ReLU(), nn.Hardsigmoid()))
        layers.append(convolution(width, outputs, 1, activation=None))
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        result = self.block(x)
        if self.adds:
            result += x
        return result


class MobileNetV3(PooledClassifier):
    def __init__(self, config):
        super().__init__()
        blocks = BLOCKS[config.size]
        layers = [convolution(3, blocks[0][0], stride=2)]
        layers += [InvertedResidual(*block) for block in blocks]
        last = blocks[-1][3]
        layers.append(convolution(last, 6 * last, 1))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * last, LAST[config.size]), nn.Hardswish(inplace=True), nn.Dropout(p=config.dropout, inplace=True),
            nn.Linear(LAST[config.size], config.num_classes),
        )  # fmt: skip


def build(config):
    """The classifier: what ``torchvision.models.mobilenet_v3_large()`` and its like give."""
    return MobileNetV3(config)
