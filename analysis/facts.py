"""What one file says about itself without being run: imports, definitions, calls, the data files it names.

Facts depend on nothing but the bytes, so they are kept by content hash; byte offsets in them carry no path.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.source import SourceFile

#: Bytes without any of these cannot train: such a file is not even parsed unless a file that has one imports it.
_TRAINING = re.compile(rb"\b(?:torch|lightning|pytorch_lightning|accelerate|transformers|deepspeed|fastai|ignite|composer|timm|diffusers|trl|mmcv|mmengine)\b")
_DATA_FILE = re.compile(r"[\w./{}$-]+\.(?:ya?ml|json|toml|cfg|ini|sh)$")
#: A longer string is prose or data, not the name of a file.
_LONGEST_NAME = 200
#: Calls from which one tells that a function trains or evaluates (names of methods and functions).
TRAINING_CALLS = frozenset({"backward", "manual_backward", "zero_grad", "training_step", "train_step", "fit", "train_batch"})
EVALUATION_CALLS = frozenset({"eval", "validation_step", "val_step", "test_step"})
#: Methods that a framework's loop calls.
HOOKS = frozenset({"training_step", "validation_step", "test_step", "compute_loss", "train_step", "val_step", "configure_optimizers"})


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, method or class (or "" for the top level): its bytes and the names of what its own body calls."""

    qualname: str
    start: int
    end: int
    calls: frozenset[str] = frozenset()
    is_class: bool = False

    @property
    def trains(self) -> bool:
        """Whether it runs a backward, clears gradients, or is a hook of a framework's training loop."""
        return bool(self.calls & TRAINING_CALLS) or self.qualname.rpartition(".")[2] in HOOKS

    @property
    def evaluates(self) -> bool:
        """Whether it puts something in eval mode."""
        return bool(self.calls & EVALUATION_CALLS)


@dataclass(frozen=True, slots=True)
class Facts:
    """``imports`` as dotted names with their leading dots (``from a import b`` gives ``a`` and ``a.b``).

    ``data_files`` are the literal names of YAML, JSON, TOML and launch files. ``script``: it has a main guard, or its top level trains or calls
    a function of its own.
    """

    imports: tuple[str, ...] = ()
    definitions: tuple[Definition, ...] = ()
    data_files: tuple[str, ...] = ()
    script: bool = False

    @property
    def trains(self) -> bool:
        """Whether anything in it trains or evaluates."""
        return any(found.trains or found.evaluates for found in self.definitions)


def content_hash(raw: bytes) -> str:
    """The key under which the facts of ``raw`` are kept."""
    return hashlib.sha256(raw).hexdigest()


def may_train(raw: bytes) -> bool:
    """Whether the bytes name torch or a framework at all."""
    return _TRAINING.search(raw) is not None


def facts_of(file: SourceFile) -> Facts:
    """The facts of a parsed file."""
    definitions = tuple(_definitions(file))
    guarded = any(isinstance(node, ast.If) and _is_main_guard(node.test) for node in file.tree.body)
    strings = {node.value for node in ast.walk(file.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return Facts(
        tuple(dict.fromkeys(_imports(file.tree))),
        definitions,
        tuple(sorted(text for text in strings if len(text) < _LONGEST_NAME and _DATA_FILE.fullmatch(text))),
        guarded or definitions[0].trains or _calls_own(file.tree),
    )


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                start = "." * level + (module or "")
                yield start
                separator = "" if start.endswith(".") else "."
                yield from (f"{start}{separator}{name.name}" for name in names if name.name != "*")


def _definitions(file: SourceFile) -> Iterator[Definition]:
    """The top level first, then every definition, outer before inner."""
    todo: list[tuple[str, ast.AST]] = [("", file.tree)]
    while todo:
        prefix, owner = todo.pop()
        inner: list[tuple[str, ast.AST]] = []
        calls: set[str] = set()
        below = list(ast.iter_child_nodes(owner))
        while below:
            node = below.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner.append((f"{prefix}.{node.name}" if prefix else node.name, node))
                continue
            if isinstance(node, ast.Call):
                calls.add(_called(node.func))
            below.extend(ast.iter_child_nodes(node))
        if isinstance(owner, ast.Module):
            yield Definition("", 0, len(file.content), frozenset(calls - {""}))
        else:
            span = file.span(owner)
            yield Definition(prefix, span.start, span.end, frozenset(calls - {""}), isinstance(owner, ast.ClassDef))
        todo.extend(inner)


def _calls_own(tree: ast.Module) -> bool:
    """Whether the top level calls a function of the file for its effect: ``main()``."""
    own = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    calls = (node.value for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    return any(_called(call.func) in own for call in calls)


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_main_guard(test: ast.expr) -> bool:
    match test:
        case ast.Compare(left=ast.Name(id="__name__"), comparators=[ast.Constant(value="__main__")]):
            return True
        case _:
            return False
