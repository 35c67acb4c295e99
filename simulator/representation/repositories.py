"""Repositories and what git holds in them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from simulator.clock import iso
from simulator.ids import node_id
from simulator.representation.accounts import Json, user_json

if TYPE_CHECKING:
    from simulator.git.objects import Commit, FileChange, Signature
    from simulator.repository import Repository

_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
_CONSTANTS: Json = {
    "description": None,
    "homepage": None,
    "language": "Python",
    "license": None,
    "mirror_url": None,
    "archived": False,
    "disabled": False,
    "has_issues": True,
    "has_projects": False,
    "has_wiki": False,
    "has_pages": False,
    "has_downloads": True,
    "has_discussions": False,
    "forks": 0,
    "forks_count": 0,
    "stargazers_count": 0,
    "watchers": 0,
    "watchers_count": 0,
    "network_count": 0,
    "subscribers_count": 0,
    "size": 0,
    "topics": [],
    "is_template": False,
    "web_commit_signoff_required": False,
}


def api_url(repository: Repository) -> str:
    """The repository's address in the API."""
    return f"{repository.platform.urls.api}/repos/{repository.full_name}"


def web_url(repository: Repository) -> str:
    """The repository's address for people."""
    return f"{repository.platform.urls.web}/{repository.full_name}"


def repository_json(repository: Repository) -> Json:
    """A full repository."""
    url, page = api_url(repository), web_url(repository)
    waiting = sum(pull.state == "open" for pull in repository.pulls.values())
    return {
        **_CONSTANTS,
        "id": repository.id,
        "node_id": node_id("R", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "owner": user_json(repository.owner, repository.platform.urls),
        "private": repository.private,
        "visibility": "private" if repository.private else "public",
        "fork": repository.parent is not None,
        "allow_forking": True,
        "html_url": page,
        "url": url,
        **{name: url + path for name, path in _LINKS.items()},
        "git_url": f"{page}.git",
        "ssh_url": f"git@{page}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "default_branch": repository.default_branch,
        "open_issues": waiting,
        "open_issues_count": waiting,
        "created_at": iso(repository.created_at),
        "updated_at": iso(repository.pushed_at),
        "pushed_at": iso(repository.pushed_at),
    }


def person_json(signature: Signature) -> Json:
    """Who wrote a commit."""
    return {"name": signature.name, "email": signature.email, "date": iso(signature.date)}


def git_commit_json(repository: Repository, commit: Commit) -> Json:
    """A commit of the git database API."""
    url, page = api_url(repository), web_url(repository)
    return {
        "sha": commit.sha,
        "node_id": f"C_{commit.sha}",
        "url": f"{url}/git/commits/{commit.sha}",
        "html_url": f"{page}/commit/{commit.sha}",
        "author": person_json(commit.author),
        "committer": person_json(commit.committer),
        "tree": {"sha": commit.tree, "url": f"{url}/git/trees/{commit.tree}"},
        "message": commit.message,
        "parents": [_parent(repository, "git/commits", parent) for parent in commit.parents],
        "verification": _unsigned(),
    }


def simple_commit_json(commit: Commit) -> Json:
    """A commit as events and check suites carry it."""
    return {
        "id": commit.sha,
        "tree_id": commit.tree,
        "message": commit.message,
        "timestamp": iso(commit.committer.date),
        "author": {"name": commit.author.name, "email": commit.author.email},
        "committer": {"name": commit.committer.name, "email": commit.committer.email},
    }


def commit_json(repository: Repository, commit: Commit) -> Json:
    """A commit of the repositories API, without its files."""
    url, page = api_url(repository), web_url(repository)
    known = repository.platform.known_account(commit.author.name)
    user: Json = {} if known is None else user_json(known, repository.platform.urls)
    return {
        "sha": commit.sha,
        "node_id": f"C_{commit.sha}",
        "url": f"{url}/commits/{commit.sha}",
        "html_url": f"{page}/commit/{commit.sha}",
        "comments_url": f"{url}/commits/{commit.sha}/comments",
        "commit": {
            "url": f"{url}/git/commits/{commit.sha}",
            "author": person_json(commit.author),
            "committer": person_json(commit.committer),
            "message": commit.message,
            "tree": {"sha": commit.tree, "url": f"{url}/git/trees/{commit.tree}"},
            "comment_count": 0,
            "verification": _unsigned(),
        },
        "author": user,
        "committer": user,
        "parents": [_parent(repository, "commits", parent) for parent in commit.parents],
    }


def file_json(repository: Repository, change: FileChange, head: str) -> Json:
    """One file of a diff; `patch` is missing for binary and for very large ones."""
    url, page = api_url(repository), web_url(repository)
    address = quote(change.path)
    shown: Json = {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{head}/{address}",
        "raw_url": f"{page}/raw/{head}/{address}",
        "contents_url": f"{url}/contents/{address}?ref={head}",
    }
    if change.patch is not None and change.patch.count("\n") < repository.platform.limits.patch_lines:
        shown["patch"] = change.patch
    if change.previous_path is not None:
        shown["previous_filename"] = change.previous_path
    return shown


def _parent(repository: Repository, kind: str, sha: str) -> Json:
    page = f"{web_url(repository)}/commit/{sha}"
    return {"sha": sha, "url": f"{api_url(repository)}/{kind}/{sha}", "html_url": page}


def _unsigned() -> Json:
    return {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}
