"""Commands that start a script under a name of their own: a library's runner, and the commands that a package installs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from analysis.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Runner:
    """A command whose first word that is no option names a script in ``folder``; the value of ``configured`` names a file in ``configurations``."""

    command: tuple[str, ...]
    folder: str
    configured: str
    configurations: str


#: The runners of libraries whose recipes are scripts. torchtune: docs.pytorch.org/torchtune, "tune run".
_RUNNERS = (Runner(("tune", "run"), "recipes", "--config", "recipes/configs"),)


def as_python(snapshot: Snapshot, words: Sequence[str], path: str) -> list[str]:
    """The words of a command in ``path`` with the script that it starts put where ``python`` would have it; unchanged where they are no such command."""
    for runner in _RUNNERS:
        if tuple(words[:2]) == runner.command:
            return ["torchrun", *_recipe(snapshot, runner, words[2:], path)]
    started = commands_of(snapshot).get(words[0]) if words else None
    return list(words) if started is None else ["python", started, *words[1:]]


def _recipe(snapshot: Snapshot, runner: Runner, words: Sequence[str], path: str) -> Iterator[str]:
    """The command's words with paths for names; a configuration that is not there is the one in whose comment the command stands."""
    named, before = False, ""
    for word in words:
        if not named and not word.startswith("-") and (not before.startswith("--") or "=" in before):
            named = True
            yield _path(snapshot, word, runner.folder, ".py")
        elif before == runner.configured:
            found = _path(snapshot, word, runner.configurations, ".yaml")
            yield path if found not in snapshot.contents and path.startswith(f"{runner.configurations}/") else found
        else:
            yield word
        before = word


def _path(snapshot: Snapshot, name: str, folder: str, suffix: str) -> str:
    path = f"{folder}/{name.removesuffix(suffix)}{suffix}"
    return name if name in snapshot.contents or path not in snapshot.contents else path


def commands_of(snapshot: Snapshot) -> Mapping[str, str]:
    """The commands that the repository's package installs, each with the file whose function it calls."""
    modules = _commands(snapshot.contents.get("pyproject.toml", b""))
    files = {name: f"{folder}{inner}.py" for name, inner in modules.items() for folder in ("src/", "") if f"{folder}{inner}.py" in snapshot.contents}
    return MappingProxyType(files)


@lru_cache(maxsize=16)
def _commands(raw: bytes) -> Mapping[str, str]:
    """Command to module, as a path, out of a project's file."""
    try:
        project: dict[str, Any] = tomllib.loads(raw.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return MappingProxyType({})
    found = {**project.get("tool", {}).get("poetry", {}).get("scripts", {}), **project.get("project", {}).get("scripts", {})}
    return MappingProxyType({name: str(target).partition(":")[0].replace(".", "/") for name, target in found.items()})


def words_naming(snapshot: Snapshot, entry: str) -> tuple[str, ...]:
    """Words one of which stands in every line that starts ``entry`` by such a command."""
    recipes = [entry.removeprefix(f"{runner.folder}/").removesuffix(".py") for runner in _RUNNERS if entry.startswith(f"{runner.folder}/")]
    return (*recipes, *(f"{name} " for name, path in commands_of(snapshot).items() if path == entry))
