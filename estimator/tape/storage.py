"""Storages: a stretch of memory whose life is that of the references to it."""

from __future__ import annotations

from estimator.tape.device import Device
from estimator.tape.events import Kind
from estimator.tape.run import Tape


class Storage:
    """``size`` bytes on ``device``. Python's own reference count is the guest's: when it ends, the memory is freed.

    ``aliases`` counts the tensors over it: autograd adds into a gradient in place only if it is the only one.
    """

    __slots__ = ("__weakref__", "_tape", "aliases", "device", "key", "size")

    def __init__(self, tape: Tape, size: int, device: Device) -> None:
        self._tape = tape
        self.size = size
        self.device = device
        self.aliases = 0
        #: None where nothing is counted: in host memory, or without elements.
        self.key: int | None = tape.allocate(size) if size and device.counted else None

    def became(self, kind: Kind) -> None:
        """Say what this memory turned out to hold."""
        if self.key is not None:
            self._tape.became(self.key, kind)

    def resize(self, size: int) -> None:
        """Give the memory back and take ``size`` bytes."""
        if self.key is not None:
            self._tape.free(self.key)
        self.size = size
        self.key = self._tape.allocate(size) if size and self.device.counted else None

    def __deepcopy__(self, memo: object) -> Storage:
        raise TypeError("a storage is copied with its tensor")

    def __del__(self) -> None:
        if self.key is not None:
            self._tape.free(self.key)
