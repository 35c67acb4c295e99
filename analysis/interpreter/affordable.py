"""What the host computes for the guest: nothing whose result would be huge, which no program needs to be understood."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any

#: Longer texts and containers, and numbers of more bits, are not computed.
MAX_HOST_SIZE = 1 << 20

#: A field width that pads to a million characters, or one that an argument gives.
_WIDE_FIELD = re.compile(r"\{[^{}]*:([^{}a-zA-Z]*\d{6}|[^{}]*\{)|%[^{}%a-zA-Z]*\d{6}|%[^a-zA-Z%]*\*")
#: Methods and functions that pad or round to a number they are given.
_SIZED = frozenset({"bytes", "center", "expandtabs", "ljust", "rjust", "round", "to_bytes", "zfill"})


def operator_is_too_large(op: ast.operator, left: Any, right: Any) -> bool:
    """Whether ``left op right`` would be huge."""
    match op, left, right:
        case ast.Pow(), int(), int():
            return abs(right) * max(abs(left).bit_length(), 1) > MAX_HOST_SIZE
        case ast.LShift(), int(), int():
            return right > MAX_HOST_SIZE
        case ast.Mult(), int(), int():
            return left.bit_length() + right.bit_length() > MAX_HOST_SIZE
        case ast.Mult(), (str() | bytes() | list() | tuple()), int():
            return len(left) * right > MAX_HOST_SIZE
        case ast.Mult(), int(), (str() | bytes() | list() | tuple()):
            return len(right) * left > MAX_HOST_SIZE
        case ast.Add(), (str() | bytes() | list() | tuple()), (str() | bytes() | list() | tuple()):
            return len(left) + len(right) > MAX_HOST_SIZE
        case ast.Mod(), str(), _:
            return _format_is_too_large(left, right if isinstance(right, tuple) else (right,))
    return False


def call_is_too_large(name: str, receiver: Any, args: Sequence[Any], kwargs: Iterable[Any] = ()) -> bool:
    """Whether the built-in function ``name``, or the method of the text or number ``receiver``, would give something huge."""
    values = [*args, *kwargs]
    match name:
        case "pow":
            return len(args) == 2 and operator_is_too_large(ast.Pow(), *args)  # noqa: PLR2004  with a modulus it is small
        case "join":
            return (
                isinstance(receiver, str | bytes)
                and sum(_length(item) + len(receiver) for value in args if isinstance(value, list | tuple) for item in value) > MAX_HOST_SIZE
            )
        case "replace":
            return (_length(receiver) + 1) * (_length(args[1]) if len(args) > 1 else 0) > MAX_HOST_SIZE
        case "format" | "format_map":
            spec = receiver if isinstance(receiver, str) else f"{{:{args[1]}}}" if len(args) > 1 else ""
            return _format_is_too_large(spec, values)
    return name in _SIZED and any(isinstance(value, int) and abs(value) > MAX_HOST_SIZE for value in values)


def text_is_too_large(parts: Iterable[Any]) -> bool:
    """Whether the parts of a formatted text make a huge one."""
    return sum(_length(part) for part in parts) > MAX_HOST_SIZE


def _format_is_too_large(template: str, values: Sequence[Any]) -> bool:
    fields = template.count("{") + template.count("%")
    return _WIDE_FIELD.search(template) is not None or len(template) + fields * max((_length(value) for value in values), default=0) > MAX_HOST_SIZE


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | tuple | dict | set) else 0
