"""Tensors that are made on the host only to be moved: ``torch.zeros(2).to(device)``. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from math import prod

from analysis.interpreter.values import Symbol, Value
from analysis.library.tensor import Made, Tensor
from analysis.source import SourceFile
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.reading import call_at

_CONSTANT = frozenset({"zeros", "ones", "empty", "full", "arange", "linspace", "eye"})
#: Drawn on the device, the numbers are others than those of the host's generator.
RANDOM = frozenset({"rand", "randn", "randint", "randperm", "normal"})
#: Operations that make a tensor of the numbers that they are given.
_OF_NUMBERS = frozenset({"tensor", "as_tensor"})
#: Operations that make more of what they are given.
_GROWING = frozenset({"expand", "repeat", "cat", "stack", "concat", "concatenate", "hstack", "vstack", "outer", "meshgrid"})
#: Elements that cross the bus no faster than one does.
_HANDFUL = 64
_ACCELERATORS = ("cuda", "xpu", "mps", "npu", "hpu")


def is_handful(made_of: Iterable[Tensor]) -> bool:
    """Whether a tensor that was made of these has a few elements only, as far as the source tells: numbers that somebody wrote down, or a small shape."""
    made = [each.made for each in made_of if each.made is not None]
    factories = [each for each in made if each.op in _OF_NUMBERS | _CONSTANT | RANDOM | {"from_numpy"}]
    return not any(each.op in _GROWING for each in made) and all(_few(each) for each in factories)


def _few(made: Made) -> bool:
    match made.op, made.inputs:
        case ("tensor" | "as_tensor", (Symbol() | int() | float(), *_)):
            return True
        case ("tensor" | "as_tensor", (list() | tuple() as numbers, *_)):
            return _count(numbers) <= _HANDFUL
        case ("zeros" | "ones" | "empty" | "rand" | "randn", sizes):
            whole = [each for size in sizes for each in (size if isinstance(size, (list, tuple)) else (size,))]
            return all(isinstance(each, int) for each in whole) and prod(whole) <= _HANDFUL
    return False


def _count(numbers: Sequence[Value]) -> int:
    return sum(_count(each) if isinstance(each, (list, tuple)) else 1 for each in numbers)


def made_to_move(trace: Trace, move: Event) -> bool:
    """Whether a factory's result is moved in the expression that makes it, where gradients are recorded."""
    made = move.subject.made if isinstance(move.subject, Tensor) else None
    if made is None or made.op not in _CONSTANT | RANDOM or "device" in made.options or not move.context.grad or move.span.path not in trace.snapshot.contents:
        return False
    return _made_and_moved(trace, move) is not None


def made_on_device(trace: Trace, move: Event) -> str | None:
    """The factory's call with the device among its options; None if it may be moved to something else than a device, or converted too."""
    calls, source = _made_and_moved(trace, move), trace.snapshot.source(move.span.path)
    if calls is None or not isinstance(source, SourceFile):
        return None
    factory, moving = calls
    match moving:
        case ast.Call(func=ast.Attribute(attr="cuda"), args=[], keywords=[]):
            device = '"cuda"'
        case ast.Call(func=ast.Attribute(attr="to"), args=[given], keywords=[]) if all(_is_device(value) for value in move.detail):
            device = source.text(source.span(given))
        case _:
            return None
    made = source.text(source.span(factory))
    if not made.endswith(")") or "#" in made or any(keyword.arg is None for keyword in factory.keywords):
        return None
    inner = made[:-1].rstrip()
    return f"{inner}{'' if inner.endswith(('(', ',')) else ','}{'' if inner.endswith('(') else ' '}device={device})"


def _made_and_moved(trace: Trace, move: Event) -> tuple[ast.Call, ast.Call] | None:
    """``torch.zeros(2)`` and ``torch.zeros(2).to(device)``, if the move stands so."""
    moving = call_at(trace.snapshot, move.span)
    match moving:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Attribute()) as factory)):
            return factory, moving
        case _:
            return None


def _is_device(value: object) -> bool:
    """Whether it surely is a device: by its name, or made as one."""
    return value.startswith(_ACCELERATORS) if isinstance(value, str) else isinstance(value, Symbol) and value.why == "a device"
