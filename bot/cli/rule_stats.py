"""How often each rule found something, was silenced and was fixed, counted over reports in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.cli.outcome import UsageError


@dataclass(slots=True)
class RuleStats:
    """What the reports say of one rule."""

    found: int = 0
    suppressed: int = 0
    fixed: int = 0
    safe_fixes: int = 0
    fixes_to_review: int = 0


def stats_of(paths: Sequence[Path]) -> dict[str, RuleStats]:
    """By the names of the rules that anything is said of. Raises UsageError for a file that is no report."""
    stats: dict[str, RuleStats] = {}
    for path in paths:
        report = _report(path)
        try:
            _count(report, stats)
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"--stats: {path} is not a report of `preflight check --format json` or `review --format json`") from error
    return stats


def _report(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise UsageError(f"--stats: {path} does not exist") from error
    except OSError as error:
        raise UsageError(f"--stats: {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--stats: {path} is not JSON") from error
    if not isinstance(document, dict) or not ("findings" in document or "introduced" in document):
        raise UsageError(f"--stats: {path} is not a report of `preflight check --format json` or `review --format json`")
    return document


def _count(report: Mapping[str, Any], stats: dict[str, RuleStats]) -> None:
    for finding in (*report.get("findings", ()), *report.get("introduced", ()), *report.get("existing", ())):
        of_rule = stats.setdefault(finding["rule"], RuleStats())
        of_rule.found += 1
        if finding["fix"] is not None:
            of_rule.safe_fixes += finding["fix"]["safety"] == "safe"
            of_rule.fixes_to_review += finding["fix"]["safety"] == "review"
    for finding in report.get("fixed", ()):
        stats.setdefault(finding["rule"], RuleStats()).fixed += 1
    _add(report.get("fixed_by_rule", {}).items(), stats, "fixed")
    _add(report.get("suppressed_by_rule", {}).items(), stats, "suppressed")
    _add(report.get("baselined_by_rule", {}).items(), stats, "found")


def _add(counts: Iterable[tuple[str, int]], stats: dict[str, RuleStats], name: str) -> None:
    for rule, number in counts:
        of_rule = stats.setdefault(rule, RuleStats())
        setattr(of_rule, name, getattr(of_rule, name) + number)
