"""``torchvision.transforms``: what each does to an image's size."""

from preflight_host import resized, tensor_of


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, sample):
        for transform in self.transforms:
            sample = transform(sample)
        return sample


class _Same:
    def __init__(self, *args, **options):
        pass

    def __call__(self, sample):
        return sample


class _Sized:
    def __init__(self, size, *args, **options):
        self.size = size

    def __call__(self, sample):
        return resized(sample, self.size)


class RandomResizedCrop(_Sized):
    pass


class CenterCrop(_Sized):
    pass


class RandomCrop(_Sized):
    pass


class Resize(_Sized):
    pass


class ToTensor:
    def __call__(self, sample):
        return tensor_of(sample)


class PILToTensor(ToTensor):
    pass


class Normalize(_Same):
    pass


class RandomHorizontalFlip(_Same):
    pass


class RandomVerticalFlip(_Same):
    pass


class ColorJitter(_Same):
    pass


class RandomRotation(_Same):
    pass


class RandomErasing(_Same):
    pass


class RandAugment(_Same):
    pass


class AutoAugment(_Same):
    pass


class TrivialAugmentWide(_Same):
    pass


class ConvertImageDtype(_Same):
    pass


class Lambda:
    def __init__(self, function):
        self.function = function

    def __call__(self, sample):
        return self.function(sample)
