"""How a change of configuration is made in a script that nobody edits: by the loader's argument, a global, or around the model.

Which global holds the batch size is not guessed from its name: each candidate of the right value is tried, and it is the one if the
model then receives batches of the new size.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from analysis.certainty import Unknown
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed
from estimator.config import TrainingConfig
from estimator.estimate import Estimate, Memory
from estimator.request import Request

Result = tuple[TrainingConfig, Memory] | None
#: Globals tried before giving up: each costs a run.
_MOST_TRIALS = 4
#: What can be changed around a script without touching it.
_AROUND = frozenset({"precision", "checkpointing", "batch_size", "accumulation_steps"})


class Knobs:
    """The knobs of one entry point. ``effective`` names found once are kept for later turns."""

    def __init__(self, snapshot: Snapshot, request: Request, found: Estimate) -> None:
        self.snapshot = snapshot
        self.request = request
        self.found = found
        self._batch_name: str | None = None

    def turn(self, overrides: Mapping[str, Any], run: Callable[[Request], Result]) -> Result:
        """The result under ``overrides``; None where the script offers no way to make them."""
        changed = replace(self.request, overrides={**self.request.overrides, **overrides})
        if self.request.model is not None:
            return run(changed)
        if not _AROUND.issuperset(overrides):
            return None
        for attempt in self._attempts(changed, overrides):
            result = run(attempt)
            if result is not None and effective(result[0], overrides, self.found.config):
                return result
        return None

    def _attempts(self, changed: Request, overrides: Mapping[str, Any]) -> Iterator[Request]:
        size = overrides.get("batch_size")
        if size is None:
            yield changed
            return
        without = {name: value for name, value in changed.overrides.items() if name != "batch_size"}
        yield changed
        names = [self._batch_name] if self._batch_name else list(_candidates(self.snapshot, self.request.entry or "", getattr(self.found.config.batch_size, "value", None)))
        for name in names[:_MOST_TRIALS]:
            self._batch_name = name
            yield replace(changed, overrides=without, settings={**changed.settings, name: repr(size)})
        self._batch_name = None


def effective(config: TrainingConfig, overrides: Mapping[str, Any], before: TrainingConfig) -> bool:
    """Whether a run shows what it was asked for, and nothing else changed: the model is the same one."""
    for name, wanted in overrides.items():
        if name == "accumulation_steps":
            continue
        setting = getattr(config, name)
        if isinstance(setting, Unknown) or setting.value != wanted:
            return False
    return getattr(config.model, "value", None) == getattr(before.model, "value", None)


def _candidates(snapshot: Snapshot, entry: str, value: Any) -> Iterator[str]:
    """Globals and arguments of the entry script with this value, the most telling names first."""
    source = snapshot.source(entry)
    if isinstance(source, NotAnalysed) or not isinstance(value, int):
        return
    names = list(dict.fromkeys(_names(source.tree, value)))
    yield from sorted(names, key=lambda name: ("batch" not in name.lower(), names.index(name)))


def _names(tree: ast.Module, value: int) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=found)) if found == value and node in tree.body:
                yield name
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=found)) if found == value:
                yield name
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*flags], keywords=keywords):
                if any(keyword.arg == "default" and getattr(keyword.value, "value", None) == value for keyword in keywords):
                    yield from (flag.value.lstrip("-").replace("-", "_") for flag in flags[-1:] if isinstance(flag, ast.Constant) and isinstance(flag.value, str))
