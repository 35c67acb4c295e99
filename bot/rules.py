"""Every rule there is: those that read traces, and those that read estimates."""

from __future__ import annotations

from functools import cache

from analysis.rule import Rule, discover
from estimator.findings import memory_rules


@cache
def every_rule() -> tuple[Rule, ...]:
    """All of them by name. Raises ``analysis.installed.NotLoadedError``."""
    return tuple(sorted((*discover(), *memory_rules()), key=lambda rule: rule.name))
