"""Files and folders by path."""

from __future__ import annotations

import base64
import posixpath
from typing import TYPE_CHECKING
from urllib.parse import quote

from simulator.errors import ApiError, not_found
from simulator.git.objects import SYMLINK_MODE
from simulator.http.exchange import Answer, Call
from simulator.representation.accounts import Json
from simulator.representation.repositories import api_url, web_url
from simulator.rest.registry import answers

if TYPE_CHECKING:
    from simulator.git.objects import TreeEntry
    from simulator.repository import Repository

_MAX_RAW_BYTES = 100_000_000
_MAX_FOLDER_ENTRIES = 1000


@answers("repos/get-content")
def get_content(call: Call) -> Answer:
    """A file up to 1 MB as JSON, larger ones only raw; a folder as a list; links inside the repository are followed."""
    repository = call.repository
    reference = str(call.query.get("ref", repository.default_branch))
    commit = repository.git.resolve(reference)
    if commit is None:
        raise ApiError(404, f"No commit found for the ref {reference}")
    path = call.text("path").strip("/")
    if not path:
        return _folder(repository, commit, path, commit)
    entry = repository.git.entry(commit, path)
    if entry is None:
        raise not_found()
    if entry.type == "tree":
        return _folder(repository, commit, path, entry.sha)
    if entry.type == "commit":
        return Answer({**_named(repository, commit, path, entry, "submodule"), "submodule_git_url": "https://github.com/"})
    if entry.mode == SYMLINK_MODE:
        target = repository.git.blobs([entry.sha])[entry.sha].decode(errors="replace")
        followed = _follow(repository, commit, path, target)
        if followed is None:
            return Answer({**_named(repository, commit, path, entry, "symlink"), "target": target})
        entry = followed
    return _file(call, repository, commit, path, entry)


def _file(call: Call, repository: Repository, commit: str, path: str, entry: TreeEntry) -> Answer:
    size = entry.size or 0
    if size > _MAX_RAW_BYTES:
        raise ApiError(403, "This API returns blobs up to 100 MB in size.")
    content = repository.git.blobs([entry.sha])[entry.sha]
    if "raw" in call.accept:
        return Answer(content, media_type="application/vnd.github.raw+json; charset=utf-8")
    large = size > call.platform.limits.content_bytes
    shown = {
        "content": "" if large else base64.encodebytes(content).decode(),
        "encoding": "none" if large else "base64",
    }
    return Answer({**_named(repository, commit, path, entry, "file"), **shown})


def _folder(repository: Repository, commit: str, path: str, tree: str) -> Answer:
    rows = repository.git.entries(tree)[:_MAX_FOLDER_ENTRIES]
    return Answer([_entry_json(repository, commit, path, row) for row in rows])


def _follow(repository: Repository, commit: str, path: str, target: str) -> TreeEntry | None:
    """The file that a link leads to, None when that is no file of the repository."""
    where = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if where.startswith(("..", "/")):
        return None
    entry = repository.git.entry(commit, where)
    return entry if entry is not None and entry.type == "blob" and entry.mode != SYMLINK_MODE else None


def _entry_json(repository: Repository, commit: str, folder: str, entry: TreeEntry) -> Json:
    kind = {"tree": "dir", "commit": "submodule"}.get(entry.type, "symlink" if entry.mode == SYMLINK_MODE else "file")
    return _named(repository, commit, f"{folder}/{entry.path}".strip("/"), entry, kind)


def _named(repository: Repository, commit: str, path: str, entry: TreeEntry, kind: str) -> Json:
    address = quote(path)
    url = f"{api_url(repository)}/contents/{address}?ref={commit}"
    git_url = f"{api_url(repository)}/git/{'trees' if entry.type == 'tree' else 'blobs'}/{entry.sha}"
    page = f"{web_url(repository)}/blob/{commit}/{address}"
    return {
        "type": kind,
        "name": posixpath.basename(path),
        "path": path,
        "sha": entry.sha,
        "size": entry.size or 0,
        "url": url,
        "git_url": git_url,
        "html_url": page,
        "download_url": f"{web_url(repository)}/raw/{commit}/{address}" if kind == "file" else None,
        "_links": {"self": url, "git": git_url, "html": page},
    }
