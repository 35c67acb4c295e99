"""``torchvision.transforms``: what each does to an image's size."""

import torch
from preflight_host import label_image, resized, size_stated, tensor_of, unknown_number


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, *sample):
        for transform in self.transforms:
            sample = transform(*sample)
            if not isinstance(sample, tuple):
                sample = (sample,)
        return sample[0] if len(sample) == 1 else sample


class RandomApply(Compose):
    def __init__(self, transforms, p=0.5):
        self.transforms = transforms


class RandomOrder(Compose):
    pass


class RandomChoice(Compose):
    def __init__(self, transforms, p=None):
        self.transforms = [transforms[0]]


class _Same:
    """What changes an image's content and not its size."""

    def __init__(self, *args, **options):
        pass

    def __call__(self, *sample):
        return sample[0] if len(sample) == 1 else sample


class _Sized:
    def __init__(self, size, *args, **options):
        self.size = size_stated(size)

    def __call__(self, *sample):
        made = tuple(resized(each, self.size) for each in sample)
        return made[0] if len(made) == 1 else made


class RandomResizedCrop(_Sized):
    pass


class CenterCrop(_Sized):
    pass


class RandomCrop(_Sized):
    @staticmethod
    def get_params(image, output_size):
        """Where a crop begins, which only the run can tell, and its size."""
        return unknown_number("the top of a crop"), unknown_number("the left of a crop"), output_size[0], output_size[1]


class Resize(_Sized):
    pass


class RandomSizedCrop(_Sized):
    pass


class FiveCrop(_Sized):
    def __call__(self, sample):
        return tuple(resized(sample, self.size) for _ in range(5))


class ToTensor:
    def __call__(self, *sample):
        made = tuple(tensor_of(each) for each in sample)
        return made[0] if len(made) == 1 else made


class ToImage(ToTensor):
    pass


class PILToTensor:
    def __call__(self, sample):
        return label_image(sample)


class ToDtype:
    def __init__(self, dtype, scale=False):
        self.dtype = dtype

    def converted(self, sample):
        whole = isinstance(sample, torch.Tensor) and sample.dtype == torch.uint8 and sample.shape[0] == 1
        return sample.to(self.dtype) if isinstance(sample, torch.Tensor) and not whole else sample

    def __call__(self, *sample):
        if len(sample) == 1:
            return sample[0].to(self.dtype) if isinstance(sample[0], torch.Tensor) else sample[0]
        return tuple(self.converted(each) for each in sample)


class ConvertImageDtype(ToDtype):
    pass


class Grayscale:
    def __init__(self, num_output_channels=1):
        self.channels = num_output_channels

    def __call__(self, sample):
        if isinstance(sample, torch.Tensor):
            return sample[: self.channels]
        return sample.convert("L" if self.channels == 1 else "RGB")


class Lambda:
    def __init__(self, function):
        self.function = function

    def __call__(self, sample):
        return self.function(sample)


class ToPILImage(_Same):
    pass


Normalize = RandomHorizontalFlip = RandomVerticalFlip = ColorJitter = RandomRotation = RandomErasing = RandAugment = AutoAugment = _Same
TrivialAugmentWide = AugMix = GaussianBlur = RandomGrayscale = RandomAffine = RandomPerspective = RandomAdjustSharpness = RandomAutocontrast = _Same
RandomEqualize = RandomInvert = RandomPosterize = RandomSolarize = Pad = Solarize = RandomPhotometricDistort = _Same


class AutoAugmentPolicy:
    IMAGENET = CIFAR10 = SVHN = "policy"


class InterpolationMode:
    NEAREST = BILINEAR = BICUBIC = BOX = HAMMING = LANCZOS = NEAREST_EXACT = "interpolation"
