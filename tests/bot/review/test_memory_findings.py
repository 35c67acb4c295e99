"""Memory as findings of a review: introduced, fixed, already there, silenced, left out."""

from __future__ import annotations

from dataclasses import replace

from analysis.settings import Settings
from analysis.snapshot import Snapshot
from bot.review.compute import review
from bot.review.result import Review
from bot.review.review_json import review_from_json, review_to_json
from bot.sources.release import LocalShelf
from bot.worker.tasks import sarif_task
from bot.worker.wire import Task

TRAIN = """\
import torch
from torch import nn

torch.manual_seed(0)
BATCH = {batch}
model = nn.Sequential(nn.Linear(4096, 65536), nn.ReLU(), nn.Linear(65536, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(100):
    optimizer.zero_grad()
    x = torch.randn(BATCH, 4096, device="cuda")
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
"""
SETTINGS = Settings(gpus=("T4",))


def snapshot(commit: str, batch: int, comment: str = "") -> Snapshot:
    text = TRAIN.format(batch=batch).replace(f"BATCH = {batch}", f"BATCH = {batch}{comment}")
    return Snapshot.of({"train.py": text.encode()}, commit * 40)


def names(found: Review) -> tuple[list[str], list[str], list[str]]:
    return [each.rule for each in found.introduced], [each.rule for each in found.fixed], [each.rule for each in found.existing]


SMALL, LARGE, LARGER = snapshot("a", 8), snapshot("b", 40_000), snapshot("c", 50_000)


def test_a_run_that_no_longer_fits_is_introduced_then_there_then_fixed() -> None:
    broken = review(SMALL, LARGE, SETTINGS)
    assert names(broken) == (["projected-oom"], [], [])
    assert (broken.introduced[0].path, broken.introduced[0].line) == ("train.py", 5)
    assert broken.introduced[0].fingerprint
    assert review_from_json(review_to_json(broken)) == broken
    worse = review(LARGE, LARGER, SETTINGS)
    assert names(worse) == ([], [], ["projected-oom"])
    assert names(review(LARGE, SMALL, SETTINGS)) == ([], ["projected-oom"], [])


def test_without_cards_growth_is_a_warning() -> None:
    found = review(SMALL, LARGE, Settings())
    assert names(found) == (["memory-regression"], [], [])
    assert names(review(LARGE, SMALL, Settings())) == ([], [], [])


def test_both_are_selected_ignored_and_silenced_like_other_rules() -> None:
    assert names(review(SMALL, LARGE, replace(SETTINGS, ignore=("projected-oom", "memory-regression")))) == ([], [], [])
    assert names(review(SMALL, LARGE, replace(SETTINGS, select=("missing-zero-grad",)))) == ([], [], [])
    silenced = review(SMALL, snapshot("b", 40_000, "  # preflight: ignore[projected-oom] runs on the big cluster"), SETTINGS)
    assert names(silenced) == ([], [], [])
    assert silenced.suppressed == ("projected-oom",)
    assert review_from_json(review_to_json(silenced)) == silenced


def test_code_scanning_hears_of_it_with_a_place() -> None:
    configuration = {".preflight.toml": b'gpus = ["T4"]\n'}
    log = sarif_task(Task("sarif", LARGE, LARGE, configuration), LocalShelf())["sarif"]
    assert isinstance(log, dict)
    run = log["runs"][0]
    (result,) = [each for each in run["results"] if each["ruleId"] == "projected-oom"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "projected-oom"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "train.py"
