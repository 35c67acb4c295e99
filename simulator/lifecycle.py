"""What people do to a pull request as a whole: close, merge, label, rebase, aim elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.branches import branch_moved, write_files
from simulator.merging import commit_tree
from simulator.representation.pulls import label_json
from simulator.webhooks.events import pull_request_event

if TYPE_CHECKING:
    from simulator.accounts import Account
    from simulator.branches import Files
    from simulator.pull_request import PullRequest


def force_push(pull: PullRequest, files: Files, message: str, sender: Account) -> str:
    """Replace the branch by one commit on the merge base and return its id."""
    before = pull.head_sha
    after = write_files(pull.head_repository, pull.head_branch, files, message, sender, parent=pull.merge_base)
    branch_moved(pull.head_repository, pull.head_branch, before, after, sender)
    return after


def close(pull: PullRequest, sender: Account) -> None:
    """Close without merging."""
    pull.state = "closed"
    pull.touch()
    pull.closed_at = pull.updated_at
    pull_request_event(pull, "closed", sender)


def reopen(pull: PullRequest, sender: Account) -> None:
    """Open again."""
    pull.state, pull.closed_at = "open", None
    pull.touch()
    pull_request_event(pull, "reopened", sender)


def merge(pull: PullRequest, sender: Account) -> str:
    """Merge into the base branch with a merge commit and return its id.

    Raises:
        ValueError: the branches conflict.

    """
    if pull.merge_commit_sha is None:
        raise ValueError(f"pull request {pull.number} of {pull.repository.full_name} has conflicts with its base branch")
    repository = pull.repository
    before = repository.head(pull.base_branch)
    tree = repository.git.commit_of(pull.merge_commit_sha).tree
    message = f"Merge pull request #{pull.number} from {pull.head_branch}"
    after = commit_tree(pull, tree, [before, pull.head_sha], message)
    repository.git.set_reference(f"refs/heads/{pull.base_branch}", after)
    pull.state, pull.merge_commit_sha = "closed", after
    pull.touch()
    pull.merged_at = pull.closed_at = pull.updated_at
    branch_moved(repository, pull.base_branch, before, after, sender)
    pull_request_event(pull, "closed", sender)
    return after


def set_draft(pull: PullRequest, sender: Account, *, draft: bool) -> None:
    """Convert to a draft, or mark as ready for review."""
    pull.draft = draft
    pull.touch()
    pull_request_event(pull, "converted_to_draft" if draft else "ready_for_review", sender)


def set_labels(pull: PullRequest, labels: list[str], sender: Account) -> None:
    """Add and remove labels until exactly these are left; each step is an event."""
    for name in [one for one in pull.labels if one not in labels]:
        pull.labels.remove(name)
        pull.touch()
        pull_request_event(pull, "unlabeled", sender, {"label": label_json(pull.repository, name)})
    for name in [one for one in labels if one not in pull.labels]:
        pull.labels.append(name)
        pull.touch()
        pull_request_event(pull, "labeled", sender, {"label": label_json(pull.repository, name)})


def change_base(pull: PullRequest, branch: str, sender: Account) -> None:
    """Aim at another base branch: an `edited` event that names the old one."""
    old_branch, old_sha = pull.base_branch, pull.base_sha
    pull.base_branch = branch
    pull.take_head()
    pull.touch()
    changes = {"base": {"ref": {"from": old_branch}, "sha": {"from": old_sha}}}
    pull_request_event(pull, "edited", sender, {"changes": changes})
