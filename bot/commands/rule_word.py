"""The name of a rule among a command's words."""

from __future__ import annotations

from analysis.nearest import did_you_mean
from analysis.rule import Rule
from bot.commands.command import CommandError
from bot.rules import every_rule


def rule_named(words: tuple[str, ...], usage: str) -> Rule:
    """The rule that the first word names. Raises CommandError, with the nearest name where there is no such rule."""
    if not words:
        raise CommandError(f"Name a rule: `{usage}`")
    rules = {rule.name: rule for rule in every_rule()}
    if words[0] not in rules:
        raise CommandError(f"There is no rule `{words[0]}`{did_you_mean(words[0], rules)}")
    return rules[words[0]]
