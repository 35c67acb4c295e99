"""``check --fix`` and ``check --diff``: the safe fixes of a report, written into the files or printed as a patch."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from analysis.fixes.apply import fixed, unified_diff
from analysis.report import Report
from analysis.snapshot import Snapshot
from bot.cli.folder import Folder
from bot.cli.outcome import UsageError
from bot.review.fixable import is_fixable
from bot.review.sizes import counted

#: A fix may make room for another one; more rounds than this would be two fixes that undo each other.
_MAX_ROUNDS = 10


def diff(report: Report, folder: Folder) -> str:
    """The safe fixes as a patch from the root of the project."""
    return unified_diff(folder.snapshot, _fixed(report, folder.snapshot))


def fix_and_write(report: Report, folder: Folder, analyse: Callable[[Snapshot], Report]) -> tuple[Folder, Report]:
    """Write the safe fixes, and those that the fixed files still allow. Returns the folder as written and what is left to report."""
    snapshot, applied = folder.snapshot, 0
    for _ in range(_MAX_ROUNDS):
        changed = _fixed(report, snapshot)
        if not changed:
            break
        before = len(report.findings)
        snapshot = Snapshot(snapshot.paths, {**snapshot.contents, **changed}, snapshot.commit)
        report = analyse(snapshot)
        applied += max(before - len(report.findings), 0)
    written = {path: content for path, content in snapshot.contents.items() if folder.snapshot.contents[path] != content}
    _write(folder, written)
    if written:
        print(f"fixed {counted(applied, 'finding')} in {counted(len(written), 'file')}", file=sys.stderr)
    return replace(folder, snapshot=snapshot), report


def _fixed(report: Report, snapshot: Snapshot) -> dict[str, bytes]:
    return fixed(snapshot, [finding for finding in report.findings if is_fixable(finding, snapshot)])


def _write(folder: Folder, written: Mapping[str, bytes]) -> None:
    """Write whole files, none of them half, if nobody changed them meanwhile. Raises UsageError where one cannot be written."""
    for path, content in written.items():
        target = (folder.root / path).resolve()
        try:
            if target.read_bytes() != folder.snapshot.contents[path]:
                raise UsageError(f"{folder.shown(path)} was changed while it was analysed: it is left as it is; run again")
            _replace(target, content)
        except OSError as error:
            raise UsageError(f"{folder.shown(path)} cannot be written: {error.strerror}") from error


def _replace(target: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        Path(temporary).chmod(target.stat().st_mode & 0o7777)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
