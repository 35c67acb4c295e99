"""Estimates beside references: scripts against PyTorch's own code, and published measurements; the peer's figures where it is at hand.

usage: python -m benchmarks memory [--peer COMMAND] [--page FILE] [--json FILE] [--only TEXT]

``--peer`` is the command of torch-preflight (for instance ``/tmp/peer/bin/torch-preflight``), run on the same scripts; without it the figures of
``references/peer.json`` are shown. ``--page`` writes the table of ``docs/memory.md``.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from analysis.snapshot import Snapshot
from benchmarks import _harness, _memory_page, _peer
from benchmarks._memory_rows import Row
from estimator.request import Request
from estimator.run import estimate

REFERENCES = Path(__file__).parent / "references"
#: CUDA context of the references that were made without a GPU.
_CONTEXT = 450 * 2**20


def _read(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((REFERENCES / f"{name}.json").read_text(encoding="utf-8"))["rows"]
    return rows


def _estimated(files: dict[str, bytes], entry: str, card: str) -> dict[str, Any]:
    """What a row needs of an estimate; without bytes where it could not be made."""
    started = time.process_time()
    found = estimate(Snapshot.of(files), Request(entry=entry, gpus=(card,)))[0]
    seconds = time.process_time() - started
    if found.memory is None:
        return {"seconds": seconds, "why": "; ".join(found.unknowns)[:200]}
    memory = found.memory
    return {
        "allocated": memory.allocated_bytes,
        "allocated_interval": [memory.allocated_interval.low, memory.allocated_interval.high],
        "interval": [memory.interval.low, memory.interval.high],
        "parameters": memory.parameters,
        "seconds": seconds,
    }


def scripts(peer: list[str] | None, only: str) -> Iterator[Row]:
    """Scripts whose peak PyTorch's own code gave on an imaginary GPU."""
    folder = REFERENCES / "guest"
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    stored = _peer.stored(REFERENCES)
    for row in _read("scripts"):
        if only in row["row"]:
            theirs = stored.get(row["script"]) if peer is None else _peer.asked(peer, folder, row["script"])
            yield Row(
                group="scripts",
                name=f"{row['script']} ({row['row']})",
                truth=row["allocated"],
                device=row["reserved"] + _CONTEXT,
                ours=_estimated(files, row["script"], "A100-80GB"),
                peer=theirs,
                parameters=row["parameters"],
            )


def published(only: str) -> Iterator[Row]:
    """What others measured on real GPUs and published."""
    for row in _read("published"):
        if row["harness"] is None or only not in json.dumps(row):
            continue
        said = " ".join(str(row[key]) for key in ("quantization", "attention", "batch", "batch_size", "length", "seq_len", "image_size") if key in row)
        packed = f", {row['quantization']}" if row.get("quantization", "none") != "none" else ""
        yield Row(
            group=f"{row['group']}{packed}",
            name=f"{row['model']} {said}",
            truth=row["allocated"],
            device=None if row["reserved"] is None or row["context"] is None else row["reserved"] + row["context"],
            ours=_estimated({"train.py": _harness.script_of(row).encode()}, "train.py", _CARDS.get(row["gpu"], row["gpu"])),
            peer=None,
            parameters=None,
        )


#: Cards as the catalog calls them.
_CARDS = {"L40S-45GB": "L40S", "RTX 3080Ti-16GB": "RTX 3080 Ti"}


def main() -> int:
    """Run every row and say how far the estimates are off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=shlex.split)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    rows = []
    for row in chain(scripts(args.peer, args.only), published(args.only)):
        print(row.said(), flush=True)
        rows.append(row)
    text = _memory_page.page(rows, [row for row in _read("published") if row["harness"] is None])
    if args.json is not None:
        args.json.write_text(json.dumps([row.as_json() for row in rows], indent=1) + "\n", encoding="utf-8")
    if args.page is not None:
        args.page.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
