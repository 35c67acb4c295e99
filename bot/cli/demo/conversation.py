"""What the bot posted, as text: the check run with its annotations, the review with its suggestions, the comment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.cli.terminal import Paint, Style
from simulator import PullRequest
from simulator.checkruns import CheckRun
from simulator.conversation import ReviewComment

#: Markdown's escapes are for GitHub's eyes; in a fence a backslash is one.
_ESCAPE_OR_FENCE = re.compile(r"(?P<fence>^```.*?^```)|\\(?P<escaped>[^A-Za-z0-9\s])", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"<!--.*?-->\n?", re.DOTALL)


def as_text(pull: PullRequest, runs: tuple[CheckRun, ...], paint: Paint) -> str:
    """The conversation of ``pull`` as it stands."""
    return "\n".join(_lines(pull, runs, paint)).rstrip() + "\n"


def _lines(pull: PullRequest, runs: tuple[CheckRun, ...], paint: Paint) -> Iterator[str]:
    yield from _heading(f"Pull request #{pull.number}: {pull.title}", paint)
    for run in runs:
        yield from _heading(f"Check run {run.name}: {run.conclusion}. {run.title or ''}", paint)
        yield _plain(run.summary)
        for annotation in run.annotations:
            yield ""
            yield paint(f"{annotation.path}:{annotation.start_line}: {annotation.level}: {annotation.title or ''}", Style.BOLD)
            yield f"  {annotation.message}"
    for review in pull.reviews:
        yield from _heading(f"Review by {review.user.login}", paint)
        yield _plain(review.body)
        for comment in pull.review_comments:
            if comment.review_id == review.id:
                yield ""
                yield paint(_place(comment), Style.BOLD)
                yield _plain(comment.body)
    for each in pull.comments:
        yield from _heading(f"Comment by {each.user.login}", paint)
        yield _plain(each.body)


def _heading(text: str, paint: Paint) -> Iterator[str]:
    yield ""
    yield paint(text, Style.CYAN)
    yield paint("=" * min(len(text), 100), Style.CYAN)


def _place(comment: ReviewComment) -> str:
    anchor = comment.anchor
    first = anchor.start_line or anchor.line
    lines = f"line {anchor.line}" if first == anchor.line else f"lines {first}-{anchor.line}"
    return f"{anchor.path}, {lines}"


def _plain(body: str | None) -> str:
    shown = _MARK.sub("", body or "").replace("\u200b", "")
    return _ESCAPE_OR_FENCE.sub(lambda match: match["fence"] or match["escaped"], shown).strip()
