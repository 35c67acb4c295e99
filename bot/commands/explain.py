"""`/preflight explain RULE` shows the page of a rule: what it finds, why that is wrong, and what to write instead."""

from __future__ import annotations

from analysis.rule import Bad, Rule
from bot.commands.command import Command, Reply, Request
from bot.commands.rule_word import rule_named
from bot.review.text import code, fenced


async def _run(request: Request) -> Reply:
    return Reply(page(rule_named(request.words, "/preflight explain RULE")))


def page(rule: Rule) -> str:
    """The page of ``rule`` in Markdown. Its text comes with this program or an installed package, never from the repository."""
    parts = [f"### {code(rule.name)} ({rule.severity.label})", rule.summary, (rule.documentation or "").strip()]
    for example in rule.examples:
        if isinstance(example, Bad):
            parts += ["Flagged:", fenced(example.code.strip("\n"), "python")]
            parts += ["Its fix:", fenced(example.fixed.strip("\n"), "python")] if example.fixed is not None else []
        else:
            parts += ["Left alone:", fenced(example.code.strip("\n"), "python")]
    return "\n\n".join(parts)


COMMAND = Command("explain", __doc__, _run)
