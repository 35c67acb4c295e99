"""Whether a value may differ between ranks: by its mark, by what it holds, or by the source of its class. Shared, and no rule itself."""

from __future__ import annotations

from analysis.interpreter.values import Alternatives, Class, Function, Instance, Method, Partial, Value
from analysis.library.tensor import Made, Tensor
from analysis.snapshot import Snapshot
from analysis.source import SourceFile

_DEPTH, _WIDTH = 5, 64
#: Words in the source of a data set or sampler from which it may know its rank.
_WORDS = (b"rank", b"RANK", b"world_size", b"num_replicas", b"process_index")


def depends_on_rank(snapshot: Snapshot, value: Value) -> bool:
    """Whether ``value`` is, holds or asks for something that differs between ranks."""
    todo: list[tuple[Value, int]] = [(value, _DEPTH)]
    seen: set[int] = set()
    while todo:
        each, depth = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if getattr(each, "rank_varying", False) is True or _asks(snapshot, each):
            return True
        if depth:
            todo.extend((held, depth - 1) for held in _held(each))
    return False


def _held(value: Value) -> list[Value]:
    match value:
        case Instance(fields=fields):
            return list(fields.values())[:_WIDTH]
        case Tensor(made=Made(inputs=inputs, options=options)):
            return [*inputs, *options.values()]
        case dict():
            return list(value.values())[:_WIDTH]
        case list() | tuple() | set() | frozenset():
            return list(value)[:_WIDTH]
        case Alternatives(values=values):
            return list(values)
        case Partial(function=function, args=args, kwargs=kwargs):
            return [function, *args, *kwargs.values()]
        case Method(function=function, receiver=receiver):
            return [function, receiver]
        case Function(cells=cells):
            return [cell["value"] for cell in cells.values() if "value" in cell]
        case _:
            return []


def _asks(snapshot: Snapshot, value: Value) -> bool:
    """Whether the source of an object's class, or of a function, speaks of ranks."""
    if isinstance(value, Instance):
        return any(_speaks(snapshot, cls) for cls in value.cls.mro)
    if isinstance(value, Function):
        text = value.module.file.content
        span = value.module.file.span(value.node)
        return any(word in text[span.start : span.end] for word in _WORDS)
    return False


def _speaks(snapshot: Snapshot, cls: Class) -> bool:
    source = snapshot.source(cls.span.path) if cls.span is not None and cls.span.path in snapshot.contents else None
    if not isinstance(source, SourceFile) or cls.span is None:
        return False
    return any(word in source.content[cls.span.start : cls.span.end] for word in _WORDS)
