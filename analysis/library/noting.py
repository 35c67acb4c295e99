"""Branches that only note something for whoever asks later: ``if self.count >= self.patience: self.stop = True``."""

from __future__ import annotations

import ast


def notes(body: list[ast.stmt]) -> bool:
    """Whether a side sets flags, and beside that says so at the most."""
    flags = [each for each in body if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, bool)]
    said = [each for each in body if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)]
    return bool(flags) and len(flags) + len(said) == len(body)
