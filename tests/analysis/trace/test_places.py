"""A finding stands in the deepest frame that its cause and its effect share, and never in a library's imagined source."""

import pytest

from analysis.source import Span
from analysis.trace.events import Context, Event, Kind
from analysis.trace.places import frames, meeting, visible, within

FILES = {"train.py", "evaluate.py"}


def at(path: str, start: int) -> Span:
    return Span(path, start, start + 1)


def event(*way: Span) -> Event:
    return Event(Kind.STEP, way[-1], way[:-1], Context())


CALL, LINE, INSIDE = at("train.py", 10), at("train.py", 20), at("evaluate.py", 30)
SHIM, HOOK = at("<library>/loop.py", 5), at("train.py", 40)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (event(INSIDE), event(LINE), INSIDE),
        (event(CALL, INSIDE), event(LINE), CALL),
        (event(CALL, INSIDE), event(CALL, at("evaluate.py", 50)), INSIDE),
        (event(CALL, SHIM, HOOK), event(CALL, at("<library>/loop.py", 9)), HOOK),
        (event(CALL, SHIM), event(CALL, at("<library>/loop.py", 9)), CALL),
        (event(SHIM), event(LINE), SHIM),
    ],
)
def test_meeting(one, other, expected):
    assert meeting(one, other, FILES) == expected


def test_what_happens_in_a_library_is_seen_at_the_call_that_leads_there():
    assert visible(event(CALL, SHIM), FILES) == CALL
    assert visible(event(CALL, SHIM, HOOK), FILES) == HOOK
    assert frames(event(CALL, SHIM)) == (CALL, SHIM)


def test_an_iteration_holds_the_loops_inside_it():
    assert within(((1, 0), (2, 3)), ((1, 0),))
    assert within(((1, 0),), ((1, 0),))
    assert not within(((1, 1), (2, 3)), ((1, 0),))
    assert not within((), ((1, 0),))
