"""The conversation tab: what was said and pushed in the order it happened, and the state of the checks at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.web.checks_page import MARKS, mark, outcome
from simulator.web.frame import author, avatar, page, pull_head, pull_path, repository_bar, when
from simulator.web.markdown import render
from simulator.web.markup import Html, element, fragment
from simulator.web.threads import reactions, thread

if TYPE_CHECKING:
    from datetime import datetime

    from simulator.accounts import Account
    from simulator.conversation import IssueComment, Review
    from simulator.pull_request import PullRequest

_VERBS = {"COMMENTED": "reviewed", "APPROVED": "approved these changes", "CHANGES_REQUESTED": "requested changes", "DISMISSED": "reviewed (dismissed)"}


def conversation_page(pull: PullRequest) -> Html:
    """The page."""
    items: list[tuple[datetime, Html]] = [
        *((comment.created_at, _comment(comment)) for comment in pull.comments),
        *((review.submitted_at, _review(pull, review)) for review in pull.reviews if review.submitted_at is not None),
        *((moment, _push(pull, sha)) for moment, sha in pull.pushes),
    ]
    items.sort(key=lambda item: item[0])
    opening = _box(pull.author, pull.created_at, "opened this", render(pull.body or "*No description provided.*"))
    labels = element("div.labels", [element("span.label", name) for name in pull.labels]) if pull.labels else None
    timeline = element("div.timeline", opening, labels, [shown for _, shown in items], _checks_box(pull), _write_box(pull))
    return page(f"{pull.title} · #{pull.number}", repository_bar(pull.repository), element("main", pull_head(pull, "Conversation"), timeline))


def _comment(comment: IssueComment) -> Html:
    verb = "commented" if comment.created_at == comment.updated_at else "commented, edited"
    body = fragment(render(comment.body), reactions(comment.reactions))
    if comment.minimized is not None:
        summary = element("summary", f"This comment was marked as {comment.minimized}.")
        body = element("details", summary, body)
    return _box(comment.user, comment.created_at, verb, body, f"issuecomment-{comment.id}")


def _review(pull: PullRequest, review: Review) -> Html:
    openers = [one for one in pull.review_comments if one.review_id == review.id and one.in_reply_to is None]
    line = element("div.event", element("span.badge.eye", "◉"), avatar(review.user), author(review.user), f" {_VERBS[review.state]} ", when_of(review))
    body = _box(review.user, review.submitted_at, "left a comment", render(review.body)) if review.body.strip() else None
    return element("section.review", line, body, [thread(pull, one) for one in openers], id=f"pullrequestreview-{review.id}")


def when_of(review: Review) -> Html | None:
    """When a review was submitted."""
    return None if review.submitted_at is None else when(review.submitted_at)


def _push(pull: PullRequest, sha: str) -> Html:
    commit = pull.repository.git.commit_of(sha)
    subject = commit.message.split("\n", maxsplit=1)[0]
    code = element("code", sha[:7])
    status = [mark(run) for run in pull.repository.check_runs(sha)[-1:]]
    who = pull.repository.platform.account(commit.author.name)
    return element("div.event.push", element("span.badge", "●"), avatar(who), element("span.subject", subject), element("span.right", status, " ", code))


def _box(account: Account, moment: datetime | None, verb: str, body: Html, anchor: str | None = None) -> Html:
    head = element("div.box-head", author(account), f" {verb} ", None if moment is None else when(moment))
    box = element("div.box", head, element("div.markdown", body), id=anchor)
    return element("div.item", avatar(account), box)


def _checks_box(pull: PullRequest) -> Html:
    runs = pull.repository.check_runs(pull.head_sha)
    rows = [
        element(
            "div.check-row",
            mark(run),
            element("strong", run.name),
            element("span.muted", f" — {run.title or outcome(run)}"),
            element("a.right", "Details", href=f"{pull_path(pull)}/checks#run-{run.id}"),
        )
        for run in runs
    ]
    worst = next((name for name in MARKS if any(outcome(run) == name for run in runs)), "none")
    headline = {
        "none": "No checks have reported on this commit",
        "success": "All checks have passed",
        "neutral": "All checks have completed",
        "skipped": "All checks were skipped",
        "queued": "Some checks haven’t completed yet",
        "in_progress": "Some checks haven’t completed yet",
    }.get(worst, "Some checks were not successful")
    conflict = "This branch has no conflicts with the base branch" if pull.merge_commit_sha else "This branch has conflicts that must be resolved"
    return element("div.merge-box", element("h3", headline), rows, element("div.check-row.muted", conflict))


def _write_box(pull: PullRequest) -> Html:
    area = element("textarea", name="body", rows="3", placeholder="Leave a comment, for instance /preflight help", required=True)
    button = element("button", "Comment", type="submit")
    return element("form.write", area, button, method="post", action=f"{pull_path(pull)}/comments")
