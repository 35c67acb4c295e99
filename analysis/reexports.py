"""Who is touched by a change: importers of a file, and through a package that only passes names on, those that take the changed names.

Without this a change to one loss of a library would touch every program that imports any of its losses.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from analysis.facts import Facts

if TYPE_CHECKING:
    from analysis.index import Index

#: A variable of the module, other than ``__all__`` and its like.
_VARIABLE = re.compile(rb"^(?!__)\w+\s*[:=]", re.MULTILINE)
#: Names of a file; None: all of it.
Names: TypeAlias = frozenset[str] | None


def only_passes_on(path: str, facts: Facts, raw: bytes) -> bool:
    """Whether a package's ``__init__`` does nothing but import names that keep their names."""
    plain = len(facts.definitions) == 1 and not facts.definitions[0].calls and b" as " not in raw and _VARIABLE.search(raw) is None
    return path.rpartition("/")[2] == "__init__.py" and plain


def touched_by(index: Index, paths: Iterable[str]) -> dict[str, int]:
    """``paths`` and every file that a change in them touches, with the number of imports in between."""
    found = dict.fromkeys(sorted(paths), 0)
    todo: deque[tuple[str, Names]] = deque((path, None) for path in found)
    seen: dict[str, list[Names]] = {path: [None] for path in found}
    while todo:
        path, changed = todo.popleft()
        for importer in index.importers.get(path, ()):
            passed = _passed(index, importer, path, changed)
            if passed == frozenset() or any(known is None or (passed is not None and passed <= known) for known in seen.get(importer, ())):
                continue
            found.setdefault(importer, found[path] + 1)
            seen.setdefault(importer, []).append(passed)
            todo.append((importer, passed))
    return found


def _passed(index: Index, importer: str, path: str, changed: Names) -> Names:
    """The names of ``importer`` that a change of the names ``changed`` of ``path`` touches; none at all if it takes others."""
    taken = _taken(index, importer, path)
    if changed is not None and taken is not None:
        taken &= changed
        if not taken:
            return frozenset()
    return taken if importer in index.passing else None


def _taken(index: Index, importer: str, path: str) -> Names:
    """The names that ``importer`` takes from ``path``; None if it takes the whole module, or everything in it."""
    imports = index.facts[importer].imports
    names: set[str] = set()
    for dotted in imports:
        if index.modules.resolve(dotted, importer, importer) != path:
            continue
        start = dotted if dotted.endswith(".") else f"{dotted}."
        inside = {each.removeprefix(start) for each in imports if each != dotted and each.startswith(start) and "." not in each.removeprefix(start)}
        if not inside:
            return None
        names |= inside
    return frozenset(names) or None
