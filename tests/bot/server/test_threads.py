"""One thread a finding: found again after any push, and closed when its finding is gone, without losing what people wrote."""

from __future__ import annotations

import pytest

from simulator import Refuse, Repository, Simulator
from tests.bot.server.conftest import TRAIN, reviewed
from tests.bot.server.test_pull_request import BUGGY
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


async def test_moved_lines_keep_their_thread(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (first,) = pull.review_comments
    pull.push({"train.py": "import torch\nimport math\n" + BUGGY})
    await reviewed(repository, pull)
    pull.force_push({"train.py": "import torch\n" + BUGGY + "x = 1\n"})
    await reviewed(repository, pull)
    assert pull.review_comments == (first,)
    assert pull.resolved_threads == {}


async def test_a_thread_that_nobody_answered_goes_with_its_finding(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY + "other = BUG\n"})
    await reviewed(repository, pull)
    pull.push({"train.py": BUGGY})
    await reviewed(repository, pull)
    assert ["total" in comment.body for comment in pull.review_comments] == [True]


async def test_a_thread_that_was_answered_is_answered_and_resolved(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (opener,) = pull.review_comments
    pull.reply(opener.id, "ada", "Is that so?")
    fixed = pull.push({"train.py": BUGGY.replace("BUG", "fixed")})
    await reviewed(repository, pull)
    assert [comment.body.partition("\n")[0] for comment in pull.review_comments[1:]] == ["Is that so?", f"Fixed in {fixed[:7]}."]
    assert list(pull.resolved_threads) == [opener.id]
    pull.push({"train.py": BUGGY.replace("BUG", "fixed") + "x = 1\n"})
    await reviewed(repository, pull)
    assert len(pull.review_comments) == 3
    pull.push({"train.py": BUGGY})
    await reviewed(repository, pull)
    assert len(pull.review_comments) == 4  # it is back, so it is said again


async def test_a_thread_that_somebody_resolved_stays_as_it_is(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (opener,) = pull.review_comments
    pull.resolve_thread(opener.id, user="ada")
    pull.push({"train.py": BUGGY + "x = 1\n"})
    await reviewed(repository, pull)
    pull.push({"train.py": TRAIN + "x = 1\n"})
    await reviewed(repository, pull)
    assert pull.review_comments == (opener,)


async def test_threads_of_others_are_left_alone(github: Simulator, repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    (opener,) = pull.review_comments
    pull.reply(opener.id, "mallory", opener.body)
    pull.push({"train.py": TRAIN})
    await reviewed(repository, pull)
    assert pull.review_comments[1].user.login == "mallory"
    assert len(pull.review_comments) == 3


async def test_training_code_that_is_taken_back_closes_its_threads(repository: Repository) -> None:
    pull = repository.open_pull_request("faster", title="Faster", files={"train.py": BUGGY})
    await reviewed(repository, pull)
    pull.force_push({"README.md": "Trains better.\n"})
    await reviewed(repository, pull)
    assert pull.review_comments == ()
    assert "no longer touches training code" in pull.comments[0].body


async def test_a_line_that_github_refuses_does_not_take_the_others_with_it(github: Simulator) -> None:
    repository = github.create_repository("octo/refused", {"a.py": "pass\n"})
    github.fail_next("POST", r"/reviews$", Refuse(422, "Pull request review thread line must be part of the diff"), times=3)
    pull = repository.open_pull_request("many", title="Many", files={"a.py": "".join(f"x{number} = BUG\n" for number in range(4))})
    await reviewed(repository, pull)
    await until(lambda: repository.check_runs(pull.head_sha)[0].status == "completed")
    on_lines, on_file = pull.review_comments[:3], pull.review_comments[3]  # refused: all four, the first two, the first
    assert ["```suggestion" in comment.body for comment in on_lines] == [True, True, True]
    assert (on_file.anchor.line, on_file.body[:8]) == (None, "Line 1: ")
    assert "```python\nx0 = fixed\n```" in on_file.body
