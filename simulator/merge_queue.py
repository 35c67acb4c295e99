"""The merge queue: a group's checks are asked for on a commit of its own, which no pull request has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.merging import commit_tree
from simulator.webhooks.events import merge_group_event

if TYPE_CHECKING:
    from simulator.accounts import Account
    from simulator.pull_request import PullRequest


def enqueue(pull: PullRequest, sender: Account) -> str:
    """Put a pull request in the queue and return the commit on which its group's checks must report.

    Raises:
        ValueError: the branches conflict.

    """
    if pull.merge_commit_sha is None:
        raise ValueError(f"pull request {pull.number} of {pull.repository.full_name} has conflicts with its base branch")
    git = pull.repository.git
    tree = git.commit_of(pull.merge_commit_sha).tree
    message = f"Merge pull request #{pull.number} from {pull.head_branch}"
    sha = commit_tree(pull, tree, [pull.base_sha, pull.head_sha], message)
    git.set_reference(f"refs/heads/gh-readonly-queue/{pull.base_branch}/pr-{pull.number}-{pull.base_sha}", sha)
    merge_group_event(pull, sha, "checks_requested", sender)
    return sha


def dequeue(pull: PullRequest, sha: str, sender: Account) -> None:
    """Take it out again: the group is gone, and with it the reason for its checks."""
    pull.repository.git.delete_reference(f"refs/heads/gh-readonly-queue/{pull.base_branch}/pr-{pull.number}-{pull.base_sha}")
    merge_group_event(pull, sha, "destroyed", sender, {"reason": "dequeued"})
