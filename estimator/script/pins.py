"""The versions of libraries that a repository asks for, from its requirement files."""

from __future__ import annotations

import re

from analysis.snapshot import Snapshot

_FILES = re.compile(r"(?:^|/)(?:requirements[\w.-]*\.txt|pyproject\.toml|setup\.(?:py|cfg)|environment\.ya?ml)$")


def pinned_version(snapshot: Snapshot, package: str) -> tuple[int, ...]:
    """The lowest version that the repository's files allow, the file nearest the top first; () where none says."""
    asked = re.compile(rf"(?<![\w-]){re.escape(package)}(?:\[[\w,-]*\])?\s*(?:==|>=|~=|=)\s*(\d+(?:\.\d+)*)")
    for path in sorted((path for path in snapshot.contents if _FILES.search(path)), key=lambda each: (each.count("/"), each)):
        found = asked.search(snapshot.contents[path].decode("utf-8", "replace"))
        if found:
            return tuple(int(part) for part in found[1].split("."))
    return ()
