"""The command line and the configuration, applied to rules and to what they found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.nearest import did_you_mean, nearest
from analysis.report import Report
from analysis.rule import Good, Rule
from analysis.selection import configured, included, require_known, require_known_in, select
from analysis.settings import Settings
from analysis.settings_file import UnknownRuleError
from analysis.source import Span


def _silent(_trace: object) -> Iterator[Reported]:
    return iter(())


def _rule(name: str) -> Rule:
    return Rule(name, Severity.ERROR, "x", "x", _silent, (Good("x = 1"),))


RULES = (_rule("double-softmax"), _rule("retained-graph"))


def _finding(path: str, rule: str = "retained-graph") -> Finding:
    span = Span(path, 0, 1)
    return Finding(rule, Severity.ERROR, Confidence.HIGH, span, "x", (Evidence(span, "x"),))


def _left(settings: Settings, *findings: Finding) -> list[Any]:
    return [(each.span.path, each.severity) for each in configured(Report(findings=findings), settings).findings]


def test_nothing_chosen_is_everything() -> None:
    assert select(RULES, (), ()) == RULES
    assert select(RULES, ("retained-graph",), ()) == RULES[1:]
    assert select(RULES, RULES[0].name, ("retained-graph",)) == RULES[:1]


def test_every_name_in_a_configuration_must_be_known() -> None:
    require_known_in(Settings(ignore=("retained-graph",)), RULES)
    for settings in (
        Settings(select=("retained-grap",)),
        Settings(ignore=("retained-grap",)),
        Settings(severity={"retained-grap": Severity.NOTICE}),
        Settings(per_file_ignores={"a.py": ("retained-grap",)}),
    ):
        with pytest.raises(UnknownRuleError, match=r"^configuration, .*unknown rule retained-grap; did you mean retained-graph\?$"):
            require_known_in(settings, RULES)


def test_a_name_unlike_all_others_gets_no_hint() -> None:
    with pytest.raises(UnknownRuleError, match=r"^--select: unknown rule zzz$"):
        require_known(("zzz",), RULES, "--select")


def test_severities_and_ignores_apply_to_findings() -> None:
    settings = Settings(
        ignore=("double-softmax",),
        severity={"retained-graph": Severity.NOTICE},
        per_file_ignores={"tests": ("retained-graph",)},
        exclude=("old",),
    )
    findings = (_finding("a.py"), _finding("tests/b.py"), _finding("old/c.py"), _finding("a.py", "double-softmax"))

    assert _left(settings, *findings) == [("a.py", Severity.NOTICE)]


def test_include_says_where_to_look_and_exclude_where_not() -> None:
    settings = Settings(include=("src",), exclude=("src/old",))

    assert [included(path, settings) for path in ("src/a.py", "src/old/a.py", "a.py")] == [True, False, False]


def test_the_nearest_name_ignores_case() -> None:
    assert nearest("RETAINED-GRAPH", ["retained-graph"]) == "retained-graph"
    assert did_you_mean("checks", ["check", "explain"]) == "; did you mean check?"
    assert did_you_mean("anything", []) == ""
