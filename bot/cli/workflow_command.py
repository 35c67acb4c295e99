"""A finding as a workflow command: GitHub Actions turns such a line of a log into an annotation.

The form and its escapes: https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
"""

from __future__ import annotations

from bot.review.located import LocatedFinding


def workflow_command(finding: LocatedFinding) -> str:
    """One line, e.g. ``::error file=train.py,line=29,…,title=retained-graph::The list keeps …``."""
    properties = {
        "file": finding.path,
        "line": finding.line if finding.cell is None else 1,  # lines of a cell are none of the file
        "endLine": finding.end_line if finding.cell is None else 1,
        "title": finding.rule,
    }
    if finding.line == finding.end_line and finding.cell is None:  # GitHub takes columns only on one line, and its end column is the last character
        properties |= {"col": finding.column, "endColumn": max(finding.column, finding.end_column - 1)}
    in_cell = "" if finding.cell is None else f"Cell {finding.cell}, line {finding.line}: "
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{finding.severity.label} {written}::{_data(in_cell + finding.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
