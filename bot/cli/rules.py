"""The rules there are, by name; `preflight explain RULE` prints the page of one.

With --stats FILE… how often each found something in these reports, which `check --format json` and `review --format json`
write: found (baselines included), silenced by a comment, fixed (by --fix, or by the change that was reviewed), and for how many a
fix was offered. A rule that is silenced more and more often is one to look at.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.rule import Rule
from bot.cli.listing import Row, listing_parser, print_rows
from bot.cli.outcome import Exit
from bot.cli.rule_stats import RuleStats, stats_of
from bot.rules import every_rule


def run(words: Sequence[str]) -> int:
    """Run ``preflight rules`` and return its exit status."""
    parser = listing_parser("rules", __doc__)
    parser.add_argument("--stats", metavar="FILE", nargs="+", type=Path, help="reports in JSON to count in")
    options = parser.parse_args(words)
    rows = [_row(rule) for rule in every_rule()] if options.stats is None else _counted(options.stats, options.format)
    print_rows("rules", options.format, rows, sys.stdout)
    return Exit.OK


def _row(rule: Rule) -> Row:
    return {"name": rule.name, "severity": rule.severity.label, "summary": rule.summary}


def _counted(paths: Sequence[Path], form: str) -> list[Row]:
    """A row for every rule in JSON; in text for those that anything is said of, with a heading."""
    stats = stats_of(paths)
    rules = {rule.name: rule.severity.label for rule in every_rule()}
    rows = [_stats_row(name, rules.get(name, "notice"), stats.get(name, RuleStats())) for name in sorted({*rules, *stats})]
    if form == "json":
        return rows
    named = [row for row in rows if row["name"] in stats]
    return [{column: column.replace("_", " ") for column in rows[0]}, *named] if named else []


def _stats_row(name: str, severity: str, stats: RuleStats) -> Row:
    return {
        "name": name,
        "severity": severity,
        "found": stats.found,
        "suppressed": stats.suppressed,
        "fixed": stats.fixed,
        "safe_fixes": stats.safe_fixes,
        "fixes_to_review": stats.fixes_to_review,
    }
