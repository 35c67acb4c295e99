"""The test merge that GitHub keeps at `refs/pull/N/merge`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.git.command import GitError, git

if TYPE_CHECKING:
    from simulator.pull_request import PullRequest


def merge_reference(pull: PullRequest) -> str | None:
    """Merge head into base without moving either; None when they conflict.

    The merge commit is stored under `refs/pull/N/merge`, which is left where it was on a conflict.
    """
    repository = pull.repository.git
    try:
        tree = repository.run("merge-tree", "--write-tree", pull.base_sha, pull.head_sha).decode().split()[0]
    except GitError:
        return None
    message = f"Merge {pull.head_sha} into {pull.base_sha}"
    sha = commit_tree(pull, tree, [pull.base_sha, pull.head_sha], message)
    repository.set_reference(f"refs/pull/{pull.number}/merge", sha)
    return sha


def commit_tree(pull: PullRequest, tree: str, parents: list[str], message: str) -> str:
    """Store a commit with several parents, written by GitHub itself."""
    stamp = f"@{int(pull.repository.platform.clock.now().timestamp())} +0000"
    who = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "GitHub"), ("EMAIL", "noreply@github.com"), ("DATE", stamp))
    }
    arguments = ["commit-tree", tree, *(word for parent in parents for word in ("-p", parent)), "-m", message]
    return git(pull.repository.git.folder, arguments, environment=who).decode().strip()
