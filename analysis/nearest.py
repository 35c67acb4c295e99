"""The nearest known name to one that is not known: every error about a name ends with it."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like ``name`` (case set aside), or None if none comes close."""
    import difflib  # noqa: PLC0415  # only who has made a mistake waits for it

    by_lower = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean X?"``, or the empty string."""
    found = nearest(name, known)
    return f"; did you mean {found}?" if found else ""
