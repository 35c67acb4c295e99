"""The external id of a check run: which pull request or commit of the merge queue, which head, and which request to look again."""

from __future__ import annotations

from bot.events.check_target import MERGE
from bot.job import Json


def external_id(facts: Json, head: str) -> str:
    """One check run a head, and one more each time somebody asks for another; for the merge queue with the commit that it goes on top of."""
    request = f"/{facts['request']}" if facts["request"] else ""
    return f"{facts['number']}/{head}{request}" if "number" in facts else f"{MERGE}/{head}/{facts['base']}{request}"


def is_about(external: str, facts: Json, head: str) -> bool:
    """Whether the check run of that external id is about ``head`` of what ``facts`` name, whoever asked for it."""
    return external.split("/")[:2] == [str(facts.get("number", MERGE)), head]
