"""``torchvision.models``: the families of the zoo under the library's names."""

from preflight_host import named_model, no_such_model
from preflight_zoo import resnet
from torchvision import segmentation, video
from torchvision.video import mc3_18, r2plus1d_18, r3d_18
from torchvision.weights import *


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


def resnext50_32x4d(*args, **options):
    return _resnet(50, groups=32, width_per_group=4, **options)


def resnext101_32x8d(*args, **options):
    return _resnet(101, groups=32, width_per_group=8, **options)


def wide_resnet50_2(*args, **options):
    return _resnet(50, width_per_group=128, **options)


def wide_resnet101_2(*args, **options):
    return _resnet(101, width_per_group=128, **options)


def _vgg(depth, batch_norm=False, weights=None, progress=True, num_classes=1000, dropout=0.5, **options):
    from preflight_zoo import vgg

    named_model("vgg" + str(depth) + ("_bn" if batch_norm else ""))
    return vgg.build(vgg.VGGConfig(depth=depth, batch_norm=batch_norm, num_classes=num_classes, dropout=dropout))


def vgg11(*args, **options):
    return _vgg(11, **options)


def vgg13(*args, **options):
    return _vgg(13, **options)


def vgg16(*args, **options):
    return _vgg(16, **options)


def vgg19(*args, **options):
    return _vgg(19, **options)


def vgg11_bn(*args, **options):
    return _vgg(11, True, **options)


def vgg13_bn(*args, **options):
    return _vgg(13, True, **options)


def vgg16_bn(*args, **options):
    return _vgg(16, True, **options)


def vgg19_bn(*args, **options):
    return _vgg(19, True, **options)


def get_model(name, **options):
    from torchvision import models

    made = getattr(models, name.lower(), None)
    return no_such_model(name + " of torchvision") if made is None else made(**options)


def list_models(*args, **options):
    return []


def _vit(size, patch_size, weights=None, progress=True, image_size=224, num_classes=1000, dropout=0.0, attention_dropout=0.0, **options):
    from preflight_zoo import vision_transformer

    named_model("vit_" + size + "_" + str(patch_size))
    config = vision_transformer.VisionTransformerConfig(
        size=size,
        patch_size=patch_size,
        image_size=image_size,
        num_classes=num_classes,
        dropout=dropout,
        attention_dropout=attention_dropout,
        representation_size=options.get("representation_size"),
    )
    return vision_transformer.build(config)


def vit_b_16(*args, **options):
    return _vit("b", 16, **options)


def vit_b_32(*args, **options):
    return _vit("b", 32, **options)


def vit_l_16(*args, **options):
    return _vit("l", 16, **options)


def vit_l_32(*args, **options):
    return _vit("l", 32, **options)


def vit_h_14(*args, **options):
    return _vit("h", 14, **options)


def _densenet(depth, weights=None, progress=True, num_classes=1000, drop_rate=0.0, bn_size=4, **options):
    from preflight_zoo import densenet

    named_model("densenet" + str(depth))
    return densenet.build(densenet.DenseNetConfig(depth=depth, num_classes=num_classes, drop_rate=drop_rate, bn_size=bn_size))


def densenet121(*args, **options):
    return _densenet(121, **options)


def densenet161(*args, **options):
    return _densenet(161, **options)


def densenet169(*args, **options):
    return _densenet(169, **options)


def densenet201(*args, **options):
    return _densenet(201, **options)


def _convnext(size, weights=None, progress=True, num_classes=1000, stochastic_depth_prob=None, layer_scale=1e-6, **options):
    from preflight_zoo import convnext

    named_model("convnext_" + size)
    config = convnext.ConvNeXtConfig(size=size, num_classes=num_classes, stochastic_depth_prob=stochastic_depth_prob, layer_scale=layer_scale)
    return convnext.build(config)


def convnext_tiny(*args, **options):
    return _convnext("tiny", **options)


def convnext_small(*args, **options):
    return _convnext("small", **options)


def convnext_base(*args, **options):
    return _convnext("base", **options)


def convnext_large(*args, **options):
    return _convnext("large", **options)


def _efficientnet(variant, weights=None, progress=True, num_classes=1000, dropout=None, stochastic_depth_prob=0.2, **options):
    from preflight_zoo import efficientnet

    named_model("efficientnet_" + variant)
    config = efficientnet.EfficientNetConfig(variant=variant, num_classes=num_classes, dropout=dropout, stochastic_depth_prob=stochastic_depth_prob)
    return efficientnet.build(config)


def mobilenet_v2(weights=None, progress=True, num_classes=1000, width_mult=1.0, dropout=0.2, **options):
    from preflight_zoo import mobilenet_v2 as family

    named_model("mobilenet_v2")
    return family.build(family.MobileNetV2Config(num_classes=num_classes, width_mult=width_mult, dropout=dropout))


def _mobilenet_v3(size, weights=None, progress=True, num_classes=1000, dropout=0.2, **options):
    from preflight_zoo import mobilenet_v3 as family

    named_model("mobilenet_v3_" + size)
    return family.build(family.MobileNetV3Config(size=size, num_classes=num_classes, dropout=dropout))


def mobilenet_v3_large(*args, **options):
    return _mobilenet_v3("large", **options)


def mobilenet_v3_small(*args, **options):
    return _mobilenet_v3("small", **options)


def _swin(size, weights=None, progress=True, num_classes=1000, dropout=0.0, attention_dropout=0.0, **options):
    from preflight_zoo import swin_transformer

    named_model("swin_" + size)
    config = swin_transformer.SwinTransformerConfig(size=size, num_classes=num_classes, dropout=dropout, attention_dropout=attention_dropout)
    return swin_transformer.build(config)


def swin_t(*args, **options):
    return _swin("t", **options)


def swin_s(*args, **options):
    return _swin("s", **options)


def swin_b(*args, **options):
    return _swin("b", **options)


def efficientnet_b0(*args, **options):
    return _efficientnet("b0", **options)


def efficientnet_b1(*args, **options):
    return _efficientnet("b1", **options)


def efficientnet_b2(*args, **options):
    return _efficientnet("b2", **options)


def efficientnet_b3(*args, **options):
    return _efficientnet("b3", **options)


def efficientnet_b4(*args, **options):
    return _efficientnet("b4", **options)


def efficientnet_b5(*args, **options):
    return _efficientnet("b5", **options)


def efficientnet_b6(*args, **options):
    return _efficientnet("b6", **options)


def efficientnet_b7(*args, **options):
    return _efficientnet("b7", **options)


def efficientnet_v2_s(*args, **options):
    return _efficientnet("v2_s", **options)


def efficientnet_v2_m(*args, **options):
    return _efficientnet("v2_m", **options)


def efficientnet_v2_l(*args, **options):
    return _efficientnet("v2_l", **options)


