"""The public page of how far estimates of memory are off."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks._memory_rows import Row

#: Demand as a share of a card's capacity where the run fits, and the other way round where it does not.
DISTANCES = (0.60, 0.80, 0.90, 0.95, 0.98)
_HEAD = """# How far estimates are off

Written by `python -m benchmarks memory --page docs/memory.md`. Scripts are estimated as they stand, with nothing told; their reference is PyTorch's
own forward, backward and optimizer on an imaginary A100 (`benchmarks/calibration` makes such a row anew). Published measurements are of real GPUs; their
programs are written anew from their descriptions (`benchmarks/_harness.py`), and each row's source stands in `benchmarks/references/published.json`.
Errors are of `torch.cuda.max_memory_allocated()`.
"""


def page(rows: Sequence[Row], not_run: Iterable[Mapping[str, Any]]) -> str:
    """The whole page."""
    groups = list(dict.fromkeys(row.group for row in rows))
    parts = [_HEAD, "## By group", _groups(rows, groups), "## Verdicts by distance to the card's capacity", _verdicts(rows)]
    parts += ["## Every script", _scripts([row for row in rows if row.group == "scripts"]), "## Every published measurement"]
    parts += [_measured([row for row in rows if row.group != "scripts"]), "## Published and not run", _left_out(not_run)]
    return "\n\n".join(parts) + "\n"


def _groups(rows: Sequence[Row], groups: Sequence[str]) -> str:
    lines = ["| group | rows | resolved | mean error | median | largest | interval holds it | median width |", "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for group in groups:
        mine = [row for row in rows if row.group == group]
        done = [abs(row.error) for row in mine if row.error is not None]
        if not done:
            lines.append(f"| {group} | {len(mine)} | 0 | – | – | – | – | – |")
            continue
        widths = statistics.median(row.width for row in mine if row.error is not None)
        covered = sum(row.covered for row in mine)
        numbers = f"{statistics.mean(done):.2%} | {statistics.median(done):.2%} | {max(done):.2%}"
        lines.append(f"| {group} | {len(mine)} | {len(done)} | {numbers} | {covered} of {len(done)} | {widths:.1%} |")
    return "\n".join(lines)


def _verdicts(rows: Sequence[Row]) -> str:
    """For cards of such a size that the run takes that share of them, and for cards that much too small."""
    known = [row for row in rows if row.device is not None and "interval" in row.ours]
    theirs = [row for row in rows if row.device is not None and row.peer is not None and "interval" in row.peer]
    lines = [
        f"{len(known)} rows whose device memory is known, each with a card of such a size; in brackets torch-preflight on the {len(theirs)} scripts that it",
        "resolves. At 60 % the run takes that share of the card, or the card holds that share of the run.",
        "",
        "| distance | fits: said so | borderline | false OOM | does not fit: said so | borderline | false fit |",
        "|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for share in DISTANCES:
        cells = []
        for factor, right, wrong in ((1 / share, "fits", "no"), (share, "no", "fits")):
            ours, peer = (Counter(_verdict(source, row.device, factor) for row, source in pairs) for pairs in (_ours(known), _peers(theirs)))
            cells += [_both(ours[kind], len(known), peer[kind], len(theirs)) for kind in (right, "borderline", wrong)]
        lines.append(f"| {share:.0%} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _ours(rows: Sequence[Row]) -> list[tuple[Row, Mapping[str, Any]]]:
    return [(row, row.ours) for row in rows]


def _peers(rows: Sequence[Row]) -> list[tuple[Row, Mapping[str, Any]]]:
    return [(row, row.peer) for row in rows if row.peer is not None]


def _verdict(found: Mapping[str, Any], device: int | None, factor: float) -> str:
    low, high = found["interval"]
    capacity = (device or 0) * factor
    return "fits" if high <= capacity else "no" if low > capacity else "borderline"


def _both(ours: int, of: int, peer: int, of_peer: int) -> str:
    theirs = f" ({peer / of_peer:.0%})" if of_peer else ""
    return f"{ours / of:.0%}{theirs}" if of else "–"


def _percent(error: float | None) -> str:
    return "–" if error is None else f"{error:+.2%}"


def _scripts(rows: Sequence[Row]) -> str:
    lines = ["| script | allocated, GiB | Preflight | interval holds it | torch-preflight 0.5.0 |", "|---|--:|--:|---|--:|"]
    for row in rows:
        peer = "not resolved" if row.peer is not None and row.peer_error is None else _percent(row.peer_error)
        lines.append(f"| {row.name.replace('|', ' ')} | {row.truth / 2**30:.2f} | {_percent(row.error)} | {'yes' if row.covered else 'no'} | {peer} |")
    return "\n".join(lines)


def _measured(rows: Sequence[Row]) -> str:
    lines = ["| group | run | allocated, GiB | Preflight | interval holds it |", "|---|---|--:|--:|---|"]
    lines += [f"| {row.group} | {row.name} | {row.truth / 2**30:.2f} | {_percent(row.error)} | {'yes' if row.covered else 'no'} |" for row in rows]
    return "\n".join(lines)


def _left_out(rows: Iterable[Mapping[str, Any]]) -> str:
    lines = ["| run | GPU | allocated, GB | source | what is not known |", "|---|---|--:|---|---|"]
    lines += [f"| {row['model']} | {row['gpu']} | {row['allocated'] / 1e9:.1f} | {row['source']} | {row['unknown']} |" for row in rows]
    return "\n".join(lines)
