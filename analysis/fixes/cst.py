"""The one file that imports LibCST: a change made in a few lines of source, with formatting and comments kept.

It runs in a child process, see ``worker``: LibCST can be made to overflow its stack or to search for minutes.
Expressions are spliced as text, since their bytes are known; arguments and statements are rebuilt as a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import takewhile
from typing import TypeAlias, TypeVar, cast

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, CodeSpan, MetadataWrapper

from analysis.fixes.arguments import Argument, with_argument, without_argument
from analysis.fixes.change import (
    AddDecorator,
    Change,
    ChangeRefusedError,
    InsertAfter,
    InsertBefore,
    MoveStatement,
    RemoveArgument,
    RemoveStatement,
    ReplaceExpression,
    SetArgument,
    UnwrapCall,
    WrapExpression,
    WrapInBlock,
)
from analysis.fixes.parentheses import spliced, wrapped
from analysis.source import Span

Node = TypeVar("Node", bound=cst.CSTNode)
Statement: TypeAlias = cst.SimpleStatementLine | cst.BaseCompoundStatement
Block: TypeAlias = cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite
#: A statement's line in its block, and its place among those that share the line.
Key: TypeAlias = tuple[int, int]


def rewritten(text: str, newline: str, indent: str, change: Change) -> str:
    """``text``, whole top-level statements, after ``change``, whose spans count from its first byte. Raises ChangeRefusedError."""
    # A first statement of our own: LibCST then takes the file's line end and indentation for its defaults, and comments above ours for its.
    prefix = f"if 0:{newline}{indent}pass{newline}"
    return _Lines.parse(prefix + text, len(prefix)).after(change).removeprefix(prefix)


class _Lines:
    """Parsed lines, the byte span of every node, and the block that each statement stands in."""

    def __init__(self, text: str, shift: int) -> None:
        self.text, self.data, self.shift = text, text.encode("utf-8"), shift
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        if self.module.code != text:
            raise ChangeRefusedError("LibCST does not give these lines back byte for byte")
        self.spans = cast("dict[cst.CSTNode, CodeSpan]", wrapper.resolve(ByteSpanPositionProvider))
        self.homes: dict[cst.CSTNode, tuple[Block, Key]] = {}
        for block in self.spans:
            if isinstance(block, Block):
                self._settle(block)

    @classmethod
    @lru_cache(maxsize=8)
    def parse(cls, text: str, shift: int) -> _Lines:
        """Parsed once for all changes in the same lines. Raises ChangeRefusedError."""
        try:
            return cls(text, shift)
        except cst.ParserSyntaxError as error:
            raise ChangeRefusedError("LibCST cannot parse these lines") from error

    def after(self, change: Change) -> str:
        """The text after one change."""
        match change:
            case WrapExpression(span=span, before=before, after=after):
                start, end = self._outer(self._expression(span))
                return spliced(self.text, start, end, wrapped(before, self.text[start:end], after))
            case ReplaceExpression(span=span, text=text):
                return spliced(self.text, *self._outer(self._expression(span)), text)
            case UnwrapCall():
                return self._unwrapped(change)
            case SetArgument(call=span):
                call = self._find(span, cst.Call)
                opening = self._characters(self.spans[call.whitespace_before_args].start)
                return with_argument(self.text, [self._argument(one) for one in call.args], opening, change, self.module.default_newline)
            case RemoveArgument(call=span):
                return without_argument(self.text, [self._argument(one) for one in self._find(span, cst.Call).args], change)
            case AddDecorator(function=span, text=text):
                function = self._find(span, cst.FunctionDef)
                decorators = [*function.decorators, cst.Decorator(cst.parse_expression(text))]
                return self._replaced(function, function.with_changes(decorators=decorators))
            case _:
                return self._rearranged(change)

    def _settle(self, block: Block) -> None:
        for line, statement in enumerate(_lines_of(block)):
            self.homes[statement] = (block, (line, 0))
            if isinstance(statement, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
                self.homes |= {small: (block, (line, place)) for place, small in enumerate(statement.body)}

    def _find(self, span: Span, kind: type[Node]) -> Node:
        wanted = CodeSpan(span.start + self.shift, span.end - span.start)
        if any(at.start < wanted.start < at.start + at.length for node, at in self.spans.items() if isinstance(node, cst.FormattedString)):
            raise ChangeRefusedError("it is inside an f-string")
        for node, at in self.spans.items():
            if at == wanted and isinstance(node, kind):
                return node
        raise ChangeRefusedError("its place cannot be changed by itself")

    def _expression(self, span: Span) -> cst.BaseExpression:
        return self._find(span, cst.BaseExpression)  # type: ignore[type-abstract]  # looked for, never built

    def _home(self, span: Span) -> tuple[Block, Key]:
        wanted = CodeSpan(span.start + self.shift, span.end - span.start)
        for node, home in self.homes.items():
            if self.spans.get(node) == wanted:
                return home
        raise ChangeRefusedError("its place is not a statement of a block")

    def _outer(self, node: cst.BaseExpression) -> tuple[int, int]:
        """Character offsets of the expression with its own parentheses."""
        at = self.spans[node]
        start = self.spans[node.lpar[0]].start if node.lpar else at.start
        last = self.spans[node.rpar[-1]] if node.rpar else at
        return self._characters(start), self._characters(last.start + last.length)

    def _characters(self, offset: int) -> int:
        return len(self.data[:offset].decode("utf-8"))

    def _argument(self, argument: cst.Arg) -> Argument:
        value, end = self._outer(argument.value)
        start = self._characters(self.spans[argument].start)
        after = end
        if isinstance(argument.comma, cst.Comma):
            comma = self.spans[argument.comma]
            after = self._characters(comma.start + comma.length)
        return Argument(argument.keyword.value if argument.keyword else None, argument.star, start, value, end, after)

    def _unwrapped(self, change: UnwrapCall) -> str:
        call = self._find(change.call, cst.Call)
        if change.keep is not None:
            kept = self._expression(change.keep)
        elif call.args and call.args[0].keyword is None and not call.args[0].star:
            kept = call.args[0].value
        else:
            raise ChangeRefusedError("the call has no first argument to keep")
        start, end = self._outer(kept)
        return spliced(self.text, *self._outer(call), self.text[start:end])

    def _replaced(self, old: cst.CSTNode, new: cst.CSTNode) -> str:
        return cast("cst.Module", self.module.deep_replace(old, new)).code

    def _rearranged(self, change: Change) -> str:
        """The text after statements came, went or moved."""
        steps: dict[cst.CSTNode, list[Step]] = {}
        match change:
            case InsertBefore(statement=span, lines=lines) | InsertAfter(statement=span, lines=lines):
                block, key = self._home(span)
                put = _Rows.put_before if isinstance(change, InsertBefore) else _Rows.put_after
                steps[block] = [((key,), partial(put, key=key, new=_statements(lines)))]
            case RemoveStatement(statement=span):
                block, key = self._home(span)
                steps[block] = [((key,), partial(_Rows.remove, key=key))]
            case WrapInBlock(first=first, last=last, header=header):
                (block, key), (other, end) = self._home(first), self._home(last)
                if block is not other:
                    raise ChangeRefusedError("its first and last statement are not in the same block")
                steps[block] = [((key, end), partial(_Rows.wrap, first=key, last=end, header=header))]
            case MoveStatement():
                self._move(change, steps)
            case _:
                raise ChangeRefusedError(f"{type(change).__name__} is no change of statements")
        return self.module.visit(_Rearrangement(steps)).code

    def _move(self, change: MoveStatement, steps: dict[cst.CSTNode, list[Step]]) -> None:
        target = cast("Span", change.before or change.after)
        if change.statement.start <= target.start < change.statement.end:
            raise ChangeRefusedError("a statement cannot move into itself")
        (block, key), (home, end) = self._home(change.statement), self._home(target)
        moved = _Rows(block, {key[0]}).rows[key][0]
        moved = moved.with_changes(leading_lines=moved.leading_lines[len(_gap(moved)) :])
        put = _Rows.put_before if change.before else _Rows.put_after
        steps[home] = [((end,), partial(put, key=end, new=[moved]))]
        steps.setdefault(block, []).append(((key,), partial(_Rows.remove, key=key, moved=True)))


class _Rearrangement(cst.CSTTransformer):
    """Rebuilds the blocks that have steps; every other node passes unchanged."""

    def __init__(self, steps: Mapping[cst.CSTNode, Sequence[Step]]) -> None:
        super().__init__()
        self.steps = steps

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]  # a block becomes a block
        steps = self.steps.get(original_node)
        if steps is None:
            return updated_node
        rows = _Rows(cast("Block", updated_node), {line for keys, _ in steps for line, _ in keys})
        for _, step in steps:
            step(rows)
        return rows.block()


class _Rows:
    """The statements of one block while it changes, by where they stood; those on the lines ``split`` get a line each."""

    def __init__(self, block: Block, split: set[int]) -> None:
        self.original = block
        self.rows: dict[Key, list[Statement]] = {}
        self.left_over: list[cst.EmptyLine] = []
        for number, line in enumerate(_lines_of(block)):
            if isinstance(line, cst.SimpleStatementSuite) or (isinstance(line, cst.SimpleStatementLine) and len(line.body) > 1 and number in split):
                self.rows |= {(number, place): [alone] for place, alone in enumerate(_one_a_line(line))}
            else:
                self.rows[number, 0] = [cast("Statement", line)]

    def put_before(self, key: Key, new: Sequence[Statement]) -> None:
        """``new`` above the statement and its comments, below the blank line that parts them from what came before."""
        (anchor,) = self.rows[key]
        if _stays_first(anchor):
            raise ChangeRefusedError("nothing may stand before that statement")
        gap = _gap(anchor)
        first = new[0].with_changes(leading_lines=[*gap, *new[0].leading_lines])
        self.rows[key] = [first, *new[1:], anchor.with_changes(leading_lines=anchor.leading_lines[len(gap) :])]

    def put_after(self, key: Key, new: Sequence[Statement]) -> None:
        """``new`` below the statement."""
        self.rows[key] += new

    def remove(self, key: Key, *, moved: bool = False) -> None:
        """Take the statement out. The lines above it stay, except the comments of one that ``moved``."""
        (statement,) = self.rows[key]
        self.rows[key] = []
        above = _gap(statement) if moved else list(statement.leading_lines)
        following = next((row for later, row in self.rows.items() if later > key and row), None)
        if following is None:
            self.left_over = [line for line in above if line.comment is not None]
        elif any(line.comment is not None for line in above) or not _gap(following[0]):
            following[0] = following[0].with_changes(leading_lines=[*above, *following[0].leading_lines])

    def wrap(self, first: Key, last: Key, header: str) -> None:
        """``first`` to ``last`` indented under ``header``."""
        inside = [statement for key, row in self.rows.items() if first <= key <= last for statement in row]
        if not inside or _stays_first(inside[0]):
            raise ChangeRefusedError("those statements cannot stand in a block of their own")
        outer = cst.parse_statement(f"{header} pass").with_changes(leading_lines=inside[0].leading_lines)
        inside[0] = inside[0].with_changes(leading_lines=[])
        for key in self.rows:
            if first <= key <= last:
                self.rows[key] = []
        self.rows[first] = [outer.with_changes(body=cst.IndentedBlock(inside))]

    def block(self) -> cst.CSTNode:
        """The new block: an indented one, also where it stood on its header's line."""
        body = [statement for row in self.rows.values() for statement in row]
        if not body:
            raise ChangeRefusedError("it is the only statement of its block")
        if isinstance(self.original, cst.SimpleStatementSuite):
            return cst.IndentedBlock(body)
        return self.original.with_changes(body=body, footer=[*self.left_over, *self.original.footer])


#: What is done to the statements of a block, and which of them it concerns.
Step: TypeAlias = tuple[tuple[Key, ...], Callable[[_Rows], None]]


def _lines_of(block: Block) -> Sequence[cst.CSTNode]:
    return [block] if isinstance(block, cst.SimpleStatementSuite) else block.body


def _one_a_line(line: cst.SimpleStatementLine | cst.SimpleStatementSuite) -> list[Statement]:
    """Statements that semicolons joined; comments above go with the first, the one behind with the last."""
    alone = [cst.SimpleStatementLine([small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]) for small in line.body]
    alone[-1] = alone[-1].with_changes(trailing_whitespace=line.trailing_whitespace)
    if isinstance(line, cst.SimpleStatementLine):
        alone[0] = alone[0].with_changes(leading_lines=line.leading_lines)
    return list(alone)


def _gap(statement: Statement) -> list[cst.EmptyLine]:
    """The lines above a statement that are not its own: all up to the last blank one."""
    own = sum(1 for _ in takewhile(lambda line: line.comment is not None, reversed(statement.leading_lines)))
    return list(statement.leading_lines[: len(statement.leading_lines) - own])


def _stays_first(statement: Statement) -> bool:
    """A docstring or an import from the future."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(cst.SimpleString() | cst.ConcatenatedString()) | cst.ImportFrom(cst.Name("__future__")), *_]):
            return True
    return False


def _statements(lines: Sequence[str]) -> list[Statement]:
    module = cst.parse_module("".join(f"{line}\n" for line in lines))
    first, *rest = module.body
    return [first.with_changes(leading_lines=[*module.header, *first.leading_lines]), *rest]
