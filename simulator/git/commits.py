"""Write commits in one go, by git's fast-import stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.git.objects import SUBMODULE_MODE, FileWrite, Signature

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.git.repository import GitRepository


def write_commit(
    repository: GitRepository,
    branch: str,
    changes: Mapping[str, FileWrite | None],
    message: str,
    signature: Signature,
    *,
    parent: str | None,
) -> str:
    """Commit on top of `parent` and point the branch there; None as content removes the path.

    Returns the new commit's id. The branch is moved even when that loses commits.

    Raises:
        GitError: a path cannot be stored, for instance one that climbs out with `..`.

    """
    stamp = f"{signature.name} <{signature.email}> {int(signature.date.timestamp())} +0000"
    text = message.encode()
    stream = [b"feature done\n", f"commit refs/heads/{branch}\n".encode()]
    stream += [f"author {stamp}\ncommitter {stamp}\n".encode(), b"data %d\n" % len(text), text, b"\n"]
    if parent is not None:
        stream.append(f"from {parent}\n".encode())
    for path, change in changes.items():
        stream += _change(path, change)
    stream.append(b"done\n")
    repository.run("fast-import", "--quiet", "--force", "--date-format=raw", stdin=b"".join(stream))
    return repository.run("rev-parse", f"refs/heads/{branch}").decode().strip()


def _change(path: str, change: FileWrite | None) -> list[bytes]:
    quoted = _quote(path)
    if change is None:
        return [b"D " + quoted + b"\n"]
    if change.mode == SUBMODULE_MODE:
        return [b"M " + change.mode.encode() + b" " + change.content + b" " + quoted + b"\n"]
    header = b"M " + change.mode.encode() + b" inline " + quoted + b"\n"
    return [header, b"data %d\n" % len(change.content), change.content, b"\n"]


def _quote(path: str) -> bytes:
    """A path as a C string, so that spaces, quotes and newlines in it are safe."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + escaped.encode(errors="surrogateescape") + b'"'
