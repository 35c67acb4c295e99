"""DenseNets. Mirrors torchvision 0.29.1 (``models/densenet.py``): parameter names and the operations of a training step, in their order.

Every layer joins all features before it anew, so the copies that it normalises grow with its place in the block.
"""

import torch
from torch import nn


class DenseNetConfig:
    def __init__(self, depth=121, num_classes=1000, drop_rate=0.0, bn_size=4):
        self.depth = depth
        self.num_classes = num_classes
        self.drop_rate = drop_rate
        self.bn_size = bn_size


#: Growth of the channels, layers of the blocks, channels of the stem.
DEPTHS = {
    121: (32, (6, 12, 24, 16), 64),
    161: (48, (6, 12, 36, 24), 96),
    169: (32, (6, 12, 32, 32), 64),
    201: (32, (6, 12, 48, 32), 64),
}


class DenseLayer(nn.Module):
    def __init__(self, inputs, growth, bn_size, drop_rate):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(inputs, bn_size * growth, kernel_size=1, stride=1, bias=False)
        self.norm2 = nn.BatchNorm2d(bn_size * growth)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(bn_size * growth, growth, kernel_size=3, stride=1, padding=1, bias=False)
        self.drop_rate = float(drop_rate)

    def narrowed(self, features):
        joined = torch.cat(features, 1)
        return self.conv1(self.relu1(self.norm1(joined)))

    def forward(self, features):
        x = self.narrowed(features)
        x = self.conv2(self.relu2(self.norm2(x)))
        if self.drop_rate > 0:
            x = nn.functional.dropout(x, p=self.drop_rate, training=self.training)
        return x


class DenseBlock(nn.ModuleDict):
    def __init__(self, layers, inputs, bn_size, growth, drop_rate):
        super().__init__()
        for place in range(layers):
            self.add_module("denselayer" + str(place + 1), DenseLayer(inputs + place * growth, growth, bn_size, drop_rate))

    def forward(self, x):
        features = [x]
        for _, layer in self.items():
            made = layer(features)
            features.append(made)
        return torch.cat(features, 1)


class Transition(nn.Sequential):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(inputs, outputs, kernel_size=1, stride=1, bias=False)
        self.pool = nn.AvgPool2d(kernel_size=2, stride=2)


class DenseNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        growth, blocks, channels = DEPTHS[config.depth]
        self.features = nn.Sequential()
        self.features.add_module("conv0", nn.Conv2d(3, channels, kernel_size=7, stride=2, padding=3, bias=False))
        self.features.add_module("norm0", nn.BatchNorm2d(channels))
        self.features.add_module("relu0", nn.ReLU(inplace=True))
        self.features.add_module("pool0", nn.MaxPool2d(kernel_size=3, stride=2, padding=1))
        for place, layers in enumerate(blocks):
            block = DenseBlock(layers, channels, config.bn_size, growth, config.drop_rate)
            self.features.add_module("denseblock" + str(place + 1), block)
            channels = channels + layers * growth
            if place != len(blocks) - 1:
                self.features.add_module("transition" + str(place + 1), Transition(channels, channels // 2))
                channels = channels // 2
        self.features.add_module("norm5", nn.BatchNorm2d(channels))
        self.classifier = nn.Linear(channels, config.num_classes)

    def forward(self, x):
        features = self.features(x)
        out = nn.functional.relu(features, inplace=True)
        out = nn.functional.adaptive_avg_pool2d(out, (1, 1))
        out = torch.flatten(out, 1)
        return self.classifier(out)


def build(config):
    """The classifier of that depth: what ``torchvision.models.densenet121()`` and its like give."""
    return DenseNet(config)
