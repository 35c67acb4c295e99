"""``torchvision.models.segmentation``: the zoo's segmentation models under the library's names."""

from preflight_host import named_model
from preflight_zoo import segmentation


def _made(head, depth, weights=None, progress=True, num_classes=None, aux_loss=None, **options):
    named_model(head + "_resnet" + str(depth))
    trained = weights is not None or options.get("pretrained", False)
    classes, auxiliary = 21 if num_classes is None else num_classes, bool(trained if aux_loss is None else aux_loss)
    return segmentation.build(segmentation.SegmentationConfig(head=head, depth=depth, num_classes=classes, aux_loss=auxiliary))


def deeplabv3_resnet50(*args, **options):
    return _made("deeplabv3", 50, **options)


def deeplabv3_resnet101(*args, **options):
    return _made("deeplabv3", 101, **options)


def fcn_resnet50(*args, **options):
    return _made("fcn", 50, **options)


def fcn_resnet101(*args, **options):
    return _made("fcn", 101, **options)


class _Weights:
    """Published weights; which ones does not matter."""

    DEFAULT = COCO_WITH_VOC_LABELS_V1 = "weights"


DeepLabV3_ResNet50_Weights = DeepLabV3_ResNet101_Weights = FCN_ResNet50_Weights = FCN_ResNet101_Weights = _Weights
