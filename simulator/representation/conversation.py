"""Comments, reviews and reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.clock import iso
from simulator.ids import node_id
from simulator.representation.accounts import Json, app_json, user_json
from simulator.representation.pulls import association, label_json, pull_page, pull_url
from simulator.representation.repositories import api_url
from simulator.reviewing import current_lines

if TYPE_CHECKING:
    from simulator.conversation import IssueComment, Reaction, Review, ReviewComment
    from simulator.platform import Platform
    from simulator.pull_request import PullRequest

_EMOJIS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def issue_comment_json(pull: PullRequest, comment: IssueComment) -> Json:
    """A comment of the conversation."""
    platform = pull.repository.platform
    url = f"{api_url(pull.repository)}/issues/comments/{comment.id}"
    by_app = comment.user == platform.app.bot
    return {
        "id": comment.id,
        "node_id": node_id("IC", comment.id),
        "url": url,
        "html_url": f"{pull_page(pull)}#issuecomment-{comment.id}",
        "issue_url": f"{api_url(pull.repository)}/issues/{pull.number}",
        "user": user_json(comment.user, platform.urls),
        "created_at": iso(comment.created_at),
        "updated_at": iso(comment.updated_at),
        "author_association": association(pull.repository, comment.user),
        "body": comment.body,
        "reactions": _rollup(url, comment.reactions),
        "performed_via_github_app": app_json(platform.app, platform.urls) if by_app else None,
    }


def review_json(pull: PullRequest, review: Review) -> Json:
    """A review."""
    page = f"{pull_page(pull)}#pullrequestreview-{review.id}"
    shown: Json = {
        "id": review.id,
        "node_id": node_id("PRR", review.id),
        "user": user_json(review.user, pull.repository.platform.urls),
        "body": review.body,
        "state": review.state,
        "html_url": page,
        "pull_request_url": pull_url(pull),
        "_links": {"html": {"href": page}, "pull_request": {"href": pull_url(pull)}},
        "commit_id": review.commit_id,
        "author_association": association(pull.repository, review.user),
    }
    if review.submitted_at is not None:
        shown["submitted_at"] = iso(review.submitted_at)
    return shown


def review_comment_json(pull: PullRequest, comment: ReviewComment) -> Json:
    """A comment on the diff; `line` is null once it is outdated, `original_line` never is."""
    url = f"{api_url(pull.repository)}/pulls/comments/{comment.id}"
    page = f"{pull_page(pull)}#discussion_r{comment.id}"
    where = comment.anchor
    start, line = current_lines(pull, where)
    links = {"self": url, "html": page, "pull_request": pull_url(pull)}
    shown: Json = {
        "id": comment.id,
        "node_id": node_id("PRRC", comment.id),
        "url": url,
        "html_url": page,
        "pull_request_url": pull_url(pull),
        "_links": {name: {"href": address} for name, address in links.items()},
        "pull_request_review_id": comment.review_id,
        "diff_hunk": where.diff_hunk,
        "path": where.path,
        "position": None if line is None else where.position,
        "original_position": where.position,
        "commit_id": where.commit_id if line is None else pull.head_sha,
        "original_commit_id": where.commit_id,
        "user": user_json(comment.user, pull.repository.platform.urls),
        "body": comment.body,
        "created_at": iso(comment.created_at),
        "updated_at": iso(comment.updated_at),
        "author_association": association(pull.repository, comment.user),
        "line": line,
        "original_line": where.line,
        "side": where.side,
        "start_line": start,
        "original_start_line": where.start_line,
        "start_side": where.start_side,
        "subject_type": "line" if where.position is not None else "file",
        "reactions": _rollup(url, comment.reactions),
    }
    if comment.in_reply_to is not None:
        shown["in_reply_to_id"] = comment.in_reply_to
    return shown


def issue_json(pull: PullRequest) -> Json:
    """The issue side of a pull request, as comment events carry it."""
    url = f"{api_url(pull.repository)}/issues/{pull.number}"
    platform = pull.repository.platform
    page = pull_page(pull)
    return {
        "id": pull.id,
        "node_id": node_id("PR", pull.id),
        "number": pull.number,
        "title": pull.title,
        "url": url,
        "repository_url": api_url(pull.repository),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": page,
        "user": user_json(pull.author, platform.urls),
        "labels": [label_json(pull.repository, name) for name in pull.labels],
        "state": pull.state,
        "locked": False,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": len(pull.comments),
        "created_at": iso(pull.created_at),
        "updated_at": iso(pull.updated_at),
        "closed_at": None if pull.closed_at is None else iso(pull.closed_at),
        "author_association": association(pull.repository, pull.author),
        "active_lock_reason": None,
        "draft": pull.draft,
        "body": pull.body or None,
        "reactions": _rollup(url, ()),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": None,
        "state_reason": None,
        "pull_request": {
            "url": pull_url(pull),
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": None if pull.merged_at is None else iso(pull.merged_at),
        },
    }


def reaction_json(platform: Platform, reaction: Reaction) -> Json:
    """One reaction."""
    return {
        "id": reaction.id,
        "node_id": node_id("REA", reaction.id),
        "user": user_json(reaction.user, platform.urls),
        "content": reaction.content,
        "created_at": iso(reaction.created_at),
    }


def _rollup(url: str, reactions: tuple[Reaction, ...]) -> Json:
    counts = {emoji: sum(one.content == emoji for one in reactions) for emoji in _EMOJIS}
    return {"url": f"{url}/reactions", "total_count": len(reactions), **counts}
