"""What the steps of a review hand to each other, and what they all read the same way."""

from __future__ import annotations

from dataclasses import asdict

from analysis.settings import Settings
from analysis.settings_file import SettingsError, settings_of
from bot.github.pull import Changes, Pull
from bot.job import Json, Outcome
from bot.review.check_run import UNFINISHED, CheckOutput, notice_output
from bot.review.diff import Diff, Hunk
from bot.review.text import prose

#: What a review job is about; all else in its state was read on the way.
_FACTS = frozenset({"installation", "repository", "full_name", "number", "head", "request", "asked", "delivery"})
#: GitHub may tell an older head for a moment after a push.
_HEAD_SETTLES_SECONDS = 1.0


def again(state: Json, head: str) -> Outcome:
    """Read the pull request anew, its newer commit ``head`` included.

    That commit's own job replaces this one, unless its delivery was lost or came before.
    """
    return Outcome("again", {name: value for name, value in state.items() if name in _FACTS} | {"head": head}, seconds=_HEAD_SETTLES_SECONDS)


def pull_to_json(pull: Pull) -> Json:
    """``pull`` for the job's state."""
    return asdict(pull) | {"labels": sorted(pull.labels)}


def pull_from_json(value: Json) -> Pull:
    """The pull request that ``pull_to_json`` put into a job's state."""
    return Pull(**value | {"labels": frozenset(value["labels"])})


def unfinished(reason: str) -> CheckOutput:
    """The check of an analysis that gave no result."""
    return notice_output("neutral", UNFINISHED, f"{prose(reason)}\n\nNothing is known about this change. **Re-run** tries again.")


def settings_or_default(configuration: dict[str, bytes]) -> Settings:
    """The configuration; the worker reports one that does not hold, and the defaults apply."""
    try:
        return settings_of(configuration)
    except SettingsError:
        return Settings()


def unlisted(pull: Pull, changes: Changes) -> tuple[str, ...]:
    """A sentence where GitHub does not list every changed file."""
    if changes.files >= pull.changed_files:
        return ()
    return (f"GitHub lists {changes.files:,} of the {pull.changed_files:,} changed files: the others were read, but not as changed.",)


def changes_to_json(changes: Changes) -> Json:
    """``changes`` for the job's state."""
    hunks = {path: [[hunk.first, hunk.last] for hunk in hunks] for path, hunks in changes.diff.hunks.items()}
    return {"paths": list(changes.paths), "hunks": hunks}


def diff_of(state: Json) -> Diff:
    """The diff that ``changes_to_json`` put into a job's state."""
    hunks: dict[str, list[list[int]]] = state["changes"]["hunks"]
    return Diff({path: tuple(Hunk(first, last) for first, last in lines) for path, lines in hunks.items()})
