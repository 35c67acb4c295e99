"""GPUs and the cloud instances that hold them: how much of a card's memory one process can have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from estimator.catalog.names import UnknownNameError, index_by_key, key_of, look_up
from estimator.catalog.stanzas import stanzas

MIB = 1 << 20

#: What a process holds outside PyTorch's allocator (CUDA context, loaded kernels, cuBLAS and cuDNN) where the card's was not measured.
ASSUMED_CONTEXT_BYTES = 450 * MIB


@dataclass(frozen=True, slots=True)
class Gpu:
    """One device as a process sees it. ``usable_bytes``: what that process can have, its context included."""

    name: str
    vendor: str
    architecture: str  # "sm_80", "gfx942"
    memory_bytes: int  # what the card is sold with
    usable_bytes: int
    usable_is_reported: bool  # by the runtime on such a card; otherwise derived from its kin
    context_bytes: int
    context_is_measured: bool
    sources: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    note: str = ""

    @property
    def compute_capability(self) -> tuple[int, int] | None:
        """CUDA's (major, minor); None on a card of another maker."""
        if not self.architecture.startswith("sm_"):
            return None
        digits = self.architecture.removeprefix("sm_")
        return int(digits[:-1]), int(digits[-1])


@dataclass(frozen=True, slots=True)
class Instance:
    """A cloud virtual machine type: ``count`` devices of one ``gpu``."""

    name: str
    provider: str
    gpu: Gpu
    count: int
    source: str


def _gpu_of(entry: dict[str, Any]) -> Gpu:
    context = entry.get("context_mib")
    return Gpu(
        name=entry["name"],
        vendor=entry["vendor"],
        architecture=entry["architecture"],
        memory_bytes=entry["memory_mib"] * MIB,
        usable_bytes=entry["usable_mib"] * MIB,
        usable_is_reported=entry["usable_from"] == "reported",
        context_bytes=ASSUMED_CONTEXT_BYTES if context is None else context * MIB,
        context_is_measured=context is not None,
        sources=tuple(entry["sources"]),
        aliases=tuple(entry.get("aliases", ())),
        note=entry.get("note", ""),
    )


@cache
def gpus() -> tuple[Gpu, ...]:
    """Every card, in the order of the table."""
    return tuple(_gpu_of(entry) for entry in stanzas("gpus.toml", "gpu"))


@cache
def _gpu_index() -> dict[str, Gpu]:
    return index_by_key(((name, card) for card in gpus() for name in (card.name, *card.aliases)), "gpus.toml")


@cache
def instances() -> tuple[Instance, ...]:
    """Every cloud instance type, in the order of the table."""
    return tuple(
        Instance(name, series["provider"], _gpu_index()[key_of(series["gpu"])], count, series["source"])
        for series in stanzas("instances.toml", "series")
        for name, count in series["instances"].items()
    )


@cache
def _instance_index() -> dict[str, Instance]:
    return index_by_key(((_without_prefix(machine.name), machine) for machine in instances()), "instances.toml")


def _without_prefix(name: str) -> str:
    """SageMaker puts ``ml.`` before the instance's name, Azure ``Standard_``; both may be left out."""
    lower = name.lower()
    return lower.removeprefix("ml.").removeprefix("standard_")


def instance(name: str) -> Instance:
    """The instance type called ``name``. Raises ``UnknownNameError``."""
    return look_up(_instance_index(), _without_prefix(name), "instance", (machine.name for machine in instances()), "gpus")


def gpu(name: str) -> Gpu:
    """The card called ``name``, or the card of the instance called so. Raises ``UnknownNameError`` naming the nearest."""
    found = _gpu_index().get(key_of(name))
    if found is not None:
        return found
    machine = _instance_index().get(key_of(_without_prefix(name)))
    if machine is not None:
        return machine.gpu
    return look_up(_gpu_index(), name, "GPU or instance", [card.name for card in gpus()] + [machine.name for machine in instances()], "gpus")


__all__ = ["ASSUMED_CONTEXT_BYTES", "Gpu", "Instance", "UnknownNameError", "gpu", "gpus", "instance", "instances"]
