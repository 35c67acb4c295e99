"""What differs when a person looks on: colours, and a line of progress that goes away."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TextIO


class Style(Enum):
    """SGR codes."""

    BOLD = "1"
    DIM = "2"
    RED = "1;31"
    YELLOW = "1;33"
    BLUE = "1;34"
    GREEN = "32"
    CYAN = "36"


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours text, or leaves it alone where nobody would see them."""

    enabled: bool

    @classmethod
    def of(cls, stream: TextIO) -> Paint:
        """Colours if ``stream`` is a terminal and neither NO_COLOR nor TERM says otherwise."""
        return cls(stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")

    def __call__(self, text: str, style: Style) -> str:
        """``text`` in ``style``."""
        return f"\x1b[{style.value}m{text}\x1b[0m" if self.enabled and text else text


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Say ``what`` is going on while it does: on stderr, on a terminal only, and gone afterwards."""
    shown = sys.stderr.isatty()
    if shown:
        print(f"{what} …", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """``text`` on one line without characters that would steer a terminal or reorder what it shows."""
    return "".join(_shown(character) for character in text)


def width(text: str) -> int:
    """Columns that ``text`` takes on a terminal."""
    return sum(_columns(character) for character in text)


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in {"Cc", "Cf", "Zl", "Zp", "Cs"}:
        return "    " if character == "\t" else f"\\u{ord(character):04x}"
    return character


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
