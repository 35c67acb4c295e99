"""Which rules run and which of their findings count: the command line and the configuration, applied."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from analysis.finding import Finding
from analysis.globs import matches_any
from analysis.nearest import did_you_mean
from analysis.report import Report
from analysis.rule import Rule
from analysis.settings import Settings
from analysis.settings_file import UnknownRuleError


def select(rules: Iterable[Rule], chosen: Collection[str], ignored: Collection[str]) -> tuple[Rule, ...]:
    """The rules named in ``chosen`` (all, if it is empty) but not in ``ignored``."""
    return tuple(rule for rule in rules if (not chosen or rule.name in chosen) and rule.name not in ignored)


def require_known(names: Iterable[str], rules: Iterable[Rule], where: str) -> None:
    """Raise UnknownRuleError for the first of ``names`` that is no rule; ``where`` is what named it."""
    known = [rule.name for rule in rules]
    for name in names:
        if name not in known:
            raise UnknownRuleError(f"{where}: unknown rule {name}{did_you_mean(name, known)}")


def require_known_in(settings: Settings, rules: Collection[Rule]) -> None:
    """Raise UnknownRuleError for the first name in ``settings`` that is no rule."""
    require_known(settings.select, rules, "configuration, select")
    require_known(settings.ignore, rules, "configuration, ignore")
    require_known(settings.severity, rules, "configuration, severity")
    for pattern, names in settings.per_file_ignores.items():
        require_known(names, rules, f'configuration, per-file-ignores of "{pattern}"')


def included(path: str, settings: Settings) -> bool:
    """Whether findings in ``path`` are wanted: ``include`` names where to look (everywhere, if empty), ``exclude`` where not."""
    return (not settings.include or matches_any(path, settings.include)) and not matches_any(path, settings.exclude)


def configured(report: Report, settings: Settings) -> Report:
    """``report`` with the severities of ``settings``, without what it excludes or ignores; paths count from the root of the repository."""
    return replace(report, findings=_configured(report.findings, settings), suppressed=_configured(report.suppressed, settings))


def _configured(findings: Iterable[Finding], settings: Settings) -> tuple[Finding, ...]:
    return tuple(_with_severity(finding, settings) for finding in findings if _wanted(finding, settings))


def _wanted(finding: Finding, settings: Settings) -> bool:
    path = finding.span.path
    ignored_here = (pattern for pattern, names in settings.per_file_ignores.items() if finding.rule in names)
    return finding.rule not in settings.ignore and included(path, settings) and not matches_any(path, ignored_here)


def _with_severity(finding: Finding, settings: Settings) -> Finding:
    severity = settings.severity.get(finding.rule)
    return finding if severity is None else replace(finding, severity=severity)
