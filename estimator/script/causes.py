"""What widens a run's interval: each thing that is not known of the run, by name, and the bytes it may add or save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.snapshot import Snapshot
from estimator.interval import Cause
from estimator.request import Request
from estimator.script.pins import pinned_version
from estimator.script.run import Run, run_script
from estimator.tape.events import Allocated, Entered, Event, Freed, Phase
from estimator.tape.operations.choosing import ALL_CHOSEN
from estimator.timeline import Timeline, timeline

#: What a padding mask was seen to add to the peak, at most (BERT and GPT-2 with the memory-efficient kernel instead of the flash one):
#: taken where the model's source does not ask the configuration whether batches are padded, so that a second run shows nothing.
_PADDED_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Doubted:
    """A run that can be made again where something of it is in doubt."""

    snapshot: Snapshot
    entry: str
    request: Request
    generation: int
    both_ends: bool

    def run(self, **overrides: Any) -> Run:
        """The run, with these settings changed."""
        request = replace(self.request, overrides={**self.request.overrides, **overrides}) if overrides else self.request
        return run_script(self.snapshot, self.entry, request, self.generation)

    def causes(self, run: Run, played: Timeline) -> Iterator[Cause]:
        """Everything that is in doubt about ``run``, whose events were ``played``."""
        call = run.observed.main
        if call is not None and any(argument.name == "attention_mask" for argument in call.arguments):
            yield self._padding(played)
        cached = self.both_ends and call is not None and call.grad and call.caches and not run.tape.checkpoints
        if cached and not pinned_version(self.snapshot, "transformers"):
            yield from self._cached(played)
        if self.both_ends and ALL_CHOSEN in run.tape.assumptions:
            below = played.allocated - timeline(self.run(few_chosen=True).tape.events).allocated
            yield Cause("how many elements a condition on values chooses: at most all", max(0, below), 0)
        if played.possible > played.allocated:
            yield Cause("whether two gradients of a shared weight are summed in place", 0, played.possible - played.allocated)
        if run.tape.might_be_kept:
            yield Cause("whether recurrent layers run in cuDNN or in PyTorch's own kernels, which keep more", 0, run.tape.might_be_kept)
        kept = _let_go_before_backward(run.tape.events, run.observed.handed_out)
        above = played.phases.get(Phase.BACKWARD, 0) + kept - played.allocated
        if kept and above > 0:
            yield Cause("whether the library's loop lets the model's results go before backward, which depends on its version", 0, above)

    def _padding(self, played: Timeline) -> Cause:
        """The same run with padding in every batch: a mask reaches the attention kernel, and another one runs."""
        other = timeline(self.run(padded_batches=True).tape.events).allocated
        above = other - played.allocated if other != played.allocated else round(played.allocated * _PADDED_SHARE)
        return Cause("whether the texts of a batch are padded", max(0, -above), max(0, above))

    def _cached(self, played: Timeline) -> Iterator[Cause]:
        """The same run without a cache of keys and values: whether training fills one depends on the library's version."""
        below = played.allocated - timeline(self.run(use_cache=False).tape.events).allocated
        if below > 0:
            yield Cause("whether the model copies keys and values into a cache in training, which depends on its version", below, 0)


def _let_go_before_backward(events: Sequence[Event], results: dict[int, int]) -> int:
    """Bytes of ``results`` (sizes by storage) that nothing held any more when the backward after them began."""
    made, gone = False, 0
    for event in events:
        match event:
            case Allocated(key) if key in results:
                made = True
            case Freed(key) if made and key in results:
                gone += results[key]
            case Entered(phase) if made and phase is Phase.BACKWARD:
                return gone
            case _:
                pass
    return 0
