"""What the demo's review has to hold: the demo fails where the product would have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simulator import PullRequest
from simulator.checkruns import CheckRun

_LEAST_RULES = 4


def missing(pull: PullRequest, runs: tuple[CheckRun, ...], violations: tuple[str, ...]) -> tuple[str, ...]:
    """A sentence for each thing that is not there."""
    return tuple(_missing(pull, runs, violations))


def _missing(pull: PullRequest, runs: tuple[CheckRun, ...], violations: tuple[str, ...]) -> Iterator[str]:
    annotated = {annotation.title for run in runs for annotation in run.annotations}
    suggested = {match[1] for comment in pull.review_comments if (match := re.match(r"`([a-z-]+)`", comment.body))}
    summaries = "\n".join(run.summary or "" for run in runs)
    rules = {rule for rule in annotated | suggested if rule}
    if len(rules) < _LEAST_RULES:
        yield f"the review has findings of {len(rules)} rules, {_LEAST_RULES} were expected"
    if "(with " not in summaries:
        yield "no finding reaches across two files"
    if not any("```suggestion" in comment.body for comment in pull.review_comments):
        yield "no suggestion was made"
    comments = "\n".join(comment.body for comment in pull.comments)
    if "**Peak**" not in comments:
        yield "there is no memory table"
    if "no longer fits" not in comments:
        yield "the comment does not say that the change no longer fits the card"
    if "Would make it fit" not in comments:
        yield "the comment names no change that would make it fit"
    for violation in violations:
        yield f"GitHub would have refused a request: {violation}"
