"""The page of a rule: what it finds, why that is wrong, and what to write instead."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from analysis.nearest import did_you_mean
from analysis.rule import Bad, Rule
from bot.cli.outcome import Exit, UsageError
from bot.cli.parser import Parser
from bot.cli.terminal import Paint, Style
from bot.rules import every_rule


def run(words: Sequence[str]) -> int:
    """Run ``preflight explain`` and return its exit status."""
    parser = Parser("explain", __doc__)
    parser.add_argument("rule", metavar="RULE", help="a name that `preflight rules` lists")
    wanted = parser.parse_args(words).rule
    rules = {rule.name: rule for rule in every_rule()}
    if wanted not in rules:
        raise UsageError(f"unknown rule {wanted}{did_you_mean(wanted, rules)} (preflight rules lists them)")
    print(page(rules[wanted], Paint.of(sys.stdout)), end="")
    return Exit.OK


def page(rule: Rule, paint: Paint) -> str:
    """The page of ``rule``: its docstring, then its examples as they are tested."""
    lines = [f"{paint(rule.name, Style.BOLD)} ({rule.severity.label}): {rule.summary}", "", (rule.documentation or "").strip()]
    for example in rule.examples:
        if isinstance(example, Bad):
            lines += ["", paint("Flagged:", Style.RED), "", _indented(example.code)]
            if example.fixed is not None:
                lines += ["", paint("Its fix:", Style.GREEN), "", _indented(example.fixed)]
        else:
            lines += ["", paint("Left alone:", Style.GREEN), "", _indented(example.code)]
    return "\n".join(lines) + "\n"


def _indented(code: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in code.strip("\n").splitlines())
