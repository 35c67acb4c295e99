"""What a run was configured to do: each field Known, Assumed or Unknown, with the place it was read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from analysis.certainty import Certainty, Known, Unknown

_NOT_READ: Unknown = Unknown("the source does not say")


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """One configuration of one entry point. Sizes are per device; ``precision`` is e.g. "fp32", "bf16", "amp-bf16", "amp-fp16".

    ``quantization`` is how the frozen weights of linear layers are packed: "nf4", "fp4", "int8" or "none".
    """

    model: Certainty[str] = _NOT_READ
    batch_size: Certainty[int] = _NOT_READ
    sequence_length: Certainty[int] = _NOT_READ
    image_size: Certainty[int] = _NOT_READ
    precision: Certainty[str] = Known("fp32")
    quantization: Certainty[str] = Known("none")
    optimizer: Certainty[str] = _NOT_READ
    checkpointing: Certainty[bool] = Known(value=False)
    attention: Certainty[str] = _NOT_READ
    devices: Certainty[int] = Known(1)
    sharding: Certainty[str] = Known("none")
    accumulation_steps: Certainty[int] = Known(1)

    def items(self) -> list[tuple[str, Certainty[Any]]]:
        """Field names and values, in the order shown to people."""
        return [(field.name, getattr(self, field.name)) for field in fields(self)]
