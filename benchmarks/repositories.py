"""Entry points of public training repositories: which are resolved, which with assumptions, which not, and why.

usage: python -m benchmarks repositories --root DIR [--page FILE] [--only TEXT] [--json FILE]

FILE of ``--json`` keeps what was measured: rows of repositories that are not looked at now stay, so that the page can be made one after another.

DIR holds clones named OWNER+NAME. Entry points are the files below the folders that ``repositories.toml`` names that do something when they are run,
reach PyTorch, and call what trains (a backward pass, a framework's loop or hook) or what generates: what only evaluates, converts, draws or tests is
none. Resolved: a peak, with model, batch, precision and the size of the input each known; with assumptions: a peak, and something
of these assumed in the open; not: the sentence that says what is missing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from analysis.certainty import Assumed, Known
from analysis.facts import facts_of
from analysis.snapshot import Snapshot
from analysis.source import SourceFile
from bot.sources.release import LocalShelf
from bot.sources.shelf import sources
from estimator.config import TrainingConfig
from estimator.request import Request
from estimator.run import estimate, is_entry

_LIST = Path(__file__).with_name("repositories.toml")
#: Larger files are data.
_MAX_BYTES = 400_000
_SKIPPED = frozenset({".git", "node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Found:
    """One entry point: ``state`` is resolved, assumed or not; ``why`` the first sentence that says what is missing or was taken."""

    repository: str
    entry: str
    state: str
    why: str
    seconds: float


def snapshot_of(folder: Path) -> Snapshot:
    """Every file of a clone that is not large."""
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not _SKIPPED & set(inside.parts) and path.is_file() and not path.is_symlink() and path.stat().st_size <= _MAX_BYTES:
            files[inside.as_posix()] = path.read_bytes()
    return Snapshot.of(files)


def entries(snapshot: Snapshot, listed: dict[str, Any]) -> Iterator[str]:
    """The entry points of a repository that train or generate, below its listed folders."""
    for path in sorted(snapshot.contents):
        if not path.endswith(".py") or not path.startswith(tuple(listed["under"])) or any(part in path for part in listed.get("without", ())):
            continue
        source = snapshot.source(path)
        if isinstance(source, SourceFile) and (_works(source) or path in listed.get("also", ())) and is_entry(snapshot, path):
            yield path


def _works(source: SourceFile) -> bool:
    """Whether a file trains or generates."""
    return any(found.trains or "generate" in found.calls or _runs_a_loop(found.calls) for found in facts_of(source).definitions)


def _runs_a_loop(calls: frozenset[str]) -> bool:
    """Whether a function builds a framework's trainer and lets it train: ``train`` alone may be a mode that a model is put in."""
    return "train" in calls and any(name.endswith("Trainer") for name in calls)


def judged(config: TrainingConfig) -> str:
    """Whether all that decides most is known."""
    sizes = [config.sequence_length, config.image_size]
    size = next((each for each in sizes if getattr(each, "value", None) is not None), None)
    fields = [config.model, config.batch_size, config.precision, *([] if size is None else [size])]
    taken = any(isinstance(setting, Assumed) for _, setting in config.items())
    return "resolved" if all(isinstance(each, Known) for each in fields) and not taken else "assumed"


def estimated(snapshot: Snapshot, name: str, entry: str, settings: dict[str, str]) -> Found:
    """One entry point, in the first of its starts that is resolved."""
    started = time.process_time()
    found = estimate(snapshot, Request(entry=entry, settings=settings, shelf=LocalShelf()))
    seconds = time.process_time() - started
    best = next((each for each in found if each.memory is not None), found[-1])
    if best.memory is None:
        return Found(name, entry, "not", (found[-1].unknowns or ("",))[0], seconds)  # a start that somebody wrote down says more than one without arguments
    state = judged(best.config)
    taken = [f"{key} {setting.value} assumed: {setting.why}" for key, setting in best.config.items() if hasattr(setting, "why") and hasattr(setting, "value")]
    return Found(name, entry, state, "; ".join(taken) if state == "assumed" else "", seconds)


def _at_hand() -> str:
    found = [f"{source.library} {source.version}" for source in sources() if source.origin != "zoo"]
    return ", ".join(found) or "none"


def page(rows: list[Found], commits: dict[str, str]) -> str:
    """The public table."""
    total = Counter(row.state for row in rows)
    share = (total["resolved"] + total["assumed"]) / max(len(rows), 1)
    said = f"{len(rows)} entry points: {total['resolved']} resolved, {total['assumed']} with assumptions, {total['not']} not ({share:.0%} in the first two)."
    lines = [
        "# Entry points of public repositories",
        "",
        "Written by `python -m benchmarks repositories --root DIR --page docs/repositories.md`. An entry point is a file that does something when it is",
        "run, reaches PyTorch, and calls what trains (a backward pass, a framework's loop or hook) or what generates; what only evaluates, converts, draws",
        "or tests is none (`benchmarks/repositories.toml` says below which folders, and what else is left out). It is started without arguments, as launch",
        "lines of the repository start it or, where these tell no peak, as its documentation says. Resolved: a peak, with model, batch, precision and the",
        "size of the input each known. With assumptions: a peak, and something of these taken in the open. Nothing is told beside what the repository holds;",
        f"of libraries these were at hand beside the zoo (`preflight sources`): {_at_hand()}.",
        "",
        said,
        "",
        "| repository | commit | entry points | resolved | with assumptions | not |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for name, commit in commits.items():
        mine = Counter(row.state for row in rows if row.repository == name)
        lines.append(f"| {name} | {commit} | {sum(mine.values())} | {mine['resolved']} | {mine['assumed']} | {mine['not']} |")
    lines += ["", "| repository | entry point | | why |", "|---|---|---|---|"]
    words = {"resolved": "resolved", "assumed": "with assumptions", "not": "not"}
    lines += [f"| {row.repository} | {row.entry} | {words[row.state]} | {row.why.replace('|', ' ')[:300]} |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Estimate every entry point of every repository that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    kept = json.loads(args.json.read_text(encoding="utf-8")) if args.json is not None and args.json.is_file() else {}
    for name, listed in tomllib.loads(_LIST.read_text(encoding="utf-8"))["repository"].items():
        folder = args.root / name.replace("/", "+")
        if args.only not in name or not folder.is_dir():
            continue
        snapshot = snapshot_of(folder)
        commit = subprocess.run(["git", "-C", str(folder), "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        kept[name] = {"commit": commit, "rows": []}
        for entry in entries(snapshot, listed):
            row = estimated(snapshot, name, entry, {})
            kept[name]["rows"].append(asdict(row))
            print(f"{row.state:9} {row.seconds:5.1f} {name}: {entry} {row.why[:160]}", flush=True)
    listed_names = [name for name in tomllib.loads(_LIST.read_text(encoding="utf-8"))["repository"] if name in kept]
    text = page([Found(**row) for name in listed_names for row in kept[name]["rows"]], {name: kept[name]["commit"] for name in listed_names})
    if args.page is not None:
        args.page.write_text(text, encoding="utf-8")
    if args.json is not None:
        args.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(text.split("\n\n| repository | entry")[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
