"""One function for every event: what its payload holds, and that the App is to hear of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.ids import node_id
from simulator.representation.accounts import Json, installation_json, user_json
from simulator.representation.checks import check_run_json, check_suite_json
from simulator.representation.conversation import issue_comment_json, issue_json
from simulator.representation.pulls import pull_json
from simulator.representation.repositories import api_url, repository_json, simple_commit_json, web_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.accounts import Account, Installation
    from simulator.checkruns import CheckRun, CheckSuite
    from simulator.conversation import IssueComment
    from simulator.platform import Platform
    from simulator.pull_request import PullRequest
    from simulator.repository import Repository

_NO_COMMIT = "0" * 40


def pull_request_event(pull: PullRequest, action: str, sender: Account, more: Mapping[str, object] | None = None) -> None:
    """`pull_request`: opened, synchronize, edited, labeled and the like."""
    payload = {"action": action, "number": pull.number, "pull_request": pull_json(pull), **(more or {})}
    _emit(pull.repository, "pull_request", payload, sender)


def issue_comment_event(pull: PullRequest, comment: IssueComment, action: str, sender: Account, more: Mapping[str, object] | None = None) -> None:
    """`issue_comment`: created, edited, deleted."""
    payload = {"action": action, "issue": issue_json(pull), "comment": issue_comment_json(pull, comment), **(more or {})}
    _emit(pull.repository, "issue_comment", payload, sender)


def check_run_event(repository: Repository, run: CheckRun, action: str, sender: Account, more: Mapping[str, object] | None = None) -> None:
    """`check_run`: created, completed, rerequested, requested_action."""
    shown = check_run_json(repository, run)
    shown["check_suite"] = check_suite_json(repository, repository.suites[run.suite_id])
    _emit(repository, "check_run", {"action": action, "check_run": shown, **(more or {})}, sender)


def check_suite_event(repository: Repository, suite: CheckSuite, action: str, sender: Account) -> None:
    """`check_suite`: requested, rerequested, completed."""
    _emit(repository, "check_suite", {"action": action, "check_suite": check_suite_json(repository, suite)}, sender)


def push_event(repository: Repository, reference: str, before: str | None, after: str, sender: Account) -> None:
    """`push` of one reference."""
    commit = repository.git.commit_of(after)
    head = {
        **simple_commit_json(commit),
        "distinct": True,
        "url": f"{web_url(repository)}/commit/{after}",
        "added": [],
        "removed": [],
        "modified": [],
    }
    payload = {
        "ref": reference,
        "before": before or _NO_COMMIT,
        "after": after,
        "created": before is None,
        "deleted": False,
        "forced": before is not None and not repository.git.is_ancestor(before, after),
        "base_ref": None,
        "compare": f"{web_url(repository)}/compare/{(before or after)[:12]}...{after[:12]}",
        "commits": [head],
        "head_commit": head,
        "pusher": {"name": sender.login, "email": commit.author.email},
    }
    _emit(repository, "push", payload, sender)


def merge_group_event(pull: PullRequest, head_sha: str, action: str, sender: Account, more: Mapping[str, object] | None = None) -> None:
    """`merge_group`: checks_requested and destroyed."""
    group = {
        "head_sha": head_sha,
        "head_ref": f"refs/heads/gh-readonly-queue/{pull.base_branch}/pr-{pull.number}-{pull.base_sha}",
        "base_sha": pull.base_sha,
        "base_ref": f"refs/heads/{pull.base_branch}",
        "head_commit": simple_commit_json(pull.repository.git.commit_of(head_sha)),
    }
    _emit(pull.repository, "merge_group", {"action": action, "merge_group": group, **(more or {})}, sender)


def installation_event(platform: Platform, installation: Installation, action: str, repositories: list[Repository], sender: Account) -> None:
    """`installation`: created, deleted, suspend, unsuspend, new_permissions_accepted."""
    payload: Json = {
        "action": action,
        "installation": installation_json(installation, platform.app, platform.urls),
        "repositories": [_named(one) for one in repositories],
        "requester": None,
        "sender": user_json(sender, platform.urls),
    }
    platform.outbox.put("installation", payload, installation.id, None)


def installation_repositories_event(
    platform: Platform, installation: Installation, added: list[Repository], removed: list[Repository], sender: Account
) -> None:
    """`installation_repositories`: added or removed."""
    payload: Json = {
        "action": "added" if added else "removed",
        "installation": installation_json(installation, platform.app, platform.urls),
        "repository_selection": "all" if installation.repositories is None else "selected",
        "repositories_added": [_named(one) for one in added],
        "repositories_removed": [_named(one) for one in removed],
        "requester": None,
        "sender": user_json(sender, platform.urls),
    }
    platform.outbox.put("installation_repositories", payload, installation.id, None)


def _named(repository: Repository) -> Json:
    return {
        "id": repository.id,
        "node_id": node_id("R", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.private,
    }


def _emit(repository: Repository, event: str, payload: Mapping[str, object], sender: Account) -> None:
    platform = repository.platform
    installation = platform.installation_of(repository)
    if installation is None or installation.suspended_at is not None:
        return
    reference = {"id": installation.id, "node_id": node_id("MDI", installation.id)}
    everywhere = {
        "repository": {**repository_json(repository), "url": api_url(repository)},
        "sender": user_json(sender, platform.urls),
        "installation": reference,
    }
    platform.outbox.put(event, {**payload, **everywhere}, installation.id, repository.id)
