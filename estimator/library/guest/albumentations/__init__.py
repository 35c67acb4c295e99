"""``albumentations``: what its transforms do to the size of a picture; all others leave it as it is."""

from preflight_host import resized, size_stated


class _Transform:
    """Leaves the size as it is."""

    def __init__(self, *args, **options):
        pass

    def apply(self, picture):
        return picture

    def __call__(self, image=None, mask=None, **others):
        made = {"image": self.apply(image), **others}
        if mask is not None:
            made["mask"] = self.apply(mask)
        return made


class Resize(_Transform):
    def __init__(self, height=None, width=None, **options):
        self.size = (height, height if width is None else width)

    def apply(self, picture):
        return resized(picture, self.size)


CenterCrop = RandomCrop = Resize


class RandomResizedCrop(Resize):
    def __init__(self, size=None, width=None, height=None, **options):
        if isinstance(size, (tuple, list)):
            height, width = size
        elif isinstance(size, int):
            height, width = size, width
        super().__init__(height, width)


RandomSizedCrop = RandomResizedCrop


class PadIfNeeded(Resize):
    def __init__(self, min_height=1024, min_width=1024, **options):
        super().__init__(min_height, min_width)


class Compose(_Transform):
    def __init__(self, transforms, *args, **options):
        self.transforms = transforms

    def __call__(self, **data):
        for transform in self.transforms:
            data = transform(**data)
        return data


class OneOf(_Transform):
    pass


Sequential = Compose
SomeOf = OneOf


def __getattr__(name):
    return _Transform
