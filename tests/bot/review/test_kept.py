"""What a review leaves spares the next one of the same repository the base, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.settings import Settings
from analysis.snapshot import Snapshot
from bot.review import pairs
from bot.review.compute import review
from bot.review.kept import Kept, merged
from bot.review.pairs import remember
from bot.sources.release import LocalShelf
from estimator.estimate import Estimate
from estimator.request import Request
from tests.bot.review.test_compute import MODEL, SETTINGS, TRAIN, snapshot
from tests.bot.sources.test_release import stocked

BASE = snapshot("b", model=MODEL, train=TRAIN)
HEAD = snapshot("a", model=MODEL, train=TRAIN.replace("BATCH = 8", "BATCH = 16"))
OTHER = snapshot("d", model=MODEL, train=TRAIN.replace("BATCH = 8", "BATCH = 32"))


@pytest.fixture
def estimated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commits of which something was estimated, one entry each time."""
    commits: list[str] = []
    estimate = pairs.estimate

    def counted(commit: Snapshot, request: Request) -> tuple[Estimate, ...]:
        commits.append(commit.commit[:1])
        return estimate(commit, request)

    monkeypatch.setattr(pairs, "estimate", counted)
    return commits


def test_the_second_pull_request_does_not_estimate_the_base_again(estimated: list[str]) -> None:
    first = Kept()
    review(BASE, HEAD, SETTINGS, kept=first)
    second = Kept.read(merged(b"", json.loads(json.dumps(first.added()))))
    found = review(BASE, OTHER, SETTINGS, kept=second)
    assert estimated == ["a", "b", "d"]
    assert found == review(BASE, OTHER, SETTINGS)
    assert set(second.facts) > set(first.facts)


def test_a_push_estimates_what_pull_requests_start_from(estimated: list[str]) -> None:
    kept = Kept()
    remember(BASE, SETTINGS, kept)
    review(BASE, HEAD, SETTINGS, kept=Kept.read(merged(b"", kept.added())))
    assert estimated == ["b", "a"]


@pytest.mark.parametrize(
    ("base", "settings"),
    [
        (snapshot("b", model=MODEL.replace("4096", "2048"), train=TRAIN), SETTINGS),
        (snapshot("b", model=MODEL, train=TRAIN, torchvision="value = 1\n"), SETTINGS),
        (BASE, Settings(gpus=("A100-80GB",), select=SETTINGS.select)),
    ],
    ids=["another model", "another path", "another card"],
)
def test_what_looks_otherwise_is_estimated_anew(estimated: list[str], base: Snapshot, settings: Settings) -> None:
    kept = Kept()
    remember(BASE, SETTINGS, kept)
    estimated.clear()
    review(base, HEAD, settings, kept=kept)
    assert estimated == ["a", "b"]


def test_other_releases_of_libraries_are_another_estimate(estimated: list[str], tmp_path: Path) -> None:
    first = Kept()
    remember(BASE, SETTINGS, first, LocalShelf(stocked(tmp_path, "1.0.2")))
    raw = merged(b"", json.loads(json.dumps(first.added())))
    review(BASE, HEAD, SETTINGS, kept=Kept.read(raw), shelf=LocalShelf(tmp_path))
    assert estimated == ["b", "a"]
    stocked(tmp_path, "1.1.0")
    review(BASE, HEAD, SETTINGS, kept=Kept.read(raw), shelf=LocalShelf(tmp_path))
    assert estimated == ["b", "a", "a", "b"]


def test_facts_of_files_that_did_not_change_are_not_gathered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()
    remember(BASE, SETTINGS, kept)
    gathered: list[str] = []
    monkeypatch.setattr("analysis.facts.facts_of", lambda file: gathered.append(file.path))
    remember(BASE, SETTINGS, Kept.read(merged(b"", kept.added())))
    assert gathered == []


def test_what_is_none_of_ours_counts_as_nothing() -> None:
    for raw in (b"", b"{", b'{"facts": {"a": 1}}', b'{"seen": [{}]}'):
        assert Kept.read(raw).added() == {}
