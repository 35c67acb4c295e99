"""Whether the names in a configuration are known: on the command line a slip is an error that names the nearest known one."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.selection import require_known_in
from analysis.settings import Settings
from bot.cli.outcome import UsageError
from bot.rules import every_rule
from estimator.catalog import UnknownNameError, gpu


def require_valid(settings: Settings) -> None:
    """Raise UnknownRuleError for a rule and UsageError for a GPU that nobody knows."""
    require_known_in(settings, every_rule())
    for where, name in _cards(settings):
        try:
            gpu(name)
        except UnknownNameError as error:
            raise UsageError(f"configuration, {where}: {error}") from error


def _cards(settings: Settings) -> Iterator[tuple[str, str]]:
    yield from (("gpus", name) for name in settings.gpus)
    for path, entry in settings.entry.items():
        yield from ((f'gpus of entry "{path}"', name) for name in entry.gpus)
