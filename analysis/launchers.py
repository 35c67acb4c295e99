"""Files that never name PyTorch and yet start a training: something that they import trains.

They are told by their text, because most files of a large repository train nothing and none of those is to be parsed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, MutableMapping

from analysis.facts import BY_NAME, TRAINING_CALLS, Facts, facts_at, may_train
from analysis.modules import Modules
from analysis.snapshot import Snapshot

_TRAINS = re.compile(rf"\b(?:{'|'.join(sorted(TRAINING_CALLS))})\s*\(".encode())
#: Words that a program that starts a training has somewhere; a package whose every module imports all others would make a launcher of any script.
_STARTS = re.compile(rb"train|learn|optimi[sz]e|fine_?tune|\.fit\b", re.IGNORECASE)
_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]+))", re.MULTILINE)
_NAME = re.compile(r"[\w.]+")


def launchers(
    snapshot: Snapshot, modules: Modules, outside: Collection[str], known: Mapping[str, tuple[str, ...]], store: MutableMapping[str, Facts]
) -> list[str]:
    """Those of ``outside`` that import a file that trains, directly or not. ``known``: what other files import."""
    importers: dict[str, list[str]] = defaultdict(list)
    training: list[str] = []
    todo, seen = list(outside), set(outside)
    while todo:
        path = todo.pop()
        raw = snapshot.contents.get(path, b"")
        if may_train(raw) and _TRAINS.search(raw):
            training.append(path)
        for found in known[path] if path in known else _imported(snapshot, modules, path, store):
            importers[found].append(path)
            if found not in seen:
                seen.add(found)
                todo.append(found)
    reached = set(training)
    while training:
        for importer in importers[training.pop()]:
            if importer not in reached:
                reached.add(importer)
                training.append(importer)
    return [path for path in outside if path in reached and _STARTS.search(snapshot.contents[path])]


def _imported(snapshot: Snapshot, modules: Modules, path: str, store: MutableMapping[str, Facts]) -> Iterator[str]:
    """The files that one imports."""
    raw = snapshot.contents.get(path, b"")
    facts = facts_at(snapshot, path, store) if BY_NAME in raw else None
    for dotted in facts.imports if isinstance(facts, Facts) else _dotted(raw):
        yield from modules.all_of(dotted, path, path)


def _dotted(raw: bytes) -> Iterator[str]:
    """Dotted names as import statements write them: ``from a import b`` gives ``a`` and ``a.b``."""
    for start, names, plain in _IMPORT.findall(raw):
        if plain:
            yield from (words[0] for each in plain.decode("latin-1").split(",") if (words := _NAME.findall(each)))
            continue
        module = start.decode("latin-1")
        yield module
        separator = "" if module.endswith(".") else "."
        yield from (f"{module}{separator}{words[0]}" for each in names.decode("latin-1").split(",") if (words := _NAME.findall(each)))
