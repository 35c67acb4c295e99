"""A guard for a live model: what its training step will hold on a GPU, told before the first step on any machine.

The only package that imports torch. Parameters, gradients and optimizer state are counted; the step runs on fake CUDA tensors in place of the
model's own, which have shapes and lifetimes and no numbers. The backward is walked, not run: where no GPU is visible PyTorch's engine refuses
CUDA tensors, fake or not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import torch

from estimator.catalog import Gpu, gpu
from estimator.estimate import Interval
from estimator.guard.step import Measured, measure
from estimator.interval import allocated_interval, context_on, peak_interval
from estimator.kernels import SM80

GIB = 1 << 30
_PRECISIONS = {None: None, "fp32": None, "amp-bf16": torch.bfloat16, "amp-fp16": torch.float16}

__all__ = ["BorderlineMemoryWarning", "LightningGuard", "LiveEstimate", "OutOfMemoryAheadError", "TrainerGuard", "VRAMGuard", "check_vram"]


class OutOfMemoryAheadError(RuntimeError):
    """Even the optimistic end of the estimate is more than the device has."""


class BorderlineMemoryWarning(UserWarning):
    """The device's memory lies inside the estimate's interval, or the step could not be followed."""


@dataclass(frozen=True, slots=True)
class LiveEstimate:
    """What a step holds, in bytes. ``interval`` is of the whole process; ``capacity`` is None where no device is named or visible."""

    measured: Measured
    interval: Interval
    capacity: int | None

    @property
    def verdict(self) -> str:
        """``fits``, ``borderline``, ``does_not_fit`` or ``cannot_tell``."""
        if self.capacity is None:
            return "cannot_tell"
        if self.interval.low > self.capacity:
            return "does_not_fit"
        return "fits" if self.interval.high <= self.capacity else "borderline"

    def __str__(self) -> str:
        step = self.measured
        parts = {"parameters": step.parameters, "gradients": step.gradients, "optimizer state": step.optimizer_state, "activations": step.activations}
        held = ", ".join(f"{name} {size / GIB:.2f}" for name, size in parts.items())
        has = "" if self.capacity is None else f"; the device has {self.capacity / GIB:.2f} GiB"
        return f"A training step takes {self.interval.low / GIB:.2f} to {self.interval.high / GIB:.2f} GiB at its peak ({step.peak_at}; {held} GiB){has}."


def check_vram(
    model: Any, optimizer: Any, example: Any, *, loss: Callable[[Any], Any] | None = None, precision: str | None = None, device: str | None = None
) -> LiveEstimate:
    """What one step of ``model`` on ``example`` takes, before it runs.

    ``example``: a batch as the model takes it (a tensor, a tuple of arguments or a mapping of keywords), on any device. ``loss``: of what the model
    returns; without one its own ``loss``, else a sum. ``precision``: ``amp-bf16`` or ``amp-fp16`` where the step runs under autocast. ``device``: a
    GPU of the catalog; without one the visible GPU. Raises ``OutOfMemoryAheadError`` where even the optimistic end is more than it has, warns
    with ``BorderlineMemoryWarning`` in between; ``ValueError`` for an unknown precision, ``UnknownNameError`` for an unknown GPU.
    """
    if precision not in _PRECISIONS:
        raise ValueError(f"precision is {precision!r}; it is one of {', '.join(str(name) for name in _PRECISIONS)}.")
    card = None if device is None else gpu(device)
    generation = _generation(card)
    measured = measure(model, optimizer, example, loss=loss, dtype=_PRECISIONS[precision], generation=generation)
    allocated = allocated_interval(measured.allocated)
    interval = peak_interval(measured.reserved, allocated, (), context_on(card))
    found = LiveEstimate(measured, interval, _capacity(card))
    if found.verdict == "does_not_fit":
        raise OutOfMemoryAheadError(str(found))
    if found.verdict == "borderline":
        warnings.warn(str(found), BorderlineMemoryWarning, stacklevel=2)
    return found


def _generation(card: Gpu | None) -> int:
    capability = card.compute_capability if card is not None else torch.cuda.get_device_capability() if torch.cuda.is_available() else None
    return SM80 if capability is None else capability[0] * 10 + capability[1]


def _capacity(card: Gpu | None) -> int | None:
    if card is not None:
        return card.usable_bytes
    return int(torch.cuda.mem_get_info()[1]) if torch.cuda.is_available() else None


class VRAMGuard:
    """``with VRAMGuard(model, optimizer, example):`` around a training loop: the check runs before its first step. Arguments as of ``check_vram``."""

    def __init__(self, model: Any, optimizer: Any = None, example: Any = None, **options: Any) -> None:
        self.model = model
        self.optimizer = optimizer
        self.example = example
        self.options = options
        self.estimate: LiveEstimate | None = None

    def check(self) -> LiveEstimate:
        """The estimate; raises and warns as ``check_vram`` does."""
        self.estimate = check_vram(self.model, self.optimizer, self.example, **self.options)
        return self.estimate

    def __enter__(self) -> Self:
        self.check()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Nothing was changed, so nothing is put back."""


class _Quiet:
    """Answers every event of a framework that it does not care for by doing nothing."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_") or name in {"setup", "teardown"}:
            return lambda *_, **__: None
        raise AttributeError(name)


class TrainerGuard(_Quiet):
    """A callback for the ``Trainer`` of transformers: checks on the first batch before training begins."""

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, optimizer: Any = None, train_dataloader: Any = None, **_: Any) -> None:
        """The event's signature is the library's."""
        precision = "amp-bf16" if args.bf16 else "amp-fp16" if args.fp16 else None
        check_vram(model, optimizer, _first_batch(train_dataloader), **{"precision": precision, **self.options})


class LightningGuard(_Quiet):
    """A callback for Lightning: checks on the first batch before training begins. The module's ``training_step`` is the step."""

    state_key = "preflight.LightningGuard"

    def state_dict(self) -> dict[str, Any]:
        """Nothing to remember."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Nothing was remembered."""

    def on_train_start(self, trainer: Any, module: Any) -> None:
        """The event's signature is the library's."""
        precision = {"bf16-mixed": "amp-bf16", "16-mixed": "amp-fp16"}.get(str(trainer.precision))
        step = _TrainingStep(module)
        check_vram(step, trainer.optimizers[0], (_first_batch(trainer.train_dataloader), 0), **{"precision": precision, **self.options})


class _TrainingStep(torch.nn.Module):  # type: ignore[misc]
    """A module whose forward is another's training step."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, batch: Any, index: int) -> Any:
        """The loss, or a mapping that holds it."""
        return self.module.training_step(batch, index)


def _first_batch(loader: Any) -> Any:
    """The first batch; the random state that shuffling draws from is put back."""
    before = torch.get_rng_state()
    batch = next(iter(loader))
    torch.set_rng_state(before)
    return batch
