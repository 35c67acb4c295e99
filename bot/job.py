"""What a job is: a chain of named steps, each safe to run twice, about one subject."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """``kind`` names the chain of steps; jobs of one ``subject`` and kind run one after another.

    ``replaces``: it makes older ones of the same subject and kind pointless; ``when_replaced`` is the kind of job that then
    tidies up after such a one, with its facts and, under "by", those of the newer. ``delivery`` is GitHub's GUID, ``added`` when the
    job was stored, in seconds since the epoch.
    """

    kind: str
    subject: str
    installation: int
    delivery: str
    facts: Json
    replaces: bool = False
    when_replaced: str = ""
    added: float = 0.0

    @property
    def key(self) -> str:
        """What the id of every run of this delivery begins with."""
        return f"{self.kind}/{self.subject}/{self.delivery}"

    @property
    def queue(self) -> str:
        """Jobs of one queue run one after another."""
        return f"{self.kind}/{self.subject}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step says: go on with ``state``, stop here, or (no step itself) failed for a ``reason`` in ``state``.

    "later" repeats the step in ``seconds``, "again" the whole chain, with ``state`` for its facts; "elsewhere" (no step itself) leaves it to
    another version of the server. "passing" in the state of a failure: another try, some time later, may go well.

    A step that stops the chain may name jobs to ``follow``: each waits for its subject's turn.
    """

    then: Literal["go on", "done", "later", "again", "elsewhere", "failed"]
    state: Json = field(default_factory=dict)
    seconds: float = 0.0
    follow: tuple[Job, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step; ``interruptible`` ones are cancelled at once when their job is replaced, others end first.

    ``light`` ones at the head of a chain take no slot of the installation: whoever waits sees at once that he was heard.
    """

    name: str
    run: Callable[[Json], Awaitable[Outcome]]
    interruptible: bool = False
    light: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps of a kind of job, and what reports a job that failed for good: (facts, reason)."""

    steps: tuple[Step, ...]
    failed: Callable[[Json, str], Awaitable[None]]
