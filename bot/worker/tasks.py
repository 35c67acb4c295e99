"""What a worker can be asked to do, each from a task and where libraries' source lies to JSON: a result, or an ``error`` that is one sentence."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from analysis.answers import Memory
from analysis.engine import analyse
from analysis.finding import Confidence
from analysis.rule import discover
from analysis.scope import scope_of
from analysis.selection import configured, select
from analysis.settings import EntrySettings, Settings
from analysis.settings_file import SettingsError, settings_of
from analysis.snapshot import Snapshot
from bot.beside import may_fork
from bot.cli.outcome import UsageError
from bot.cli.parser import Parser
from bot.estimate_options import add_options, request_of
from bot.review.compute import review
from bot.review.kept import Kept
from bot.review.memory_findings import overfull
from bot.review.pairs import entry_points, estimates_of, remember
from bot.review.review_json import review_to_json
from bot.worker.fix_task import fix
from bot.worker.wire import Task
from estimator.estimate import Estimate
from estimator.findings import memory_rules
from estimator.report import document
from estimator.request import Request
from estimator.run import estimate
from estimator.sources import Shelf
from sarif import to_sarif

Answer = dict[str, object]

_MOST_ENTRIES = 4


def review_task(task: Task, shelf: Shelf) -> Answer:
    """The review of ``task.head`` against ``task.base``."""
    settings, problems = _settings(task)
    kept = Kept.read(task.kept)
    found = review(task.base, task.head, settings, task.base_tip, problems, kept=kept, apart=has_spare_processor(), shelf=shelf)
    return {"review": review_to_json(found), "kept": kept.added()}


def has_spare_processor() -> bool:
    """Whether the base is best looked at in a process of its own: that is sooner done, but more work, so a busy machine does one after the other."""
    return may_fork() and os.getloadavg()[0] < len(os.sched_getaffinity(0))


def remember_task(task: Task, shelf: Shelf) -> Answer:
    """What the next review of this repository need not find out again, if ``task.head`` is its base."""
    settings, _ = _settings(task)
    kept = Kept.read(task.kept)
    remember(task.head, settings, kept, shelf)
    return {"kept": kept.added()}


def estimate_task(task: Task, shelf: Shelf) -> Answer:
    """``estimate --format json`` for the script that is named, or for the entry points that the change touches.

    Beside ``estimates`` stand the same as ``written``: without the options, on the same cards.
    """
    settings, _ = _settings(task)
    try:
        options = _estimate_parser().parse_args(task.arguments)
        asked = list(_requests(options, task, settings, shelf))
        estimates = [found for request, snapshot in asked for found in estimate(snapshot, request)]
    except UsageError as error:
        return {"error": str(error)}
    written = [found for request, _ in asked for found in _without_options(request, task, settings, shelf)]
    return {**document(estimates), "written": document(written)["estimates"]}


def _without_options(asked: Request, task: Task, settings: Settings, shelf: Shelf) -> tuple[Estimate, ...]:
    """The estimates that a script has without what was asked of it; none where nothing was."""
    if asked.entry is None:
        return ()
    plain = request_of(_estimate_parser().parse_args([]), settings.of_entry(asked.entry), entry=asked.entry, shelf=shelf)
    same_cards = replace(plain, gpus=asked.gpus)
    return () if same_cards == asked else estimate(task.head, same_cards)


def _requests(options: argparse.Namespace, task: Task, settings: Settings, shelf: Shelf) -> Iterator[tuple[Request, Snapshot]]:
    if options.model is not None and options.script is not None:
        raise UsageError("name a script or --model NAME, one of the two")
    if options.model is not None:
        yield request_of(options, EntrySettings(gpus=settings.gpus), model_name=options.model), Snapshot.of({})
        return
    if options.script is not None and options.script not in task.head.contents:
        raise UsageError(f"there is no file {options.script} in this pull request's head")
    entries = (options.script,) if options.script else entry_points(task.head, scope_of(task.base, task.head), settings, {})
    if not entries:
        raise UsageError("the change touches no training script; name one")
    for entry in entries[:_MOST_ENTRIES]:
        yield request_of(options, settings.of_entry(entry), entry=entry, shelf=shelf), task.head


def _estimate_parser() -> Parser:
    parser = Parser("estimate", None)
    parser.add_argument("script", nargs="?")
    parser.add_argument("--model")
    add_options(parser)
    return parser


def _settings(task: Task) -> tuple[Settings, tuple[str, ...]]:
    """The repository's configuration; one that does not hold is reported, and the defaults apply."""
    try:
        return settings_of(task.configuration), ()
    except SettingsError as error:
        return Settings(), (f"The configuration of the base branch is not used: {error}",)


def fix_task(task: Task, shelf: Shelf) -> Answer:  # noqa: ARG001  # a task among others
    """The head's files with fixes applied, and the same as a patch."""
    settings, _ = _settings(task)
    return fix(task, settings)


def sarif_task(task: Task, shelf: Shelf) -> Answer:
    """Everything that is found in the head, as SARIF: code scanning compares commits itself."""
    settings, _ = _settings(task)
    rules = select(discover(), settings.select, settings.ignore)
    store = Kept.read(task.kept).facts
    report = configured(analyse(task.head, rules, None, memory=Memory(store), elsewhere={rule.name for rule in memory_rules()}), settings)
    sure = tuple(finding for finding in report.findings if finding.confidence > Confidence.LOW)
    memory = overfull(estimates_of(task.head, settings, store, shelf), task.head, settings)
    findings, suppressed = (*sure, *memory.stay), (*report.suppressed, *memory.silenced)
    return {"sarif": to_sarif(replace(report, findings=findings, suppressed=suppressed), task.head, (*rules, *memory_rules()))}


TASKS: Mapping[str, Callable[[Task, Shelf], Answer]] = {
    "review": review_task,
    "remember": remember_task,
    "estimate": estimate_task,
    "fix": fix_task,
    "sarif": sarif_task,
}
