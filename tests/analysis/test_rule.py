"""Rules are found by being there, and a file or package that holds none is named."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from types import ModuleType

import pytest

from analysis import installed
from analysis.finding import Severity
from analysis.fixes.change import Reported
from analysis.installed import NotLoadedError
from analysis.rule import Good, Rule, discover


def _silent(_trace: object) -> Iterator[Reported]:
    return iter(())


THEIRS = Rule("their-problem", Severity.NOTICE, "x", "x", _silent, (Good("x = 1"),))


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    discover.cache_clear()
    yield
    discover.cache_clear()


def _install(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    package = ModuleType("their_package")
    package.RULE = value  # type: ignore[attr-defined]  # made up on the spot
    monkeypatch.setitem(sys.modules, "their_package", package)
    points = EntryPoints([EntryPoint("their-problem", "their_package:RULE", "preflight.rules")])
    monkeypatch.setattr(installed, "_points", lambda group: points.select(group=group))


def test_every_file_is_a_rule_of_its_name() -> None:
    names = [rule.name for rule in discover()]

    assert names == sorted(names)
    assert "missing-zero-grad" in names


def test_installed_packages_bring_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, THEIRS)

    assert THEIRS in discover()


def test_an_entry_point_that_is_no_rule_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, "no rule")

    with pytest.raises(NotLoadedError, match="the entry point their-problem of the package"):
        discover()


def test_a_package_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    points = EntryPoints([EntryPoint("x", "no_such_package_at_all:RULE", "preflight.rules")])
    monkeypatch.setattr(installed, "_points", lambda group: points.select(group=group))

    with pytest.raises(NotLoadedError, match="cannot be loaded: No module named 'no_such_package_at_all'"):
        discover()


def test_two_rules_may_not_share_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, Rule("missing-zero-grad", Severity.ERROR, "x", "x", _silent, (Good("x = 1"),)))

    with pytest.raises(NotLoadedError, match="two rules are named missing-zero-grad"):
        discover()


@pytest.mark.parametrize("page", [None, ""])
def test_a_rule_without_a_page_is_refused(page: str | None) -> None:
    with pytest.raises(ValueError, match="needs a page"):
        Rule("x", Severity.ERROR, "x", page, _silent, ())
