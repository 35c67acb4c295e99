"""``issue_comment``: a new comment on a pull request may hold commands."""

from __future__ import annotations

from bot.commands.parse import commands_in
from bot.events.jobs import answer_job
from bot.events.payload import Ignored, read, repository_facts
from bot.job import Job, Json

EVENT = "issue_comment"


def job(delivery: str, payload: Json) -> Job | Ignored:
    """An answer to the commands of a comment that a person has just written; an edited one is not read again."""
    action = read(payload, "action", str)
    if action != "created":
        return Ignored(f"issue_comment.{action} is not read: commands stand in new comments")
    if "pull_request" not in read(payload, "issue", dict):
        return Ignored("the comment is on an issue")
    if read(payload, "comment.user.type", str) == "Bot":
        return Ignored("the comment is a bot's")
    commands = commands_in(read(payload, "comment.body", str))
    if not commands:
        return Ignored("the comment holds no command")
    number, comment = read(payload, "issue.number", int), read(payload, "comment.id", int)
    author = read(payload, "comment.user.login", str)
    return answer_job(delivery, repository_facts(payload), number, author, [list(words) for words in commands], comment)
