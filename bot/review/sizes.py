"""Bytes for people: binary units, as nvidia-smi counts."""

from __future__ import annotations

_MIB = 1 << 20
_GIB = 1 << 30
#: Relative changes below this are rounding, not news.
NOTICEABLE = 0.01


def size(count: int) -> str:
    """``count`` bytes as "11.2 GiB" or "870 MiB"; "0" stays "0"."""
    if count == 0:
        return "0"
    if abs(count) < _MIB:
        return f"{count / 1024:.0f} KiB"
    if abs(count) < _GIB * 0.95:
        return f"{count / _MIB:.0f} MiB"
    return f"{count / _GIB:.1f} GiB"


def change(before: int, after: int) -> str:
    """The signed difference, "" where there is none worth a glance."""
    difference = after - before
    if not noticeable(before, after):
        return ""
    sign = "+" if difference > 0 else "-"
    relative = f" ({sign}{abs(difference) / before:.0%})" if before else ""
    return f"{sign}{size(abs(difference))}{relative}"


def noticeable(before: int, after: int) -> bool:
    """Whether a reader would call these two sizes different."""
    return abs(after - before) > max(before, after) * NOTICEABLE


def count(number: int) -> str:
    """A number of parameters: "124.4 M"."""
    for factor, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if number >= factor:
            return f"{number / factor:.1f} {unit}"
    return str(number)


def counted(number: int, noun: str) -> str:
    """``number`` with its noun: "1 finding", "2 findings"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
