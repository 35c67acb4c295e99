"""Reviews stand on the diff or are refused whole; pushes make comments outdated; suggestions replace what they are about."""

from __future__ import annotations

from typing import Any

import pytest

from simulator import PullRequest, Repository, SuggestionRefusedError
from simulator.reviewing import AnchorError, Place, add_review, anchor, current_lines
from simulator.suggestions import suggestion_in
from tests.simulator.client import REPOSITORY, AppClient
from tests.simulator.conftest import NEW


def review(*comments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": "COMMENT", "body": "Read.", "comments": list(comments), **more}


def comment(line: int, body: str = "Look.", **more: Any) -> dict[str, Any]:
    return {"path": "train.py", "line": line, "side": "RIGHT", "body": body, **more}


@pytest.mark.parametrize("line", [7, 10, 13, 17, 20, 21, 24])
def test_lines_of_a_hunk_can_be_commented_on(pull: PullRequest, line: int) -> None:
    assert anchor(pull, Place("train.py", line), pull.head_sha).diff_hunk.startswith("@@ -")


@pytest.mark.parametrize("line", [1, 6, 14, 16, 25, 99])
def test_lines_outside_every_hunk_cannot(pull: PullRequest, line: int) -> None:
    with pytest.raises(AnchorError, match="must be part of the diff"):
        anchor(pull, Place("train.py", line), pull.head_sha)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (Place("train.py", 21, start_line=10), "same hunk"),
        (Place("train.py", 10, start_line=6), "same hunk"),
        (Place("package/model.py", 1), "path is invalid"),
        (Place("nothing.py"), "path is invalid"),
        (Place("train.py", 21, side="LEFT", start_line=22, start_side="RIGHT"), "precede"),
        (Place("train.py", position=99), "must be part of the diff"),
    ],
)
def test_ranges_stay_in_one_hunk(pull: PullRequest, place: Place, said: str) -> None:
    with pytest.raises(AnchorError, match=said):
        anchor(pull, place, pull.head_sha)


def test_deleted_lines_are_on_the_left(pull: PullRequest) -> None:
    where = anchor(pull, Place("train.py", 10, side="LEFT"), pull.head_sha)

    assert where.diff_hunk.endswith("-line 10")
    assert anchor(pull, Place("train.py", position=where.position), pull.head_sha) == where


async def test_a_review_is_posted_with_all_its_comments(app: AppClient) -> None:
    reply = await app.post(f"{REPOSITORY}/pulls/1/reviews", review(comment(10), comment(21, start_line=20, start_side="RIGHT")))

    assert reply.json["state"] == "COMMENTED"
    listed = (await app.get(f"{REPOSITORY}/pulls/1/comments")).json
    assert [(one["line"], one["start_line"], one["pull_request_review_id"]) for one in listed] == [(10, None, reply.json["id"]), (21, 20, reply.json["id"])]
    assert listed[0]["diff_hunk"].endswith("+line ten")


async def test_one_bad_line_refuses_the_whole_review_and_is_not_named(app: AppClient, pull: PullRequest) -> None:
    reply = await app.post(f"{REPOSITORY}/pulls/1/reviews", review(comment(10), comment(1), comment(20)))

    assert reply.status == 422
    assert reply.json["errors"] == ["Pull request review thread line must be part of the diff"]
    assert (pull.reviews, pull.review_comments) == ((), ())


async def test_a_review_of_an_unknown_commit_is_refused(app: AppClient, pull: PullRequest) -> None:
    assert (await app.post(f"{REPOSITORY}/pulls/1/reviews", review(comment(10), commit_id=pull.merge_base))).status == 422
    assert (await app.post(f"{REPOSITORY}/pulls/1/reviews", review(comment(10), commit_id=pull.head_sha))).status == 200


async def test_a_pending_review_is_invisible_until_submitted(app: AppClient) -> None:
    made = (await app.post(f"{REPOSITORY}/pulls/1/reviews", {"comments": [comment(10)]})).json
    assert (made["state"], (await app.get(f"{REPOSITORY}/pulls/1/comments")).json) == ("PENDING", [])

    submitted = await app.post(f"{REPOSITORY}/pulls/1/reviews/{made['id']}/events", {"event": "COMMENT", "body": "Read."})

    assert submitted.json["state"] == "COMMENTED"
    assert len((await app.get(f"{REPOSITORY}/pulls/1/comments")).json) == 1
    assert (await app.post(f"{REPOSITORY}/pulls/1/reviews/{made['id']}/events", {"event": "COMMENT", "body": "x"})).status == 422


async def test_a_push_moves_comments_and_outdates_those_it_touches(app: AppClient, pull: PullRequest) -> None:
    await app.post(f"{REPOSITORY}/pulls/1/reviews", review(comment(10), comment(21)))
    before = pull.head_sha
    pull.push({"train.py": "a new first line\n" + NEW.replace("line ten\n", "line 10!\n")})

    first, second = (await app.get(f"{REPOSITORY}/pulls/1/comments")).json

    assert (first["line"], first["original_line"], first["commit_id"]) == (None, 10, before)
    assert (second["line"], second["original_line"], second["commit_id"]) == (22, 21, pull.head_sha)


async def test_replies_reactions_edits_and_deletions(app: AppClient, pull: PullRequest) -> None:
    await app.post(f"{REPOSITORY}/pulls/1/reviews", review(comment(10)))
    number = pull.review_comments[0].id
    answer = (await app.post(f"{REPOSITORY}/pulls/1/comments/{number}/replies", {"body": "Fixed."})).json

    assert answer["in_reply_to_id"] == number
    assert (await app.post(f"{REPOSITORY}/pulls/1/comments/{answer['id']}/replies", {"body": "x"})).status == 422
    assert (await app.post(f"{REPOSITORY}/pulls/comments/{number}/reactions", {"content": "eyes"})).status == 201
    assert (await app.post(f"{REPOSITORY}/pulls/comments/{number}/reactions", {"content": "eyes"})).status == 200
    assert (await app.post(f"{REPOSITORY}/pulls/comments/{number}/reactions", {"content": "wave"})).status == 422
    assert (await app.patch(f"{REPOSITORY}/pulls/comments/{number}", {"body": "Changed."})).json["body"] == "Changed."
    assert (await app.send("DELETE", f"{REPOSITORY}/pulls/comments/{number}")).status == 204
    assert [one.body for one in pull.review_comments] == ["Fixed."]


async def test_a_suggestion_replaces_exactly_its_lines(app: AppClient, pull: PullRequest, repository: Repository) -> None:
    body = "Better:\n```suggestion\nline XX\nline YY\nline ZZ\n```\nas said"
    await app.post(f"{REPOSITORY}/pulls/1/reviews", review(comment(21, body, start_line=20, start_side="RIGHT")))

    after = pull.apply_suggestion(pull.review_comments[0].id)

    assert repository.read(after, "train.py") == NEW.replace("line twenty\nline twenty and a half\n", "line XX\nline YY\nline ZZ\n")
    assert pull.head_sha == after
    with pytest.raises(SuggestionRefusedError, match="outdated"):
        pull.apply_suggestion(pull.review_comments[0].id)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"body": "no suggestion"}, "no suggestion"),
        ({"body": "```suggestion\nline ten\n```"}, "nothing"),
        ({"side": "LEFT", "body": "```suggestion\nx\n```"}, "deleted"),
    ],
)
async def test_what_cannot_be_applied_is_refused(app: AppClient, pull: PullRequest, changed: dict[str, Any], said: str) -> None:
    await app.post(f"{REPOSITORY}/pulls/1/reviews", review({**comment(10), **changed}))

    with pytest.raises(SuggestionRefusedError, match=said):
        pull.apply_suggestion(pull.review_comments[0].id)


async def test_closed_pull_requests_take_no_suggestions(app: AppClient, pull: PullRequest) -> None:
    await app.post(f"{REPOSITORY}/pulls/1/reviews", review(comment(10, "```suggestion\nx\n```")))
    pull.close()

    with pytest.raises(SuggestionRefusedError, match="closed"):
        pull.apply_suggestion(pull.review_comments[0].id)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("```suggestion\n```", ""),
        ("````suggestion\n```\ninner\n```\n````\n", "```\ninner\n```\n"),
        ("~~~suggestion\nx\n~~~", "x\n"),
        ("```python\nx\n```", None),
    ],
)
def test_the_suggestion_ends_at_its_own_fence(body: str, text: str | None) -> None:
    assert suggestion_in(body) == text


def test_a_suggestion_of_nothing_deletes_the_lines(pull: PullRequest, repository: Repository) -> None:
    where = anchor(pull, Place("train.py", 10), pull.head_sha)
    add_review(pull, repository.platform.app.bot, "", "COMMENTED", pull.head_sha, [(where, "```suggestion\n```")])

    after = pull.apply_suggestion(pull.review_comments[0].id)

    assert repository.read(after, "train.py") == NEW.replace("line ten\n", "")
    assert current_lines(pull, where) == (None, None)
