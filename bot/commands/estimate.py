"""`/preflight estimate [OPTIONS]` estimates peak memory with other options, those of the command line: `--gpu A100-80GB --batch-size 32`."""

from __future__ import annotations

from bot.commands.command import Command, Reply, Request
from bot.commands.compared import ask_worker
from bot.review.comment import estimate_section
from bot.review.estimate_json import estimate_from_json
from bot.review.what_if import what_if
from estimator.estimate import Estimate


async def _run(request: Request) -> Reply:
    asked = await ask_worker(request, "estimate")
    estimates = [estimate_from_json(estimate) for estimate in asked.answer["estimates"]]
    written = {estimate["entry"]: estimate_from_json(estimate) for estimate in reversed(asked.answer.get("written", []))}
    sections = [_section(estimate, written.get(estimate.entry), request.words) for estimate in estimates]
    return Reply("\n\n".join(sections) or "No entry point that trains a model was found.")


def _section(asked: Estimate, written: Estimate | None, words: tuple[str, ...]) -> str:
    """The answer for one entry point: what was asked, what it changes, then all there is to it."""
    options = words[1:] if words[:1] == (asked.entry,) else words
    table = what_if(written, asked, options)
    return "\n\n".join(filter(None, [estimate_section(asked), table and f"**What if**\n\n{table}"]))


COMMAND = Command("estimate", __doc__, _run)
