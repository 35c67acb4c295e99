"""A name for a finding that outlives moved lines and changed formatting: rule, function, statement, ordinal."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from analysis.enclosing import enclosing
from analysis.finding import Finding
from analysis.modules import Modules
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed, Span

_LENGTH = 20


def fingerprinted(findings: Iterable[Finding], snapshot: Snapshot, modules: Modules) -> Iterator[Finding]:
    """``findings``, which must be in the order of their positions, with function and fingerprint filled in."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        qualname, statement = _place(finding.span, snapshot)
        key = (finding.rule, f"{modules.dotted_name(finding.span.path)}:{qualname}", statement)
        words = "\n".join((*key, str(seen[key])))
        seen[key] += 1
        yield replace(finding, function=qualname, fingerprint=hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH])


def _place(span: Span, snapshot: Snapshot) -> tuple[str, str]:
    """The qualified function and the normalised statement: of a compound statement only its head."""
    source = snapshot.source(span.path)
    if isinstance(source, NotAnalysed):
        return "", ""
    around = enclosing(source, span)
    if around.statement is None:
        return "", source.text(span)
    lines = ast.unparse(around.statement).splitlines()
    compound = hasattr(around.statement, "body") or hasattr(around.statement, "cases")
    return around.qualname, next(line for line in lines if not line.startswith("@")) if compound else "\n".join(lines)
