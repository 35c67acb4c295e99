"""ResNets. Mirrors torchvision 0.29.1 (``models/resnet.py``): parameter names and the operations of a training step, in their order.

Activations overwrite their input, and the sum with the shortcut is in place: batch normalisation's outputs are not kept twice.
"""

import torch
from torch import nn


class ResNetConfig:
    def __init__(self, depth=50, num_classes=1000, groups=1, width_per_group=64):
        self.depth = depth
        self.num_classes = num_classes
        self.groups = groups
        self.width_per_group = width_per_group


def conv3x3(inputs, outputs, stride=1, groups=1, dilation=1):
    return nn.Conv2d(inputs, outputs, kernel_size=3, stride=stride, padding=dilation, groups=groups, bias=False, dilation=dilation)


def conv1x1(inputs, outputs, stride=1):
    return nn.Conv2d(inputs, outputs, kernel_size=1, stride=stride, bias=False)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inputs, planes, stride, downsample, groups, width_per_group, dilation=1):
        super().__init__()
        self.conv1 = conv3x3(inputs, planes, stride)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def forward(self, x):
        shortcut = x
        out = self.conv1(x)
        out = self.bn1(out)
        out = self.relu(out)
        out = self.conv2(out)
        out = self.bn2(out)
        if self.downsample is not None:
            shortcut = self.downsample(x)
        out += shortcut
        return self.relu(out)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs, planes, stride, downsample, groups, width_per_group, dilation=1):
        super().__init__()
        width = int(planes * (width_per_group / 64.0)) * groups
        self.conv1 = conv1x1(inputs, width)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        shortcut = x
        out = self.conv1(x)
        out = self.bn1(out)
        out = self.relu(out)
        out = self.conv2(out)
        out = self.bn2(out)
        out = self.relu(out)
        out = self.conv3(out)
        out = self.bn3(out)
        if self.downsample is not None:
            shortcut = self.downsample(x)
        out += shortcut
        return self.relu(out)


DEPTHS = {
    18: (BasicBlock, [2, 2, 2, 2]),
    34: (BasicBlock, [3, 4, 6, 3]),
    50: (Bottleneck, [3, 4, 6, 3]),
    101: (Bottleneck, [3, 4, 23, 3]),
    152: (Bottleneck, [3, 8, 36, 3]),
}


class ResNet(nn.Module):
    def __init__(self, block, counts, num_classes=1000, groups=1, width_per_group=64, dilated=(False, False, False)):
        super().__init__()
        self.inputs = 64
        self.dilation = 1
        self.groups = groups
        self.width_per_group = width_per_group
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self.stage(block, 64, counts[0], 1)
        self.layer2 = self.stage(block, 128, counts[1], 2, dilated[0])
        self.layer3 = self.stage(block, 256, counts[2], 2, dilated[1])
        self.layer4 = self.stage(block, 512, counts[3], 2, dilated[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)

    def stage(self, block, planes, count, stride, dilated=False):
        outputs, before = planes * block.expansion, self.dilation
        if dilated:
            self.dilation, stride = self.dilation * stride, 1
        downsample = None
        if stride != 1 or self.inputs != outputs:
            downsample = nn.Sequential(conv1x1(self.inputs, outputs, stride), nn.BatchNorm2d(outputs))
        blocks = [block(self.inputs, planes, stride, downsample, self.groups, self.width_per_group, before)]
        self.inputs = outputs
        for _ in range(1, count):
            blocks.append(block(outputs, planes, 1, None, self.groups, self.width_per_group, self.dilation))
        return nn.Sequential(*blocks)

    def forward(self, x):
        x = self.conv1(x)
        x = self.bn1(x)
        x = self.relu(x)
        x = self.maxpool(x)
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.layer4(x)
        x = self.avgpool(x)
        x = torch.flatten(x, 1)
        return self.fc(x)


def build(config):
    """The classifier of that depth: what ``torchvision.models.resnet50()`` and its like give."""
    block, counts = DEPTHS[config.depth]
    return ResNet(block, counts, config.num_classes, config.groups, config.width_per_group)
