"""Whether a file can be run as a training script at all: told from its text, so that a file that cannot costs nothing."""

from __future__ import annotations

import ast

from analysis.facts import called, facts_of, may_train
from analysis.modules import Modules
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed, SourceFile

#: Calls that a module of definitions makes as well.
_SETTING_UP = frozenset({"getLogger", "get_logger", "TypeVar", "ParamSpec", "namedtuple", "NewType", "compile", "Path", "get", "getenv"})
#: Files that one script reaches by imports and that are looked at.
_MOST_FILES = 400


def is_entry(snapshot: Snapshot, path: str) -> bool:
    """Whether the file at ``path`` does something when it is run and reaches PyTorch or a framework on it."""
    return not_an_entry(snapshot, path) is None


def not_an_entry(snapshot: Snapshot, path: str) -> str | None:
    """Why the file at ``path`` cannot be a training script, in a sentence; None if it may be one."""
    source = snapshot.source(path)
    if isinstance(source, NotAnalysed):
        return f"{path} cannot be read: {source.reason}"
    if not _reaches_torch(snapshot, path):
        return f"{path}: neither this file nor what it imports uses PyTorch"
    return None if any(_acts(node) for node in source.tree.body) else nothing_runs(source)


def _acts(node: ast.stmt) -> bool:
    """Whether a statement of the top level does more than to define."""
    match node:
        case ast.If():
            return any(_acts(inner) for inner in (*node.body, *node.orelse))
        case ast.Try():
            return any(_acts(inner) for inner in (*node.body, *node.orelse, *node.finalbody))
        case ast.For() | ast.While() | ast.With() | ast.AsyncFor() | ast.AsyncWith():
            return True
        case ast.Expr(value=value):
            return isinstance(value, (ast.Call, ast.Await))
        case ast.Assign(value=ast.Call(func=function)) | ast.AnnAssign(value=ast.Call(func=function)):
            return called(function) not in _SETTING_UP
    return False


def nothing_runs(source: SourceFile) -> str:
    """The sentence for a file whose functions nobody calls."""
    training = [each for each in facts_of(source).definitions if each.trains and each.qualname]
    if not training:
        return f"{source.path} only defines functions and classes, and nothing runs when it is started: name the script that uses them"
    found = min(training, key=lambda each: each.start)
    line = source.line_of(found.start)
    return f"{source.path}: nothing is called at its top level; {found.qualname} (line {line}) trains: name the script that calls it"


def _reaches_torch(snapshot: Snapshot, path: str) -> bool:
    """Whether the file, or one that it imports, names PyTorch or a framework."""
    modules = Modules(snapshot)
    todo, seen = [path], {path}
    while todo and len(seen) < _MOST_FILES:
        current = todo.pop()
        raw = snapshot.contents.get(current)
        if raw is None:
            continue
        if may_train(raw):
            return True
        source = snapshot.source(current)
        if isinstance(source, SourceFile):
            found = (modules.resolve(name, current, path) for name in facts_of(source).imports)
            fresh = [each for each in found if each is not None and each not in seen]
            seen.update(fresh)
            todo.extend(fresh)
    return False
