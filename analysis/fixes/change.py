"""The changes a rule may ask for: data that names what to do to which bytes, never how.

All spans are those of ``SourceFile.span``: UTF-8 bytes of one file without its BOM. An anchor is the
exact span of a statement, call, keyword's value, name, attribute, subscript or other expression of the syntax tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from analysis.finding import Finding, Safety
from analysis.source import Span


@dataclass(frozen=True, slots=True)
class WrapExpression:
    """``before`` + the expression + ``after``; parentheses are added where the meaning needs them.

    ``after=".detach()"`` cuts, ``after=" / steps"`` divides, and ``before="x = "`` on an expression statement keeps its result.
    """

    span: Span
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class ReplaceExpression:
    """Another expression in the place of this one; parentheses are added where the meaning needs them."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class InsertBefore:
    """Statements on lines of their own before ``statement``, indented as it is; above its comment and decorators.

    ``lines`` are source lines relative to that indentation (four spaces a level, turned into the file's own).
    """

    statement: Span
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InsertAfter:
    """As ``InsertBefore``, after the end of ``statement`` (a compound statement's whole body)."""

    statement: Span
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MoveStatement:
    """``statement``, with the comments that belong to it, to just ``before`` or just ``after`` another: exactly one is given."""

    statement: Span
    before: Span | None = None
    after: Span | None = None

    def __post_init__(self) -> None:
        if (self.before is None) == (self.after is None):
            raise ValueError("a statement moves either before or after another one")


@dataclass(frozen=True, slots=True)
class RemoveStatement:
    """The statement goes, with its trailing comment; refused where it is the only one of its block."""

    statement: Span


@dataclass(frozen=True, slots=True)
class WrapInBlock:
    """``first`` to ``last``, statements of one block, indented under ``header`` (``"with torch.no_grad():"``)."""

    first: Span
    last: Span
    header: str


@dataclass(frozen=True, slots=True)
class AddDecorator:
    """``@text`` directly above the ``def``, inside all other decorators; ``text`` has no ``@``."""

    function: Span
    text: str


@dataclass(frozen=True, slots=True)
class SetArgument:
    """``keyword=text`` in the call, added or in the place of the present value; ``dropping`` names keywords that go.

    Refused where ``**options`` may already hold the keyword.
    """

    call: Span
    keyword: str
    text: str
    dropping: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoveArgument:
    """The keyword argument goes; refused where the call does not write it."""

    call: Span
    keyword: str


@dataclass(frozen=True, slots=True)
class UnwrapCall:
    """The call becomes ``keep``, an expression inside it (``x`` of ``x.softmax(1)``); without it, the first argument."""

    call: Span
    keep: Span | None = None


@dataclass(frozen=True, slots=True)
class AddImport:
    """``from module import name``, or ``import module`` without ``name``: only where the file's top level does not have it."""

    path: str
    module: str
    name: str | None = None


Change: TypeAlias = (
    WrapExpression
    | ReplaceExpression
    | InsertBefore
    | InsertAfter
    | MoveStatement
    | RemoveStatement
    | WrapInBlock
    | AddDecorator
    | SetArgument
    | RemoveArgument
    | UnwrapCall
    | AddImport
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fix that nobody has applied yet. For ``REVIEW`` the title holds the question that the reader has to answer."""

    title: str
    safety: Safety
    changes: tuple[Change, ...]

    def __post_init__(self) -> None:
        if not self.changes:
            raise ValueError(f"{self.title}: a proposal needs at least one change")


@dataclass(frozen=True, slots=True)
class Reported:
    """What a rule yields: the finding, and the change that would end it.

    Without a proposal ``finding.no_fix_because`` says why there is none.
    """

    finding: Finding
    proposal: Proposal | None = None


def anchors(change: Change) -> tuple[Span, ...]:
    """The spans a change is anchored on, the one it replaces first; none for an import."""
    match change:
        case WrapExpression(span=span) | ReplaceExpression(span=span):
            return (span,)
        case InsertBefore(statement=statement) | InsertAfter(statement=statement) | RemoveStatement(statement=statement):
            return (statement,)
        case MoveStatement(statement=statement, before=before, after=after):
            return tuple(span for span in (statement, before, after) if span is not None)
        case WrapInBlock(first=first, last=last):
            return (first, last)
        case AddDecorator(function=function):
            return (function,)
        case SetArgument(call=call) | RemoveArgument(call=call):
            return (call,)
        case UnwrapCall(call=call, keep=keep):
            return (call,) if keep is None else (call, keep)
        case AddImport():
            return ()


def path_of(change: Change) -> str:
    """The file a change is made in."""
    return change.path if isinstance(change, AddImport) else anchors(change)[0].path


class ChangeRefusedError(Exception):
    """A change cannot be made without a doubt; the message is the clause shown to the reader after "no fix:"."""
