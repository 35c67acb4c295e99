"""What a change touches: its files, what calls them, what they call, and the entry points whose configuration it changed.

Both sides are compared by content, so that a renamed or touched but unchanged file is no change.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass

from analysis.facts import Facts
from analysis.index import Index, index
from analysis.nearby import naming, nearby
from analysis.snapshot import Snapshot, is_code

#: Files that are not Python and still decide how a program trains: they know their readers by name.
DATA_ENDINGS = (".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".sh", ".slurm", ".sbatch", ".txt")
#: A change of more data files than this is not narrowed down.
_MOST_DATA = 20


@dataclass(frozen=True, slots=True)
class Scope:
    """``changed`` files of the head (Python or data) and ``removed`` ones; ``entries`` are Python files to run; findings count in ``paths``."""

    changed: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    entries: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()

    @property
    def touches_training(self) -> bool:
        """Whether there is anything to analyse."""
        return bool(self.entries)


def scope_of(base: Snapshot, head: Snapshot, store: MutableMapping[str, Facts] | None = None) -> Scope:
    """The scope of the change from ``base`` to ``head``. A file whose content was read on one side only counts as changed if the base lacks its path."""
    changed, removed = _changed(base, head), base.paths - head.paths
    built = index(head, store)
    starts = {path for path in changed if path in built.facts} | _orphans(base, removed, built, store) | _configured(changed, head, built)
    callers = built.reaching(starts)
    return Scope(changed, removed, frozenset(path for path in callers if path in built.facts), callers | built.reached_from(starts))


def narrowed(base: Snapshot, head: Snapshot, store: MutableMapping[str, Facts]) -> tuple[Snapshot, Snapshot]:
    """Both sides without the Python files that have nothing to do with the change, as far as that can be told without parsing them all."""
    changed, removed = _changed(base, head), base.paths - head.paths
    data = [path for path in changed if path.endswith(DATA_ENDINGS)]
    if len(data) > _MOST_DATA:
        return base, head
    orphans = nearby(base, filter(is_code, removed), store)
    starts = {*filter(is_code, changed), *(path for each in data for path in naming(head, each)), *(orphans or ())}
    after = nearby(head, starts & head.contents.keys(), store)
    before = None if after is None else nearby(base, starts & base.contents.keys(), store)
    if orphans is None or after is None or before is None:
        return base, head
    near = orphans | before | after
    return base.narrowed(near), head.narrowed(near)


def _changed(base: Snapshot, head: Snapshot) -> frozenset[str]:
    return frozenset(path for path, raw in head.contents.items() if (base.contents.get(path) != raw if path in base.contents else path not in base.paths))


def _configured(changed: frozenset[str], head: Snapshot, built: Index) -> set[str]:
    """Python files that read a changed data file, or that a changed launch file names."""
    found: set[str] = set()
    for path in changed:
        if not path.endswith(DATA_ENDINGS):
            continue
        found.update(built.readers(path))
        text = head.contents[path]
        found.update(script for script in built.facts if script.encode() in text or _in_folder(script, path, text))
    return found


def _in_folder(script: str, path: str, text: bytes) -> bool:
    """Whether a launch file names a script that stands beside it."""
    folder = path.rpartition("/")[0]
    return script.rpartition("/")[0] == folder and script.rpartition("/")[2].encode() in text


def _orphans(base: Snapshot, removed: frozenset[str], built: Index, store: MutableMapping[str, Facts] | None) -> set[str]:
    """Files of the head that imported a removed one."""
    if not any(path.endswith(".py") for path in removed):
        return set()
    return {path for path in index(base, store).reaching(removed) if path in built.facts}
