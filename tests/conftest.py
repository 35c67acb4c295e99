"""``--update`` rewrites golden files; the change is then read in review like any other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite golden files instead of comparing with them")


@pytest.fixture(autouse=True)
def _no_reports_of_others(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command line keeps between runs is kept nowhere outside the test."""
    monkeypatch.setenv("PREFLIGHT_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "kept"))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare text with ``golden/<name>`` beside the test's file."""

    def compare(name: str, text: str) -> None:
        path = Path(request.path).parent / "golden" / name
        if request.config.getoption("--update"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text

    return compare
