"""A program that asks which release it runs with is answered as the newest would, or as its requirements say."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.domain import World
from analysis.library.entries import Entry
from analysis.library.rehearsal import SHORT
from analysis.library.running import run
from analysis.snapshot import Snapshot

PROGRAM = """
from importlib.metadata import version as version_of

import torch
from packaging import version
from packaging.version import Version


def compared(library, wanted):
    installed = Version(version_of(library))
    return -1 if installed < Version(wanted) else 0 if installed == Version(wanted) else 1


r = [
    version.parse(torch.__version__) >= version.parse("1.10"),
    version.parse("1.6") <= version.parse(torch.__version__.split("+")[0]),
    version.parse(torch.__version__) == version.parse("2.6"),
    compared("torch", "2.6.0"),
    compared("transformers", "4.30"),
]
if compared("transformers", "4.0") < 0:
    raise ImportError("too old")
"""


@pytest.mark.parametrize(
    ("requirements", "expected"),
    [
        ("", [True, True, False, 1, 1]),
        ("torch>=1.7\n", [True, True, False, 1, 1]),
        ("torch==1.8.1\n", [False, True, False, -1, 1]),
        ("transformers<4.20\n", [True, True, False, 1, -1]),
    ],
)
def test_versions_are_compared(requirements: str, expected: list[object]) -> None:
    snapshot = Snapshot.of({"train.py": PROGRAM.encode(), "requirements.txt": requirements.encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"), World(flags=False), {}, SHORT)
    assert ended is not None
    assert ended.machine.loaded["train.py"].vars["r"] == expected
    assert not ended.raised
    assert not ended.domain.decided_flags


ORDERED = """
from packaging.version import Version

r = [
    Version("1.10") > Version("1.9"), Version("1.6.0") == Version("1.6"), Version("2") >= Version("2.0.1"),
    Version("v1.2+cu118") <= Version("1.2.1"), Version("2.3.1").major, Version("2.3.1").minor, Version("1.9") != Version("1.9.0"),
]
"""


def test_releases_that_are_named_are_ordered_as_by_packaging() -> None:
    expected: dict[str, object] = {}
    exec(ORDERED, expected)  # our own program, the judge being the library
    snapshot = Snapshot.of({"train.py": ORDERED.encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"), World(), {}, SHORT)
    assert ended is not None
    assert ended.machine.loaded["train.py"].vars["r"] == expected["r"]
