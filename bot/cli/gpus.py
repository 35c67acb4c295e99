"""The GPUs that are known by name, and the cloud instances that hold them.

What is usable is what one process can have, its CUDA context included.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from bot.cli.listing import print_listing
from bot.cli.outcome import Exit
from estimator.catalog import gpus, instances


def run(words: Sequence[str]) -> int:
    """Run ``preflight gpus`` and return its exit status."""
    print_listing("gpus", __doc__, words, list(_rows()), sys.stdout)
    return Exit.OK


def _rows() -> Iterator[dict[str, object]]:
    for card in gpus():
        held = [{"name": machine.name, "provider": machine.provider, "count": machine.count} for machine in instances() if machine.gpu is card]
        yield {
            "name": card.name,
            "usable_bytes": card.usable_bytes,
            "memory_bytes": card.memory_bytes,
            "architecture": card.architecture,
            "aliases": list(card.aliases),
            "instances": held,
        }
