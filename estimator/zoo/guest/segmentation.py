"""DeepLabV3 and FCN on ResNets. Mirrors torchvision 0.29.1 (``models/segmentation``): parameter names and the operations of a training step."""

import torch
from preflight_zoo.resnet import DEPTHS, ResNet
from torch import nn

#: Channels that the third and the fourth stage hand on.
THIRD, FOURTH = 1024, 2048
RATES = (12, 24, 36)


class SegmentationConfig:
    def __init__(self, head="deeplabv3", depth=50, num_classes=21, aux_loss=False):
        self.head = head
        self.depth = depth
        self.num_classes = num_classes
        self.aux_loss = aux_loss


def convolution(inputs, outputs, kernel=1, dilation=1):
    padding = dilation if kernel > 1 else 0
    return [nn.Conv2d(inputs, outputs, kernel, padding=padding, dilation=dilation, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


class ASPPPooling(nn.Sequential):
    """The whole picture's average, at every place."""

    def __init__(self, inputs, outputs):
        super().__init__(nn.AdaptiveAvgPool2d(1), *convolution(inputs, outputs))

    def forward(self, x):
        size = x.shape[-2:]
        for layer in self:
            x = layer(x)
        return nn.functional.interpolate(x, size=size, mode="bilinear", align_corners=False)


class ASPP(nn.Module):
    """Convolutions of several rates side by side."""

    def __init__(self, inputs, outputs=256):
        super().__init__()
        branches = [nn.Sequential(*convolution(inputs, outputs))]
        branches += [nn.Sequential(*convolution(inputs, outputs, 3, rate)) for rate in RATES]
        branches.append(ASPPPooling(inputs, outputs))
        self.convs = nn.ModuleList(branches)
        self.project = nn.Sequential(*convolution(len(branches) * outputs, outputs), nn.Dropout(0.5))

    def forward(self, x):
        made = []
        for branch in self.convs:
            made.append(branch(x))
        joined = torch.cat(made, dim=1)
        return self.project(joined)


class DeepLabHead(nn.Sequential):
    def __init__(self, inputs, classes):
        super().__init__(ASPP(inputs), *convolution(256, 256, 3), nn.Conv2d(256, classes, 1))


class FCNHead(nn.Sequential):
    def __init__(self, inputs, classes):
        inner = inputs // 4
        super().__init__(*convolution(inputs, inner, 3), nn.Dropout(0.1), nn.Conv2d(inner, classes, 1))


class Backbone(nn.ModuleDict):
    """A classifier's layers up to the last that is asked for, which hands out some of what they make."""

    def __init__(self, depth, wanted):
        block, counts = DEPTHS[depth]
        whole = ResNet(block, counts, dilated=(False, True, True))
        names = ("conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3", "layer4")
        super().__init__({name: getattr(whole, name) for name in names})
        self.wanted = wanted

    def forward(self, x):
        found = {}
        for name, layer in self.items():
            x = layer(x)
            if name in self.wanted:
                found[self.wanted[name]] = x
        return found


class SegmentationModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.backbone = Backbone(config.depth, {"layer4": "out", "layer3": "aux"} if config.aux_loss else {"layer4": "out"})
        self.classifier = (DeepLabHead if config.head == "deeplabv3" else FCNHead)(FOURTH, config.num_classes)
        self.aux_classifier = FCNHead(THIRD, config.num_classes) if config.aux_loss else None

    def forward(self, x):
        size = x.shape[-2:]
        features = self.backbone(x)
        result = {}
        x = features["out"]
        x = self.classifier(x)
        x = nn.functional.interpolate(x, size=size, mode="bilinear", align_corners=False)
        result["out"] = x
        if self.aux_classifier is not None:
            x = features["aux"]
            x = self.aux_classifier(x)
            x = nn.functional.interpolate(x, size=size, mode="bilinear", align_corners=False)
            result["aux"] = x
        return result


def build(config):
    """The model: what ``torchvision.models.segmentation.deeplabv3_resnet50()`` and its like give."""
    return SegmentationModel(config)
