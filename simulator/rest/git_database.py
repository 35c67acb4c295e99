"""Blobs, trees and commits by object id."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from simulator.errors import ApiError, not_found, unprocessable
from simulator.git.command import GitError, git
from simulator.git.objects import EXECUTABLE_MODE, FILE_MODE, SUBMODULE_MODE, SYMLINK_MODE, TREE_MODE
from simulator.git.repository import is_object_id
from simulator.http.exchange import Answer, Call
from simulator.representation.accounts import Json
from simulator.representation.repositories import api_url, git_commit_json
from simulator.rest.registry import answers

if TYPE_CHECKING:
    from simulator.git.objects import TreeEntry
    from simulator.repository import Repository

_WORKFLOWS = ".github/workflows/"
_TYPES = {FILE_MODE: "blob", EXECUTABLE_MODE: "blob", SYMLINK_MODE: "blob", TREE_MODE: "tree", SUBMODULE_MODE: "commit"}


@answers("git/get-blob")
def get_blob(call: Call) -> Answer:
    """A blob in base64, or raw."""
    repository, sha = call.repository, call.text("file_sha")
    content = repository.git.blobs([sha]).get(sha) if is_object_id(sha) else None
    if content is None:
        raise not_found()
    if "raw" in call.accept:
        return Answer(content, media_type="application/vnd.github.raw+json; charset=utf-8")
    shown = {"content": base64.encodebytes(content).decode(), "encoding": "base64", "size": len(content)}
    return Answer({**_object_json(repository, "blobs", sha), "node_id": f"B_{sha}", **shown})


@answers("git/create-blob")
def create_blob(call: Call) -> Answer:
    """Store a blob."""
    text = str(call.body["content"])
    content = text.encode()
    if call.body.get("encoding") == "base64":
        try:
            content = base64.b64decode(text, validate=False)
        except binascii.Error as problem:
            raise unprocessable("content is not valid Base64") from problem
    return Answer(_object_json(call.repository, "blobs", call.repository.git.store_blob(content)), 201)


@answers("git/get-tree")
def get_tree(call: Call) -> Answer:
    """A tree by id, commit or branch; `recursive` with any value lists the inner ones; truncated when too large."""
    repository = call.repository
    sha = repository.git.resolve(call.text("tree_sha"), "tree")
    if sha is None:
        raise not_found()
    rows = repository.git.entries(sha, recursive="recursive" in call.query)
    limit = call.platform.limits.tree_entries
    shown = [_row_json(repository, row) for row in rows[:limit]]
    return Answer({**_object_json(repository, "trees", sha), "tree": shown, "truncated": len(rows) > limit})


@answers("git/create-tree")
def create_tree(call: Call) -> Answer:
    """Make a tree from another one and changed rows; a row whose `sha` is null is removed."""
    repository = call.repository
    index = repository.git.folder / f"index-{call.platform.ids.next()}"
    environment = {"GIT_INDEX_FILE": str(index)}
    base = call.given("base_tree")
    rows = [_index_row(call, cast("Json", row)) for row in cast("list[object]", call.body["tree"])]
    try:
        if base is not None:
            git(repository.git.folder, ["read-tree", base], environment=environment)
        git(repository.git.folder, ["update-index", "-z", "--index-info"], "".join(rows).encode(), environment)
        sha = git(repository.git.folder, ["write-tree"], environment=environment).decode().strip()
    except GitError as problem:
        raise unprocessable(f"GitRPC::BadObjectState: {problem}") from problem
    finally:
        index.unlink(missing_ok=True)
    shown = [_row_json(repository, row) for row in repository.git.entries(sha)]
    return Answer({**_object_json(repository, "trees", sha), "tree": shown, "truncated": False}, 201)


@answers("git/get-commit")
def get_commit(call: Call) -> Answer:
    """A commit by id."""
    sha = call.repository.git.resolve(call.text("commit_sha"))
    if sha is None or not is_object_id(call.text("commit_sha")):
        raise not_found()
    return Answer(git_commit_json(call.repository, call.repository.git.commit_of(sha)))


@answers("git/create-commit")
def create_commit(call: Call) -> Answer:
    """Store a commit; no branch is moved."""
    store = call.repository.git
    if store.resolve(str(call.body["tree"]), "tree") is None:
        raise unprocessable("Tree SHA does not exist")
    parents = [str(parent) for parent in cast("list[object]", call.body.get("parents", []))]
    if any(store.resolve(parent) is None for parent in parents):
        raise unprocessable("Parent SHA does not exist or is not a commit object")
    author = _person(call, call.body.get("author"))
    committer = _person(call, call.body.get("committer", call.body.get("author")))
    environment = {f"GIT_AUTHOR_{part}": value for part, value in author.items()}
    environment |= {f"GIT_COMMITTER_{part}": value for part, value in committer.items()}
    arguments = ["commit-tree", str(call.body["tree"]), *(word for parent in parents for word in ("-p", parent))]
    sha = git(store.folder, arguments, str(call.body["message"]).encode(), environment).decode().strip()
    return Answer(git_commit_json(call.repository, store.commit_of(sha)), 201)


def _person(call: Call, given: object) -> dict[str, str]:
    bot = call.bot
    person = cast("Json", given) if isinstance(given, dict) else {}
    now = call.platform.clock.now()
    date = datetime.fromisoformat(str(person["date"])).astimezone(UTC) if "date" in person else now
    return {
        "NAME": str(person.get("name", bot.login)),
        "EMAIL": str(person.get("email", f"{bot.id}+{bot.login}@users.noreply.github.com")),
        "DATE": f"@{int(date.timestamp())} +0000",
    }


def _index_row(call: Call, row: Json) -> str:
    path = str(row["path"])
    if path.startswith(_WORKFLOWS) and (call.token is None or not call.token.allows("workflows", "write")):
        raise ApiError(403, "Resource not accessible by integration")
    if "content" in row:
        sha = call.repository.git.store_blob(str(row["content"]).encode())
    elif row.get("sha") is None:
        return f"0 {'0' * 40}\t{path}\0"
    else:
        sha = str(row["sha"])
    mode = str(row["mode"])
    if call.repository.git.resolve(sha, _TYPES[mode]) is None:
        raise unprocessable(f"tree.sha {sha} is not a valid {_TYPES[mode]}")
    return f"{mode} {sha}\t{path}\0"


def _row_json(repository: Repository, row: TreeEntry) -> Json:
    shown: Json = {"path": row.path, "mode": row.mode, "type": row.type, "sha": row.sha}
    if row.size is not None:
        shown["size"] = row.size
    if row.type != "commit":
        shown["url"] = f"{api_url(repository)}/git/{row.type}s/{row.sha}"
    return shown


def _object_json(repository: Repository, kind: str, sha: str) -> Json:
    return {"sha": sha, "url": f"{api_url(repository)}/git/{kind}/{sha}"}
