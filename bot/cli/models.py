"""The published models that are known by name, for `preflight estimate --model NAME`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bot.cli.listing import print_listing
from bot.cli.outcome import Exit
from estimator.catalog import Model, models


def run(words: Sequence[str]) -> int:
    """Run ``preflight models`` and return its exit status."""
    print_listing("models", __doc__, words, [_row(model) for model in models()], sys.stdout)
    return Exit.OK


def _row(model: Model) -> dict[str, object]:
    return {"name": model.name, "family": model.family, "dtype": model.dtype, "aliases": list(model.aliases)}
