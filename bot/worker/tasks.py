"""What a worker can be asked to do, each from a task to JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analysis.settings import Settings
from analysis.settings_file import SettingsError, settings_of
from bot.review.compute import review
from bot.review.review_json import review_to_json
from bot.worker.wire import Task

Answer = dict[str, object]


def review_task(task: Task) -> Answer:
    """The review of ``task.head`` against ``task.base``."""
    settings, problems = _settings(task)
    return {"review": review_to_json(review(task.base, task.head, settings, task.base_tip, problems))}


def _settings(task: Task) -> tuple[Settings, tuple[str, ...]]:
    """The repository's configuration; one that does not hold is reported, and the defaults apply."""
    try:
        return settings_of(task.configuration), ()
    except SettingsError as error:
        return Settings(), (f"The configuration of the base branch is not used: {error}",)


TASKS: Mapping[str, Callable[[Task], Answer]] = {"review": review_task}
