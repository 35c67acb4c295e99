"""What a repository has configured: which files and rules, which cards, how the bot speaks up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TypeAlias

from analysis.finding import Severity

#: A value that the code does not tell and the configuration does.
Scalar: TypeAlias = bool | int | float | str


class FailOn(Enum):
    """From which severity on a finding fails the command or the check."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"
    NEVER = "never"

    def fails(self, severity: Severity) -> bool:
        """Whether a finding of ``severity`` fails."""
        return self is not FailOn.NEVER and severity >= Severity[self.name]


class CommentStyle(Enum):
    """How the memory comment follows a newer push: rewritten in place, hidden and posted anew, or not posted."""

    UPDATE = "update"
    HIDE_AND_NEW = "hide-and-new"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Relative:
    """A change of the peak of at least ``fraction`` of what it was."""

    fraction: float

    def reached(self, before: int, after: int) -> bool:
        """Whether the peak moved that far; ``before`` and ``after`` are bytes."""
        return abs(after - before) >= self.fraction * before


@dataclass(frozen=True, slots=True)
class Absolute:
    """A change of the peak of at least ``bytes``."""

    bytes: int

    def reached(self, before: int, after: int) -> bool:
        """Whether the peak moved that far; ``before`` and ``after`` are bytes."""
        return abs(after - before) >= self.bytes


Threshold: TypeAlias = Relative | Absolute


@dataclass(frozen=True, slots=True)
class EntrySettings:
    """What is configured for one entry point; ``args`` are words of its command line."""

    gpus: tuple[str, ...] = ()
    assume: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """A repository's configuration; every default is the one that holds without a file.

    ``fail_on`` None leaves the default to the caller: ``error`` on the command line, ``never`` in the bot.
    ``entry_points``, ``include``, ``exclude`` and the keys of ``per_file_ignores`` are patterns of paths from the root
    of the repository (see ``analysis.globs``).
    """

    gpus: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    severity: Mapping[str, Severity] = field(default_factory=lambda: MappingProxyType({}))
    fail_on: FailOn | None = None
    comment: CommentStyle = CommentStyle.UPDATE
    suggestions: bool = True
    drafts: bool = False
    memory_threshold: Threshold = Relative(0.01)
    sarif: bool = False
    assume: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    entry: Mapping[str, EntrySettings] = field(default_factory=lambda: MappingProxyType({}))

    def of_entry(self, path: str) -> EntrySettings:
        """What holds for the entry point ``path``: its own table over the repository's."""
        own = self.entry.get(path, EntrySettings())
        return EntrySettings(own.gpus or self.gpus, MappingProxyType({**self.assume, **own.assume}), own.args)
