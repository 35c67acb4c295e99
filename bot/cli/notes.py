"""What the reader should know beside the findings, one sentence a line on stderr: what was passed over, what could not be read."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from analysis.report import Report
from bot.cli.folder import Folder
from bot.cli.terminal import printable
from bot.cli.walk import MAX_FILES
from bot.review.located import Remark

#: More lines than this say less.
_SHOWN = 20


def note_reading(folder: Folder) -> None:
    """Folders that were passed over by their name (hidden ones and caches surprise nobody), and whether there was more than can be read."""
    skipped = [folder.shown(path) for path in folder.skipped if not path.rstrip("/").rpartition("/")[2].startswith((".", "__"))]
    if skipped:
        names = ", ".join(f"{printable(path)}/" for path in skipped[:_SHOWN])
        more = f" and {len(skipped) - _SHOWN} more" if len(skipped) > _SHOWN else ""
        _say(f"passed over: {names}{more} (name one to check it)")
    if folder.truncated:
        _say(f"{printable(str(folder.root))} holds more than {MAX_FILES:,} files: the rest was not read; name the folders that matter")


def note_not_analysed(report: Report, folder: Folder) -> None:
    """Files that could not be analysed, and rules that failed."""
    note_unread([Remark(folder.shown(each.path), each.line, each.reason) for each in report.not_analysed])
    for problem in report.problems:
        _say(printable(problem))


def note_unread(remarks: Sequence[Remark]) -> None:
    """Files that could not be analysed."""
    for each in remarks[:_SHOWN]:
        _say(f"{printable(each.path)}:{each.line}: not analysed: {printable(each.message)}")
    if len(remarks) > _SHOWN:
        _say(f"… and {len(remarks) - _SHOWN} more files were not analysed (--format json lists them)")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
