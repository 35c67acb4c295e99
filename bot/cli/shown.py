"""A located finding with its paths as seen from the working directory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.review.located import LocatedFinding


def renamed(finding: LocatedFinding, shown: Callable[[str], str]) -> LocatedFinding:
    """``finding`` with every path of it, of its evidence and of its fix as ``shown`` gives it."""
    evidence = tuple(replace(step, path=shown(step.path)) for step in finding.evidence)
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(replace(edit, path=shown(edit.path)) for edit in fix.edits))
    return replace(finding, path=shown(finding.path), evidence=evidence, fix=fix)
