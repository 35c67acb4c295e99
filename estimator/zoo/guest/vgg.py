"""VGG. Mirrors torchvision 0.29.1 (``models/vgg.py``): parameter names and the operations of a training step, in their order."""

from preflight_zoo.pooled import PooledClassifier
from torch import nn


class VGGConfig:
    def __init__(self, depth=16, batch_norm=False, num_classes=1000, dropout=0.5):
        self.depth = depth
        self.batch_norm = batch_norm
        self.num_classes = num_classes
        self.dropout = dropout


#: Channels of the convolutions one after another; "M" is a pooling.
LAYERS = {
    11: [64, "M", 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    13: [64, 64, "M", 128, 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    16: [64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M"],
    19: [64, 64, "M", 128, 128, "M", 256, 256, 256, 256, "M", 512, 512, 512, 512, "M", 512, 512, 512, 512, "M"],
}


def features(depth, batch_norm):
    layers = []
    inputs = 3
    for outputs in LAYERS[depth]:
        if outputs == "M":
            layers += [nn.MaxPool2d(kernel_size=2, stride=2)]
            continue
        layers += [nn.Conv2d(inputs, outputs, kernel_size=3, padding=1)]
        if batch_norm:
            layers += [nn.BatchNorm2d(outputs)]
        layers += [nn.ReLU(inplace=True)]
        inputs = outputs
    return nn.Sequential(*layers)


class VGG(PooledClassifier):
    def __init__(self, config):
        super().__init__()
        self.features = features(config.depth, config.batch_norm)
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096), nn.ReLU(True), nn.Dropout(p=config.dropout), nn.Linear(4096, 4096), nn.ReLU(True),
            nn.Dropout(p=config.dropout), nn.Linear(4096, config.num_classes),
        )  # fmt: skip


def build(config):
    """The classifier of that depth: what ``torchvision.models.vgg16()`` and its like give."""
    return VGG(config)
