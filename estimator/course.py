"""How memory rises and falls over one iteration, in as many points as a chart can show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

#: Points of a chart that is still readable in the width of a comment.
_POINTS = 24


def course(heights: Sequence[int], ends: Sequence[int], backwards: Sequence[int] = ()) -> tuple[int, ...]:
    """The most bytes allocated in each of 24 equal stretches of the iteration that holds the peak, () where it is shorter.

    ``heights`` are the bytes after each allocation and release of a run, ``ends`` how many of them there were at the end of each optimizer step,
    ``backwards`` at the beginning of each backward. It begins where memory is lowest before the first of them, behind evaluations in between.
    """
    if not heights:
        return ()
    peak = heights.index(max(heights))
    first = max((end for end in ends if end <= peak), default=0)
    turn = min((begin for begin in backwards if first < begin), default=first)
    lowest = min(heights[first:turn], default=0)
    first += max((place for place, height in enumerate(heights[first:turn]) if height == lowest), default=0)
    last = min((end for end in ends if end > peak), default=len(heights))
    bounds = [first + (last - first) * point // _POINTS for point in range(_POINTS + 1)]
    if last - first < _POINTS:
        return ()
    return tuple(max(heights[start:end]) for start, end in pairwise(bounds))
