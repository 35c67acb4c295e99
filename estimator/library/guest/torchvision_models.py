"""``torchvision.models``: the families of the zoo under the library's names."""

from preflight_host import named_model
from preflight_zoo import resnet


def _resnet(depth, weights=None, progress=True, num_classes=1000, **options):
    named_model("resnet" + str(depth))
    return resnet.build(resnet.ResNetConfig(depth=depth, num_classes=num_classes, **options))


def resnet18(**options):
    return _resnet(18, **_plain(options))


def resnet34(**options):
    return _resnet(34, **_plain(options))


def resnet50(**options):
    return _resnet(50, **_plain(options))


def resnet101(**options):
    return _resnet(101, **_plain(options))


def resnet152(**options):
    return _resnet(152, **_plain(options))


def _plain(options):
    return {name: value for name, value in options.items() if name in ("num_classes", "groups", "width_per_group")}


def get_model(name, **options):
    return {"resnet18": resnet18, "resnet34": resnet34, "resnet50": resnet50, "resnet101": resnet101, "resnet152": resnet152}[name](**options)
