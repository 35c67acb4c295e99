"""The external id of a check run: which pull request, which head, and which request to look again."""

from __future__ import annotations

from bot.job import Json


def merge_id(facts: Json) -> str:
    """The same for a commit of the merge queue, with the commit that it goes on top of."""
    request = f"/{facts['request']}" if facts["request"] else ""
    return f"merge/{facts['head']}/{facts['base']}{request}"


def is_about(external: str, number: int, head: str) -> bool:
    """Whether the check run of that external id is about ``head`` of pull request ``number``, whoever asked for it."""
    return external.split("/")[:2] == [str(number), head]


def external_id(facts: Json, head: str) -> str:
    """One check run a head, and one more each time somebody asks for another."""
    request = f"/{facts['request']}" if facts["request"] else ""
    return f"{facts['number']}/{head}{request}"
