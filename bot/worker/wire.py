"""What goes to the worker: a line of JSON, then the contents of all files, each once, in the order of their hashes, then what is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any

from analysis.snapshot import Snapshot

#: A header larger than this is no header of ours.
_MAX_HEADER_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Task:
    """``what`` is "review" or the word of a command; ``arguments`` are its options, ``configuration`` files of the base branch.

    ``kept`` is what former reviews of the repository have left.
    """

    what: str
    base: Snapshot
    head: Snapshot
    configuration: Mapping[str, bytes]
    base_tip: str = ""
    arguments: tuple[str, ...] = ()
    kept: bytes = b""


def pack(task: Task) -> Iterable[bytes]:
    """``task`` in pieces for a pipe; a file that both commits share is sent once."""
    contents: dict[str, bytes] = {}
    header = {
        "what": task.what,
        "base_tip": task.base_tip,
        "arguments": list(task.arguments),
        "base": _snapshot_header(task.base, contents),
        "head": _snapshot_header(task.head, contents),
        "configuration": _files_header(task.configuration, contents),
        "kept": len(task.kept),
        "sizes": {name: len(content) for name, content in sorted(contents.items())},
    }
    yield json.dumps(header).encode() + b"\n"
    for name in sorted(contents):
        yield contents[name]
    yield task.kept


def unpack(stream: IO[bytes]) -> Task:
    """The task that ``pack`` wrote. Raises ValueError where the stream ends early."""
    header: dict[str, Any] = json.loads(stream.readline(_MAX_HEADER_BYTES))
    contents = {name: _exactly(stream, size) for name, size in header["sizes"].items()}
    return Task(
        what=header["what"],
        base=_snapshot(header["base"], contents),
        head=_snapshot(header["head"], contents),
        configuration={path: contents[name] for path, name in header["configuration"].items()},
        base_tip=header["base_tip"],
        arguments=tuple(header["arguments"]),
        kept=_exactly(stream, header["kept"]),
    )


def _snapshot_header(snapshot: Snapshot, contents: dict[str, bytes]) -> dict[str, Any]:
    unread = sorted(snapshot.paths - snapshot.contents.keys())
    return {"commit": snapshot.commit, "unread": unread, "files": _files_header(snapshot.contents, contents)}


def _files_header(files: Mapping[str, bytes], contents: dict[str, bytes]) -> dict[str, str]:
    named = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    contents.update({named[path]: content for path, content in files.items()})
    return named


def _snapshot(header: dict[str, Any], contents: Mapping[str, bytes]) -> Snapshot:
    files = {path: contents[name] for path, name in header["files"].items()}
    return Snapshot(frozenset(files) | frozenset(header["unread"]), files, header["commit"])


def _exactly(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) != size:
        raise ValueError("the task ends in the middle of a file")
    return content
