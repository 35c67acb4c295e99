"""Each subject's examples, run in the world alone and read as events."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.entries import Entry
from analysis.library.knowledge import Example, Subject, names, subjects
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.text import signature

EXAMPLES = [pytest.param(example, id=f"{name}-{number}") for name, subject in subjects() for number, example in enumerate(subject.examples)]


def events_of(code: str) -> list[str]:
    snapshot = Snapshot.of({"example.py": code.encode()})
    ended = run(snapshot, index(snapshot), Entry("example.py"))
    assert ended is not None
    assert not ended.domain.failed, ended.domain.failed
    return [signature(event) for event in ended.trace(snapshot, Entry("example.py")).events_in_order()]


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_has_its_events_in_order(example: Example):
    happened = iter(found := events_of(example.code))
    for wanted in example.events:
        assert any(event == wanted or event.partition(" ")[0] == wanted for event in happened), f"no {wanted} in {found}"


def test_names_are_unique_and_classes_have_known_bases():
    known = names()
    for declared in known.classes.values():
        for base in declared.bases:
            assert base in known.classes, f"{declared.dotted} has the base {base}, which nobody registered"


def test_every_subject_that_makes_events_has_an_example():
    without = [name for name, subject in subjects() if isinstance(subject, Subject) and not subject.examples]
    assert {name.rpartition("/")[2] for name in without} <= {"argument_parser.py", "dataclass.py", "functools_contextlib.py"}, without
