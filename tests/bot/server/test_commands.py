"""Commands in comments are seen at once, answered once, for those who may give them."""

from __future__ import annotations

import pytest

from simulator import BadGateway, Delay, PullRequest, Refuse, Repository, Simulator
from tests.bot.server.conftest import at_rest, reviewed
from tests.bot.server.test_pull_request import LARGER
from tests.bot.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]


async def opened(repository: Repository) -> PullRequest:
    repository.grant("ada", "write")
    repository.grant("rita", "read")
    pull = repository.open_pull_request("larger", title="Larger", files={"train.py": LARGER})
    await reviewed(repository, pull)
    return pull


def replies(github: Simulator, pull: PullRequest) -> list[str]:
    return [comment.body for comment in pull.comments if comment.user == github.bot and "preflight:reply" in comment.body]


async def test_help_lists_every_command(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    asked = pull.comment("ada", "/preflight help")
    await until(lambda: replies(github, pull))
    (reply,) = replies(github, pull)
    assert "- `/preflight estimate [OPTIONS]`" in reply
    assert "- `/preflight help`" in reply
    (seen,) = [comment for comment in pull.comments if comment.id == asked.id]
    assert [reaction.content for reaction in seen.reactions] == ["eyes"]


async def test_estimate_answers_with_a_table(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    pull.comment("ada", "What about this?\n\n/preflight estimate --gpu T4\n")
    await until(lambda: replies(github, pull))
    assert "is 64.0 GiB: does not fit T4" in replies(github, pull)[0]


async def test_a_wrong_option_is_named(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    pull.comment("ada", "/preflight estimate --no-such-option\n/preflight estimat")
    await until(lambda: replies(github, pull))
    (reply,) = replies(github, pull)
    assert "unknown option" in reply
    assert "There is no command `estimat`" in reply
    assert "estimate" in reply


async def test_who_may_not_write_gets_a_confused_reaction_and_nothing_else(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    for number, person in enumerate(("rita", "a-stranger"), start=1):
        asked = pull.comment(person, "/preflight pause")
        await until(lambda: next(each for each in pull.comments if each.id == asked.id).reactions)  # noqa: B023
        (seen,) = [each for each in pull.comments if each.id == asked.id]
        assert [reaction.content for reaction in seen.reactions] == ["confused"]
        assert len(pull.comments) == 1 + number
    assert replies(github, pull) == []


async def test_who_may_no_longer_write_when_the_turn_has_come_gets_nothing(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    github.fail_next("POST", r"/reactions$", Delay(0.5))
    asked = pull.comment("ada", "/preflight pause")
    await until(lambda: next(each for each in pull.comments if each.id == asked.id).reactions)
    repository.grant("ada", "read")  # while the answer to the reaction is still on its way
    await at_rest(repository)
    assert replies(github, pull) == []


async def test_a_reply_is_not_given_twice(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    github.fail_next("POST", r"/issues/\d+/comments$", BadGateway(after_write=True))
    pull.comment("ada", "/preflight help")
    await until(lambda: replies(github, pull))
    pull.comment("ada", "/preflight estimate")
    await until(lambda: len(replies(github, pull)) > 1)
    assert len(replies(github, pull)) == 2


async def test_a_stranger_hears_nothing_even_where_something_goes_wrong(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    said = len(pull.comments)
    failed = len(github.requests)
    github.fail_next("GET", rf"/repos/{repository.full_name}/collaborators/mallory/permission$", Refuse(400), times=1)
    pull.comment("mallory", "/preflight fix")
    await until(lambda: sum("mallory" in request.path for request in github.requests[failed:]) == 2)
    await at_rest(repository)
    assert len(pull.comments) == said + 1


async def test_other_comments_ask_for_nothing(github: Simulator, repository: Repository) -> None:
    pull = await opened(repository)
    before = github.counts.copy()
    pull.comment("ada", "> /preflight help")
    commented = pull.comment("ada", "`/preflight help` would list them")
    pull.edit_comment(commented.id, "/preflight help")
    await github.deliveries_settled()
    assert github.counts == before
