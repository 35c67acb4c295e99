"""A review as the Markdown that would stand on the pull request: the check's summary, the suggestions, the memory comment."""

from __future__ import annotations

from analysis.snapshot import Snapshot
from bot.cli.git import GitRepository
from bot.review.diff import Diff, hunks
from bot.review.inline import InlineReview, inline_review
from bot.review.marker import Signer
from bot.review.result import Review
from bot.review.text import code

#: Marks are signed for a pull request; nothing here is posted, and they are not shown.
_NOBODY = Signer((b"not posted",), "local")


def as_markdown(review: Review, summary: str, comment: str | None, git: GitRepository, head: Snapshot) -> str:
    """What would be posted, ending with a newline."""
    sections = ["## Check run", summary]
    inline = _inline(review, git, head)
    if inline is not None:
        sections.append("## Review")
        sections += [f"On {code(f'{each.path}:{each.first}-{each.last}')}\n\n{_unmarked(each.body)}" for each in inline.comments]
    if comment is not None:
        sections += ["## Comment", comment]
    return "\n\n".join(sections) + "\n"


def _inline(review: Review, git: GitRepository, head: Snapshot) -> InlineReview | None:
    paths = {edit.path for finding in review.introduced if finding.fix is not None for edit in finding.fix.edits}
    diff = Diff({path: hunks(git.patch(review.merge_base, review.head, path)) for path in sorted(paths)})
    return inline_review(review.introduced, diff, head.contents, _NOBODY, review.head)


def _unmarked(body: str) -> str:
    return "\n".join(line for line in body.splitlines() if not line.startswith("<!-- preflight:")).strip()
