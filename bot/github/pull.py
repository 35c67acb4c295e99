"""A pull request as GitHub tells it: commits, state, changed files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bot.github.client import Client
from bot.github.errors import GitHubError, NotFoundError
from bot.review.diff import Diff, hunks


@dataclass(frozen=True, slots=True)
class Pull:
    """What a job needs to know of a pull request; ``head`` is the commit, ``base_ref`` the branch it goes into, ``head_ref`` the one it comes from.

    ``is_fork``: that branch is in another repository, where the App may not write. ``full_name`` is the repository's present name.
    """

    number: int
    head: str
    base_ref: str
    is_open: bool
    is_draft: bool
    labels: frozenset[str]
    head_ref: str
    is_fork: bool
    is_merged: bool
    full_name: str
    changed_files: int


@dataclass(frozen=True, slots=True)
class Changes:
    """The changed paths (old and new names), the diff of the new side, and how many files were listed."""

    paths: tuple[str, ...]
    diff: Diff
    files: int


async def read_pull(client: Client, number: int) -> Pull:
    """The pull request now."""
    value = await client.get(f"{{repo}}/pulls/{number}")
    return Pull(
        number=number,
        head=value["head"]["sha"],
        base_ref=value["base"]["ref"],
        is_open=value["state"] == "open",
        is_draft=bool(value.get("draft")),
        labels=frozenset(label["name"] for label in value["labels"]),
        head_ref=value["head"]["ref"],
        is_merged=bool(value.get("merged")),
        full_name=value["base"]["repo"]["full_name"],
        changed_files=value["changed_files"],
        is_fork=(value["head"]["repo"] or {}).get("id") != value["base"]["repo"]["id"],
    )


async def branch_tip(client: Client, branch: str) -> str:
    """The commit at the tip of ``branch``."""
    sha: str = (await client.get(f"{{repo}}/git/ref/heads/{quote(branch)}"))["object"]["sha"]
    return sha


async def merge_base(client: Client, base: str, head: str) -> str:
    """The commit where ``head`` left ``base``. The second page is asked for: the first would list up to 300 changed files."""
    try:
        answer = await client.get(f"{{repo}}/compare/{base}...{head}", per_page="1", page="2")
    except NotFoundError as error:
        raise GitHubError(f"{base[:7]} and {head[:7]} have no commit in common, or one of them is gone", error.status) from error
    sha: str = answer["merge_base_commit"]["sha"]
    return sha


async def changed_paths(client: Client, base: str, head: str) -> tuple[str, ...]:
    """The paths (old and new names) that differ between two commits, at most the 300 files that GitHub lists."""
    files = (await client.get(f"{{repo}}/compare/{base}...{head}", per_page="1"))["files"]
    return tuple(sorted({name for file in files for name in (file["filename"], file.get("previous_filename")) if name}))


async def read_changes(client: Client, number: int) -> Changes:
    """The changed files of the pull request, at most the 3,000 that GitHub lists."""
    files: list[dict[str, Any]] = await client.pages(f"{{repo}}/pulls/{number}/files")
    paths = {file["filename"] for file in files} | {file["previous_filename"] for file in files if "previous_filename" in file}
    return Changes(tuple(sorted(paths)), Diff({file["filename"]: hunks(file["patch"]) for file in files if file.get("patch")}), len(files))
