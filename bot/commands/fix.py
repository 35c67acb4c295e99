"""`/preflight fix [RULE]` commits the safe patches of what this change introduces, or those of one rule; where it may not write, it answers with a patch."""

from __future__ import annotations

import base64

from bot.commands.command import Command, CommandError, Reply, Request
from bot.commands.compared import ask_worker
from bot.commands.rule_word import rule_named
from bot.github.commit import commit_files
from bot.github.errors import RefusedError
from bot.review.limits import BODY_CHARACTERS
from bot.review.sizes import counted
from bot.review.text import code, fenced, has_hidden_characters

_PATCH_CHARACTERS = BODY_CHARACTERS - 2_000


async def _run(request: Request) -> Reply:
    if request.words:
        rule_named(request.words, "/preflight fix [RULE]")
    asked = await ask_worker(request, "fix")
    answer = asked.answer
    if not answer["files"]:
        if await _was_committed(request):
            return Reply(f"Fixed: {request.pull.head}.")
        return Reply("There is nothing to fix here without asking: " + ("that rule offers no patch." if request.words else "no safe patch is left."))
    fixed, rules = counted(answer["fixes"], "finding"), ", ".join(answer["rules"])
    granted = await request.place.app.granted(request.facts["installation"])
    if request.pull.is_fork or granted.get("contents") != "write":
        why = "The branch belongs to a fork" if request.pull.is_fork else "Preflight may not write to this repository"
        return Reply(_patch(answer["patch"], f"{why}: this patch fixes {fixed}. Save it and run {code('git apply')}."))
    headline, body = f"Fix {fixed} of Preflight", f"Rules: {rules}\n\n{_trailer(request)}"
    files = {path: base64.b64decode(content) for path, content in answer["files"].items() if path in asked.head.contents}
    writer = request.client.allowed(contents="write")
    try:
        made = await commit_files(writer, request.pull.head_ref, request.pull.head, headline, body, files)
    except RefusedError as error:
        reason = "GitHub did not take the commit: the branch has moved or is protected. Ask again once it stands still."
        raise CommandError(reason) from error
    return Reply(f"Fixed {fixed} in {counted(len(files), 'file')}: {made}.")


def _trailer(request: Request) -> str:
    return f"Preflight-Request: {request.asked_by}"


async def _was_committed(request: Request) -> bool:
    """Whether the head is the commit that this request made before it was interrupted."""
    commit = await request.client.get(f"{{repo}}/git/commits/{request.pull.head}")
    return _trailer(request) in commit["message"]


def _patch(patch: str, says: str) -> str:
    if len(patch) > _PATCH_CHARACTERS or has_hidden_characters(patch):
        return f"{says.partition(':')[0]}, and the patch cannot be shown in a comment: run {code('preflight check --fix')} on your machine."
    return f"{says}\n\n{fenced(patch, 'diff')}"


COMMAND = Command("fix", __doc__, _run)
