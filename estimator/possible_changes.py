"""Changes that could make a run fit: each is a set of settings to estimate anew, with what it costs in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from analysis.certainty import Certainty, Unknown
from estimator.catalog import Gpu
from estimator.config import TrainingConfig
from estimator.estimate import Memory
from estimator.fit import interval_on

T = TypeVar("T")

#: Overrides by field of ``TrainingConfig``; ``gpu`` names another card.
Overrides: TypeAlias = Mapping[str, Any]

#: bf16 runs natively from this compute capability on; below it, autocast is better off with fp16.
_BF16_FROM = (8, 0)
_WITH_STATE = ("adam", "adamw")


@dataclass(frozen=True, slots=True)
class Change:
    """Something to try. Of changes of one ``kind`` only the best is shown; ``price`` orders kinds from free to dear."""

    kind: str
    title: str
    overrides: Overrides
    cost: str
    price: int


def candidates(config: TrainingConfig, gpu: Gpu | None = None) -> tuple[Change, ...]:
    """What may help a run of this configuration, the cheapest first; smaller micro-batches from the largest down."""
    found = [*_attention(config), *_precision(config, gpu), *_optimizer(config), *_micro_batch(config), *_checkpointing(config), *_sharding(config)]
    return tuple(sorted(found, key=lambda change: change.price))


def bigger_card(memory: Memory, cards: Iterable[Gpu]) -> Change | None:
    """The card of ``cards`` with the least memory on which the run fits as it is; None where there is none."""
    roomy = [card for card in cards if interval_on(memory, card).high <= card.usable_bytes]
    if not roomy:
        return None
    card = min(roomy, key=lambda one: one.usable_bytes)
    return Change("card", f"Run it on {card.name}", _overrides(gpu=card.name), "Another machine; the code stays as it is.", 90)


def joined(changes: list[Change]) -> Change:
    """Several changes at once."""
    overrides: dict[str, Any] = {}
    for change in changes:
        overrides |= change.overrides
    titles = [changes[0].title, *(change.title[0].lower() + change.title[1:] for change in changes[1:])]
    costs = " ".join(change.cost for change in changes)
    return Change("together", ", and ".join(titles), _overrides(**overrides), costs, sum(change.price for change in changes))


def _overrides(**settings: Any) -> Overrides:
    return MappingProxyType(settings)


def _value(setting: Certainty[T]) -> T | None:
    return None if isinstance(setting, Unknown) else setting.value


def _attention(config: TrainingConfig) -> Iterable[Change]:
    if _value(config.attention) == "eager":
        cost = "None: faster, and the same result up to rounding."
        yield Change("attention", 'Attention by scaled_dot_product_attention (attn_implementation="sdpa")', _overrides(attention="sdpa"), cost, 0)


def _precision(config: TrainingConfig, gpu: Gpu | None) -> Iterable[Change]:
    if _value(config.precision) != "fp32":
        return
    capability = gpu.compute_capability if gpu else None
    if capability is not None and capability < _BF16_FROM:
        cost = "Activations in 16 bits and faster matrix products; needs a GradScaler, and losses may differ slightly."
        yield Change("precision", "fp16 autocast with a GradScaler", _overrides(precision="amp-fp16"), cost, 10)
        return
    cost = "Activations in 16 bits and faster matrix products; losses may differ slightly."
    yield Change("precision", "bf16 autocast", _overrides(precision="amp-bf16"), cost, 10)


def _optimizer(config: TrainingConfig) -> Iterable[Change]:
    name = _value(config.optimizer)
    if name not in _WITH_STATE:
        return
    fused = "None: faster, without the temporary copy of all gradients."
    yield Change("fused-optimizer", f"The fused {name} (fused=True)", _overrides(optimizer=f"{name}-fused"), fused, 1)
    small = "Optimizer state quantised to 8 bits: another package (bitsandbytes), and convergence should be watched."
    yield Change("8-bit-optimizer", f"8-bit {name}", _overrides(optimizer=f"{name}-8bit"), small, 40)


def _micro_batch(config: TrainingConfig) -> Iterable[Change]:
    batch, steps = _value(config.batch_size), _value(config.accumulation_steps)
    if batch is None or steps is None:
        return
    for smaller in _micro_batches(batch):
        accumulation = steps * batch // smaller
        cost = "More, smaller kernels. The gradient stays the same, except through what counts per batch (BatchNorm)."
        title = f"Batch size {smaller} with {accumulation} accumulation steps: {batch * steps} samples a step as before"
        yield Change("micro-batch", title, _overrides(batch_size=smaller, accumulation_steps=accumulation), cost, 20)


def _micro_batches(batch: int) -> list[int]:
    """Smaller batches that divide this one: halves while it is even, and 1; the largest first."""
    sizes = []
    half = batch
    while half % 2 == 0 and half > 1:
        half //= 2
        sizes.append(half)
    if batch > 1 and 1 not in sizes:
        sizes.append(1)
    return sizes


def _checkpointing(config: TrainingConfig) -> Iterable[Change]:
    if _value(config.checkpointing) is False:
        cost = "Every block's forward runs twice: about a third more compute a step. The result is the same."
        yield Change("checkpointing", "Gradient checkpointing", _overrides(checkpointing=True), cost, 30)


def _sharding(config: TrainingConfig) -> Iterable[Change]:
    devices = _value(config.devices)
    if devices is not None and devices > 1 and _value(config.sharding) in {"none", "ddp"}:
        cost = "Parameters are gathered layer by layer: more traffic between the cards."
        yield Change("sharding", f"Shard parameters, gradients and optimizer state over the {devices} devices (FSDP)", _overrides(sharding="fsdp"), cost, 50)
