"""``torchvision.models.video``: the zoo's ResNets of clips under the library's names."""

from preflight_host import named_model
from preflight_zoo import video_resnet


def _made(kind, weights=None, progress=True, num_classes=400, **options):
    named_model(kind + "_18")
    return video_resnet.build(video_resnet.VideoResNetConfig(kind=kind, num_classes=num_classes))


def r3d_18(*args, **options):
    return _made("r3d", **options)


def mc3_18(*args, **options):
    return _made("mc3", **options)


def r2plus1d_18(*args, **options):
    return _made("r2plus1d", **options)


class _Weights:
    DEFAULT = KINETICS400_V1 = "weights"


R3D_18_Weights = MC3_18_Weights = R2Plus1D_18_Weights = _Weights
