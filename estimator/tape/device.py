"""Devices: memory is counted on ``cuda`` only; everything else is host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeAlias

from analysis.interpreter.values import HostValue

if TYPE_CHECKING:
    from estimator.tape.run import Tape


class Device(HostValue):
    """``torch.device``: "cuda", "cuda:0", ("cuda", 0) or another device."""

    __slots__ = ("index", "type")

    def __init__(self, type: str | int | Device, index: int | None = None) -> None:  # noqa: A002  PyTorch's name for it
        match type:
            case Device():
                self.type: str = type.type
                self.index: int | None = type.index
            case int():
                self.type, self.index = "cuda", type
            case _:
                name, _, number = type.partition(":")
                self.type, self.index = name, int(number) if number else index

    @property
    def counted(self) -> bool:
        """Whether storages on it are what the estimate is about."""
        return self.type == "cuda"

    def __enter__(self) -> Self:
        tape = _tape()
        tape.devices_before.append(tape.default_device)
        tape.default_device = as_device(self)
        return self

    def __exit__(self, *_: object) -> None:
        tape = _tape()
        tape.default_device = tape.devices_before.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.type == other.type and (self.index or 0) == (other.index or 0)

    def __hash__(self) -> int:
        return hash((self.type, self.index or 0))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device({str(self)!r})"


def _tape() -> Tape:
    from estimator.tape.run import current  # noqa: PLC0415  the tape knows devices too

    return current()


DeviceLike: TypeAlias = Device | str | int
CPU = Device("cpu")
CUDA = Device("cuda", 0)


def as_device(value: DeviceLike) -> Device:
    """The device that ``value`` names; "cuda" is the current one, 0."""
    device = value if isinstance(value, Device) else Device(value)
    return Device("cuda", 0) if device.type == "cuda" and device.index is None else device
