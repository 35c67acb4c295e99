"""Whether train() and eval() make any difference to a model. Shared by rules, and no rule itself."""

from __future__ import annotations

from analysis.interpreter.values import Alternatives, Class, Instance, Symbol
from analysis.library.ownership import modules_in
from analysis.snapshot import Snapshot
from analysis.source import SourceFile

_TORCH = "torch.nn."
#: Beginnings of the names of layers in ``torch.nn`` that behave differently in the two modes.
_MODAL = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "BatchNorm", "LazyBatchNorm", "SyncBatchNorm", "InstanceNorm", "RReLU")
_MAYBE_MODAL = ("Transformer",)
#: Layers that drop values only if they are told to, and where in their arguments that stands.
_IF_TOLD = {"RNN": 5, "LSTM": 5, "GRU": 5, "MultiheadAttention": 2}
#: Words in a module's source by which it may ask for its mode.
_WORDS = (b"training", b"dropout", b"Dropout", b"batch_norm")


def mode_matters(snapshot: Snapshot, model: Instance) -> bool:
    """True unless everything inside ``model`` is known and none of it asks for the mode."""
    return any(_is_modal(snapshot, module) for module in modules_in(model))


def _is_modal(snapshot: Snapshot, module: Instance) -> bool:
    if any(isinstance(value, (Symbol, Alternatives)) for value in module.fields.values()):
        return True
    return _drops(module) or any(_class_is_modal(snapshot, cls) for cls in module.cls.mro)


def _drops(module: Instance) -> bool:
    """Whether a layer that can drop values was told to."""
    place = next((_IF_TOLD[name] for cls in module.cls.mro if (name := cls.dotted.removeprefix(_TORCH)) in _IF_TOLD), None)
    arguments = module.fields.get("layer: arguments", ())
    if place is None:
        return False
    return module.fields.get("dropout", arguments[place] if len(arguments) > place else 0) != 0


def _class_is_modal(snapshot: Snapshot, cls: Class) -> bool:
    name = cls.dotted.removeprefix(_TORCH)
    if cls.span is None:
        return not cls.dotted.startswith((_TORCH, "object", "builtins")) or name.startswith((*_MODAL, *_MAYBE_MODAL))
    source = snapshot.source(cls.span.path) if cls.span.path in snapshot.contents else None
    return not isinstance(source, SourceFile) or any(word in source.content[cls.span.start : cls.span.end] for word in _WORDS)
