"""Whether train() and eval() make any difference to a model. Shared by rules, and no rule itself."""

from __future__ import annotations

from analysis.interpreter.values import Alternatives, Class, Instance, Symbol, Value
from analysis.library.models import DETECTORS, MODELESS
from analysis.library.ownership import modules_in
from analysis.rules._objects import Concern, concern
from analysis.snapshot import Snapshot
from analysis.source import SourceFile
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
#: Words in a module's source by which it may ask for its mode.
_WORDS = (b"training", b"dropout", b"Dropout")


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
    return not isinstance(source, SourceFile) or any(word in source.content[cls.span.start : cls.span.end] for word in _WORDS)
