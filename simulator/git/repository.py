"""One bare repository: references, objects and histories."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from simulator.git.command import GitError, git
from simulator.git.objects import Commit, EntryType, FileWrite, Signature, TreeEntry

_SHA_LENGTH = 40


class GitRepository:
    """A bare git repository in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path, default_branch: str) -> GitRepository:
        """Make an empty repository in `folder`."""
        folder.mkdir(parents=True)
        git(folder, ["init", "--quiet", "--bare", f"--initial-branch={default_branch}"])
        return cls(folder)

    @classmethod
    def clone(cls, source: Path, folder: Path) -> GitRepository:
        """Copy the branches of a local repository into a new bare one in `folder`."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        git(folder.parent, ["clone", "--quiet", "--bare", "--no-hardlinks", str(source.resolve()), str(folder)])
        return cls(folder)

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """The output of one git command here."""
        return git(self.folder, arguments, stdin)

    def resolve(self, revision: str, kind: str = "commit") -> str | None:
        """The object id that a revision stands for, or None when there is no such object of that kind."""
        if not revision or revision.startswith("-") or "\0" in revision:
            return None
        try:
            found = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{{kind}}}")
        except GitError:
            return None
        return found.decode().strip()

    def set_reference(self, reference: str, sha: str) -> None:
        """Point a full reference name (`refs/heads/x`) at an object."""
        self.run("update-ref", reference, sha)

    def delete_reference(self, reference: str) -> None:
        """Remove a full reference name."""
        self.run("update-ref", "-d", reference)

    def fetch(self, other: GitRepository, revision: str, reference: str) -> None:
        """Copy a commit of another local repository here, under the given reference."""
        self.run("fetch", "--quiet", "--no-tags", str(other.folder), f"+{revision}:{reference}")

    def commit_of(self, sha: str) -> Commit:
        """The stored commit."""
        fields = self.run("show", "--no-patch", "--format=%H%n%T%n%P%n%an%n%ae%n%at%n%cn%n%ce%n%ct%n%B", sha)
        lines = fields.decode(errors="replace").split("\n")
        return Commit(
            sha=lines[0],
            tree=lines[1],
            parents=tuple(lines[2].split()),
            author=_signature(lines[3:6]),
            committer=_signature(lines[6:9]),
            message="\n".join(lines[9:]).rstrip("\n"),
        )

    def history(self, *revisions: str, limit: int) -> list[str]:
        """Commit ids of a revision range, oldest first."""
        found = self.run("rev-list", "--reverse", "--topo-order", f"--max-count={limit}", *revisions, "--")
        return found.decode().split()

    def count(self, *revisions: str) -> int:
        """How many commits a revision range holds."""
        return int(self.run("rev-list", "--count", *revisions, "--"))

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor of two commits, or None when they have none."""
        try:
            return self.run("merge-base", one, other).decode().strip()
        except GitError:
            return None

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `newer` can be reached from `older` by going forward."""
        return self.merge_base(older, newer) == older

    def entries(self, tree: str, *, recursive: bool = False, prefix: str = "") -> list[TreeEntry]:
        """The rows of a tree; a recursive listing holds the inner trees too, as GitHub's does."""
        deep = ["-r", "-t"] if recursive else []
        listed = self.run("ls-tree", "-z", "-l", "--full-tree", *deep, tree, *(["--", prefix] if prefix else []))
        return [_entry(row) for row in listed.decode(errors="surrogateescape").split("\0") if row]

    def entry(self, commit: str, path: str) -> TreeEntry | None:
        """The row of one path, or None when the commit has no such path."""
        rows = self.entries(commit, prefix=path) if path else []
        return rows[0] if rows else None

    def blobs(self, shas: list[str]) -> dict[str, bytes]:
        """Contents by object id; ids that are not blobs here are left out."""
        output = self.run("cat-file", "--batch", stdin="".join(f"{sha}\n" for sha in shas).encode())
        found: dict[str, bytes] = {}
        at = 0
        for asked in shas:
            end = output.index(b"\n", at)
            header = output[at:end].split(b" ")
            at = end + 1
            if header[-1] in (b"missing", b"ambiguous"):
                continue
            size = int(header[2])
            if header[1] == b"blob":
                found[asked] = output[at : at + size]
            at += size + 1
        return found

    def look_up(self, expression: str) -> tuple[str, str, bytes] | None:
        """Id, type and raw content of the object that a revision expression (`main:a/b.py`) or an id stands for."""
        if "\n" in expression or not expression:
            return None
        output = self.run("cat-file", "--batch", stdin=f"{expression}\n".encode())
        header, _, content = output.partition(b"\n")
        words = header.decode(errors="replace").rsplit(" ", 2)
        if words[-1] in ("missing", "ambiguous"):
            return None
        return words[0], words[1], content[: int(words[2])]

    def store_blob(self, content: bytes) -> str:
        """Store a blob and return its id."""
        return self.run("hash-object", "-w", "--stdin", stdin=content).decode().strip()

    def read(self, commit: str, path: str) -> FileWrite | None:
        """Content and mode of one path of a commit, or None when it is no file there."""
        entry = self.entry(commit, path)
        if entry is None or entry.type != "blob":
            return None
        return FileWrite(self.blobs([entry.sha])[entry.sha], entry.mode)


def is_object_id(text: str) -> bool:
    """Whether a text is a full SHA-1 object id."""
    return len(text) == _SHA_LENGTH and all(letter in "0123456789abcdef" for letter in text)


def _signature(lines: list[str]) -> Signature:
    return Signature(lines[0], lines[1], datetime.fromtimestamp(int(lines[2]), UTC))


def _entry(row: str) -> TreeEntry:
    described, path = row.split("\t", 1)
    mode, kind, sha, size = described.split()
    return TreeEntry(path, mode, cast("EntryType", kind), sha, None if size == "-" else int(size))
