"""A proposal to byte edits: which lines, which changes in them, and what differs afterwards. The program is not asked yet."""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from analysis.finding import Edit, Fix
from analysis.fixes import worker
from analysis.fixes.change import AddImport, Change, ChangeRefusedError, Proposal, RemoveArgument, RemoveStatement, anchors, path_of
from analysis.fixes.imports import import_edits
from analysis.fixes.minimal import replacements
from analysis.fixes.parentheses import reading
from analysis.fixes.plain import plainly
from analysis.fixes.region import Region, region_around
from analysis.fixes.wire import Job, Refused, Rewritten
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span

#: Why nothing is changed in a notebook.
NOTEBOOK = "a notebook holds its cells as JSON strings, with their outputs: change the cell by hand"


@dataclass(frozen=True, slots=True)
class _Planned:
    """A change with the lines it is made in; ``done`` if it was certain without LibCST."""

    region: Region
    job: Job
    done: Rewritten | None


def draft(proposals: Sequence[Proposal], snapshot: Snapshot) -> list[Fix | Refused]:
    """For each proposal a fix with its edits, or why there is none. What needs LibCST runs in one child process."""
    plans = [_plan(proposal, snapshot) for proposal in proposals]
    steps = [step for plan in plans if not isinstance(plan, Refused) for step in plan if isinstance(step, _Planned) and step.done is None]
    answers = iter(worker.run([step.job for step in steps]))
    return [plan if isinstance(plan, Refused) else _fix(proposal, plan, answers) for proposal, plan in zip(proposals, plans, strict=True)]


def _plan(proposal: Proposal, snapshot: Snapshot) -> list[_Planned | tuple[Edit, ...]] | Refused:
    try:
        return [_planned(change, proposal, snapshot) for change in proposal.changes]
    except ChangeRefusedError as refusal:
        return Refused(str(refusal))


def _planned(change: Change, proposal: Proposal, snapshot: Snapshot) -> _Planned | tuple[Edit, ...]:
    source = snapshot.source(path_of(change))
    if not isinstance(source, SourceFile):
        raise ChangeRefusedError(f"{source.path} was not analysed: {source.reason}")
    if source.cells:
        raise ChangeRefusedError(NOTEBOOK)
    if source.encoding != "utf-8":
        raise ChangeRefusedError(f"{source.path} is encoded in {source.encoding}, and only UTF-8 is edited")
    if isinstance(change, AddImport):
        used = [source.line_of(span.start) for other in proposal.changes for span in anchors(other) if span.path == source.path]
        found = import_edits(source, change, min(used, default=len(source.line_starts)))
        return tuple(Edit(Span(source.path, edit.start, edit.end), edit.text) for edit in found)
    region = region_around(source, anchors(change))
    job = Job(region.text, region.newline, region.indent, _shifted(change, region))
    plain = plainly(source, region, job.change)
    return _Planned(region, job, None if plain is None else Rewritten(plain))


def _shifted(change: Change, region: Region) -> Change:
    """The change with its spans counted from the region's first byte, and its text with the region's line ends."""
    values: dict[str, Any] = {}
    for name in change.__dataclass_fields__:
        match getattr(change, name):
            case Span() as span:
                values[name] = Span(span.path, span.start - region.start, span.end - region.start)
            case str() as text:
                values[name] = region.newline.join(text.split("\n"))
            case _:
                pass
    return replace(change, **values)


def _fix(proposal: Proposal, plan: list[_Planned | tuple[Edit, ...]], answers: Iterator[Rewritten | Refused]) -> Fix | Refused:
    """Takes the answers of this plan's jobs, all of them also where one was refused."""
    parts = [(step, step.done or next(answers) if isinstance(step, _Planned) else None) for step in plan]
    edits: list[Edit] = []
    for step, answer in parts:
        match step, answer:
            case _Planned(region=region, job=job), Rewritten(text=text):
                doubt = _doubt(region.text, text, job.change)
                if doubt is not None:
                    return doubt
                edits += [Edit(Span(region.path, region.start + edit.start, region.start + edit.end), edit.text) for edit in replacements(region.text, text)]
            case _, Refused() as refused:
                return refused
            case tuple() as ready, _:
                edits += ready
    edits.sort(key=lambda edit: (edit.span.path, edit.span.start, edit.span.end))
    if any(first.span.path == second.span.path and first.span.end > second.span.start for first, second in pairwise(edits)):
        return Refused("two of its changes are made in the same place")
    return Fix(proposal.title, proposal.safety, tuple(edits)) if edits else Refused("there is nothing to change")


def _doubt(before: str, after: str, change: Change) -> Refused | None:
    """Why the new lines are not trusted, if they are not."""
    if reading(after) is None:
        return Refused("the changed lines would not be valid Python")
    may_lose = isinstance(change, RemoveArgument | RemoveStatement)
    if not may_lose and _comments(before) - _comments(after):
        return Refused("a comment would be lost")
    return None


def _comments(text: str) -> Counter[str]:
    """How often each comment stands in source that is known to be valid."""
    tokens = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)
