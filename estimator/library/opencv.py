"""OpenCV: pictures as arrays, channels last, of a size that the files decide until something sets one."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, HostFunction, Symbol, Value
from estimator.library.arrays import Array
from estimator.library.images import USUAL_SIZE, Image
from estimator.library.language import domain_of
from estimator.tape.dtype import UINT8

#: Functions that change no size.
_SAME = ("flip", "blur", "GaussianBlur", "medianBlur", "bilateralFilter", "normalize", "LUT")


class Picture(Image):
    """An array read from a picture's file: arithmetic changes no size."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Height, width and channels; a size that nobody says is taken to be the usual one."""
        width, height = self.size
        return (height, width, self.channels) if self.channels > 1 else (height, width)

    def astype(self, *_: Any, **__: Any) -> Picture:
        """The same in another type."""
        return self

    __add__ = __sub__ = __mul__ = __truediv__ = __getitem__ = astype


def _read(call: Call) -> Value:
    """``cv2.imread``: in colour unless the second argument says grey."""
    grey = call.get(1, "flags") == 0
    return Picture(1 if grey else 3, None, None)


def _converted(call: Call) -> Value:
    """``cv2.cvtColor``: the codes that end in grey leave one channel."""
    picture, code = call.args[0], str(getattr(call.args[1], "dotted", call.args[1]))
    channels = 1 if code.endswith("2GRAY") else 3
    if isinstance(picture, Image):
        return Picture(channels, picture.known_height, picture.known_width)
    if isinstance(picture, Array):
        return Array((*picture.shape[:2], *((3,) if channels > 1 else ())), picture.dtype)
    return Picture(channels, None, None)


def _resized(call: Call) -> Value:
    """``cv2.resize``: width first."""
    return _of_size(call, call.args[0], call.get(1, "dsize"))


def _warped(call: Call) -> Value:
    """``cv2.warpAffine`` and its kin: a transform, then the size, width first."""
    return _of_size(call, call.args[0], call.get(2, "dsize"))


def _bordered(call: Call) -> Value:
    """``cv2.copyMakeBorder``: more rows and columns at each edge."""
    picture = call.args[0]
    edges = [call.get(index, name) for index, name in enumerate(("top", "bottom", "left", "right"), 1)]
    if not isinstance(picture, Array) or not all(isinstance(edge, int) for edge in edges):
        return Symbol("cv2.copyMakeBorder(…)", call.span, call.machine.stamp)
    height, width, *channels = picture.shape
    return Array((height + edges[0] + edges[1], width + edges[2] + edges[3], *channels), picture.dtype)


def _of_size(call: Call, picture: Value, size: Value) -> Value:
    domain = domain_of(call)
    override = domain.request.overrides.get("image_size")
    if override is not None:
        size = (override, override)
    elif not (isinstance(size, (tuple, list)) and all(isinstance(side, int) for side in size)):
        return picture
    width, height = size
    domain.observed.fact("image_size", width, None if override is not None else domain.here(call.span))
    channels = picture.channels if isinstance(picture, Image) else 1 if isinstance(picture, Array) else 3
    if isinstance(picture, Array) and picture.ndim > 2:  # noqa: PLR2004  channels last
        channels = picture.shape[2]
    dtype = picture.dtype if isinstance(picture, Array) else UINT8
    return Array((height, width, channels) if channels > 1 else (height, width), dtype)


def _decoded(_call: Call) -> Value:
    return Picture(3, None, None)


NAMES: dict[str, Any] = {
    "cv2.imread": HostFunction("cv2.imread", _read),
    "cv2.imdecode": HostFunction("cv2.imdecode", _decoded),
    "cv2.cvtColor": HostFunction("cv2.cvtColor", _converted),
    "cv2.resize": HostFunction("cv2.resize", _resized),
    **{f"cv2.{name}": HostFunction(f"cv2.{name}", _warped) for name in ("warpAffine", "warpPerspective")},
    "cv2.copyMakeBorder": HostFunction("cv2.copyMakeBorder", _bordered),
    **{f"cv2.{name}": HostFunction(f"cv2.{name}", lambda call: call.args[0]) for name in _SAME},
    "preflight_host.usual_size": USUAL_SIZE,
    "preflight_host.Picture": Picture,
}
