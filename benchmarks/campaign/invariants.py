"""What must hold once the bot has come to rest, whatever happened before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from benchmarks.campaign.play import Played
from simulator import PullRequest, StaleHead

_FINDING = re.compile(r"<!-- preflight:finding:([0-9a-f]+):")
_REVIEW = re.compile(r"<!-- preflight:review:([0-9a-f]+):")
_REPLY = re.compile(r"<!-- preflight:reply:([0-9a-f]+):")
_UNFINISHED = "Preflight could not finish"
#: Between the last look at the head and the write that follows it.
_MOMENT = timedelta(seconds=1.0)


def broken(played: Played) -> Iterator[str]:
    """A sentence for everything that does not hold."""
    yield from _checks(played)
    yield from _memory_comment(played)
    yield from _threads(played.pull)
    yield from _replies(played)
    if not any(act.trouble and isinstance(act.trouble.fault, StaleHead) for act in played.schedule.acts):
        yield from _old_heads(played.pull)


def is_unfinished(played: Played) -> bool:
    """Whether the newest head's check says that GitHub failed too often: a result is owed only where it did not."""
    return any(run.title == _UNFINISHED for run in _newest(played))


def _checks(played: Played) -> Iterator[str]:
    runs = _newest(played)
    if not runs:
        yield "the newest head has no check"
    if all(run.conclusion in {"cancelled", "skipped"} for run in runs):
        yield f"the newest head has no result: {[(run.conclusion, run.title) for run in runs]}"
    every = played.repository.check_runs()
    doubles = Counter((run.head_sha, run.external_id) for run in every)
    for run in every:
        if run.status != "completed":
            old = "" if run.head_sha == played.pull.head_sha else "older "
            yield f"a check of the {old}head {run.head_sha[:7]} is still {run.status}, one of {doubles[run.head_sha, run.external_id]} called {run.external_id}"


def _memory_comment(played: Played) -> Iterator[str]:
    bot = played.repository.platform.app.bot
    ours = [comment.body for comment in played.pull.comments if comment.user == bot and "<!-- preflight:memory:" in comment.body]
    if len(ours) > 1:
        yield f"{len(ours)} memory comments"
    if _is_done(played) and not any(played.pull.head_sha[:7] in body for body in ours):
        yield "the memory comment is not about the newest head"


def _threads(pull: PullRequest) -> Iterator[str]:
    bot = pull.repository.platform.app.bot
    openers = [comment for comment in pull.review_comments if comment.user == bot and comment.in_reply_to is None]
    opened = Counter(mark for comment in openers if comment.id not in pull.resolved_threads for mark in _FINDING.findall(comment.body))
    yield from (f"a finding has {count} threads" for count in opened.values() if count > 1)
    reviewed = Counter(mark for review in pull.reviews if review.user == bot for mark in _REVIEW.findall(review.body))
    yield from (f"{head[:7]} has {count} reviews" for head, count in reviewed.items() if count > 1)


def _replies(played: Played) -> Iterator[str]:
    bot = played.repository.platform.app.bot
    replies = Counter(mark for comment in played.pull.comments if comment.user == bot for mark in _REPLY.findall(comment.body))
    yield from (f"a command has {count} replies" for count in replies.values() if count > 1)
    if len(replies) != played.commands:
        yield f"{played.commands} commands have {len(replies)} replies"


def _old_heads(pull: PullRequest) -> Iterator[str]:
    """Reviews that were written after their commit had been the head."""
    ends = {sha: pushed for (_, sha), (pushed, _) in zip(pull.pushes, pull.pushes[1:], strict=False)}
    for review in pull.reviews:
        ended = ends.get(review.commit_id)
        if "<!-- preflight:review:" in review.body and ended and review.submitted_at and review.submitted_at > ended + _MOMENT:
            yield f"a review on {review.commit_id[:7]} came {(review.submitted_at - ended).total_seconds():.1f} s after a newer push"


def _is_done(played: Played) -> bool:
    """Whether nothing of the newest head's result is missing for GitHub's faults: the check would say so."""
    return all(run.title != _UNFINISHED and "could not be posted" not in (run.summary or "") for run in _newest(played))


def _newest(played: Played) -> list[object]:
    return [run for run in played.repository.check_runs(played.pull.head_sha) if run.title != "Replaced by a newer commit"]
