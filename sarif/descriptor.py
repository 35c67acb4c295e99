"""A rule as a SARIF reporting descriptor: its page is the help that code scanning shows beside an alert."""

from __future__ import annotations

from typing import Any

from analysis.finding import Severity
from analysis.rule import Rule

#: SARIF's words for severities.
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTICE: "note"}
#: GitHub's words for the same, read from the rule's properties.
_PROBLEM_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTICE: "recommendation"}


def descriptor(rule: Rule) -> dict[str, Any]:
    """``rule`` with its page."""
    page = rule.documentation or rule.summary
    return {
        "id": rule.name,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": page.strip().split("\n\n")[0].replace("\n", " ")},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": ["pytorch", "training"], "problem.severity": _PROBLEM_SEVERITIES[rule.severity]},
    }
