"""A schedule: what people do on one pull request and what GitHub does to the bot meanwhile, drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from simulator import BadGateway, Delay, Drop, Exhausted, RateLimited, Refuse, StaleHead
from simulator.http.faults import Fault

Deed = Literal[
    "push", "push documentation", "force-push", "close", "reopen", "to draft", "from draft", "label", "unlabel", "change base",
    "/preflight check", "/preflight help", "/preflight pause", "/preflight resume", "a stranger's command",
    "rerun", "rerun all", "answer a thread", "resolve a thread",
]  # fmt: skip
DEEDS: tuple[Deed, ...] = get_args(Deed)
_WEIGHTS = tuple(5 if deed in {"push", "force-push"} else 1 for deed in DEEDS)

#: Requests that a fault can meet: method, and the path below the repository.
REQUESTS = (
    ("POST", r"/check-runs$"),
    ("PATCH", r"/check-runs/\d+$"),
    ("POST", r"/pulls/\d+/reviews$"),
    ("POST", r"/issues/\d+/comments$"),
    ("PATCH", r"/issues/comments/\d+$"),
    ("DELETE", r"/comments/\d+$"),
    ("POST", r"/reactions$"),
    ("GET", r"/pulls/\d+$"),
    ("GET", r"/pulls/\d+/files$"),
    ("GET", r"/check-runs$"),
    ("GET", r"/git/trees/"),
    ("GET", r"/compare/"),
    ("GET", r"/permission$"),
)
#: What a request may meet.
FAULTS: tuple[Callable[[], Fault], ...] = (
    BadGateway,
    lambda: BadGateway(after_write=True),
    Drop,
    lambda: Drop(after_write=True),
    lambda: RateLimited(403, retry_after=1),
    lambda: RateLimited(429, retry_after=2),
    lambda: Exhausted(reset_in=1),
    lambda: Refuse(401),
    lambda: Delay(0.5),
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """``times`` requests of ``method`` whose path below the repository matches ``path`` meet ``fault``, the first ``skip`` spared."""

    method: str
    path: str
    fault: Fault
    times: int = 1
    skip: int = 0


@dataclass(frozen=True, slots=True)
class Act:
    """After ``pause`` seconds: a deed of somebody, and the trouble that is laid out before it."""

    pause: float
    deed: Deed
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """What happens on one pull request; ``slow`` is how long the analysis of its first commit takes, in seconds."""

    seed: int
    acts: tuple[Act, ...]
    slow: float


def drawn(seed: int) -> Schedule:
    """The schedule of ``seed``."""
    dice = random.Random(seed)  # noqa: S311  # a campaign, no secret
    acts = tuple(_act(dice) for _ in range(dice.randint(2, 8)))
    return Schedule(seed, acts, dice.choice((0.0, 0.0, 0.5, 1.5)))


def _act(dice: random.Random) -> Act:
    pause = dice.choice((0.0, 0.0, 0.05, 0.3, 1.0, 2.0))
    (deed,) = dice.choices(DEEDS, _WEIGHTS)
    return Act(pause, deed, _trouble(dice) if dice.random() < 0.6 else None)  # noqa: PLR2004  # more often than not


def _trouble(dice: random.Random) -> Trouble:
    method, path = dice.choice(REQUESTS)
    fault = dice.choice(FAULTS)()
    if method == "GET" and path.endswith(r"\d+$") and dice.random() < 0.3:  # noqa: PLR2004  # now and then an old answer
        fault = StaleHead()
    if isinstance(fault, Delay) and method != "GET":
        fault = Delay(0.1)
    return Trouble(method, path, fault, times=dice.choice((1, 1, 1, 2, 5)), skip=dice.choice((0, 0, 0, 1, 2)))
