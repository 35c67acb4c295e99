"""Which version of a library a repository asks for: the newest that its requirements allow, where they end below it.

What was right under an old release may be a mistake under the current one; a repository that asks for the old one is read with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analysis.snapshot import Snapshot

_WANTED = re.compile(r"^\s*(?P<name>[A-Za-z0-9_.-]+)\s*(?:\[[^]]*\])?\s*(?P<rest>[=<>!~][^#;]*)")
_LEAST = r"(?i)\b(?:py)?{library}\s*(?:>=|==|~=|>)\s*(\d+(?:\.\d+)*)"
#: Files in which a project says what it runs with.
_MANIFESTS = ("setup.py", "setup.cfg", "pyproject.toml", "environment.yml", "environment.yaml")
_BOUND = re.compile(r"(?P<sign>===?|<=?)\s*(?P<version>\d+(?:\.\d+)*)")


def asks_below(snapshot: Snapshot, library: str, version: tuple[int, ...]) -> bool:
    """Whether every requirement that bounds ``library`` from above keeps it below ``version``, and there is one."""
    bounds = list(_bounds(snapshot, library))
    return bool(bounds) and all(bound < version or (bound == version and open_) for bound, open_ in bounds)


def runs_below(snapshot: Snapshot, library: str, version: tuple[int, ...]) -> bool:
    """Whether the oldest release of ``library`` that the repository says it runs with is older than ``version``."""
    wanted = re.compile(_LEAST.format(library=re.escape(library)))
    found = (match[1] for path in _manifests(snapshot) for match in wanted.finditer(snapshot.contents[path].decode("utf-8", "replace")))
    return any(tuple(int(part) for part in least.split(".")) < version for least in found)


def _manifests(snapshot: Snapshot) -> Iterator[str]:
    for path in sorted(snapshot.contents):
        name = path.rpartition("/")[2]
        if name in _MANIFESTS or ("requirements" in name and name.endswith((".txt", ".in"))):
            yield path


def _bounds(snapshot: Snapshot, library: str) -> Iterator[tuple[tuple[int, ...], bool]]:
    """The upper bounds in requirement files; with each, whether it is itself left out."""
    for path in sorted(snapshot.contents):
        if "requirements" not in path.rpartition("/")[2] or not path.endswith((".txt", ".in")):
            continue
        for line in snapshot.contents[path].decode("utf-8", "replace").splitlines():
            found = _WANTED.match(line)
            if found is not None and found["name"].lower() == library:
                for bound in _BOUND.finditer(found["rest"]):
                    yield tuple(int(part) for part in bound["version"].split(".")), bound["sign"] == "<"
