"""A pull request: two branches, and what is said about the difference between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from simulator import lifecycle, merge_queue, reviewing, suggestions, talking
from simulator.git.diff import changed_files
from simulator.merging import merge_reference
from simulator.webhooks.events import pull_request_event

if TYPE_CHECKING:
    from datetime import datetime

    from simulator.accounts import Account
    from simulator.branches import Files
    from simulator.conversation import IssueComment, Review, ReviewComment
    from simulator.git.objects import FileChange
    from simulator.repository import Repository


@dataclass(frozen=True, slots=True)
class Proposal:
    """What somebody fills in to open a pull request."""

    head_repository: Repository
    head_branch: str
    base_branch: str
    title: str
    body: str
    author: Account
    draft: bool = False


class PullRequest:
    """One pull request.

    `comments` is the conversation, `reviews` and `review_comments` what stands on the diff; all are tuples of frozen
    records in the order they were written. The other methods are what people do to it; the App comes in over HTTP.
    """

    def __init__(self, repository: Repository, proposal: Proposal) -> None:
        platform = repository.platform
        self.repository = repository
        self.head_repository = proposal.head_repository
        self.head_branch = proposal.head_branch
        self.base_branch = proposal.base_branch
        self.title = proposal.title
        self.body = proposal.body
        self.author = proposal.author
        self.draft = proposal.draft
        self.id = platform.ids.next()
        self.number = max(repository.pulls, default=0) + 1
        self.state: Literal["open", "closed"] = "open"
        self.labels: list[str] = []
        self.created_at: datetime = platform.clock.now()
        self.updated_at: datetime = self.created_at
        self.merged_at: datetime | None = None
        self.closed_at: datetime | None = None
        self.head_sha = self.head_repository.head(self.head_branch)
        self.base_sha = repository.head(self.base_branch)
        self.merge_commit_sha: str | None = None
        self.pushes: list[tuple[datetime, str]] = []
        self.comment_table: dict[int, IssueComment] = {}
        self.review_table: dict[int, Review] = {}
        self.review_comment_table: dict[int, ReviewComment] = {}
        self.resolved_threads: dict[int, Account] = {}

    @classmethod
    def open(cls, repository: Repository, proposal: Proposal) -> PullRequest:
        """Open a pull request and tell the App.

        Raises:
            LookupError: a branch does not exist.

        """
        pull = cls(repository, proposal)
        repository.pulls[pull.number] = pull
        pull.take_head()
        pull_request_event(pull, "opened", pull.author)
        return pull

    @property
    def comments(self) -> tuple[IssueComment, ...]:
        """The comments of the conversation, oldest first."""
        return tuple(self.comment_table.values())

    @property
    def reviews(self) -> tuple[Review, ...]:
        """The reviews, oldest first."""
        return tuple(self.review_table.values())

    @property
    def review_comments(self) -> tuple[ReviewComment, ...]:
        """The comments on the diff, replies included, oldest first."""
        return tuple(self.review_comment_table.values())

    @property
    def merge_base(self) -> str:
        """The commit that the diff of the pull request starts from."""
        return self.repository.git.merge_base(self.base_sha, self.head_sha) or self.base_sha

    @property
    def merged(self) -> bool:
        """Whether it was merged."""
        return self.merged_at is not None

    def files(self, head: str | None = None) -> tuple[FileChange, ...]:
        """What the pull request changes: the diff from the merge base to its head, or to an older head."""
        sha = head or self.head_sha
        base = self.repository.git.merge_base(self.base_sha, sha) or self.base_sha
        return changed_files(self.repository.git, base, sha)

    def commit_ids(self) -> list[str]:
        """The commits from the merge base to the head, oldest first."""
        return self.repository.git.history(f"{self.merge_base}..{self.head_sha}", limit=250)

    def heads(self) -> list[str]:
        """Every commit that was the head at some time, oldest first."""
        return [sha for _, sha in self.pushes]

    def take_head(self) -> None:
        """Copy the head branch's commit here and try the merge."""
        self.head_sha = self.head_repository.head(self.head_branch)
        self.base_sha = self.repository.head(self.base_branch)
        git = self.repository.git
        if self.head_repository is not self.repository:
            git.fetch(self.head_repository.git, self.head_sha, f"refs/pull/{self.number}/head")
        git.set_reference(f"refs/pull/{self.number}/head", self.head_sha)
        self.merge_commit_sha = merge_reference(self)
        self.pushes.append((self.repository.platform.clock.now(), self.head_sha))

    def synchronize(self, sender: Account) -> None:
        """Follow the head branch after a push to it, and tell the App."""
        before = self.head_sha
        self.take_head()
        self.touch()
        pull_request_event(self, "synchronize", sender, {"before": before, "after": self.head_sha})

    def touch(self) -> None:
        """Something about it changed now."""
        self.updated_at = self.repository.platform.clock.now()

    def push(self, files: Files, message: str = "Change files", *, author: str | None = None) -> str:
        """Commit files to the head branch and return the new head; see `Repository.commit`."""
        return self.head_repository.commit(self.head_branch, files, message, author=author or self.author.login)

    def force_push(self, files: Files, message: str = "Change files", *, author: str | None = None) -> str:
        """Replace all commits of the pull request by one on the merge base, and return the new head."""
        return lifecycle.force_push(self, files, message, self._account(author))

    def comment(self, user: str, body: str) -> IssueComment:
        """Write in the conversation."""
        return talking.add_comment(self, self._account(user), body)

    def edit_comment(self, comment_id: int, body: str, *, user: str | None = None) -> IssueComment:
        """Change a comment of the conversation."""
        return talking.edit_comment(self, comment_id, body, self._account(user))

    def delete_comment(self, comment_id: int, *, user: str | None = None) -> None:
        """Remove a comment of the conversation."""
        talking.delete_comment(self, comment_id, self._account(user))

    def reply(self, comment_id: int, user: str, body: str) -> ReviewComment:
        """Answer in the thread of a review comment."""
        return reviewing.reply(self, comment_id, self._account(user), body)

    def resolve_thread(self, comment_id: int, *, user: str | None = None) -> None:
        """Mark the thread that a review comment opened as resolved."""
        self.resolved_threads[comment_id] = self._account(user)

    def apply_suggestion(self, comment_id: int, *, user: str | None = None) -> str:
        """Press "Commit suggestion" on a review comment and return the new head.

        Raises:
            SuggestionRefusedError: it is outdated, changes nothing, or is none.

        """
        return suggestions.apply_suggestion(self, comment_id, self._account(user))

    def close(self, *, user: str | None = None) -> None:
        """Close without merging."""
        lifecycle.close(self, self._account(user))

    def reopen(self, *, user: str | None = None) -> None:
        """Open again."""
        lifecycle.reopen(self, self._account(user))

    def merge(self, *, user: str | None = None) -> str:
        """Merge into the base branch and return the merge commit."""
        return lifecycle.merge(self, self._account(user))

    def enqueue(self, *, user: str | None = None) -> str:
        """Add to the merge queue and return the commit on which the group's checks must report."""
        return merge_queue.enqueue(self, self._account(user))

    def dequeue(self, sha: str, *, user: str | None = None) -> None:
        """Take the group of that commit out of the merge queue."""
        merge_queue.dequeue(self, sha, self._account(user))

    def set_draft(self, *, draft: bool, user: str | None = None) -> None:
        """Convert to a draft, or mark as ready for review."""
        lifecycle.set_draft(self, self._account(user), draft=draft)

    def set_labels(self, *labels: str, user: str | None = None) -> None:
        """Leave exactly these labels on it."""
        lifecycle.set_labels(self, list(labels), self._account(user))

    def change_base(self, branch: str, *, user: str | None = None) -> None:
        """Choose another base branch."""
        lifecycle.change_base(self, branch, self._account(user))

    def _account(self, login: str | None) -> Account:
        return self.author if login is None else self.repository.platform.account(login)
