"""Whether train() and eval() make any difference to a model. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analysis.enclosing import enclosing
from analysis.interpreter.values import Alternatives, Class, Instance, Symbol, Value
from analysis.library.models import DETECTORS, MODELESS
from analysis.library.ownership import modules_in
from analysis.rules._objects import Concern, concern
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Kind

_TORCH = "torch.nn."
#: Beginnings of the names of layers in ``torch.nn`` that behave differently in the two modes.
_MODAL = ("BatchNorm", "LazyBatchNorm", "SyncBatchNorm", "RReLU")
_DROPPING = ("Dropout", "AlphaDropout", "FeatureAlphaDropout")
_TRACKING = "InstanceNorm"
_MAYBE_MODAL = ("Transformer",)
#: Layers that drop values only if they are told to, and where in their arguments that stands.
_IF_TOLD = {"RNN": 5, "LSTM": 5, "GRU": 5, "MultiheadAttention": 2}
#: Parts of names in a module's code by which it may ask for its mode.
_WORDS = ("training", "dropout", "Dropout")


def mode_matters(snapshot: Snapshot, model: Instance) -> bool:
    """True unless everything inside ``model`` is known and none of it asks for the mode."""
    return any(_is_modal(snapshot, module) for module in modules_in(model))


def mode_surely_matters(model: Instance) -> bool:
    """True if a layer inside ``model`` is known to behave differently in the two modes."""
    return any(_drops(module) or any(_name(cls).startswith(_MODAL) for cls in module.cls.mro) for module in modules_in(model))


def called_in_place(trace: Trace, model: Instance) -> frozenset[int]:
    """The identities of the modules inside a model whose own forward never runs: a framework's module calls them in its steps."""
    if any(concern(event.subject, model) is Concern.YES for event in trace.events(Kind.FORWARD)):
        return frozenset()
    return frozenset(id(each) for each in modules_in(model) if each is not model)


def holds_unknown(module: Instance) -> bool:
    """Whether something that is not told, and may be a module with parameters, is kept in it and called."""
    return any(_may_be_module(value) for value in module.fields.values())


def _is_modal(snapshot: Snapshot, module: Instance) -> bool:
    if module.fields.get(MODELESS) is True or module.cls.dotted.startswith(DETECTORS):
        return False
    if holds_unknown(module):
        return True
    return _drops(module) or any(_class_is_modal(snapshot, cls) for cls in module.cls.mro)


def _may_be_module(value: Value) -> bool:
    """Whether a module keeps something that is not told and is called: a layer, perhaps."""
    if isinstance(value, Alternatives):
        return any(_may_be_module(each) or isinstance(each, Instance) for each in value.values)
    return isinstance(value, Symbol) and ("call" in value.uses or any(_may_be_module(part) for part in value.parts.values()))


def _drops(module: Instance) -> bool:
    """Whether a layer that can drop values, or keep statistics, was told to."""
    arguments: tuple[Value, ...] = module.fields.get("layer: arguments", ())
    for name in map(_name, module.cls.mro):
        if name.startswith(_DROPPING):
            return bool(module.fields.get("p", arguments[0] if arguments else 0.5) != 0)
        if name.startswith(_TRACKING):
            return module.fields.get("track_running_stats", False) is not False
        if name in _IF_TOLD:
            place = _IF_TOLD[name]
            return bool(module.fields.get("dropout", arguments[place] if len(arguments) > place else 0) != 0)
    return False


def _name(cls: Class) -> str:
    """The name of a layer of ``torch.nn``; another class's dotted name."""
    return cls.dotted.removeprefix(_TORCH)


def _class_is_modal(snapshot: Snapshot, cls: Class) -> bool:
    if cls.span is None:
        return not cls.dotted.startswith((_TORCH, "object", "builtins")) or _name(cls).startswith((*_MODAL, *_MAYBE_MODAL))
    source = snapshot.source(cls.span.path) if cls.span.path in snapshot.contents else None
    if not isinstance(source, SourceFile):
        return True
    written = source.content[cls.span.start : cls.span.end]
    return any(word.encode() in written for word in _WORDS) and _asks_for_mode(source, cls.span)


def _asks_for_mode(source: SourceFile, span: Span) -> bool:
    """Whether a name in the code of the class holds one of the words: in a docstring or a comment it says nothing of what the class does."""
    whole = enclosing(source, span).statement
    return whole is None or any(word in name for node in walk(whole) for name in _names_in(node) for word in _WORDS)


def _names_in(node: ast.AST) -> Iterator[str]:
    """The identifiers of one node, and texts without a space: what ``getattr`` or a table of layers may be asked for."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
            yield name
        case ast.Constant(value=str(text)) if " " not in text:
            yield text
