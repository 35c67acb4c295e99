"""``timm.data``: what a model's images are made into."""

from torchvision import transforms

IMAGENET_DEFAULT_MEAN = (0.485, 0.456, 0.406)
IMAGENET_DEFAULT_STD = (0.229, 0.224, 0.225)


def resolve_data_config(args=None, pretrained_cfg=None, model=None, **options):
    edge = model.config.img_size if model is not None and hasattr(model, "config") else 224
    return {"input_size": (3, edge, edge), "mean": IMAGENET_DEFAULT_MEAN, "std": IMAGENET_DEFAULT_STD}


def resolve_model_data_config(model, **options):
    return resolve_data_config(model=model)


def create_transform(input_size=224, is_training=False, **options):
    edge = input_size[-1] if isinstance(input_size, (tuple, list)) else input_size
    return transforms.Compose([transforms.RandomResizedCrop(edge), transforms.ToTensor()])
