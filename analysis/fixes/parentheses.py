"""Parentheses where the meaning needs them, and nowhere else: the parser is asked instead of a table of precedences."""

from __future__ import annotations

import ast
import warnings


def wrapped(before: str, inner: str, after: str) -> str:
    """``before`` + ``inner`` + ``after``, with ``inner`` in parentheses unless it reads the same without them."""
    bare = f"{before}{inner}{after}"
    grouped = f"{before}({inner}){after}"
    return bare if _same_reading(bare, grouped) or _same_reading(f"(\n{bare}\n)", f"(\n{grouped}\n)") else grouped


def spliced(source: str, start: int, end: int, text: str) -> str:
    """``source`` with ``text`` in place of ``[start, end)``, in parentheses only if its neighbours would claim a part of it."""
    bare = f"{source[:start]}{text}{source[end:]}"
    grouped = f"{source[:start]}({text}){source[end:]}"
    meant = reading(grouped)
    return bare if meant is None or reading(bare) == meant else grouped


def reading(source: str) -> str | None:
    """The syntax tree as text, without positions; None where the source is not valid."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _same_reading(one: str, other: str) -> bool:
    meant = reading(other)
    return meant is not None and reading(one) == meant
