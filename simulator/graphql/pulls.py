"""Pull requests and what is said on them, as GraphQL shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.clock import iso
from simulator.graphql.connections import Object, connection
from simulator.graphql.git_objects import commit
from simulator.ids import node_id
from simulator.representation.pulls import label_json, pull_page
from simulator.reviewing import current_lines, is_outdated

if TYPE_CHECKING:
    from simulator.accounts import Account
    from simulator.conversation import IssueComment, Review, ReviewComment
    from simulator.git.objects import FileChange
    from simulator.pull_request import PullRequest

_CHANGE_TYPES = {"removed": "DELETED"}


def actor(account: Account) -> Object:
    """Who did something; a bot's login has no `[bot]` here, unlike in the REST API."""
    return {
        "__typename": account.type,
        "id": node_id("BOT" if account.type == "Bot" else "U", account.id),
        "login": account.login.removesuffix("[bot]"),
        "databaseId": account.id,
    }


def pull_request(pull: PullRequest, repository: Object) -> Object:
    """A pull request; `repository` is its head's repository, already shown."""
    files = pull.files()
    threads = [one for one in pull.review_comments if one.in_reply_to is None]
    return {
        "__typename": "PullRequest",
        "id": node_id("PR", pull.id),
        "databaseId": pull.id,
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "url": pull_page(pull),
        "state": "MERGED" if pull.merged else pull.state.upper(),
        "isDraft": pull.draft,
        "closed": pull.state == "closed",
        "merged": pull.merged,
        "mergeable": "MERGEABLE" if pull.merge_commit_sha else "CONFLICTING",
        "author": actor(pull.author),
        "baseRefName": pull.base_branch,
        "baseRefOid": pull.base_sha,
        "headRefName": pull.head_branch,
        "headRefOid": pull.head_sha,
        "headRepository": repository,
        "isCrossRepository": pull.head_repository is not pull.repository,
        "createdAt": iso(pull.created_at),
        "updatedAt": iso(pull.updated_at),
        "additions": sum(one.additions for one in files),
        "deletions": sum(one.deletions for one in files),
        "changedFiles": len(files),
        "comments": connection("comments", pull.comments, lambda one: issue_comment(pull, one)),
        "files": connection("files", files, _changed_file),
        "labels": connection("labels", pull.labels, lambda name: _label(pull, name)),
        "reviews": connection("reviews", pull.reviews, lambda one: review(pull, one)),
        "reviewThreads": connection("reviewThreads", threads, lambda one: thread(pull, one)),
    }


def issue_comment(pull: PullRequest, comment: IssueComment) -> Object:
    """A comment of the conversation."""
    return {
        "__typename": "IssueComment",
        "id": node_id("IC", comment.id),
        **_written(pull, comment),
        "url": f"{pull_page(pull)}#issuecomment-{comment.id}",
    }


def review(pull: PullRequest, one: Review) -> Object:
    """A review."""
    platform = pull.repository.platform
    return {
        "__typename": "PullRequestReview",
        "id": node_id("PRR", one.id),
        "databaseId": one.id,
        "fullDatabaseId": str(one.id),
        "author": actor(one.user),
        "body": one.body,
        "state": one.state,
        "commit": lambda _info: commit(pull.repository, one.commit_id),
        "submittedAt": None if one.submitted_at is None else iso(one.submitted_at),
        **_minimized(one.minimized),
        "viewerDidAuthor": one.user == platform.app.bot,
        "url": f"{pull_page(pull)}#pullrequestreview-{one.id}",
    }


def thread(pull: PullRequest, opener: ReviewComment) -> Object:
    """The thread that a comment opened."""
    start, line = current_lines(pull, opener.anchor)
    comments = [one for one in pull.review_comments if opener.id in (one.id, one.in_reply_to)]
    resolver = pull.resolved_threads.get(opener.id)
    resolved, where = resolver is not None, opener.anchor
    return {
        "__typename": "PullRequestReviewThread",
        "id": node_id("PRRT", opener.id),
        "isCollapsed": resolved,
        "isOutdated": is_outdated(pull, opener),
        "isResolved": resolved,
        "path": where.path,
        "line": line,
        "startLine": start,
        "originalLine": where.line,
        "originalStartLine": where.start_line,
        "diffSide": where.side,
        "startDiffSide": where.start_side,
        "subjectType": "FILE" if where.position is None else "LINE",
        "resolvedBy": None if resolver is None else {**actor(resolver), "__typename": "User"},
        "viewerCanResolve": not resolved,
        "viewerCanUnresolve": resolved,
        "viewerCanReply": True,
        "pullRequest": lambda _info: pull_request(pull, {"id": node_id("R", pull.repository.id)}),
        "comments": connection("comments", comments, lambda one: review_comment(pull, one)),
    }


def review_comment(pull: PullRequest, comment: ReviewComment) -> Object:
    """A comment on the diff."""
    where = comment.anchor
    start, line = current_lines(pull, where)
    parent = None if comment.in_reply_to is None else pull.review_comment_table.get(comment.in_reply_to)
    owner = None if comment.review_id is None else pull.review_table[comment.review_id]
    current = where.commit_id if line is None else pull.head_sha
    return {
        "__typename": "PullRequestReviewComment",
        "id": node_id("PRRC", comment.id),
        **_written(pull, comment),
        "path": where.path,
        "line": line,
        "startLine": start,
        "originalLine": where.line,
        "originalStartLine": where.start_line,
        "diffHunk": where.diff_hunk,
        "outdated": is_outdated(pull, comment),
        "commit": lambda _info: commit(pull.repository, current),
        "originalCommit": lambda _info: commit(pull.repository, where.commit_id),
        "replyTo": lambda _info: None if parent is None else review_comment(pull, parent),
        "pullRequestReview": lambda _info: None if owner is None else review(pull, owner),
        "url": f"{pull_page(pull)}#discussion_r{comment.id}",
    }


def _written(pull: PullRequest, comment: IssueComment | ReviewComment) -> Object:
    return {
        "databaseId": comment.id,
        "fullDatabaseId": str(comment.id),
        "author": actor(comment.user),
        "body": comment.body,
        "createdAt": iso(comment.created_at),
        "updatedAt": iso(comment.updated_at),
        **_minimized(comment.minimized),
        "viewerDidAuthor": comment.user == pull.repository.platform.app.bot,
    }


def _minimized(reason: str | None) -> Object:
    return {"isMinimized": reason is not None, "minimizedReason": reason, "viewerCanMinimize": True}


def _changed_file(change: FileChange) -> Object:
    kind = _CHANGE_TYPES.get(change.status, change.status.upper())
    return {"path": change.path, "changeType": kind, "additions": change.additions, "deletions": change.deletions}


def _label(pull: PullRequest, name: str) -> Object:
    shown = label_json(pull.repository, name)
    return {"id": shown["node_id"], "name": name, "color": shown["color"]}
