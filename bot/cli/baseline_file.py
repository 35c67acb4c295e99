"""``check --baseline FILE`` and ``check --write-baseline FILE``: the file that holds what was found before."""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.baseline import Baseline, BaselineError, from_bytes, to_bytes
from analysis.report import Report
from bot.cli.folder import Folder
from bot.cli.outcome import UsageError
from bot.review.sizes import counted

#: A line a finding: more than this is no baseline.
_MAX_BYTES = 64 << 20


def read_baseline(path: Path) -> Baseline:
    """The baseline in ``path``. Raises UsageError that names the file and what to do."""
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"--baseline: {path} is not a file")
        with path.open("rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise UsageError(f"--baseline: {path} does not exist; --write-baseline {path} writes it") from error
    except OSError as error:
        raise UsageError(f"--baseline: {path} cannot be read: {error.strerror}") from error
    if len(raw) > _MAX_BYTES:
        raise UsageError(f"--baseline: {path} is larger than {_MAX_BYTES >> 20} MB: it is not a baseline")
    try:
        return from_bytes(raw)
    except BaselineError as error:
        raise UsageError(f"--baseline: {path} {error}") from error


def write_baseline(path: Path, report: Report) -> Baseline:
    """Write every finding of ``report`` to ``path``, and say so. Raises UsageError where it cannot be written."""
    baseline = Baseline.of((*report.findings, *report.baselined))
    try:
        path.write_bytes(to_bytes(baseline))
    except OSError as error:
        raise UsageError(f"--write-baseline: {path} cannot be written: {error.strerror}") from error
    print(f"wrote {counted(len(baseline.entries), 'finding')} to {path}", file=sys.stderr)
    return baseline


def note_gone(baseline: Baseline, report: Report, folder: Folder) -> None:
    """Say how many entries are answered no more, so that the file does not outlive what it was written for."""
    gone = baseline.gone(report, folder.requested)
    if gone:
        first = f"{gone[0].rule} in {folder.shown(gone[0].path)}"
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        print(f"the baseline holds what is not found any more: {first}{more} (--write-baseline leaves it out)", file=sys.stderr)
