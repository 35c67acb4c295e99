"""Commits and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from simulator.errors import ApiError, not_found
from simulator.git.diff import changed_files, unified_diff
from simulator.http.exchange import Answer, Call
from simulator.representation.accounts import Json
from simulator.representation.repositories import api_url, commit_json, file_json, web_url
from simulator.rest.registry import answers

if TYPE_CHECKING:
    from simulator.repository import Repository

DIFF_MEDIA_TYPES = ("application/vnd.github.diff", "application/vnd.github.v3.diff")


def wants_diff(call: Call) -> bool:
    """Whether the client asks for a diff instead of JSON."""
    return any(media in call.accept for media in DIFF_MEDIA_TYPES)


def diff_answer(repository: Repository, older: str, newer: str) -> Answer:
    """The diff between two commits as text; 406 when it is too large."""
    text = unified_diff(repository.git, older, newer)
    if text.count("\n") > repository.platform.limits.patch_lines:
        raise ApiError(406, "Sorry, the diff exceeded the maximum number of lines (20000)")
    return Answer(text.encode(), media_type="application/vnd.github.diff; charset=utf-8")


@answers("repos/get-commit")
def get_commit(call: Call) -> Answer:
    """A commit with the files that it changes; with the `sha` media type only its id."""
    repository = call.repository
    sha = repository.git.resolve(call.text("ref"))
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {call.text('ref')}")
    if "application/vnd.github.sha" in call.accept:
        return Answer(sha.encode(), media_type="application/vnd.github.sha; charset=utf-8")
    commit = repository.git.commit_of(sha)
    files = changed_files(repository.git, commit.parents[0] if commit.parents else None, sha)
    added, removed = sum(one.additions for one in files), sum(one.deletions for one in files)
    return Answer(
        {
            **commit_json(repository, commit),
            "stats": {"total": added + removed, "additions": added, "deletions": removed},
            "files": [file_json(repository, one, sha) for one in files[: call.platform.limits.compare_files]],
        }
    )


@answers("repos/compare-commits-with-basehead")
def compare(call: Call) -> Answer:
    """Two commits compared from their merge base; files only on the first page."""
    repository = call.repository
    base_name, separator, head_name = call.text("basehead").partition("...")
    if not separator:
        raise not_found()
    base, head = _compared(repository, base_name), _compared(repository, head_name)
    merge_base = repository.git.merge_base(base, head)
    if merge_base is None:
        raise ApiError(404, f"No common ancestor between {base_name} and {head_name}.")
    if wants_diff(call):
        return diff_answer(repository, merge_base, head)
    return Answer(_comparison(call, base, head, merge_base))


def _comparison(call: Call, base: str, head: str, merge_base: str) -> Json:
    repository, git, limits = call.repository, call.repository.git, call.platform.limits
    ahead, behind = git.count(f"{base}..{head}"), git.count(f"{head}..{base}")
    status = "identical" if base == head else "ahead" if not behind else "behind" if not ahead else "diverged"
    size = int(call.query.get("per_page", limits.compare_commits))
    page = int(call.query.get("page", 1))
    commits = git.history(f"{base}..{head}", limit=10_000)[(page - 1) * size : page * size]
    files = changed_files(git, merge_base, head)[: limits.compare_files] if page == 1 else ()
    span = f"{quote(base)}...{quote(head)}"
    page_url = f"{web_url(repository)}/compare/{span}"
    return {
        "url": f"{api_url(repository)}/compare/{span}",
        "html_url": page_url,
        "permalink_url": page_url,
        "diff_url": f"{page_url}.diff",
        "patch_url": f"{page_url}.patch",
        "base_commit": commit_json(repository, git.commit_of(base)),
        "merge_base_commit": commit_json(repository, git.commit_of(merge_base)),
        "status": status,
        "ahead_by": ahead,
        "behind_by": behind,
        "total_commits": ahead,
        "commits": [commit_json(repository, git.commit_of(sha)) for sha in commits],
        "files": [file_json(repository, one, head) for one in files],
    }


def _compared(repository: Repository, name: str) -> str:
    """The commit of one side, which may be `owner:branch` of a fork."""
    owner, colon, branch = name.partition(":")
    if not colon or owner.lower() == repository.owner.login.lower():
        sha = repository.git.resolve(branch if colon else name)
    else:
        other = next(
            (
                one
                for one in repository.platform.repositories.values()
                if one.owner.login.lower() == owner.lower() and (one.parent is repository or repository.parent is one)
            ),
            None,
        )
        sha = None if other is None else other.git.resolve(f"refs/heads/{branch}")
        if other is not None and sha is not None:
            repository.git.fetch(other.git, sha, f"refs/forks/{other.id}/{sha}")
    if sha is None:
        raise not_found()
    return sha
