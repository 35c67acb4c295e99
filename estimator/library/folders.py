"""What lies in folders: of the repository's it is known, of a folder that it does not hold nobody knows."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from analysis.interpreter.values import Call, GuestList, HostFunction, Symbol, Value
from estimator.library.symbols import InFolder

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

#: In a pattern: any number of folders.
_ANY_DEPTH = "**"
#: How files begin that keep a folder, which would be empty without them.
_KEEPS_A_FOLDER = (".", "README")
#: Endings of files that a repository holds if there are any: others may have been put into its folders since.
_KEPT = (".yaml", ".yml", ".py", ".toml", ".cfg", ".ini")


def inside(machine: Machine, folder: str) -> list[tuple[str, ...]] | None:
    """The files below a folder by the parts of their paths from there; None where the repository has none there. Looked for as ``open`` does.

    A file that only keeps a folder in the repository (``.keep``, ``README.md``) says that whoever runs the program puts files there.
    """
    for start in (posixpath.dirname(machine.entry_path), ""):
        path = posixpath.normpath(posixpath.join(start, folder))
        prefix = "" if path == "." else f"{path}/"
        found = [tuple(each.removeprefix(prefix).split("/")) for each in sorted(machine.snapshot.paths) if each.startswith(prefix)]
        if not all(parts[-1].startswith(_KEEPS_A_FOLDER) for parts in found):
            return found
    return None


def matching(machine: Machine, folder: str, pattern: str) -> list[str] | None:
    """Files and folders below ``folder`` that a pattern names, by their path from there; None where the repository has no such folder."""
    files = inside(machine, folder)
    if files is None:
        return None
    wanted = [part for part in pattern.split("/") if part != "."]
    every = sorted({parts[:depth] for parts in files for depth in range(1, len(parts) + 1)})
    return ["/".join(parts) for parts in every if _named(parts, wanted)]


def _named(parts: tuple[str, ...], pattern: list[str]) -> bool:
    if not pattern:
        return not parts
    first, rest = pattern[0], pattern[1:]
    if first == _ANY_DEPTH:
        return any(_named(parts[skipped:], rest) for skipped in range(len(parts) + 1)) if rest else True
    return bool(parts) and fnmatchcase(parts[0], first) and _named(parts[1:], rest)


def _unknown(call: Call, folder: Value) -> Symbol:
    return InFolder(f"what lies in {folder}" if isinstance(folder, str) else "what lies in a folder", call.span, call.machine.stamp)


def _listed(call: Call) -> Value:
    """``os.listdir``."""
    folder = call.args[0] if call.args else "."
    files = inside(call.machine, folder) if isinstance(folder, str) else None
    return _unknown(call, folder) if files is None else GuestList(dict.fromkeys(parts[0] for parts in files))


def _walked(call: Call) -> Value:
    """``os.walk``: a folder, its folders and its files, from the top down."""
    top = call.args[0]
    files = inside(call.machine, top) if isinstance(top, str) else None
    return _unknown(call, top) if files is None else GuestList(_rows(str(top), files))


def _rows(top: str, files: list[tuple[str, ...]]) -> Iterator[tuple[str, GuestList, GuestList]]:
    here = GuestList(parts[0] for parts in files if len(parts) == 1)
    folders = GuestList(dict.fromkeys(parts[0] for parts in files if len(parts) > 1))
    yield top, folders, here
    for each in folders:
        yield from _rows(posixpath.join(top, each), [parts[1:] for parts in files if parts[0] == each and len(parts) > 1])


def _globbed(call: Call) -> Value:
    """``glob.glob``: what a pattern names, as it is written in front of the first part with a wildcard."""
    pattern = call.args[0]
    if not isinstance(pattern, str):
        return _unknown(call, pattern)
    parts = pattern.split("/")
    fixed = next((index for index, part in enumerate(parts) if any(mark in part for mark in "*?[")), len(parts) - 1)
    folder = "/".join(parts[:fixed])
    found = matching(call.machine, folder or ".", "/".join(parts[fixed:]))
    if found is None or not (found or pattern.endswith(_KEPT)):
        return _unknown(call, pattern)
    return GuestList(posixpath.join(folder, each) for each in found)


NAMES: dict[str, Value] = {
    "os.listdir": HostFunction("os.listdir", _listed),
    "os.walk": HostFunction("os.walk", _walked),
    "glob.glob": HostFunction("glob.glob", _globbed),
    "glob.iglob": HostFunction("glob.iglob", _globbed),
}
