"""From the tape's log to the peak: how much was allocated, when, as what, and which source line holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from analysis.certainty import Place
from estimator.allocator import CachingAllocator
from estimator.course import course
from estimator.tape.events import Allocated, Became, Entered, Event, Freed, Kind, MightTake, Phase


@dataclass(frozen=True, slots=True)
class Held:
    """What one source line holds at the peak, in bytes; ``place`` is None for what no line of the program made."""

    place: Place | None
    kind: Kind
    bytes: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """The peak of a run. ``allocated`` and ``reserved`` are what ``torch.cuda.max_memory_allocated()`` and ``…_reserved()`` would say, in bytes.

    ``components`` add up to ``allocated``. ``phases`` holds the peak within each phase, ``course`` the way through an iteration, ``holders`` what is
    held at the peak, the largest first; ``possible`` is the peak where everything that might be taken for a moment is.
    """

    allocated: int
    reserved: int
    phase: Phase
    components: dict[Kind, int]
    phases: dict[Phase, int]
    holders: tuple[Held, ...] = field(default=())
    possible: int = 0
    course: tuple[int, ...] = ()


def timeline(events: Sequence[Event]) -> Timeline:
    """Replay the log through the allocator. What an optimizer step makes and leaves behind is its state."""
    allocator = CachingAllocator()
    got: dict[int, int] = {}
    peak, phase, peak_phase = 0, Phase.FORWARD, Phase.FORWARD
    phases: dict[Phase, int] = {}
    possible = 0
    heights: list[int] = []
    ends: list[int] = []
    backwards: list[int] = []
    until, stale = len(events), True  # the events up to the first memory given back after the peak
    for index, event in enumerate(events):
        match event:
            case Allocated(key, size):
                got[key] = allocator.allocate(key, size)
                heights.append(allocator.allocated)
                phases[phase] = max(phases.get(phase, 0), allocator.allocated)
                if allocator.allocated > peak:
                    peak, peak_phase, stale = allocator.allocated, phase, True
            case Freed(key):
                if stale and allocator.allocated == peak:
                    until, stale = index, False
                allocator.free(key)
                heights.append(allocator.allocated)
            case Entered(entered):
                if phase is Phase.OPTIMIZER_STEP is not entered:
                    ends.append(len(heights))
                if entered is Phase.BACKWARD is not phase:
                    backwards.append(len(heights))
                phase = entered
            case MightTake(size):
                possible = max(possible, allocator.allocated + size)
            case _:
                pass
    held = _alive(events if stale else events[:until], got, outliving_a_step(events))
    return Timeline(peak, allocator.peak_reserved, peak_phase, _components(held), phases, _holders(held), max(peak, possible), course(heights, ends, backwards))


def _alive(events: Iterable[Event], got: dict[int, int], states: set[int]) -> list[tuple[int, Kind, Place | None]]:
    """What is alive after these events: the bytes that were handed out, what they hold, and the line that took them."""
    live: dict[int, tuple[int, Kind, Place | None]] = {}
    for event in events:
        match event:
            case Allocated(key, _, kind, place):
                live[key] = (got[key], Kind.OPTIMIZER_STATE if key in states and kind is Kind.TEMPORARY else kind, place)
            case Freed(key):
                del live[key]
            case Became(key, kind) if key in live:
                live[key] = (live[key][0], kind, live[key][2])
            case _:
                pass
    return list(live.values())


def outliving_a_step(events: Iterable[Event]) -> set[int]:
    """Storages made in an optimizer step that are alive when it ends."""
    found: set[int] = set()
    made: set[int] = set()
    phase = Phase.FORWARD
    for event in events:
        match event:
            case Allocated(key) if phase is Phase.OPTIMIZER_STEP:
                made.add(key)
            case Freed(key):
                made.discard(key)
            case Entered(entered):
                if phase is Phase.OPTIMIZER_STEP:
                    found |= made
                    made.clear()
                phase = entered
            case _:
                pass
    return found


def _components(held: Iterable[tuple[int, Kind, Place | None]]) -> dict[Kind, int]:
    sums: Counter[Kind] = Counter()
    for size, kind, _ in held:
        sums[kind] += size
    return dict(sums)


def _holders(held: Iterable[tuple[int, Kind, Place | None]]) -> tuple[Held, ...]:
    sums: Counter[tuple[Place | None, Kind]] = Counter()
    for size, kind, place in held:
        sums[place, kind] += size
    return tuple(Held(place, kind, size) for (place, kind), size in sums.most_common())
