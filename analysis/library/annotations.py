"""Arguments that nobody passes, made as their annotations say: a list of modules, pairs of a loader and a loss, a dictionary of optimizers."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from analysis.interpreter.values import Class, Function, GuestDict, GuestList, Module, Value
from analysis.library.ownership import MODULE
from analysis.library.rehearsal import FEW
from analysis.library.roles import named_role, names_a_role

if TYPE_CHECKING:
    from analysis.library.domain import TraceDomain
    from analysis.source import Span

_LISTS = frozenset({"List", "list", "Sequence", "Iterable", "Collection", "MutableSequence"})
_DICTS = frozenset({"Dict", "dict", "Mapping", "MutableMapping", "OrderedDict"})
_TUPLES = frozenset({"Tuple", "tuple"})
_OPTIONAL = frozenset({"Optional", "Union"})
_TENSORS = frozenset({"Tensor", "FloatTensor", "LongTensor", "BoolTensor"})


class _Named(ast.NodeTransformer):
    """Puts what the library calls a model in the place of the program's own classes of models."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """A class of the program, defined here or imported."""
        found = self.module.vars.get(node.id)
        return ast.Name("Module", ast.Load()) if isinstance(found, Class) and found.span is not None and found.has_base(MODULE) else node


def annotated(domain: TraceDomain, function: Function, parameter: ast.arg) -> Value:
    """What stands for a parameter of ``function`` that nobody passes."""
    written = _parsed(parameter.annotation) if parameter.annotation is not None else None
    known = _Named(function.module).visit(copy.deepcopy(written)) if written is not None and _names_a_model(written, function.module) else written
    return argument(domain, parameter.arg, known, function.module.file.span(parameter))


def _names_a_model(annotation: ast.expr, module: Module) -> bool:
    found = (module.vars.get(node.id) for node in ast.walk(annotation) if isinstance(node, ast.Name))
    return any(isinstance(each, Class) and each.span is not None and each.has_base(MODULE) for each in found)


def argument(domain: TraceDomain, name: str, annotation: ast.expr | None, span: Span) -> Value:
    """What stands for the parameter ``name``: containers as far as a role is inside them, else one symbol that may play a role itself."""
    if annotation is None:
        return domain.casting.symbol(name, span, ())
    parsed = _parsed(annotation)
    match parsed:
        case ast.Subscript(value=kind, slice=inside) if _mentions_a_role(inside):
            made = _container(domain, name, _last(kind), inside, span)
            if made is not None:
                return made
        case ast.BinOp(op=ast.BitOr(), left=left, right=ast.Constant(value=None)):
            return argument(domain, name, left, span)
    written = ast.unparse(parsed)
    if written.rpartition(".")[2] in _TENSORS:
        tensor = domain.autograd.made("argument", (), {"name": name})
        tensor.rank_varying = domain.is_distributed()
        return tensor
    domain.casting.annotated[(name, span)] = written
    role = named_role(written)
    if role is not None and role.at_once:
        domain.casting.roles.setdefault((name, span), role)
    return domain.casting.symbol(name, span, ())


def _container(domain: TraceDomain, name: str, kind: str, inside: ast.expr, span: Span) -> GuestList | GuestDict | tuple[Value, ...] | Value:
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    item = f"an item of {name}"
    made: GuestList | GuestDict
    if kind in _OPTIONAL:
        return argument(domain, name, parts[0], span)
    if kind in _TUPLES:
        known = [each for each in parts if not (isinstance(each, ast.Constant) and each.value is ...)]
        return tuple(argument(domain, f"{item} at {index}", each, span) for index, each in enumerate(known))
    if kind in _LISTS:
        made = GuestList(argument(domain, item, parts[0], span) for _ in range(FEW))
    elif kind in _DICTS:
        made = GuestDict({f"{name}{index}": argument(domain, item, parts[-1], span) for index in range(FEW)})
    else:
        return None
    made.span, made.stamp = span, ()
    return made


def _parsed(annotation: ast.expr) -> ast.expr:
    """The annotation itself; one that is quoted is read."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
    return annotation


def _mentions_a_role(annotation: ast.expr) -> bool:
    return any(isinstance(node, (ast.Name, ast.Attribute)) and names_a_role(ast.unparse(node)) for node in ast.walk(annotation))


def _last(kind: ast.expr) -> str:
    return kind.attr if isinstance(kind, ast.Attribute) else kind.id if isinstance(kind, ast.Name) else ""
