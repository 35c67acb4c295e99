"""What a run spent its steps on without learning anything: the configuration that is parsed, the tables that are filled.

A run that ends before anything trained is run again without following those functions: what they give is then unknown, as is what a
library's functions give.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from analysis.interpreter.values import Class, Function
from analysis.library.ownership import MODULE
from analysis.trace.events import Event, Kind
from analysis.trace.tree import Alt, CallNode, Loop, Node, Seq

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

#: A function that took more than one step in so many is costly.
SHARE = 12
#: What happens in passing anywhere; a function in which nothing else happened told nothing about the training.
_ASIDE = frozenset({Kind.DISCARD, Kind.STORE, Kind.SEED, Kind.DRAW, Kind.TO_DEVICE, Kind.ITEM, Kind.PRINT, Kind.SAVE, Kind.OPAQUE})


def costly(machine: Machine, unfinished: Sequence[tuple[ast.AST, int]] = ()) -> frozenset[ast.AST]:
    """The functions that took most of the steps and in which nothing happened that a rule could ask for; methods of models are none of them.

    ``unfinished``: those that ran when the steps were spent, the innermost first, with what they called. The innermost that took more
    than half of all is one too.
    """
    spent = max([sum(machine.costs.values()), *(steps for _, steps in unfinished)])
    running = [node for node, steps in unfinished if 2 * steps > spent][:1]
    found = [*(node for node, steps in machine.costs.items() if steps * SHARE > spent), *running]
    telling = set(_telling(machine.tree.root))
    of_models = set(_methods_of_models(machine))
    return frozenset(node for node in found if node not in of_models and getattr(node, "name", "") not in telling and not isinstance(node, ast.Lambda))


def _telling(root: Seq) -> Iterator[str]:
    """The names of the functions in which something happened, themselves or in what they called."""
    todo: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while todo:
        node, around = todo.pop()
        match node:
            case Event(kind=kind) if kind not in _ASIDE:
                yield from around
            case Seq(children=children):
                todo.extend((child, around) for child in children)
            case Alt(arms=parts) | Loop(iterations=parts):
                todo.extend((part, around) for part in parts)
            case CallNode(name=name, body=body):
                todo.append((body, (*around, name.rpartition(".")[2])))


def _methods_of_models(machine: Machine) -> Iterator[ast.AST]:
    for module in machine.loaded.values():
        for value in module.vars.values():
            if isinstance(value, Class) and value.has_base(MODULE):
                yield from (method.node for cls in value.mro for method in cls.namespace.values() if isinstance(method, Function))
