"""Branches that pass over the training: ``if args.eval_only: return evaluate(model)``. A run that is to show how ranks train takes the other side."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from analysis.facts import called
from analysis.source import SourceFile
from analysis.syntax import walk

#: Names of functions and methods that train.
_TRAINING = re.compile(r"(?:do_|run_|main_)?train(?:ing|er)?(?:_(?:model|net|epoch|one_epoch|epochs|loop|step|worker))?|fit")


def skips_training(source: SourceFile, node: ast.If | ast.While, taken: list[ast.stmt], other: list[ast.stmt]) -> bool:
    """Whether the side ``taken`` does not train while the other side does, or what stands behind the branch and this side leaves out."""
    if isinstance(node, ast.While) or _trains(taken):
        return False
    leaves = bool(taken) and isinstance(taken[-1], ast.Return)
    return _trains(other) or (leaves and _trains(_behind(source).get(node, [])))


def _trains(body: list[ast.stmt]) -> bool:
    return any(map(_calls_training, body))


@lru_cache(maxsize=4096)
def _calls_training(statement: ast.stmt) -> bool:
    return any(_TRAINING.fullmatch(called(part.func)) for part in walk(statement) if isinstance(part, ast.Call))


@lru_cache(maxsize=4096)
def _behind(source: SourceFile) -> dict[ast.stmt, list[ast.stmt]]:
    """The statements that follow each branch in its block."""
    found: dict[ast.stmt, list[ast.stmt]] = {}
    for node in walk(source.tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                found.update({each: block[place + 1 :] for place, each in enumerate(block) if isinstance(each, ast.If)})
    return found
