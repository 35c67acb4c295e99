"""Rank 0's peak over several devices: estimates beside what PyTorch's own wrappers allocate on a process group that only pretends to communicate.

usage: python -m benchmarks sharding [--page FILE]

``references/sharded/rows.json`` holds the reference for each way of starting ``references/sharded/guest/train.py``; ``calibration/sharded.py`` makes it
anew. ``--page`` writes the table of ``docs/sharding.md``.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

from analysis.snapshot import Snapshot
from estimator.request import Request
from estimator.run import estimate

_FOLDER = Path(__file__).parent / "references" / "sharded"


_HEAD = """# How far estimates over several devices are off

Written by `python -m benchmarks sharding --page docs/sharding.md`. The reference is what PyTorch 2.14.1's own `DistributedDataParallel`,
`FullyShardedDataParallel` and `fully_shard` allocate on rank 0 of a process group that only pretends to communicate, on fake CUDA tensors of an imaginary
A100 (`benchmarks/calibration/sharded.py` makes a row anew): a decoder of 12 layers, 217 million parameters, trained in float32 with AdamW unless the words
say otherwise (`benchmarks/references/sharded/guest/train.py`).

Checked so: buckets of gradients and their views, gathering by block and of the whole model, parameters that stay gathered (`--keep`), 16-bit parameters over
float32 shards (`--low`), autocast (`--amp`), accumulation. Not checked but by formula with its source (`estimator/sharding.py`): ZeRO 1 to 3, offload to the
host, meshes of several dimensions. Left out: NCCL's own buffers, blocks that the allocator cannot give out yet because another stream uses them.
"""


def _row(row: dict[str, Any]) -> tuple[float, str]:
    """How far the estimate of one row is off, and its line of the table; raises ``ValueError`` where there is no estimate."""
    words = " ".join(row["words"])
    started = f"torchrun --nproc_per_node={row['devices']} train.py {words}\n"
    snapshot = Snapshot.of({"train.py": (_FOLDER / "guest" / "train.py").read_bytes(), "run.sh": started.encode()})
    memory = estimate(snapshot, Request(entry="train.py"))[-1].memory
    if memory is None:
        raise ValueError(f"{words}: not resolved")
    error = memory.allocated_bytes / row["allocated"] - 1
    holds = memory.allocated_interval.low <= row["allocated"] <= memory.allocated_interval.high
    return abs(error), f"| {row['devices']} | `{words}` | {row['allocated'] / 2**30:.2f} | {error:+.2%} | {'yes' if holds else 'no'} |"


def main(words: list[str]) -> int:
    """Print the table with its mean and largest error, or write the page."""
    rows = [_row(row) for row in json.loads((_FOLDER / "rows.json").read_text(encoding="utf-8"))["rows"]]
    errors = [error for error, _ in rows]
    table = ["| devices | program | allocated, GiB | error | interval holds it |", "|--:|---|--:|--:|---|", *(line for _, line in rows)]
    said = f"{len(errors)} rows: mean error {statistics.mean(errors):.1%}, largest {max(errors):.1%}."
    if words[:1] == ["--page"]:
        Path(words[1]).write_text("\n".join([_HEAD, said, "", *table, ""]), encoding="utf-8")
    else:
        print("\n".join([*table, "", said]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
