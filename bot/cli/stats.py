"""What became of the findings that the bot has shown: how many of each rule were applied, fixed, suppressed, resolved or ignored.

The environment is that of ``preflight serve``; a server may be running. A rule whose findings are ignored is a candidate for
``ignore`` in the configuration, or for a report to its authors.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from bot.cli.outcome import Exit, UsageError
from bot.cli.parser import Parser
from bot.ledger import Count, Fate, Ledger
from bot.settings import SettingsError, from_environment


def run(words: Sequence[str]) -> int:
    """Run ``preflight stats`` and return its exit status."""
    parser = Parser("stats", __doc__)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args(words)
    try:
        settings = from_environment(os.environ, Path.cwd())
        counts = Ledger(settings.ledger_url).counts()
    except SettingsError as error:
        raise UsageError(str(error)) from error
    except SQLAlchemyError as error:
        raise UsageError(f"the database cannot be read: {str(error).splitlines()[0]}") from error
    print(_json(counts) if options.format == "json" else _table(counts))
    return Exit.OK


def _json(counts: Iterable[Count]) -> str:
    rules = [{"rule": rule, **{fate.value: found.get(fate, 0) for fate in Fate}} for rule, found in _by_rule(counts).items()]
    return json.dumps({"version": 1, "rules": rules}, indent=1)


def _table(counts: Iterable[Count]) -> str:
    found = _by_rule(counts)
    if not found:
        return "No finding was shown yet."
    width = max(len("rule"), *map(len, found))
    heading = "  ".join([f"{'rule':{width}}", *(f"{fate.value:>10}" for fate in Fate)])
    rows = ["  ".join([f"{rule:{width}}", *(f"{fates.get(fate, 0):>10}" for fate in Fate)]) for rule, fates in found.items()]
    return "\n".join([heading, *rows])


def _by_rule(counts: Iterable[Count]) -> dict[str, dict[Fate, int]]:
    found: dict[str, dict[Fate, int]] = defaultdict(dict)
    for count in counts:
        found[count.rule][count.fate] = count.findings
    return found
