"""A remedy that is one line of the diff is suggested there; the estimator itself says whether the line helps."""

from __future__ import annotations

import pytest

from analysis.settings import Settings
from analysis.snapshot import Snapshot
from bot.review.compute import review
from bot.review.diff import Diff, Hunk
from bot.review.inline import inline_review
from bot.review.marker import Signer
from bot.review.memory_suggestion import memory_paths, memory_suggestions
from bot.review.result import Review
from estimator.estimate import Verdict
from estimator.request import Request
from estimator.run import estimate

CODE = """\
import torch
from torch import nn

BATCH_SIZE = 16
model = nn.Sequential(nn.Linear(4096, 16384), nn.GELU(), nn.Linear(16384, 4096)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(100):
    optimizer.zero_grad()
    batch = torch.randn(BATCH_SIZE, 1024, 4096).cuda()
    loss = model(batch).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
LARGER = CODE.replace("BATCH_SIZE = 16", "BATCH_SIZE = 256")
SETTINGS = Settings(gpus=("A100-40GB",))
WHOLE = Diff({"train.py": (Hunk(1, 12),)})
SIGNER = Signer((b"secret",), "octo/train#1")


def compared(head: str) -> Review:
    return review(Snapshot.of({"train.py": CODE.encode()}), Snapshot.of({"train.py": head.encode()}), SETTINGS)


@pytest.fixture(scope="module")
def found() -> Review:
    return compared(LARGER)


def suggested(found: Review, diff: Diff = WHOLE, content: str = LARGER) -> list[str]:
    made = memory_suggestions(found, SETTINGS.memory_threshold, diff, {"train.py": content.encode()})
    return [each.replacement.text for each in made]


def test_the_line_that_makes_it_fit(found: Review) -> None:
    assert memory_paths(found) == {"train.py"}
    (line,) = suggested(found)
    fitting = LARGER.replace("BATCH_SIZE = 256\n", line)
    (estimated, *_) = estimate(Snapshot.of({"train.py": fitting.encode()}), Request(entry="train.py", gpus=SETTINGS.gpus))
    assert [fit.verdict for fit in estimated.fits] == [Verdict.FITS]


def test_nothing_where_the_line_is_not_in_the_diff_or_says_it_twice(found: Review) -> None:
    assert suggested(found, Diff({"train.py": (Hunk(9, 12),)})) == []
    assert suggested(found, content=LARGER.replace("BATCH_SIZE = 256", "BATCH_SIZE = 256 if big else 256")) == []
    assert suggested(found, content=LARGER.replace("\n", "\r\n")) == []


def test_nothing_where_it_fits_or_nothing_moved() -> None:
    assert suggested(compared(CODE.replace("BATCH_SIZE = 16", "BATCH_SIZE = 17"))) == []
    assert suggested(compared(CODE + "print('done')\n")) == []


def test_the_comment_says_what_to_mind(found: Review) -> None:
    memory = memory_suggestions(found, SETTINGS.memory_threshold, WHOLE, {"train.py": LARGER.encode()})
    posted = inline_review((), WHOLE, {}, SIGNER, "a" * 40, (), memory)
    assert posted is not None
    (comment,) = posted.comments
    assert (comment.path, comment.first, comment.last) == ("train.py", 4, 4)
    assert "```suggestion\nBATCH_SIZE = " in comment.body
    assert "samples instead of 256" in comment.body
    again = inline_review((), WHOLE, {}, SIGNER, "b" * 40, list(SIGNER.facts("finding", comment.body)), memory)
    assert again is None
