"""What an estimate gives reason to report: rules that are asked about memory instead of a trace, found by being there."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from analysis.rule import Rule


@cache
def memory_rules() -> tuple[Rule, ...]:
    """The rules of this package by name."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    return tuple(sorted((module.RULE for module in modules if hasattr(module, "RULE")), key=lambda rule: rule.name))
