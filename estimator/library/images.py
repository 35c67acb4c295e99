"""Pictures on the host: channels and size, as far as a transform or the data set says them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from analysis.interpreter.values import Call, HostFunction, HostValue, Symbol, Value
from estimator.library.arrays import Array
from estimator.tape.device import CPU
from estimator.tape.dtype import FLOAT32, UINT8, Dtype
from estimator.tape.operations.creation import empty
from estimator.tape.run import current
from estimator.tape.tensor import Tensor

if TYPE_CHECKING:
    from estimator.script.domain import TapeDomain

#: The size that most classifiers are trained at (ImageNet); used in the open where no transform sets one.
USUAL_SIZE = 224
#: What is said where an image's own size is asked for and nobody knows it.
SIZE_ASSUMED = f"the size of the images is not known: {USUAL_SIZE} pixels, ImageNet's usual size, are taken"
#: Channels by the mode that a picture is converted to.
_MODES = {"L": 1, "1": 1, "P": 1, "I": 1, "F": 1, "RGB": 3, "YCbCr": 3, "HSV": 3, "LAB": 3, "RGBA": 4, "CMYK": 4}


class Image(HostValue):
    """A picture of ``channels`` × ``height`` × ``width``; None where no transform has set a size."""

    __slots__ = ("channels", "known_height", "known_width")

    def __init__(self, channels: int, height: int | None, width: int | None) -> None:
        self.channels = channels
        self.known_height = height
        self.known_width = width

    def __repr__(self) -> str:
        return "a picture"

    @property
    def height(self) -> Any:
        """The height in pixels; a number that nobody knows where no transform has set one."""
        return current().number("the height of a picture") if self.known_height is None else self.known_height

    @property
    def width(self) -> Any:
        """The width, in the same way."""
        return current().number("the width of a picture") if self.known_width is None else self.known_width

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, as PIL says them; a size that nobody says is taken to be the usual one."""
        if self.known_width is None or self.known_height is None:
            current().assume(SIZE_ASSUMED)
        return self.known_width or USUAL_SIZE, self.known_height or USUAL_SIZE

    @property
    def mode(self) -> str:
        """PIL's word for the channels."""
        return "L" if self.channels == 1 else "RGB"

    def convert(self, mode: Any = "RGB", **_: Any) -> Image:
        """The picture in another mode."""
        return Image(_MODES.get(mode, 3), self.known_height, self.known_width)

    def resize(self, size: Any, resample: Any = None, *_: Any, **__: Any) -> Image:
        """The picture in another size, width first; what is not blended between its places has whole numbers there, one for each."""
        width, height = size
        nearest = resample == 0 or getattr(resample, "dotted", "").endswith("NEAREST")
        return Mask(1, height, width) if nearest else type(self)(self.channels, height, width)

    def crop(self, box: Any) -> Image:
        """A part of the picture."""
        left, top, right, bottom = box
        return Image(self.channels, bottom - top, right - left)

    def copy(self, *_: Any, **__: Any) -> Image:
        """The same picture."""
        return self

    rotate = filter = transpose = thumbnail = copy

    def save(self, *_: Any, **__: Any) -> None:
        """Nothing happens."""

    show = save

    def split(self) -> tuple[Image, ...]:
        """A picture for each channel."""
        return tuple(Image(1, self.known_height, self.known_width) for _ in range(self.channels))

    def close(self) -> None:
        """Nothing happens."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Mask(Image):
    """A picture of whole numbers, one for each place: its transforms change the size alone."""

    __slots__ = ()


def mask(_picture: Any = None) -> Mask:
    """A mask of unknown size."""
    return Mask(1, None, None)


def image(channels: int, size: int | None) -> Image:
    """A square picture."""
    return Image(channels, size, size)


def _opened(*_: Any, **__: Any) -> Image:
    """A picture read from a file: nobody knows its size."""
    return Image(3, None, None)


def _domain(call: Call) -> TapeDomain:
    domain: TapeDomain = call.machine.state["domain"]
    return domain


def _sides(size: Any) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    sides = [side for side in size if isinstance(side, int)]
    return sides[0], sides[-1]


def _resized(call: Call) -> Value:
    """A picture (or tensor of one) brought to a size; the caller's override goes before it."""
    sample, size = call.args
    domain = _domain(call)
    override = domain.request.overrides.get("image_size")
    if override is not None:
        size = override
    elif isinstance(size, Symbol):
        domain.observed.assumed(f"{domain.caller_place('size')}: the size of the images is {domain.said(size)}; set it with --image-size")
        return sample
    height, width = _sides(size)
    domain.observed.fact("image_size", width, None if override is not None else domain.caller_place("size"))
    if isinstance(sample, Tensor):
        return empty(*sample.shape[:-2], height, width, dtype=sample.dtype, device=sample.device)
    if isinstance(sample, Array):
        return Array((height, width, *sample.shape[2:]), sample.dtype)
    if isinstance(sample, Mask):
        return Mask(1, height, width)
    return Image(getattr(sample, "channels", 3), height, width)


def _size_stated(call: Call) -> Value:
    """A transform is given a size: the line is where the size of the images is said."""
    domain, size = _domain(call), call.args[0]
    if isinstance(size, int) or (isinstance(size, (list, tuple)) and size and isinstance(size[-1], int)):
        domain.observed.fact("image_size", _sides(size)[1], domain.caller_place("size"))
    return size


def _tensor_of(call: Call) -> Value:
    return tensor_of(call, call.args[0])


def tensor_of(call: Call, sample: Any, dtype: Dtype = FLOAT32) -> Any:
    """A picture as a tensor, channels first; one of unknown size is taken to have the usual one."""
    if isinstance(sample, Array):
        return empty(*sample.shape[2:], *sample.shape[:2], dtype=dtype, device=CPU)
    if isinstance(sample, Symbol):
        sample = Image(3, None, None)
    if not isinstance(sample, Image):
        return sample
    height, width = _measured(call, sample)
    return empty(sample.channels, height, width, dtype=UINT8 if isinstance(sample, Mask) else dtype, device=CPU)


def _measured(call: Call, sample: Image) -> tuple[int, int]:
    if sample.known_height is not None and sample.known_width is not None:
        return sample.known_height, sample.known_width
    domain = _domain(call)
    override = domain.request.overrides.get("image_size")
    if override is None:
        domain.observed.fact("assumed_image_size", (USUAL_SIZE, SIZE_ASSUMED), None)
    return override or USUAL_SIZE, override or USUAL_SIZE


def _label_image(call: Call) -> Value:
    """A picture as a tensor of numbers: a segmentation's mask."""
    return tensor_of(call, call.args[0], UINT8)


def array_of(call: Call, sample: Image) -> Array:
    """A picture as an array, channels last."""
    height, width = _measured(call, sample)
    return Array((height, width, sample.channels) if sample.channels > 1 else (height, width), UINT8)


def _upright(picture: Any) -> Any:
    """``PIL.ImageOps.exif_transpose``: turned as the camera says, which a picture of unknown size does not show."""
    return picture if isinstance(picture, Image) else _opened()


NAMES: dict[str, Any] = {
    "preflight_host.assumed": lambda sentence: current().assume(sentence),
    "preflight_host.image": image,
    "preflight_host.mask": mask,
    "preflight_host.Mask": Mask,
    "preflight_host.resized": HostFunction("resized", _resized),
    "preflight_host.size_stated": HostFunction("size_stated", _size_stated),
    "preflight_host.tensor_of": HostFunction("tensor_of", _tensor_of),
    "preflight_host.label_image": HostFunction("label_image", _label_image),
    "PIL.Image.open": _opened, "PIL.Image.new": lambda mode, size, *_: Image(_MODES.get(mode, 3), size[1], size[0]), "PIL.Image.fromarray": _opened,
    "PIL.ImageOps.exif_transpose": _upright,
    "torchvision.datasets.folder.default_loader": _opened, "torchvision.datasets.folder.pil_loader": _opened,
}  # fmt: skip
