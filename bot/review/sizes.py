"""Bytes for people: binary units, as nvidia-smi counts."""

from __future__ import annotations

from estimator.report.wording import size

#: Relative changes below this are rounding, not news.
NOTICEABLE = 0.01


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
