"""Each line of the threat model names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text()
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_every_line_names_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and line.count(" | ") == 2 and not line.startswith("| threat")]
    assert len(rows) > 30
    assert [row for row in rows if "`tests/" not in row] == []


def test_every_named_test_exists() -> None:
    missing = [f"{path}::{name}" for path, name in NAMED if name not in _tests(ROOT / path)]
    assert NAMED
    assert missing == []


def _tests(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    return {node.name for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
