"""The rules there are, by name; `preflight explain RULE` prints the page of one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from analysis.rule import Rule
from bot.cli.listing import print_listing
from bot.cli.outcome import Exit
from bot.rules import every_rule


def run(words: Sequence[str]) -> int:
    """Run ``preflight rules`` and return its exit status."""
    print_listing("rules", __doc__, words, [_row(rule) for rule in every_rule()], sys.stdout)
    return Exit.OK


def _row(rule: Rule) -> dict[str, object]:
    return {"name": rule.name, "severity": rule.severity.label, "summary": rule.summary}
