"""Each event ends in one job, or in the reason why there is none."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bot.events import handlers
from bot.events.payload import Ignored, MalformedPayloadError
from bot.job import Job

GUID = "0b989ba4-242f-11e5-81e1-c7b6966d2516"
REPOSITORY = {"installation": {"id": 3}, "repository": {"id": 5, "full_name": "octo/train"}}
PULL = REPOSITORY | {"action": "opened", "pull_request": {"number": 7, "head": {"sha": "a" * 40}}}
COMMENT = REPOSITORY | {
    "action": "created",
    "issue": {"number": 7, "pull_request": {}},
    "comment": {"id": 255, "body": "/preflight help", "user": {"login": "ada", "type": "User"}},
}
SENDER = {"sender": {"login": "ada"}}
MERGE = REPOSITORY | {"action": "checks_requested", "merge_group": {"head_sha": "a" * 40, "base_sha": "b" * 40}}
PUSH = REPOSITORY | {"ref": "refs/heads/main", "after": "a" * 40, "deleted": False}
PUSH["repository"] = PUSH["repository"] | {"default_branch": "main"}
CHECK = REPOSITORY | {"action": "rerequested", "check_run": {"external_id": f"7/{'a' * 40}", "head_sha": "a" * 40}}
SUITE = REPOSITORY | {"action": "rerequested", "check_suite": {"head_sha": "a" * 40, "pull_requests": [{"number": 7}]}}


def handled(event: str, payload: dict[str, Any]) -> Job | Ignored:
    return handlers()[event](GUID, payload)


@pytest.mark.parametrize(
    ("payload", "again"),
    [
        (PULL, False),
        (PULL | {"action": "synchronize"}, False),
        (PULL | {"action": "closed"}, False),
        (PULL | {"action": "reopened"}, True),
        (PULL | {"action": "converted_to_draft"}, True),
        (PULL | {"action": "ready_for_review"}, True),
        (PULL | {"action": "edited", "changes": {"base": {}}}, True),
        (PULL | {"action": "labeled", "label": {"name": "preflight: skip"}}, True),
        (PULL | {"action": "unlabeled", "label": {"name": "preflight: skip"}}, True),
    ],
)
def test_a_change_is_reviewed(payload: dict[str, Any], again: bool) -> None:  # noqa: FBT001
    job = handled("pull_request", payload)
    assert isinstance(job, Job)
    assert (job.kind, job.subject, job.installation, job.delivery, job.replaces) == ("review", "5/7", 3, GUID, True)
    assert job.facts["request"] == (GUID if again else "")


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("pull_request", PULL | {"action": "assigned"}),
        ("pull_request", PULL | {"action": "edited", "changes": {"title": {}}}),
        ("pull_request", PULL | {"action": "labeled", "label": {"name": "bug"}}),
        ("issue_comment", COMMENT | {"action": "edited"}),
        ("issue_comment", COMMENT | {"issue": {"number": 7}}),
        ("issue_comment", COMMENT | {"comment": COMMENT["comment"] | {"user": {"login": "x[bot]", "type": "Bot"}}}),
        ("issue_comment", COMMENT | {"comment": COMMENT["comment"] | {"body": "fine"}}),
        ("check_run", CHECK | {"action": "created"}),
        ("check_run", CHECK | {"check_run": {"external_id": "theirs", "head_sha": "a" * 40}}),
        ("check_suite", SUITE | {"action": "requested"}),
        ("check_run", CHECK | SENDER | {"action": "requested_action", "requested_action": {"identifier": "format the disk"}}),
        ("push", PUSH | {"ref": "refs/heads/faster"}),
        ("push", PUSH | {"deleted": True}),
        ("merge_group", MERGE | {"action": "renamed"}),
        ("installation_repositories", {"action": "added", "installation": {"id": 3}, "repositories_removed": []}),
        ("installation", {"action": "new_permissions_accepted", "installation": {"id": 3}}),
        ("installation", {"action": "suspend", "installation": {"id": 3}}),
        ("installation", {"action": "created", "installation": {"id": 3}}),
        ("ping", {}),
    ],
)
def test_what_asks_for_nothing_makes_no_job(event: str, payload: dict[str, Any]) -> None:
    assert isinstance(handled(event, payload), Ignored)


def test_buttons_and_comments_make_jobs() -> None:
    again = handled("check_run", CHECK)
    assert isinstance(again, Job)
    assert (again.kind, again.facts["number"], again.facts["request"], again.facts["asked"]) == ("review", 7, GUID, True)
    suite = handled("check_suite", SUITE)
    assert isinstance(suite, Job)
    assert (suite.kind, suite.facts["head"]) == ("rerun", "a" * 40)
    fix = handled("check_run", CHECK | SENDER | {"action": "requested_action", "requested_action": {"identifier": "fix"}})
    assert isinstance(fix, Job)
    assert (fix.kind, fix.facts["number"], fix.facts["commands"], fix.facts["author"]) == ("answer", 7, [["fix"]], "ada")
    answer = handled("issue_comment", COMMENT)
    assert isinstance(answer, Job)
    assert (answer.kind, answer.facts["commands"], answer.facts["author"]) == ("answer", [["help"]], "ada")
    gone = handled("installation", {"action": "deleted", "installation": {"id": 3}})
    assert isinstance(gone, Job)
    assert (gone.kind, gone.facts) == ("forget", {"installation": 3, "repositories": []})


def test_the_queue_and_the_default_branch_make_jobs() -> None:
    merge = handled("merge_group", MERGE)
    assert isinstance(merge, Job)
    assert (merge.kind, merge.facts["head"], merge.facts["base"], merge.facts["destroyed"]) == ("merge", "a" * 40, "b" * 40, False)
    left = handled("merge_group", MERGE | {"action": "destroyed"})
    assert isinstance(left, Job)
    assert (left.subject, left.replaces, left.facts["destroyed"]) == (merge.subject, True, True)
    push = handled("push", PUSH)
    assert isinstance(push, Job)
    assert (push.kind, push.facts["ref"], push.facts["head"]) == ("scan", "refs/heads/main", "a" * 40)
    removed = handled("installation_repositories", {"action": "removed", "installation": {"id": 3}, "repositories_removed": [{"id": 5}]})
    assert isinstance(removed, Job)
    assert (removed.kind, removed.facts["repositories"]) == ("forget", [5])


@pytest.mark.parametrize(
    ("event", "payload"),
    [("pull_request", PULL), ("issue_comment", COMMENT), ("check_run", CHECK), ("check_suite", SUITE), ("merge_group", MERGE), ("push", PUSH)],
)
def test_any_missing_or_mistyped_field_is_named(event: str, payload: dict[str, Any]) -> None:
    for path in _leaves(payload):
        for wrong in (None, [], True):
            broken = copy.deepcopy(payload)
            _set(broken, path, wrong)
            said = _complaint(event, broken)
            assert said is None or path[0] in said


def _complaint(event: str, payload: dict[str, Any]) -> str | None:
    """What is said against the payload; None where the field does not matter."""
    try:
        handled(event, payload)
    except MalformedPayloadError as error:
        return str(error)
    return None


def _leaves(value: dict[str, Any], prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [(*prefix, name) for name in value]
    for name, inner in value.items():
        if isinstance(inner, dict):
            found += _leaves(inner, (*prefix, name))
    return found


def _set(value: dict[str, Any], path: tuple[str, ...], wrong: object) -> None:
    for name in path[:-1]:
        value = value[name]
    value[path[-1]] = wrong
