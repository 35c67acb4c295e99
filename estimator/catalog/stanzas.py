"""The catalog's tables as they stand in their TOML files, which are part of the package."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def stanzas(table: str, kind: str) -> list[dict[str, Any]]:
    """The ``[[kind]]`` stanzas of ``estimator/catalog/<table>``, in the file's order."""
    text = resources.files("estimator.catalog").joinpath(table).read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)[kind]
    return entries
