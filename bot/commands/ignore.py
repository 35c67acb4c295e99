"""`/preflight ignore RULE [reason]` suggests, on each line that the change adds a finding of the rule to, the comment that silences it."""

from __future__ import annotations

from collections.abc import Mapping

from bot.commands.command import Command, CommandError, Reply, Request
from bot.commands.compared import ask_worker
from bot.commands.rule_word import rule_named
from bot.github.conversation import read_conversation
from bot.github.reviews import post_review
from bot.review.diff import Diff
from bot.review.inline import InlineComment, InlineReview
from bot.review.limits import SUGGESTIONS_PER_REVIEW
from bot.review.located import LocatedFinding
from bot.review.marker import Signer, digest
from bot.review.review_json import review_from_json
from bot.review.sizes import counted
from bot.review.text import code, fenced, has_hidden_characters, visible

SUPPRESSION = "suppression"


async def _run(request: Request) -> Reply:
    rule = rule_named(request.words, "/preflight ignore RULE [reason]").name
    reason = " ".join(request.words[1:])
    if has_hidden_characters(reason):
        raise CommandError("The reason holds characters that cannot be seen: it would stand in the code.")
    asked = await ask_worker(request, "review")
    found = [each for each in review_from_json(asked.answer["review"]).introduced if each.rule == rule]
    if not found:
        return Reply(f"This change introduces no finding of {code(rule)}: there is nothing to silence.")
    signer = request.place.signer(request.facts)
    conversation = await read_conversation(request.client, request.pull.number, diff=True)
    said = {fact for thread in conversation.threads for each in thread.comments if each.is_ours for fact in signer.facts(SUPPRESSION, each.body)}
    fresh = [each for each in found if digest(each.fingerprint) not in said]
    comments = _comments(fresh, reason, asked.head.contents, asked.changes.diff, signer)[:SUGGESTIONS_PER_REVIEW]
    if not comments:
        return Reply(_by_hand(found, rule, reason) if fresh else f"The suggestions that silence {code(rule)} stand on the lines already.")
    body = f"{counted(len(comments), 'suggestion')} to silence {code(rule)}, as asked for."
    taken = await post_review(request.client, request.pull.number, request.pull.head, InlineReview(body, tuple(comments), ()))
    left = [each for each in fresh if (each.path, each.line) not in {(comment.path, comment.first) for comment in taken}]
    return Reply("\n\n".join([f"{counted(len(taken), 'suggestion')} made.", *([_by_hand(left, rule, reason)] if left else [])]))


def suppression(rule: str, reason: str) -> str:
    """The comment that silences ``rule``."""
    return f"# preflight: ignore[{rule}] {visible(reason)}".rstrip()


def _comments(findings: list[LocatedFinding], reason: str, contents: Mapping[str, bytes], diff: Diff, signer: Signer) -> list[InlineComment]:
    """The suggestions that GitHub can take: on a line of the diff, in a file with plain line ends."""
    made = []
    for finding in findings:
        raw = contents.get(finding.path, b"\r")
        lines = raw.decode("utf-8", "replace").split("\n")
        if finding.cell is not None or b"\r" in raw or not diff.holds(finding.path, finding.line, finding.line) or finding.line >= len(lines):
            continue
        line = lines[finding.line - 1]
        indent = line[: len(line) - len(line.lstrip())]
        replaced = fenced(f"{indent}{suppression(finding.rule, reason)}\n{line}\n", "suggestion")
        body = f"Silences {code(finding.rule)} here.\n\n{replaced}\n{signer.mark(SUPPRESSION, digest(finding.fingerprint))}"
        made.append(InlineComment(finding.path, finding.line, finding.line, body))
    return made


def _by_hand(findings: list[LocatedFinding], rule: str, reason: str) -> str:
    places = "\n".join(f"- {code(f'{each.path}:{each.line}')}" for each in findings[:SUGGESTIONS_PER_REVIEW])
    return f"No suggestion can stand on these lines. Write {code(suppression(rule, reason))} above each of them:\n\n{places}"


COMMAND = Command("ignore", __doc__, _run)
