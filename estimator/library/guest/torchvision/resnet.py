"""``torchvision.models.resnet``: the blocks that models of one's own are made of, with torchvision's arguments."""

from preflight_zoo import resnet
from torchvision.models import resnet18, resnet34, resnet50, resnet101, resnet152


class BasicBlock(resnet.BasicBlock):
    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None):
        super().__init__(inplanes, planes, stride, downsample, groups, base_width, dilation)


class Bottleneck(resnet.Bottleneck):
    def __init__(self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None):
        super().__init__(inplanes, planes, stride, downsample, groups, base_width, dilation)


class ResNet(resnet.ResNet):
    def __init__(self, block, layers, num_classes=1000, zero_init_residual=False, groups=1, width_per_group=64, **options):
        super().__init__(block, layers, num_classes, groups, width_per_group)
