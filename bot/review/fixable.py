"""Which fixes may be written into files as they are."""

from __future__ import annotations

from collections.abc import Collection

from analysis.finding import Finding, Safety
from analysis.snapshot import Snapshot
from analysis.source import SourceFile

SAFE = frozenset({Safety.SAFE})


def is_fixable(finding: Finding, snapshot: Snapshot, safeties: Collection[Safety] = SAFE) -> bool:
    """Whether there is a fix of one of ``safeties`` and every file it touches is UTF-8: others were recoded to be read, and are not written back."""
    if finding.fix is None or finding.fix.safety not in safeties:
        return False
    sources = {edit.span.path: snapshot.source(edit.span.path) for edit in finding.fix.edits}
    return all(isinstance(source, SourceFile) and snapshot.contents[path][source.offset :] == source.content for path, source in sources.items())
