"""A local git repository, bare or not, as snapshots: plumbing only, no hooks, no configuration that runs programs, no network."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from analysis.snapshot import Snapshot
from bot.cli.outcome import UsageError
from bot.wanted_files import is_wanted

#: A repository's own configuration may name programs to run; none of these commands needs one.
_HARMLESS = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "--literal-pathspecs", "--no-replace-objects")
_REGULAR_FILES = frozenset({"100644", "100755"})


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file of a commit; ``size`` is in bytes, None where a partial clone does not hold it."""

    mode: str
    blob: str
    size: int | None
    path: str


@dataclass(frozen=True, slots=True)
class GitRepository:
    """The repository at or around ``folder``. Blobs are read once, however many commits hold them."""

    folder: Path
    _blobs: dict[str, bytes] = field(default_factory=dict, repr=False)

    def commit(self, revision: str) -> str:
        """The commit that ``revision`` names. Raises UsageError if there is none."""
        found = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", check=False)
        if found.returncode:
            self._require_repository()
            raise UsageError(f"{self.folder}: there is no commit {revision}; fetch it, or name another")
        return found.stdout.decode().strip()

    def merge_base(self, base: str, head: str) -> str:
        """The newest commit that both have. Raises UsageError if they have none in common."""
        found = self._run("merge-base", base, head, check=False)
        if found.returncode:
            raise UsageError(f"{self.folder}: {base[:12]} and {head[:12]} have no commit in common; if the clone is shallow, fetch more of its history")
        return found.stdout.decode().split()[0]

    def snapshot(self, commit: str) -> Snapshot:
        """All paths of ``commit``, and the contents of those that may say something about training.

        Raises UsageError if the clone is partial and holds none of them.
        """
        files = [entry for entry in self._tree(commit) if entry.mode in _REGULAR_FILES]
        wanted = [entry for entry in files if is_wanted(entry.path, entry.size or 0)]
        here = {entry.path: entry.blob for entry in wanted if entry.size is not None}
        if wanted and not here:
            raise UsageError(f"{self.folder}: the clone is partial and holds no file of {commit[:12]}; fetch the whole commit")
        self._read(set(here.values()) - self._blobs.keys())
        return Snapshot(frozenset(entry.path for entry in files), {path: self._blobs[blob] for path, blob in here.items()}, commit)

    def missing(self, commit: str) -> tuple[str, ...]:
        """Paths of ``commit`` that may say something about training and that a partial clone does not hold, sorted."""
        absent = (entry.path for entry in self._tree(commit) if entry.mode in _REGULAR_FILES and entry.size is None and is_wanted(entry.path, 0))
        return tuple(sorted(absent))

    def changed_paths(self, base: str, head: str) -> frozenset[str]:
        """Paths that differ between two commits; a renamed file counts under both names."""
        listed = self._run("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", base, head).stdout
        return frozenset(os.fsdecode(path) for path in listed.split(b"\0") if path)

    def patch(self, base: str, head: str, path: str) -> str:
        """The unified diff of one file between two commits, with the three lines of context that GitHub shows."""
        options = ("-r", "-p", "-U3", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
        return self._run("diff-tree", *options, base, head, "--", path).stdout.decode("utf-8", "replace")

    def _tree(self, commit: str) -> Iterator[_Entry]:
        for record in self._run("ls-tree", "-r", "-z", "-l", "--full-tree", commit).stdout.split(b"\0"):
            if record:
                description, _, path = record.partition(b"\t")
                mode, kind, blob, size = description.decode().split()
                if kind == "blob":
                    yield _Entry(mode, blob, int(size) if size.isdigit() else None, os.fsdecode(path))

    def _read(self, names: Iterable[str]) -> None:
        """Bring the blobs ``names`` into memory, in one batch."""
        asked = "".join(f"{name}\n" for name in sorted(names))
        if not asked:
            return
        answer = self._run("cat-file", "--batch", given=asked.encode()).stdout
        at = 0
        while at < len(answer):
            line_end = answer.index(b"\n", at)
            name, kind, *size = answer[at:line_end].decode().split()
            if kind != "blob":
                raise UsageError(f"{self.folder}: object {name} is {kind}; the clone is partial: fetch the whole commit")
            start = line_end + 1
            at = start + int(size[0]) + 1
            self._blobs[name] = answer[start : at - 1]

    def _require_repository(self) -> None:
        found = self._run("rev-parse", "--git-dir", check=False)
        if found.returncode:
            reason = found.stderr.decode(errors="replace").strip().splitlines()
            raise UsageError(f"{self.folder} is not a git repository that can be read: {reason[0] if reason else 'git says no more'}")

    def _run(self, *words: str, given: bytes = b"", check: bool = True) -> subprocess.CompletedProcess[bytes]:
        try:
            done = subprocess.run(  # noqa: S603  # no shell, and revisions stand behind --end-of-options
                ["git", "-C", str(self.folder), *_HARMLESS, *words],  # noqa: S607  # the user's own git, wherever it is
                input=given,
                capture_output=True,
                check=False,
                env=_environment(),
            )
        except FileNotFoundError as error:
            raise UsageError("git is not installed; review reads a repository with it") from error
        if check and done.returncode:
            raise UsageError(f"{self.folder}: git {words[0]} failed: {done.stderr.decode(errors='replace').strip()}")
        return done


def _environment() -> dict[str, str]:
    """The process's own without what would point git elsewhere, and without prompts, locks or fetches."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
