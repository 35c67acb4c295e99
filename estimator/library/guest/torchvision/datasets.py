"""``torchvision.datasets``: an image and its label, through the transform that the script gives."""

import torch
from preflight_host import column_of, image, mask
from torch.utils.data import Dataset


class VisionDataset(Dataset):
    """One image; its size is None where the files decide it."""

    size = None
    channels = 3
    masked = False
    length = 50000
    categories = 10

    def __init__(self, root=None, *args, transform=None, target_transform=None, transforms=None, **options):
        self.root = root
        self.transform = transform if transform is not None else next((each for each in args if callable(each)), None)
        self.target_transform = target_transform
        self.transforms = transforms
        self.classes = [str(index) for index in range(self.categories)]
        self.class_to_idx = {name: index for index, name in enumerate(self.classes)}
        self.targets = [0] * 10
        self.samples = self.imgs = [("image", 0)]

    @property
    def data(self):
        """All images at once, as the data sets of small images keep them."""
        shape = (self.length, self.size, self.size)
        return torch.zeros(shape if self.channels == 1 else shape + (self.channels,), dtype=torch.uint8)

    def __getitem__(self, index):
        sample = image(self.channels, self.size)
        target = mask() if self.masked else 0
        if self.transforms is not None:
            return self.transforms(sample, target)
        if self.transform is not None:
            sample = self.transform(sample)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return sample, target

    def __len__(self):
        return self.length


class ImageFolder(VisionDataset):
    pass


DatasetFolder = ImageFolder


class ImageNet(VisionDataset):
    length = 1281167
    categories = 1000


class CIFAR10(VisionDataset):
    size = 32


class CIFAR100(VisionDataset):
    size = 32
    categories = 100


class SVHN(VisionDataset):
    size = 32
    length = 73257


class STL10(VisionDataset):
    size = 96
    length = 5000


class MNIST(VisionDataset):
    size = 28
    channels = 1
    length = 60000

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.targets = torch.zeros(self.length, dtype=torch.int64)


class FashionMNIST(MNIST):
    pass


class KMNIST(MNIST):
    pass


class EMNIST(MNIST):
    pass


class CelebA(VisionDataset):
    length = 162770


class LSUN(VisionDataset):
    length = 3000000


class Food101(VisionDataset):
    length = 75750
    categories = 101


class OxfordIIITPet(VisionDataset):
    length = 3680
    categories = 37


class VOCSegmentation(VisionDataset):
    length = 1464
    categories = 21
    masked = True


class SBDataset(VOCSegmentation):
    length = 8498


class CocoCaptions(VisionDataset):
    """Pictures, each with five captions."""

    length = 118287

    def __init__(self, root=None, annFile=None, transform=None, target_transform=None, transforms=None):
        super().__init__(root, transform=transform, target_transform=target_transform, transforms=transforms)

    def __getitem__(self, index):
        sample = image(self.channels, self.size)
        captions = [column_of({}, "caption") for _ in range(5)]
        if self.transform is not None:
            sample = self.transform(sample)
        return sample, captions if self.target_transform is None else self.target_transform(captions)


class Flickr8k(CocoCaptions):
    length = 6000


class Flickr30k(CocoCaptions):
    length = 31783


class Flowers102(VisionDataset):
    length = 1020
    categories = 102


class FakeData(VisionDataset):
    def __init__(self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, target_transform=None, random_offset=0):
        super().__init__(transform=transform, target_transform=target_transform)
        self.length = size
        self.channels = image_size[0]
        self.size = image_size[1]
