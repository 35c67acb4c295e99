"""ResNets of timm, with plain and deep stems. Mirrors timm 1.0.31 (``models/resnet.py``): parameter names and the operations of a training step."""

from preflight_zoo.stochastic import StochasticDepth
from torch import nn
from torch.utils.checkpoint import checkpoint

#: Block and blocks of the four stages, by depth.
DEPTHS = {
    "18": ("basic", (2, 2, 2, 2)), "26": ("bottleneck", (2, 2, 2, 2)), "34": ("basic", (3, 4, 6, 3)), "50": ("bottleneck", (3, 4, 6, 3)),
    "101": ("bottleneck", (3, 4, 23, 3)), "152": ("bottleneck", (3, 8, 36, 3)),
}  # fmt: skip
#: By the letter behind the depth: the stem's width (0: one convolution of seven by seven), and whether shortcuts shrink by averaging.
VARIANTS = {"": (0, False), "c": (32, False), "d": (32, True), "s": (64, False)}


class TimmResNetConfig:
    def __init__(self, depth="50", variant="", num_classes=1000, in_chans=3, drop_rate=0.0, drop_path_rate=0.0, cardinality=1, base_width=64):
        self.depth = depth
        self.variant = variant
        self.num_classes = num_classes
        self.in_chans = in_chans
        self.drop_rate = drop_rate
        self.drop_path_rate = drop_path_rate
        self.cardinality = cardinality
        self.base_width = base_width


def convolution(inputs, outputs, kernel=3, stride=1, groups=1):
    return nn.Conv2d(inputs, outputs, kernel_size=kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inputs, planes, stride, downsample, rate, config):
        super().__init__()
        self.conv1 = convolution(inputs, planes, stride=stride)
        self.bn1 = nn.BatchNorm2d(planes)
        self.act1 = nn.ReLU(inplace=True)
        self.conv2 = convolution(planes, planes)
        self.bn2 = nn.BatchNorm2d(planes)
        self.act2 = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.drop_path = StochasticDepth(rate) if rate > 0.0 else None

    def forward(self, x):
        shortcut = x
        x = self.conv1(x)
        x = self.bn1(x)
        x = self.act1(x)
        x = self.conv2(x)
        x = self.bn2(x)
        if self.drop_path is not None:
            x = self.drop_path(x)
        if self.downsample is not None:
            shortcut = self.downsample(shortcut)
        x += shortcut
        return self.act2(x)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs, planes, stride, downsample, rate, config):
        super().__init__()
        width, outputs = int(planes * (config.base_width / 64)) * config.cardinality, planes * 4
        self.conv1 = convolution(inputs, width, 1)
        self.bn1 = nn.BatchNorm2d(width)
        self.act1 = nn.ReLU(inplace=True)
        self.conv2 = convolution(width, width, stride=stride, groups=config.cardinality)
        self.bn2 = nn.BatchNorm2d(width)
        self.act2 = nn.ReLU(inplace=True)
        self.conv3 = convolution(width, outputs, 1)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.act3 = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.drop_path = StochasticDepth(rate) if rate > 0.0 else None

    def forward(self, x):
        shortcut = x
        x = self.conv1(x)
        x = self.bn1(x)
        x = self.act1(x)
        x = self.conv2(x)
        x = self.bn2(x)
        x = self.act2(x)
        x = self.conv3(x)
        x = self.bn3(x)
        if self.drop_path is not None:
            x = self.drop_path(x)
        if self.downsample is not None:
            shortcut = self.downsample(shortcut)
        x += shortcut
        return self.act3(x)


class GlobalPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)

    def forward(self, x):
        x = self.pool(x)
        return self.flatten(x)


class ResNet(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        kind, counts = DEPTHS[config.depth]
        self.block = BasicBlock if kind == "basic" else Bottleneck
        stem, self.averages = VARIANTS[config.variant]
        self.grad_checkpointing = False
        self.inputs = 2 * stem if stem else 64
        self.conv1 = self.stem(config.in_chans, stem) if stem else convolution(config.in_chans, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(self.inputs)
        self.act1 = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        place = 0
        for stage, count in enumerate(counts):
            rates = [config.drop_path_rate * (place + index) / (sum(counts) - 1) for index in range(count)]
            self.add_module(f"layer{stage + 1}", self.stage(64 * 2**stage, 1 if stage == 0 else 2, rates))
            place += count
        self.num_features = 512 * self.block.expansion
        self.global_pool = GlobalPool()
        self.fc = nn.Linear(self.num_features, config.num_classes) if config.num_classes > 0 else nn.Identity()

    def stem(self, channels, width):
        return nn.Sequential(
            convolution(channels, width, stride=2), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            convolution(width, width), nn.BatchNorm2d(width), nn.ReLU(inplace=True), convolution(width, self.inputs),
        )  # fmt: skip

    def shortcut(self, outputs, stride):
        if stride == 1 and self.inputs == outputs:
            return None
        if not self.averages:
            return nn.Sequential(convolution(self.inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))
        pool = nn.Identity() if stride == 1 else nn.AvgPool2d(2, stride, ceil_mode=True, count_include_pad=False)
        return nn.Sequential(pool, convolution(self.inputs, outputs, 1), nn.BatchNorm2d(outputs))

    def stage(self, planes, stride, rates):
        outputs, blocks = planes * self.block.expansion, []
        for index, rate in enumerate(rates):
            downsample = self.shortcut(outputs, stride) if index == 0 else None
            blocks.append(self.block(self.inputs, planes, stride if index == 0 else 1, downsample, rate, self.config))
            self.inputs = outputs
        return nn.Sequential(*blocks)

    def set_grad_checkpointing(self, enable=True):
        self.grad_checkpointing = enable

    def get_classifier(self):
        return self.fc

    def reset_classifier(self, num_classes, global_pool=None):
        self.fc = nn.Linear(self.num_features, num_classes) if num_classes > 0 else nn.Identity()

    def forward_features(self, x):
        x = self.conv1(x)
        x = self.bn1(x)
        x = self.act1(x)
        x = self.maxpool(x)
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            if self.grad_checkpointing:
                for block in stage:
                    x = checkpoint(block, x, use_reentrant=False)
            else:
                x = stage(x)
        return x

    def forward_head(self, x):
        x = self.global_pool(x)
        if self.config.drop_rate:
            x = nn.functional.dropout(x, p=self.config.drop_rate, training=self.training)
        return self.fc(x)

    def forward(self, x):
        x = self.forward_features(x)
        return self.forward_head(x)


def build(config):
    """The classifier: what ``timm.create_model("resnet50d")`` and its like give."""
    return ResNet(config)
