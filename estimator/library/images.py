"""Images before they are tensors: channels and a size, which a transform may set; one that none sets is assumed."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, HostFunction, HostValue, Value
from estimator.tape.device import CPU
from estimator.tape.operations.creation import empty
from estimator.tape.tensor import Tensor

#: The size that most classifiers are trained at (ImageNet); used in the open where no transform sets one.
USUAL_SIZE = 224


class Image(HostValue):
    """A picture of ``channels`` × ``height`` × ``width``; None where no transform has set a size."""

    __slots__ = ("channels", "height", "width")

    def __init__(self, channels: int, height: int | None, width: int | None) -> None:
        self.channels = channels
        self.height = height
        self.width = width


def image(channels: int, size: int | None) -> Image:
    """A square picture."""
    return Image(channels, size, size)


def _sides(size: Any) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    sides = [side for side in size if isinstance(side, int)]
    return sides[0], sides[-1]


def resized(sample: Any, size: Any) -> Any:
    """A picture (or tensor of one) brought to ``size``."""
    height, width = _sides(size)
    if isinstance(sample, Image):
        return Image(sample.channels, height, width)
    if isinstance(sample, Tensor):
        return empty(*sample.shape[:-2], height, width, dtype=sample.dtype, device=CPU)
    return sample


def _tensor_of(call: Call) -> Value:
    sample = call.args[0]
    if not isinstance(sample, Image):
        return sample
    height, width = sample.height, sample.width
    if height is None or width is None:
        domain = call.machine.state["domain"]
        override = domain.request.overrides.get("image_size")
        height = width = override or USUAL_SIZE
        if override is None:
            domain.observed.fact("assumed_image_size", USUAL_SIZE, None)
    return empty(sample.channels, height, width, device=CPU)


NAMES: dict[str, Any] = {
    "preflight_host.image": image,
    "preflight_host.resized": resized,
    "preflight_host.tensor_of": HostFunction("tensor_of", _tensor_of),
}
