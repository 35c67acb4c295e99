"""MobileNet V2. Mirrors torchvision 0.29.1 (``models/mobilenetv2.py``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.efficientnet import divisible
from torch import nn


class MobileNetV2Config:
    def __init__(self, num_classes=1000, width_mult=1.0, dropout=0.2):
        self.num_classes = num_classes
        self.width_mult = width_mult
        self.dropout = dropout


#: Of each stage: expansion, channels, blocks, stride of the first.
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def convolution(inputs, outputs, kernel=3, stride=1, groups=1):
    padding = (kernel - 1) // 2
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False), nn.BatchNorm2d(outputs), nn.ReLU6(inplace=True)
    )


class InvertedResidual(nn.Module):
    """Wide inside, narrow at both ends."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        width = round(inputs * expansion)
        self.adds = stride == 1 and inputs == outputs
        layers = [] if expansion == 1 else [convolution(inputs, width, kernel=1)]
        layers.append(convolution(width, width, stride=stride, groups=width))
        layers.append(nn.Conv2d(width, outputs, 1, bias=False))
        layers.append(nn.BatchNorm2d(outputs))
        self.conv = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.conv(x) if self.adds else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, config):
        super().__init__()
        inputs = divisible(32 * config.width_mult)
        self.last_channel = divisible(1280 * max(1.0, config.width_mult))
        layers = [convolution(3, inputs, stride=2)]
        for expansion, channels, count, stride in STAGES:
            outputs = divisible(channels * config.width_mult)
            for place in range(count):
                layers.append(InvertedResidual(inputs, outputs, stride if place == 0 else 1, expansion))
                inputs = outputs
        layers.append(convolution(inputs, self.last_channel, kernel=1))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(p=config.dropout), nn.Linear(self.last_channel, config.num_classes))

    def forward(self, x):
        x = self.features(x)
        x = nn.functional.adaptive_avg_pool2d(x, (1, 1))
        x = torch.flatten(x, 1)
        x = self.classifier(x)
        return x


def build(config):
    """The classifier: what ``torchvision.models.mobilenet_v2()`` gives."""
    return MobileNetV2(config)
