"""What follows from a branch that moved: commits are written, pull requests follow, events go out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.git.commits import write_commit
from simulator.git.objects import FILE_MODE, FileWrite, Signature
from simulator.suites import request_suite
from simulator.webhooks.events import push_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.accounts import Account
    from simulator.repository import Repository

    Files = Mapping[str, str | bytes | FileWrite | None]


def write_files(repository: Repository, branch: str, files: Files, message: str, author: Account, *, parent: str | None) -> str:
    """Commit files on top of `parent` without telling anybody; the mode of a file that exists is kept."""
    changes: dict[str, FileWrite | None] = {}
    for path, content in files.items():
        match content:
            case None | FileWrite():
                changes[path] = content
            case str() | bytes():
                known = repository.git.entry(parent, path) if parent else None
                stored = content.encode() if isinstance(content, str) else content
                changes[path] = FileWrite(stored, known.mode if known else FILE_MODE)
    email = f"{author.id}+{author.login}@users.noreply.github.com"
    signature = Signature(author.login, email, repository.platform.clock.now())
    return write_commit(repository.git, branch, changes, message, signature, parent=parent)


def branch_moved(repository: Repository, branch: str, before: str | None, after: str, sender: Account) -> None:
    """Tell the App of a push, and take the pull requests of that branch along."""
    if before == after:
        return
    repository.pushed_at = repository.platform.clock.now()
    push_event(repository, f"refs/heads/{branch}", before, after, sender)
    request_suite(repository, after, branch, before)
    for pull in repository.platform.pulls():
        if pull.head_repository is repository and pull.head_branch == branch and pull.state == "open":
            pull.synchronize(sender)
