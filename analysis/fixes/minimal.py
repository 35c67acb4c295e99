"""The smallest edits between two versions of some lines, so that a patch touches what it changes and nothing beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")

#: An edit grows by at most so many characters to look whole.
_MAX_WIDENING = 200


class Replacement(NamedTuple):
    """``text`` in the place of the bytes ``start``–``end`` of the old version."""

    start: int
    end: int
    text: str


def replacements(old: str, new: str) -> tuple[Replacement, ...]:
    """Edits that turn ``old`` into ``new``, in order: whole lines where lines come and go, parts of lines where they change."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    same_head = _common(before, after)
    same_tail = _common(before[same_head:][::-1], after[same_head:][::-1])
    position = sum(_size(line) for line in before[:same_head])
    found: list[Replacement] = []
    for lines, replaced in _hunks(before[same_head : len(before) - same_tail], after[same_head : len(after) - same_tail]):
        found.extend(_trimmed(position, "".join(lines), "".join(replaced)))
        position += sum(_size(line) for line in lines)
    return tuple(found)


def _hunks(before: list[str], after: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Old lines with what stands in their place; lines that only moved to another indentation are paired one by one."""
    matcher = SequenceMatcher(None, [line.strip() for line in before], [line.strip() for line in after], autojunk=False)
    for _, start, end, new_start, new_end in matcher.get_opcodes():
        if end - start == new_end - new_start:
            yield from zip(([line] for line in before[start:end]), ([line] for line in after[new_start:new_end]), strict=True)
        else:
            yield before[start:end], after[new_start:new_end]


def _trimmed(position: int, old: str, new: str) -> Iterator[Replacement]:
    """The differing middle of two texts, in whole words and with its closing brackets; nothing if they are equal."""
    if old == new:
        return
    head = _common(old, new)
    while head and any(_inside_word(text, head) for text in (old, new)):
        head -= 1
    most = _common(old[head:][::-1], new[head:][::-1])
    tail = next((size for size in range(most, max(most - _MAX_WIDENING, -1), -1) if all(_ends_well(text[head:], size) for text in (old, new))), most)
    start = position + _size(old[:head])
    yield Replacement(start, start + _size(old[head : len(old) - tail]), new[head : len(new) - tail])


def _ends_well(text: str, tail: int) -> bool:
    middle = text[: len(text) - tail]
    return middle.count("(") <= middle.count(")") and not _inside_word(text, len(middle))


def _inside_word(text: str, place: int) -> bool:
    return place > 0 and re.match(r"\w\w", text[place - 1 : place + 1]) is not None


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many first lines, or characters, are equal."""
    return next((index for index, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other)))


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
