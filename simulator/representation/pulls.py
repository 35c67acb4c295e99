"""Pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.clock import iso
from simulator.ids import node_id
from simulator.representation.accounts import Json, user_json
from simulator.representation.repositories import api_url, repository_json, web_url

if TYPE_CHECKING:
    from datetime import datetime

    from simulator.accounts import Account
    from simulator.pull_request import PullRequest
    from simulator.repository import Repository


def pull_url(pull: PullRequest) -> str:
    """The pull request's address in the API."""
    return f"{api_url(pull.repository)}/pulls/{pull.number}"


def pull_page(pull: PullRequest) -> str:
    """The pull request's address for people."""
    return f"{web_url(pull.repository)}/pull/{pull.number}"


def pull_summary_json(pull: PullRequest, head_sha: str | None = None) -> Json:
    """A pull request as lists show it. `head_sha` stands in for the head when an older one is to be shown."""
    repository = pull.repository
    url, page, issue = pull_url(pull), pull_page(pull), f"{api_url(repository)}/issues/{pull.number}"
    head = head_sha or pull.head_sha
    addresses = {
        "comments": f"{issue}/comments",
        "commits": f"{url}/commits",
        "review_comments": f"{url}/comments",
        "statuses": f"{api_url(repository)}/statuses/{head}",
    }
    links = {**addresses, "self": url, "html": page, "issue": issue, "review_comment": f"{url}/comments{{/number}}"}
    return {
        "id": pull.id,
        "node_id": node_id("PR", pull.id),
        "number": pull.number,
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue,
        **{f"{name}_url": address for name, address in addresses.items()},
        "review_comment_url": f"{url}/comments{{/number}}",
        "_links": {name: {"href": address} for name, address in links.items()},
        "state": pull.state,
        "locked": False,
        "title": pull.title,
        "body": pull.body or None,
        "user": user_json(pull.author, repository.platform.urls),
        "labels": [label_json(repository, name) for name in pull.labels],
        "milestone": None,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "draft": pull.draft,
        "created_at": iso(pull.created_at),
        "updated_at": iso(pull.updated_at),
        "closed_at": _moment(pull.closed_at),
        "merged_at": _moment(pull.merged_at),
        "merge_commit_sha": pull.merge_commit_sha,
        "head": _tip(pull.head_repository, pull.head_branch, head),
        "base": _tip(repository, pull.base_branch, pull.base_sha),
        "author_association": association(repository, pull.author),
        "auto_merge": None,
        "active_lock_reason": None,
    }


def pull_json(pull: PullRequest, head_sha: str | None = None) -> Json:
    """A pull request by itself, with its counts."""
    files = pull.files(head_sha)
    conflicts = pull.merge_commit_sha is None
    return {
        **pull_summary_json(pull, head_sha),
        "merged": pull.merged,
        "mergeable": None if pull.merged else not conflicts,
        "rebaseable": None if pull.merged else not conflicts,
        "mergeable_state": "dirty" if conflicts else "clean",
        "merged_by": None,
        "comments": len(pull.comments),
        "review_comments": len(pull.review_comments),
        "maintainer_can_modify": pull.head_repository is not pull.repository,
        "commits": len(pull.commit_ids()),
        "additions": sum(change.additions for change in files),
        "deletions": sum(change.deletions for change in files),
        "changed_files": len(files),
    }


def pull_reference_json(pull: PullRequest) -> Json:
    """A pull request as check runs name it."""
    sides = {
        "head": (pull.head_repository, pull.head_branch, pull.head_sha),
        "base": (pull.repository, pull.base_branch, pull.base_sha),
    }
    shown: Json = {"id": pull.id, "number": pull.number, "url": pull_url(pull)}
    for side, (repository, branch, sha) in sides.items():
        source = {"id": repository.id, "url": api_url(repository), "name": repository.name}
        shown[side] = {"ref": branch, "sha": sha, "repo": source}
    return shown


def label_json(repository: Repository, name: str) -> Json:
    """A label."""
    number = sum(name.encode())
    return {
        "id": number,
        "node_id": node_id("LA", number),
        "url": f"{api_url(repository)}/labels/{name.replace(' ', '%20')}",
        "name": name,
        "description": "",
        "color": "ededed",
        "default": False,
    }


def association(repository: Repository, user: Account) -> str:
    """How GitHub calls somebody's relation to a repository."""
    if user.login.lower() == repository.owner.login.lower():
        return "OWNER"
    return "COLLABORATOR" if user.login.lower() in repository.roles else "NONE"


def _tip(repository: Repository, branch: str, sha: str) -> Json:
    return {
        "label": f"{repository.owner.login}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": user_json(repository.owner, repository.platform.urls),
        "repo": repository_json(repository),
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)
