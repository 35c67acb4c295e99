"""``timm.data``: what a model's images are made into."""

import torch
from preflight_host import image
from torch.utils.data import Dataset
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


class ImageDataset(Dataset):
    """Pictures in folders, all alike."""

    def __init__(self, root=None, *args, transform=None, **options):
        self.transform = transform

    def __len__(self):
        return 100000

    def __getitem__(self, index):
        picture = image(3, None)
        return (picture if self.transform is None else self.transform(picture)), 0


def create_dataset(name="", root=None, split="train", **options):
    return ImageDataset(root)


class _Loader:
    """Batches of pictures of one size."""

    def __init__(self, dataset, shape):
        self.dataset = dataset
        self.shape = shape

    def __len__(self):
        return len(self.dataset) // self.shape[0]

    def labels(self):
        return torch.zeros(self.shape[0], dtype=torch.int64)

    def __iter__(self):
        while True:
            yield torch.zeros(self.shape), self.labels()


class PrefetchLoader(_Loader):
    """The same on the device, bytes made into numbers there, one batch ahead."""

    def __iter__(self):
        before = None
        while True:
            ahead, labels = torch.zeros(self.shape, dtype=torch.uint8).to("cuda"), self.labels().to("cuda")
            ahead = ahead.to(torch.float32).sub_(0.5).div_(0.5)
            if before is not None:
                yield before
            before = ahead, labels


def create_loader(dataset, input_size, batch_size, is_training=False, use_prefetcher=True, **options):
    channels, edge = (input_size[-3], input_size[-1]) if isinstance(input_size, (tuple, list)) else (3, input_size)
    shape = (batch_size, channels, edge, edge)
    return PrefetchLoader(dataset, shape) if use_prefetcher else _Loader(dataset, shape)


class Mixup:
    """Mixed pairs of a batch: the targets become shares of the classes."""

    def __init__(self, mixup_alpha=1.0, cutmix_alpha=0.0, num_classes=1000, **options):
        self.num_classes = num_classes

    def __call__(self, x, target):
        mixed = torch.zeros(x.shape[0], self.num_classes, device=x.device)
        flipped = x.flip(0).mul_(0.5)
        x.mul_(0.5).add_(flipped)
        return x, mixed
