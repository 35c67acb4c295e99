"""What a command is: a word, its help, and what it answers. Whoever may write to the repository may give it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.github.client import Client
from bot.github.pull import Pull
from bot.github.snapshots import Reader
from bot.job import Job, Json
from bot.workplace import Workplace


class CommandError(Exception):
    """The command cannot be done as it was given; the message is one sentence for whoever gave it."""


def asked_by(facts: Json) -> str:
    """What asked for the commands in ``facts``: a comment's id, or the delivery of a button that was pressed, in hexadecimal digits."""
    return f"{facts['comment']:x}" if facts["comment"] else facts["delivery"].replace("-", "")


@dataclass(frozen=True, slots=True)
class Request:
    """The pull request that the command was given on, the job's ``facts``, and the command's own words."""

    place: Workplace
    facts: Json
    client: Client
    pull: Pull
    words: tuple[str, ...]

    @property
    def asked_by(self) -> str:
        """The comment that asked, or the delivery of the button that was pressed, in hexadecimal digits."""
        return asked_by(self.facts)

    @property
    def reader(self) -> Reader:
        """Reads commits of the repository."""
        return self.place.reader(self.client)


@dataclass(frozen=True, slots=True)
class Reply:
    """``text`` in Markdown that is safe to post, the kinds of hidden ``marks`` it carries, and the jobs that are to ``follow``."""

    text: str
    marks: tuple[str, ...] = ()
    follow: tuple[Job, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """``help`` is the docstring of the command's file."""

    word: str
    help: str
    run: Callable[[Request], Awaitable[Reply]]
