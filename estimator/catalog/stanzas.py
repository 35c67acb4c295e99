"""The catalog's tables as they stand in their TOML files, which are part of the package."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def stanzas(table: str, kind: str) -> list[dict[str, Any]]:
    """The ``[[kind]]`` stanzas of ``estimator/catalog/<table>``, in the file's order."""
    entries: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name(table).read_text(encoding="utf-8"))[kind]
    return entries
