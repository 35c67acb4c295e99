"""A span as a SARIF location."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from analysis.snapshot import Snapshot
from analysis.source import Span


def artifact(path: str) -> dict[str, Any]:
    """The file ``path``, which counts from the root of the repository, as a URI."""
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}


def region(span: Span, snapshot: Snapshot) -> dict[str, int]:
    """Lines and columns from 1; the end column is the one after the last character. In a notebook it is the file's first line."""
    at = snapshot.position(span)
    if at.cell is not None:
        return {"startLine": 1}  # lines of a cell are none of the file
    return {"startLine": at.line, "startColumn": at.column, "endLine": at.end_line, "endColumn": at.end_column}


def location(span: Span, snapshot: Snapshot, says: str | None = None) -> dict[str, Any]:
    """``span`` with what happens there."""
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact(span.path), "region": region(span, snapshot)}}
    at = snapshot.position(span)
    if at.cell is not None:
        place["logicalLocations"] = [{"name": f"cell {at.cell}, line {at.line}", "kind": "module"}]
    return place if says is None else {**place, "message": {"text": says}}
