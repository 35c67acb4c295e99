"""What one file says about itself without being run: imports, definitions, calls, the data files it names.

Facts depend on nothing but the bytes, so they are kept by content hash; byte offsets in them carry no path.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field, replace

from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed, SourceFile
from analysis.syntax import children

#: Bytes without any of these cannot train: such a file is not even parsed unless a file that has one imports it.
_TRAINING = re.compile(
    rb"\b(?:torch|lightning|pytorch_lightning|accelerate|transformers|deepspeed|fastai|ignite|composer|timm|diffusers|trl|mmcv|mmengine)\b"
    rb"|\.(?:backward|zero_grad)\("
)
#: Modules that are imported by a name put together are imported through a function of this name.
BY_NAME = b"import_module"
_DATA_FILE = re.compile(r"[\w./{}$-]+\.(?:ya?ml|json|toml|cfg|ini|sh)$")
#: A longer string is prose or data, not the name of a file.
_LONGEST_NAME = 200
#: Calls from which one tells that a function trains or evaluates (names of methods and functions).
_TRAINING_NAMES = """
backward manual_backward zero_grad training_step train_step fit train_batch fit_one_cycle fit_flat_cos fine_tune create_supervised_trainer
"""
TRAINING_CALLS = frozenset(_TRAINING_NAMES.split())
EVALUATION_CALLS = frozenset({"eval", "validation_step", "val_step", "test_step"})
#: Methods that a framework's loop calls.
HOOKS = frozenset({"training_step", "validation_step", "test_step", "compute_loss", "train_step", "val_step", "prediction_step", "configure_optimizers"})


_BEGINNING = frozenset({"train", "run", "main", "learn", "launch"})


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
    """``imports`` as dotted names with their leading dots (``from a import b`` gives ``a`` and ``a.b``; any module of ``a`` is ``a.*``).

    ``data_files`` are the literal names of YAML, JSON, TOML and launch files. ``script``: it has a main guard, or its top level trains, calls a
    function of its own or one that seems to train.
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


def is_test(path: str) -> bool:
    """Tests train toys: what is wrong in one is not wrong in training, and nobody asks what one needs."""
    folders, _, name = path.rpartition("/")
    return (
        name.lstrip("_").startswith(("test_", "conftest"))
        or name.endswith(("_test.py", "_test_case.py"))
        or not {"tests", "test"}.isdisjoint(folders.split("/"))
    )


def facts_at(snapshot: Snapshot, path: str, store: MutableMapping[str, Facts]) -> Facts | NotAnalysed:
    """The facts of one file, from ``store`` where it has them."""
    key = content_hash(snapshot.contents[path]) + ("" if path.endswith(".py") else path.rpartition(".")[2])
    if key not in store:
        source = snapshot.source(path)
        if isinstance(source, NotAnalysed):
            return source
        store[key] = facts_of(source)
    return store[key]


def facts_of(file: SourceFile) -> Facts:
    """The facts of a parsed file, gathered in one walk."""
    found = _Gathered()
    todo: list[tuple[ast.AST, int]] = [(file.tree, found.define(Definition("", 0, len(file.content))))]
    while todo:
        node, owner = todo.pop()
        for child in children(node):
            kind = type(child)
            if kind is ast.Name:
                continue
            if kind is ast.Constant:
                found.read(child)
                continue
            todo.append((child, found.define(_definition(file, child, found.definitions[owner])) if kind in _DEFINING else owner))
            match child:
                case ast.Call(func=function):
                    found.calls[owner].add(called(function))
                    found.imports.extend(_imported_by_name(child))
                case ast.Import() | ast.ImportFrom():
                    found.imports.extend(_imported(child))
    definitions = tuple(replace(each, calls=frozenset(calls - {""})) for each, calls in zip(found.definitions, found.calls, strict=True))
    guarded = any(isinstance(node, ast.If) and _is_main_guard(node.test) for node in file.tree.body)
    script = guarded or definitions[0].trains or any(map(_begins, definitions[0].calls)) or _calls_own(file.tree)
    return Facts(tuple(dict.fromkeys(found.imports)), definitions, tuple(sorted(found.data_files)), script)


@dataclass(slots=True)
class _Gathered:
    """What the walk has met; ``calls`` go with ``definitions``."""

    imports: list[str] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    calls: list[set[str]] = field(default_factory=list)
    data_files: set[str] = field(default_factory=set)

    def define(self, definition: Definition) -> int:
        """Add a definition; returns its place."""
        self.definitions.append(definition)
        self.calls.append(set())
        return len(self.definitions) - 1

    def read(self, constant: ast.AST) -> None:
        """A constant may be the name of a data file."""
        match constant:
            case ast.Constant(value=str(text)) if len(text) < _LONGEST_NAME and _DATA_FILE.fullmatch(text):
                self.data_files.add(text)


_DEFINING = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})


def _definition(file: SourceFile, node: ast.AST, owner: Definition) -> Definition:
    name: str = getattr(node, "name", "")
    span = file.span(node)
    return Definition(f"{owner.qualname}.{name}" if owner.qualname else name, span.start, span.end, is_class=isinstance(node, ast.ClassDef))


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Dotted names as they are written: ``from a import b`` gives ``a`` and ``a.b``."""
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names)
        return
    start = "." * node.level + (node.module or "")
    yield start
    separator = "" if start.endswith(".") else "."
    yield from (f"{start}{separator}{name.name}" for name in node.names if name.name != "*")


def _imported_by_name(call: ast.Call) -> Iterator[str]:
    """What ``import_module("models." + name)`` may import: ``models.*``."""
    if called(call.func) != "import_module" or not call.args:
        return
    match call.args[0]:
        case ast.Constant(value=str(name)) if not name.startswith("."):
            yield name
        case ast.BinOp(left=ast.Constant(value=str(start)), op=ast.Add()) | ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]) if "." in start:
            yield f"{start.rpartition('.')[0]}.*"


def _calls_own(tree: ast.Module) -> bool:
    """Whether the top level calls a function of the file for its effect: ``main()``."""
    own = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    calls = (node.value for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    return any(called(call.func) in own for call in calls)


def _begins(name: str) -> bool:
    """Whether a call of that name at the top level begins a training that is written elsewhere."""
    return name in _BEGINNING or name.startswith(("train_", "run_", "fit_"))


def called(function: ast.expr) -> str:
    """The last part of the name that is called, "" if it has none."""
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
