"""``torchvision.models``: the families of the zoo under the library's names."""

from preflight_host import named_model
from preflight_zoo import resnet


def _resnet(depth, weights=None, progress=True, num_classes=1000, **options):
    named_model("resnet" + str(depth))
    known = {name: value for name, value in options.items() if name in ("groups", "width_per_group")}
    return resnet.build(resnet.ResNetConfig(depth=depth, num_classes=num_classes, **known))


def resnet18(*args, **options):
    return _resnet(18, **options)


def resnet34(*args, **options):
    return _resnet(34, **options)


def resnet50(*args, **options):
    return _resnet(50, **options)


def resnet101(*args, **options):
    return _resnet(101, **options)


def resnet152(*args, **options):
    return _resnet(152, **options)


def get_model(name, **options):
    return globals()[name](**options)


class _Weights:
    """Published weights; which ones does not matter."""

    DEFAULT = IMAGENET1K_V1 = IMAGENET1K_V2 = "weights"


ResNet18_Weights = ResNet34_Weights = ResNet50_Weights = ResNet101_Weights = ResNet152_Weights = _Weights
