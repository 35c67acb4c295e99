"""Plays a schedule on a pull request of its own, then leaves it open and readable, so that its newest head is owed a check."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.campaign.schedule import Deed, Schedule
from simulator import PullRequest, Repository, Simulator
from simulator.checking import rerequest, rerequest_suite

OWNER = "owner-{}"
_TRAIN = "BATCH = 8\nloss = model(batch)\nloss.backward()\noptimizer.step()\n"


@dataclass(slots=True)
class Played:
    """The pull request that a schedule was played on, and how many commands were given there by who may."""

    schedule: Schedule
    repository: Repository
    pull: PullRequest
    commands: int = 0


async def play(github: Simulator, schedule: Schedule) -> Played:
    """The pull request after all that was planned; the bot may still be at work on it."""
    repository = github.create_repository(f"{OWNER.format(schedule.seed % 40)}/train-{schedule.seed}", {"train.py": _TRAIN, "README.md": "Trains.\n"})
    repository.commit("other", {"train.py": _TRAIN.replace("8", "9")}, "Branch off")
    slow = f"# SLEEP {schedule.slow}\n" if schedule.slow else ""
    pull = repository.open_pull_request("change", files={"train.py": f"{_change(0)}{slow}"})
    played = Played(schedule, repository, pull)
    for number, act in enumerate(schedule.acts, start=1):
        await asyncio.sleep(act.pause)
        if act.trouble is not None:
            path = re.escape(f"/repos/{repository.full_name}") + ".*" + act.trouble.path
            github.fail_next(act.trouble.method, path, act.trouble.fault, times=act.trouble.times, skip=act.trouble.skip)
        with contextlib.suppress(_ImpossibleError):
            _do(act.deed, played, number)
        await asyncio.sleep(0.5)
    _leave_readable(played)
    return played


class _ImpossibleError(Exception):
    """What is to be done cannot be done as things are: a closed pull request is not pushed to, no thread is there to answer."""


def _do(deed: Deed, played: Played, number: int) -> None:
    pull = played.pull
    if deed.startswith("/"):
        played.commands += 1
        pull.comment(played.repository.owner.login, deed)
        return
    deeds: dict[str, Callable[[], object]] = {
        "push": lambda: _open(pull).push({"train.py": _change(number)}),
        "push documentation": lambda: _open(pull).push({"README.md": f"Trains {number}.\n"}),
        "force-push": lambda: _open(pull).force_push({"train.py": _change(number)}),
        "close": lambda: _open(pull).close(),
        "reopen": lambda: pull.state == "open" or pull.reopen(),
        "to draft": lambda: pull.draft or pull.set_draft(draft=True),
        "from draft": lambda: pull.set_draft(draft=False) if pull.draft else None,
        "label": lambda: pull.set_labels("preflight: skip"),
        "unlabel": lambda: pull.set_labels() if pull.labels else None,
        "change base": lambda: _open(pull).change_base("main" if pull.base_branch == "other" else "other"),
        "a stranger's command": lambda: pull.comment("mallory", "/preflight check"),
        "rerun": lambda: _rerun(played),
        "rerun all": lambda: _rerun_all(played),
        "answer a thread": lambda: pull.reply(_opener(pull), "ada", "Is that so?"),
        "resolve a thread": lambda: pull.resolve_thread(_opener(pull), user="ada"),
    }
    deeds[deed]()


def _leave_readable(played: Played) -> None:
    """Open, no draft, not skipped, not paused, and pushed to once more."""
    pull = played.pull
    for deed in ("reopen", "from draft", "unlabel", "/preflight resume"):
        _do(deed, played, 0)
    pull.push({"train.py": f"{_change(99)}last = BUG\n"})


def _change(number: int) -> str:
    """Code with findings that come, stay and go, and memory that moves."""
    bugs = "".join(f"value_{each} = BUG\n" for each in range(3) if (number >> each) & 1 or number == 0)
    return _TRAIN.replace("8", str(8 + number)) + bugs


def _open(pull: PullRequest) -> PullRequest:
    if pull.state != "open":
        raise _ImpossibleError
    return pull


def _opener(pull: PullRequest) -> int:
    openers = [comment.id for comment in pull.review_comments if comment.in_reply_to is None and comment.id not in pull.resolved_threads]
    if not openers:
        raise _ImpossibleError
    return openers[0]


def _rerun(played: Played) -> None:
    done = [run for run in played.repository.check_runs(played.pull.head_sha) if run.status == "completed"]
    if not done:
        raise _ImpossibleError
    rerequest(played.repository, done[-1], played.repository.owner)


def _rerun_all(played: Played) -> None:
    runs = played.repository.check_runs(played.pull.head_sha)
    if not runs:
        raise _ImpossibleError
    rerequest_suite(played.repository, runs[-1].suite_id, played.repository.owner)
