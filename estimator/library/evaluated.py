"""``eval`` of a text that the run knows: an expression is read where it stands, like one that the source holds."""

from __future__ import annotations

import ast

from analysis.interpreter.exceptions import guest_error
from analysis.interpreter.values import MISSING, Call, HostFunction, Value
from estimator.library.tokens import BUILTINS_HERE

#: Longer texts, and those with other than plain values in them, are programs.
_LONGEST = 200
_PLAIN = (
    ast.Expression, ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.keyword, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context,
    ast.List, ast.Tuple, ast.Dict, ast.Subscript, ast.Slice,
)  # fmt: skip


def _eval(call: Call) -> Value:
    machine, text = call.machine, call.args[0]
    tree = _expression(text) if type(text) is str and len(call.args) == 1 else None
    if tree is None or machine.frame is None:
        return BUILTINS_HERE["eval"].run(call)
    for node in ast.walk(tree):
        node.preflight_span = call.span  # type: ignore[attr-defined]  # the text stands where it is evaluated
        if isinstance(node, ast.Name) and machine.lookup(node.id, machine.frame) is MISSING:
            raise guest_error(NameError(f"name {node.id!r} is not defined"), call.span)
    return machine.evaluate(tree.body, machine.frame)


def _expression(text: str) -> ast.Expression | None:
    try:
        tree = ast.parse(text.strip(), mode="eval") if len(text) <= _LONGEST else None
    except SyntaxError:
        return None
    return tree if tree is not None and all(isinstance(node, _PLAIN) for node in ast.walk(tree)) else None


BUILTINS: dict[str, Value] = {"eval": HostFunction("eval", _eval)}
