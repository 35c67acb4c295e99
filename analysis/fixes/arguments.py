"""Keyword arguments of a call, added, replaced and removed in its text: one a line where the call has them so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from analysis.fixes.change import ChangeRefusedError, RemoveArgument, SetArgument

_OWN_COMMENT = re.compile(r"[ \t]*#[^\r\n]*")
#: What stands behind an argument up to the end of its line, if that is not the end of the call.
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?=[\r\n])")


@dataclass(frozen=True, slots=True)
class Argument:
    """Where one argument of a call stands, in characters; ``end`` is without and ``after`` with the comma that follows."""

    keyword: str | None
    star: str
    start: int
    value: int
    end: int
    after: int


def with_argument(text: str, arguments: Sequence[Argument], opening: int, change: SetArgument, newline: str) -> str:
    """The text with ``keyword=text`` in the call whose arguments begin after ``opening``. Raises ChangeRefusedError."""
    stated = f"{change.keyword}={change.text}"
    present = next((argument for argument in arguments if argument.keyword == change.keyword), None)
    dropped = [argument for argument in arguments if argument.keyword in change.dropping and argument is not present]
    if present is not None:
        place, put = slice(present.value, present.end), change.text
    elif any(argument.star == "**" for argument in arguments):
        raise ChangeRefusedError(f"the call passes **options that may hold {change.keyword} already")
    elif dropped:
        first = dropped.pop(0)
        place, put = slice(first.start, first.end), stated
    else:
        return _appended(text, arguments, opening, stated, newline)
    cuts = _cuts(text, arguments, [argument in dropped for argument in arguments])
    return _edited(text, [*cuts, (place, put)])


def without_argument(text: str, arguments: Sequence[Argument], change: RemoveArgument) -> str:
    """The text without the keyword argument. Raises ChangeRefusedError where the call does not write it."""
    for argument in arguments:
        if argument.keyword == change.keyword:
            return _edited(text, _cuts(text, arguments, [other is argument for other in arguments]))
    raise ChangeRefusedError(f"the call does not write {change.keyword}")


def _appended(text: str, arguments: Sequence[Argument], opening: int, stated: str, newline: str) -> str:
    if not arguments:
        return text[:opening] + stated + text[opening:]
    last = arguments[-1]
    comma = "," if last.after > last.end else ""
    before = text[arguments[-2].after if len(arguments) > 1 else opening : last.start]
    if "\n" not in before and "\r" not in before:
        return f"{text[: last.end]}, {stated}{comma}{text[last.after :]}"
    rest = _REST_OF_LINE.match(text, last.after)
    line_end = rest.end() if rest else last.after
    own_line = f"{newline}{_indentation(before)}{stated}{comma}"
    return f"{text[: last.end]},{text[last.after : line_end]}{own_line}{text[line_end:]}"


def _cuts(text: str, arguments: Sequence[Argument], gone: Sequence[bool]) -> list[tuple[slice, str]]:
    """What to take out of the text so that the arguments that are ``gone`` go with their comments, and the others keep theirs."""
    cuts = []
    for leaves, run in groupby(range(len(arguments)), key=gone.__getitem__):
        if leaves:
            places = list(run)
            cuts.append((_cut(text, arguments, places[0], places[-1]), ""))
    return cuts


def _cut(text: str, arguments: Sequence[Argument], first: int, last: int) -> slice:
    """The place of neighbours that leave together, with the comma that they no longer need."""
    if last + 1 < len(arguments):
        return slice(arguments[first].start, arguments[last + 1].start)
    own = _OWN_COMMENT.match(text, arguments[last].after)
    end = own.end() if own else arguments[last].after
    if first == 0:
        return slice(arguments[first].start, end)
    previous = arguments[first - 1]
    comment = _OWN_COMMENT.match(text, previous.after)
    if comment:
        return slice(comment.end(), end)
    return slice(previous.after if arguments[last].after > arguments[last].end else previous.end, end)


def _edited(text: str, edits: list[tuple[slice, str]]) -> str:
    for place, put in sorted(edits, key=lambda edit: edit[0].start, reverse=True):
        text = text[: place.start] + put + text[place.stop :]
    return text


def _indentation(before: str) -> str:
    return before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
