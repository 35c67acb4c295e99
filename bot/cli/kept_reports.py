"""Reports kept from one run of ``preflight check`` to the next, so that an unchanged project answers at once.

They lie under ``PREFLIGHT_CACHE_DIR``, else ``$XDG_CACHE_HOME/preflight``, else ``~/.cache/preflight``, each in a file named after
all that it rests on: the files of the project, the rules, and our own code. What cannot be read or written is as if it were not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from analysis.installed import versions
from analysis.library.knowledge import ENTRY_POINT_GROUP
from analysis.report import Report
from analysis.rule import Rule
from analysis.snapshot import Snapshot
from bot.cli.report_json import report_from_json, report_to_json
from bot.own_code import files_of, stamps

#: The oldest go first.
_MOST_REPORTS, _MOST_BYTES = 64, 32_000_000


def name_of(snapshot: Snapshot, rules: Sequence[Rule], paths: Collection[str], elsewhere: Collection[str]) -> str:
    """The name of the report that ``analyse`` gives for these arguments."""
    said = hashlib.sha256()
    for part in (*_own_code(rules), "", *sorted(paths), "", *sorted(elsewhere), "", *sorted(snapshot.paths), ""):
        said.update(f"{part}\n".encode("utf-8", "surrogateescape"))
    for path in sorted(snapshot.contents):
        said.update(f"{path}\n".encode("utf-8", "surrogateescape") + hashlib.sha256(snapshot.contents[path]).digest())
    return said.hexdigest()


def _own_code(rules: Sequence[Rule]) -> Iterator[str]:
    """What the analysis is made of: the Python that runs it, its files, and what other packages bring: rules and library knowledge."""
    yield from stamps(files_of("analysis") | {str(sys.modules[rule.check.__module__].__file__) for rule in rules})
    yield from (rule.name for rule in rules)
    yield from versions(ENTRY_POINT_GROUP)


def load(name: str) -> Report | None:
    """The report of that name, if it was kept and is whole."""
    try:
        kept = json.loads((_folder() / f"{name}.json").read_bytes())
        return report_from_json(kept)
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):  # no home to look in, no such file, or not one of ours
        return None


def save(name: str, report: Report) -> None:
    """Keep ``report`` under that name: whole or not at all, whoever else writes."""
    with suppress(OSError, RuntimeError):
        folder = _folder()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".part", encoding="utf-8", delete=False) as part:
            json.dump(report_to_json(report), part)
        Path(part.name).replace(folder / f"{name}.json")
        _tidy(folder)


def _tidy(folder: Path) -> None:
    """Remove the oldest where there is too much."""
    found = sorted(((each.stat(), each.path) for each in os.scandir(folder) if each.is_file()), key=lambda each: -each[0].st_mtime_ns)
    size = 0
    for count, (stat, path) in enumerate(found, start=1):
        size += stat.st_size
        if count > _MOST_REPORTS or size > _MOST_BYTES:
            Path(path).unlink()


def _folder() -> Path:
    named = os.environ.get("PREFLIGHT_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "preflight"
