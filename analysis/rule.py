"""A rule: a question about the trace, with its page and the examples that are its tests.

A file in ``analysis/rules`` with a constant ``RULE`` is a rule by being there; rules of others come from
installed packages through the entry point group ``preflight.rules``, never from the code under analysis.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from analysis.finding import Severity
from analysis.fixes.change import Reported
from analysis.installed import NotLoadedError, installed

if TYPE_CHECKING:
    from analysis.trace import Trace

ENTRY_POINT_GROUP = "preflight.rules"

#: A finding comes with the change that would end it; the engine turns that into a patch.
Check: TypeAlias = "Callable[[Trace], Iterator[Reported]]"


@dataclass(frozen=True, slots=True)
class Bad:
    """Code the rule must flag, on the lines that end in ``# flagged``; ``fixed`` is what its fix makes of it (None: no fix)."""

    code: str
    fixed: str | None = None


@dataclass(frozen=True, slots=True)
class Good:
    """Code the rule must leave alone."""

    code: str


Example: TypeAlias = Bad | Good


@dataclass(frozen=True, slots=True)
class Rule:
    """``name`` says the problem in kebab case; ``documentation`` is the docstring of its file, shown by ``preflight explain``.

    ``severity`` is the one its findings have unless the check knows better.
    """

    name: str
    severity: Severity
    summary: str
    documentation: str | None
    check: Check
    examples: tuple[Example, ...]

    def __post_init__(self) -> None:
        if not self.documentation:
            raise ValueError(f"{self.name}: a rule needs a page: the docstring of its file")


@cache
def discover() -> tuple[Rule, ...]:
    """All rules, by name: those of ``analysis/rules`` and those of installed packages. Raises NotLoadedError."""
    rules: dict[str, Rule] = {}
    for rule in (*_own_rules(), *(rule for _, rule in installed(ENTRY_POINT_GROUP, Rule))):
        if rule.name in rules:
            raise NotLoadedError(f"two rules are named {rule.name}: uninstall the package that brings the second")
        rules[rule.name] = rule
    return tuple(rules[name] for name in sorted(rules))


def _own_rules() -> Iterator[Rule]:
    package = importlib.import_module("analysis.rules")
    for found in pkgutil.iter_modules(package.__path__):
        if found.name.startswith("_"):
            continue
        rule = getattr(importlib.import_module(f"analysis.rules.{found.name}"), "RULE", None)
        if not isinstance(rule, Rule) or rule.name != found.name.replace("_", "-"):
            raise NotLoadedError(f"analysis/rules/{found.name}.py needs a constant RULE named {found.name.replace('_', '-')!r}")
        yield rule
