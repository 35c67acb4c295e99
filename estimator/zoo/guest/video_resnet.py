"""ResNets of clips. Mirrors torchvision 0.29.1 (``models/video/resnet.py``): parameter names and the operations of a training step, in their order."""

from torch import nn


class VideoResNetConfig:
    def __init__(self, kind="r3d", num_classes=400):
        self.kind = kind
        self.num_classes = num_classes


class Conv3DSimple(nn.Conv3d):
    def __init__(self, inputs, outputs, middle=None, stride=1, padding=1):
        super().__init__(inputs, outputs, kernel_size=(3, 3, 3), stride=stride, padding=padding, bias=False)

    @staticmethod
    def downsample_stride(stride):
        return stride, stride, stride


class Conv2Plus1D(nn.Sequential):
    def __init__(self, inputs, outputs, middle, stride=1, padding=1):
        super().__init__(
            nn.Conv3d(inputs, middle, kernel_size=(1, 3, 3), stride=(1, stride, stride), padding=(0, padding, padding), bias=False),
            nn.BatchNorm3d(middle),
            nn.ReLU(inplace=True),
            nn.Conv3d(middle, outputs, kernel_size=(3, 1, 1), stride=(stride, 1, 1), padding=(padding, 0, 0), bias=False),
        )

    @staticmethod
    def downsample_stride(stride):
        return stride, stride, stride


class Conv3DNoTemporal(nn.Conv3d):
    def __init__(self, inputs, outputs, middle=None, stride=1, padding=1):
        super().__init__(inputs, outputs, kernel_size=(1, 3, 3), stride=(1, stride, stride), padding=(0, padding, padding), bias=False)

    @staticmethod
    def downsample_stride(stride):
        return 1, stride, stride


class BasicBlock(nn.Module):
    def __init__(self, inputs, planes, conv, stride, downsample):
        super().__init__()
        middle = (inputs * planes * 27) // (inputs * 9 + 3 * planes)
        self.conv1 = nn.Sequential(conv(inputs, planes, middle, stride), nn.BatchNorm3d(planes), nn.ReLU(inplace=True))
        self.conv2 = nn.Sequential(conv(planes, planes, middle), nn.BatchNorm3d(planes))
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        shortcut = x
        out = self.conv1(x)
        out = self.conv2(out)
        if self.downsample is not None:
            shortcut = self.downsample(x)
        out += shortcut
        return self.relu(out)


def plain_stem():
    return nn.Sequential(
        nn.Conv3d(3, 64, kernel_size=(3, 7, 7), stride=(1, 2, 2), padding=(1, 3, 3), bias=False), nn.BatchNorm3d(64), nn.ReLU(inplace=True)
    )


def split_stem():
    return nn.Sequential(
        nn.Conv3d(3, 45, kernel_size=(1, 7, 7), stride=(1, 2, 2), padding=(0, 3, 3), bias=False),
        nn.BatchNorm3d(45),
        nn.ReLU(inplace=True),
        nn.Conv3d(45, 64, kernel_size=(3, 1, 1), stride=(1, 1, 1), padding=(1, 0, 0), bias=False),
        nn.BatchNorm3d(64),
        nn.ReLU(inplace=True),
    )


#: By kind: what the stem is, and the convolutions of the four stages.
KINDS = {
    "r3d": (plain_stem, [Conv3DSimple] * 4),
    "mc3": (plain_stem, [Conv3DSimple] + [Conv3DNoTemporal] * 3),
    "r2plus1d": (split_stem, [Conv2Plus1D] * 4),
}


class VideoResNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        stem, convs = KINDS[config.kind]
        self.inputs = 64
        self.stem = stem()
        self.layer1 = self.stage(convs[0], 64, 1)
        self.layer2 = self.stage(convs[1], 128, 2)
        self.layer3 = self.stage(convs[2], 256, 2)
        self.layer4 = self.stage(convs[3], 512, 2)
        self.avgpool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc = nn.Linear(512, config.num_classes)

    def stage(self, conv, planes, stride):
        downsample = None
        if stride != 1 or self.inputs != planes:
            strides = conv.downsample_stride(stride)
            downsample = nn.Sequential(nn.Conv3d(self.inputs, planes, kernel_size=1, stride=strides, bias=False), nn.BatchNorm3d(planes))
        first = BasicBlock(self.inputs, planes, conv, stride, downsample)
        self.inputs = planes
        return nn.Sequential(first, BasicBlock(planes, planes, conv, 1, None))

    def forward(self, x):
        x = self.stem(x)
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.layer4(x)
        x = self.avgpool(x)
        x = x.flatten(1)
        return self.fc(x)


def build(config):
    return VideoResNet(config)
