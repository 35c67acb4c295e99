"""What a value went through on its way to a loss. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Collection, Container, Iterator

from analysis.enclosing import expression_at
from analysis.fixes.change import UnwrapCall
from analysis.library.tensor import Made, Tensor, tensors_in
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind

_SHAPES = """
view view_as reshape reshape_as flatten unflatten squeeze unsqueeze permute transpose movedim contiguous clone to float double half bfloat16 type type_as cuda
cpu expand_as getitem attribute index_select gather masked_select chunk split cat stack concat narrow identity unbind t expand repeat dropout
"""
#: Operations that leave each value as it is, or at least every row a row of probabilities.
SHAPES = frozenset(_SHAPES.split())
_LAYERS = """
linear bilinear lazylinear conv1d conv2d conv3d convtranspose1d convtranspose2d convtranspose3d conv_transpose1d conv_transpose2d conv_transpose3d
lazyconv1d lazyconv2d batchnorm1d batchnorm2d batchnorm3d batch_norm layernorm layer_norm groupnorm group_norm rnn lstm gru graph_conv
"""
#: Layers whose outputs may be any number.
UNBOUNDED = frozenset(_LAYERS.split())
_DEEPEST = 40
_SUMS, _ADDING_UP, _PRODUCTS = frozenset({"add", "sub"}), frozenset({"sum"}), frozenset({"matmul", "mm", "bmm", "einsum"})
_FEW_TERMS = 6


def origins(value: object, through: Collection[str] = SHAPES) -> Iterator[Made]:
    """The last operations before ``value`` that are none of ``through``, one for each tensor in it."""
    todo: list[tuple[Tensor, int]] = [(tensor, 0) for tensor in tensors_in(value)]
    while todo:
        tensor, depth = todo.pop()
        made = tensor.made
        if made is None or depth > _DEEPEST:
            continue
        if made.op == "join" and (one := _same_origin(made, through)) is not None:
            yield one
        elif made.op not in through:
            yield made
        else:
            todo.extend((inner, depth + 1) for inner in tensors_in(made.inputs[:1]))


def _same_origin(joined: Made, through: Collection[str]) -> Made | None:
    """Where all come from that a value may be, if they are the same but for operations of ``through``: one side is only cut shorter."""
    todo, seen, found = [joined], {id(joined)}, set[Made]()
    while todo and len(seen) < _DEEPEST:
        made = todo.pop()
        inputs = made.inputs if made.op == "join" else made.inputs[:1] if made.op in through else None
        if inputs is None:
            found.add(made)
            continue
        inner = [tensor.made for tensor in tensors_in(inputs) if tensor.made is not None and id(tensor.made) not in seen]
        seen.update(map(id, inner))
        todo.extend(inner)
    return found.pop() if len(found) == 1 and not todo else None


def is_unbounded(made: Made, through: Collection[str] = SHAPES, depth: int = 0) -> bool:
    """Whether the result may be any number: a layer's, a sum with one, or products of two of them that are added up."""
    if made.op in UNBOUNDED:
        return True
    if depth > _FEW_TERMS:
        return False
    if made.op in _SUMS and len(made.inputs) > 1:
        return any(is_unbounded(each, through, depth + 1) for each in origins(made.inputs[:2], through))
    before = next(origins(made.inputs[:1], ()), None) if made.op in _ADDING_UP else made if made.op in _PRODUCTS else None
    if before is None or before.op not in _PRODUCTS | {"mul"}:
        return False
    factors = [each for given in before.tensors[:2] for each in origins(given, through)]
    return len(before.tensors) > 1 and len(factors) > 1 and all(each.op in UNBOUNDED | {"embedding"} for each in factors)


def place_of(made: Made, files: Container[str], otherwise: Span) -> Span:
    """Where an operation stands in the source: a layer that runs inside another (``nn.Sequential``), or that a framework calls, where it is built.

    ``otherwise``: the place for what stands in none of the ``files``.
    """
    before, built = next(tensors_in(made.inputs[:1]), None), made.options.get("built")
    inside = before is not None and before.made is not None and before.made.span == made.span
    span = built if isinstance(built, Span) and (inside or made.span.path not in files) else made.span
    return span if span.path in files else otherwise


def losses(trace: Trace, names: Collection[str]) -> Iterator[Event]:
    """The losses of these kinds, each place once."""
    told: set[object] = set()
    for event in trace.events(Kind.LOSS):
        if event.subject in names and (event.span, event.path) not in told:
            told.add((event.span, event.path))
            yield event


def without_call(trace: Trace, span: Span, names: Collection[str]) -> UnwrapCall | None:
    """The change that takes ``f(x)``, ``f(x, dim)``, ``x.f()`` or ``x.f(dim)`` at ``span`` away, where ``f`` is one of ``names``."""
    source = trace.snapshot.source(span.path)
    call = expression_at(source, span) if isinstance(source, SourceFile) else None
    if not isinstance(call, ast.Call) or not isinstance(source, SourceFile):
        return None
    match call.func:
        case ast.Name(id=name) if name in names and call.args:
            kept: ast.expr = call.args[0]
        case ast.Attribute(attr=name, value=ast.Name(id="torch" | "F" | "nn" | "functional")) if name in names and call.args:
            kept = call.args[0]
        case ast.Attribute(attr=name, value=ast.Attribute(attr="functional")) if name in names and call.args:
            kept = call.args[0]
        case ast.Attribute(attr=name, value=scores) if name in names and all(_is_number(each) for each in call.args) and not _names_input(call):
            kept = scores
        case _:
            return None
    return UnwrapCall(span, source.span(kept))


def renamed(trace: Trace, span: Span, old: str, new: str) -> tuple[Span, str] | None:
    """The function that the call at ``span`` names ``old``, and its text under the name ``new``."""
    source = trace.snapshot.source(span.path)
    call = expression_at(source, span) if isinstance(source, SourceFile) else None
    if not isinstance(call, ast.Call) or not isinstance(source, SourceFile):
        return None
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == old):
        return None
    whole = source.span(call.func)
    written = source.text(whole)
    return (whole, written.removesuffix(old) + new) if written.endswith(old) else None


def _names_input(call: ast.Call) -> bool:
    """Whether it is a function whose argument is passed by name: then the receiver is a module."""
    return any(keyword.arg == "input" for keyword in call.keywords)


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int())):
            return True
    return False
