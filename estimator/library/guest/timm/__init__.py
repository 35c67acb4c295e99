"""``timm``: the zoo's families by the names of the library's models."""

from preflight_host import maker, named_model, no_such_model
from timm.features import ResNetFeatures
from preflight_zoo import timm_convnext, timm_efficientnet, timm_resnet, timm_swin, timm_vit

#: The image a model of that family is made for where its name does not say.
USUAL_IMAGE = 224


#: What published weights expect of images, as the models carry it.
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def create_model(model_name, *args, **options):
    """The classifier of that name, with what the library hangs on it."""
    indices, alone = options.pop("out_indices", (0, 1, 2, 3, 4)), options.pop("features_only", False)
    made = model_of(model_name, *args, **options)
    if alone and not isinstance(made, timm_resnet.ResNet):
        return of_a_release(plain(model_name), {"features_only": True, "out_indices": indices, **options})
    if alone:
        return ResNetFeatures(made, indices)
    if hasattr(made, "pretrained_cfg"):
        return made
    image = options.get("img_size") or USUAL_IMAGE
    made.default_cfg = made.pretrained_cfg = {
        "input_size": (3, image, image), "mean": MEAN, "std": STD, "interpolation": "bicubic", "crop_pct": 0.875, "num_classes": 1000,
    }  # fmt: skip
    made.get_classifier = Classifier(made)
    return made


class Classifier:
    """The last layer of a model."""

    def __init__(self, model):
        self.model = model

    def __call__(self):
        for name in ("head", "fc", "classifier"):
            found = getattr(self.model, name, None)
            if found is not None:
                return getattr(found, "fc", found)
        return self.model


def model_of(
    model_name, pretrained=False, checkpoint_path=None, num_classes=1000, in_chans=3, img_size=None, drop_rate=0.0, drop_path_rate=None,
    global_pool=None, **options,
):  # fmt: skip
    """The classifier of that name as it is; a tag after a dot says which weights and changes nothing."""
    name = plain(model_name)
    named_model(name)
    words = name.split("_")
    shared = {"num_classes": num_classes, "in_chans": in_chans, "drop_rate": drop_rate}
    if drop_path_rate is not None:
        shared["drop_path_rate"] = drop_path_rate
    if words[0] in ("vit", "deit", "deit3") and words[1] in timm_vit.SIZES:
        return transformer(name, words, img_size, global_pool, shared)
    if words[0] == "convnext" and words[1] in timm_convnext.SIZES and words[2:] in ([], ["in22k"], ["in22ft1k"], ["384", "in22ft1k"]):
        return timm_convnext.build(timm_convnext.TimmConvNeXtConfig(size=words[1], **shared))
    if words[0] == "efficientnet" and words[1:] in [[size] for size in timm_efficientnet.SIZES]:
        return timm_efficientnet.build(timm_efficientnet.TimmEfficientNetConfig(variant=words[1], **shared))
    if words[0] == "swin" and words[1] in timm_swin.SIZES and words[2] == "patch4":
        return windowed(words, img_size, shared)
    if len(words) == 1 and name.startswith("resnet") and depth_of(name)[0] in timm_resnet.DEPTHS and depth_of(name)[1] in timm_resnet.VARIANTS:
        depth, variant = depth_of(name)
        return timm_resnet.build(timm_resnet.TimmResNetConfig(depth=depth, variant=variant, **shared))
    if words[0].startswith("resnext") and len(words) == 2 and words[1] in ("32x4d", "32x8d") and words[0][len("resnext") :] in timm_resnet.DEPTHS:
        groups, width = words[1][:-1].split("x")
        known = {"cardinality": int(groups), "base_width": int(width), **shared}
        return timm_resnet.build(timm_resnet.TimmResNetConfig(depth=words[0][len("resnext") :], **known))
    return of_a_release(name, {"img_size": img_size, "global_pool": global_pool, **shared, **options})


def plain(model_name):
    return model_name.rpartition("/")[2].partition(".")[0].replace("hf_hub:", "")


#: Last words of older names that say which weights are meant.
WEIGHTS = ("ns", "ap", "aa", "cc", "in21k", "in22k", "in21ft1k", "in22ft1k", "miil", "dino", "sam")


def of_a_release(name, options):
    """The model as the library's own source makes it; what is None is not given."""
    make = maker("timm", name)
    while make is None and name.rpartition("_")[2] in WEIGHTS:
        name = name.rpartition("_")[0]
        make = maker("timm", name)
    return no_such_model(name + " of timm") if make is None else make(pretrained=False, **{key: value for key, value in options.items() if value is not None})


def depth_of(name):
    """``resnet50d`` as its depth and the letter of its variant."""
    rest = name[len("resnet") :]
    depth = rest.rstrip("abcdefghijklmnopqrstuvwxyz")
    return depth, rest[len(depth) :]


def windowed(words, img_size, shared):
    window = int(words[3][len("window") :])
    image = img_size if img_size is not None else int(words[4])
    return timm_swin.build(timm_swin.TimmSwinConfig(size=words[1], window_size=window, img_size=image, **shared))


def transformer(name, words, img_size, global_pool, shared):
    rest = [word for word in words[2:] if not word.startswith("patch") and word != "in21k"]
    if len(rest) > 1 or (rest and not rest[0].isdigit()):
        return of_a_release(name, {"img_size": img_size, "global_pool": global_pool, **shared})
    patch = [int(word[len("patch") :]) for word in words if word.startswith("patch")]
    image = img_size if img_size is not None else int(rest[0]) if rest else USUAL_IMAGE
    if isinstance(image, (tuple, list)):
        image = image[0]
    if words[0] == "deit3":
        shared = {**shared, "no_embed_class": True, "init_values": 1e-6}
    if global_pool is not None:
        shared["global_pool"] = global_pool
    return timm_vit.build(timm_vit.TimmVitConfig(size=words[1], patch_size=patch[0] if patch else 16, img_size=image, **shared))


def list_models(*args, **options):
    return []


def is_model(name):
    return True
