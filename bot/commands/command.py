"""What a command is: a word, its help, who may use it, and what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum

from bot.github.client import Client
from bot.github.pull import Pull
from bot.github.snapshots import Reader
from bot.settings import ServerSettings


class Permission(IntEnum):
    """What GitHub lets a person do in a repository, as far as commands tell it apart."""

    NONE = 0
    READ = 1
    WRITE = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Request:
    """The pull request that the command was given on, and the command's own words."""

    client: Client
    reader: Reader
    pull: Pull
    settings: ServerSettings
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """``help`` is the docstring of the command's file; ``run`` answers in Markdown that is safe to post."""

    word: str
    help: str
    needs: Permission
    run: Callable[[Request], Awaitable[str]]
