"""A hosted repository: its git store, who may do what, its pull requests and its checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.branches import branch_moved, write_files
from simulator.git.repository import GitRepository
from simulator.pull_request import Proposal, PullRequest

if TYPE_CHECKING:
    from datetime import datetime

    from simulator.accounts import Account, Role
    from simulator.branches import Files
    from simulator.checkruns import CheckRun, CheckSuite, CommitStatus, SarifUpload
    from simulator.platform import Platform


class Repository:
    """One repository. Its methods are what people do to it; the App comes in over HTTP."""

    def __init__(
        self,
        platform: Platform,
        owner: Account,
        name: str,
        git: GitRepository,
        *,
        default_branch: str,
        private: bool,
        parent: Repository | None = None,
    ) -> None:
        self.platform = platform
        self.id = platform.ids.next()
        self.owner = owner
        self.name = name
        self.git = git
        self.default_branch = default_branch
        self.private = private
        self.parent = parent
        self.created_at: datetime = platform.clock.now()
        self.pushed_at: datetime = self.created_at
        self.roles: dict[str, Role] = {}
        self.pulls: dict[int, PullRequest] = {}
        self.suites: dict[int, CheckSuite] = {}
        self.runs: dict[int, CheckRun] = {}
        self.statuses: list[CommitStatus] = []
        self.sarif_uploads: dict[str, SarifUpload] = {}

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    def role(self, login: str) -> Role:
        """What an account may do here: its owner everything, a stranger nothing but read a public repository."""
        if login.lower() == self.owner.login.lower():
            return "admin"
        return self.roles.get(login.lower(), "none" if self.private else "read")

    def grant(self, login: str, role: Role) -> None:
        """Make somebody a collaborator."""
        self.platform.account(login)
        self.roles[login.lower()] = role

    def head(self, branch: str) -> str:
        """The commit that a branch points at.

        Raises:
            LookupError: there is no such branch.

        """
        sha = self.git.resolve(f"refs/heads/{branch}")
        if sha is None:
            raise LookupError(f"{self.full_name} has no branch {branch!r}")
        return sha

    def read(self, revision: str, path: str) -> str:
        """The text of a file at a revision.

        Raises:
            LookupError: there is no such file.

        """
        found = self.git.read(revision, path)
        if found is None:
            raise LookupError(f"{self.full_name} has no file {path!r} at {revision!r}")
        return found.content.decode()

    def commit(
        self,
        branch: str,
        files: Files,
        message: str = "Change files",
        *,
        author: str | None = None,
        start: str | None = None,
    ) -> str:
        """Commit to a branch as `git push` would and return the new commit's id.

        `files` maps paths to their new content, None to remove one. A new branch starts at the revision `start`, the
        default branch when not given. Open pull requests from the branch follow, and events go out.
        """
        before = self.git.resolve(f"refs/heads/{branch}")
        parent = before or self.git.resolve(start or f"refs/heads/{self.default_branch}")
        sender = self.platform.account(author or self.owner.login)
        after = write_files(self, branch, files, message, sender, parent=parent)
        branch_moved(self, branch, before, after, sender)
        return after

    def open_pull_request(
        self,
        head: str,
        base: str | None = None,
        title: str = "Change the training",
        *,
        body: str = "",
        author: str | None = None,
        draft: bool = False,
        files: Files | None = None,
    ) -> PullRequest:
        """Open a pull request from `branch`, or from `owner:branch` of a fork.

        With `files` the head branch gets them in a commit first.

        Raises:
            LookupError: a branch or the fork does not exist.

        """
        owner, _, branch = head.rpartition(":")
        source = self if owner in ("", self.owner.login) else self.fork_of(owner)
        if files is not None:
            start = self.head(base or self.default_branch)
            if source is not self:
                source.git.fetch(self.git, start, "refs/upstream")
            source.commit(branch, files, title, author=author, start=start)
        sender = self.platform.account(author or source.owner.login)
        proposal = Proposal(source, branch, base or self.default_branch, title, body, sender, draft)
        return PullRequest.open(self, proposal)

    def fork(self, owner: str) -> Repository:
        """Copy the repository to another account, as its Fork button would."""
        account = self.platform.account(owner)
        folder = self.platform.folder / account.login / f"{self.name}.git"
        copy = Repository(
            self.platform,
            account,
            self.name,
            GitRepository.clone(self.git.folder, folder),
            default_branch=self.default_branch,
            private=self.private,
            parent=self,
        )
        self.platform.repositories[copy.id] = copy
        return copy

    def fork_of(self, owner: str) -> Repository:
        """The fork that an account made of this repository.

        Raises:
            LookupError: that account has none.

        """
        found = self.platform.repository(f"{owner}/{self.name}")
        if found is None or found.parent is not self:
            raise LookupError(f"{owner} has no fork of {self.full_name}")
        return found

    def check_runs(self, sha: str | None = None) -> tuple[CheckRun, ...]:
        """The check runs on a commit, or all of them; oldest first."""
        return tuple(run for run in self.runs.values() if sha is None or run.head_sha == sha)
