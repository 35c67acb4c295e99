"""How a change of configuration is made in a script that nobody edits: by the loader's argument, a global, or around the model.

Which global holds the batch size is not guessed from its name: each candidate of the right value is tried, and it is the one if the
model then receives batches of the new size.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from analysis.certainty import Unknown
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed
from estimator.config import TrainingConfig
from estimator.request import Request
from estimator.script.origins import NAMES

T = TypeVar("T")
#: Globals tried before giving up: each costs a run.
_MOST_TRIALS = 3
#: Fields that a global of the script may hold.
_SIZES = ("batch_size", "sequence_length", "image_size")
#: What can be changed around a script without touching it.
_AROUND = frozenset({"precision", "checkpointing", "batch_size", "accumulation_steps", "optimizer", "attention"})


class Knobs:
    """The knobs of one entry point, which runs as ``before`` when nothing is turned. Names found once are kept for later turns."""

    def __init__(self, snapshot: Snapshot, request: Request, before: TrainingConfig) -> None:
        self.snapshot = snapshot
        self.request = request
        self.before = before
        self._names: dict[str, str] = {}

    def turn(self, overrides: Mapping[str, Any], run: Callable[[Request], tuple[TrainingConfig, T] | None]) -> tuple[TrainingConfig, T] | None:
        """The result under ``overrides``; None where the script offers no way to make them."""
        changed = replace(self.request, overrides={**self.request.overrides, **overrides})
        if self.request.model is not None:
            return run(changed)
        if not _AROUND.issuperset(overrides):
            return None
        for attempt in self.attempts(changed, overrides):
            result = run(attempt)
            if result is not None and effective(result[0], overrides, self.before):
                return result
        return None

    def attempts(self, changed: Request, overrides: Mapping[str, Any]) -> Iterator[Request]:
        """Requests that may make the change: as overrides, and each size by a global or argument that holds it now."""
        size = next((name for name in _SIZES if name in overrides), None)
        if size is None or size not in self._names:
            yield changed
        if size is None:
            return
        rest = {name: value for name, value in changed.overrides.items() if name != size}
        value = getattr(getattr(self.before, size), "value", None)
        known = self._names.get(size)
        for name in [known] if known else list(_candidates(self.snapshot, self.request.entry or "", size, value))[:_MOST_TRIALS]:
            self._names[size] = name
            yield replace(changed, overrides=rest, settings={**changed.settings, name: repr(overrides[size])})
        self._names.pop(size, None)


def effective(config: TrainingConfig, overrides: Mapping[str, Any], before: TrainingConfig) -> bool:
    """Whether a run shows what it was asked for, and nothing else changed: the model is the same one."""
    for name, wanted in overrides.items():
        if name == "accumulation_steps":
            continue
        setting = getattr(config, name)
        if isinstance(setting, Unknown) or setting.value != wanted:
            return False
    return getattr(config.model, "value", None) == getattr(before.model, "value", None)


def ineffective_sizes(config: TrainingConfig, overrides: Mapping[str, Any]) -> list[str]:
    """The sizes among ``overrides`` that a run does not show."""
    return [name for name in _SIZES if name in overrides and getattr(getattr(config, name), "value", overrides[name]) != overrides[name]]


def _candidates(snapshot: Snapshot, entry: str, field: str, value: Any) -> Iterator[str]:
    """Globals and arguments of the entry script with this value, the most telling names first."""
    source = snapshot.source(entry)
    if isinstance(source, NotAnalysed) or not isinstance(value, int):
        return
    names = list(dict.fromkeys(_names(source.tree, value)))
    yield from sorted(names, key=lambda name: (NAMES[field].search(name) is None, names.index(name)))


def _names(tree: ast.Module, value: int) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=found)) if found == value and node in tree.body:
                yield name
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=found)) if found == value:
                yield name
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*flags], keywords=keywords):
                flag = getattr(flags[-1], "value", None) if flags else None
                if isinstance(flag, str) and any(keyword.arg == "default" and getattr(keyword.value, "value", None) == value for keyword in keywords):
                    yield flag.lstrip("-").replace("-", "_")
