"""``torchvision.transforms.functional``: the same as functions."""

from preflight_host import resized, tensor_of


def resize(image, size, *args, **options):
    return resized(image, size)


center_crop = resize


def crop(image, top, left, height, width):
    return resized(image, (height, width))


def resized_crop(image, top, left, height, width, size, *args, **options):
    return resized(image, size)


def to_tensor(image):
    return tensor_of(image)


pil_to_tensor = to_tensor


def normalize(image, *args, **options):
    return image


hflip = vflip = rotate = adjust_brightness = adjust_contrast = adjust_saturation = adjust_hue = pad = to_pil_image = normalize
