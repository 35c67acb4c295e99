"""Lines per CPU second of ``preflight check`` on whole repositories, beside torch-preflight and the parser alone, in one run.

    python -m benchmarks check_speed --root DIR [DIR …] [--peer COMMAND] [--repeat 3]

Every tool gets the same folder in a process of its own; user and system time of the process and its children count, the least
of the repetitions, with and without what the same command takes for one line. *Cached* is a second run on the unchanged folder. Without
``--peer``, torch-preflight is installed from PyPI into an environment of its own.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from analysis.index import index
from analysis.library.program import Tracing
from analysis.library.running import Ran
from bot.cli.folder import Folder, read_folder

_PEER = "torch-preflight==0.5.0"


def main(words: argparse.Namespace) -> int:
    """Print one table for each repository."""
    with tempfile.TemporaryDirectory() as scratch:
        peer = shlex.split(words.peer) if words.peer else _installed(Path(scratch) / "peer")
        one_line = Path(scratch) / "one_line"
        one_line.mkdir()
        (one_line / "train.py").write_text("import torch\n")
        starts = _tools(one_line, peer, Path(scratch) / "kept-one-line", words.repeat)
        for root in words.root:
            _print(read_folder([root]), starts, _tools(root, peer, Path(scratch) / f"kept-{root.name}", words.repeat))
    return 0


def _installed(folder: Path) -> list[str]:
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", _PEER], check=True)
    return [str(folder / "bin" / "torch-preflight")]


def _tools(root: Path, peer: Sequence[str], kept: Path, repeat: int) -> dict[str, float]:
    """CPU seconds by tool."""
    own = [sys.executable, "-m", "bot.cli", "check", str(root)]
    environment = {"PREFLIGHT_CACHE_DIR": str(kept)}
    _cpu([*own], environment)  # fills the cache
    return {
        "preflight, cold": min(_cpu([*own, "--no-cache"], environment) for _ in range(repeat)),
        "preflight, cached": min(_cpu(own, environment) for _ in range(repeat)),
        _PEER: min(_cpu([*peer, "check", "--quiet", "--jobs", "1", str(root)], {}) for _ in range(repeat)),
        "ast.parse": min(_own_cpu(lambda: _parse(root)) for _ in range(repeat)),
    }


def _cpu(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """User and system seconds of a process and its children; a status says only whether there were findings."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _own_cpu(work: Callable[[], None]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _parse(root: Path) -> None:
    """Parse all that can be parsed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in root.rglob("*.py"):
            try:
                ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue


def _print(folder: Folder, starts: Mapping[str, float], tools: Mapping[str, float]) -> None:
    code = [path for path in folder.requested if path.endswith(".py") and path in folder.snapshot.contents]
    lines = _lines(folder, code)
    interpreted = _lines(folder, _interpreted(folder))
    print(f"{folder.root.name}: {lines:,} lines in {len(code)} files, {interpreted:,} of them in files that were interpreted")
    print(f"{'':24}{'CPU s':>8}{'lines/s':>11}{'to peer':>9}{'without start':>15}{'to peer':>9}")
    peer, peer_alone = lines / tools[_PEER], lines / _alone(_PEER, starts, tools)
    for name, seconds in tools.items():
        whole, alone = lines / seconds, lines / _alone(name, starts, tools)
        print(f"{name:24}{seconds:8.2f}{whole:11,.0f}{whole / peer:8.1f}x{alone:15,.0f}{alone / peer_alone:8.1f}x")
    cold = interpreted / tools["preflight, cold"]
    print(f"{'cold, interpreted only':24}{'':8}{cold:11,.0f}{cold / peer:8.1f}x\n")


def _alone(name: str, starts: Mapping[str, float], tools: Mapping[str, float]) -> float:
    """Seconds without the start; at least one clock tick."""
    return max(tools[name] - starts[name], 0.01)


def _lines(folder: Folder, paths: Sequence[str]) -> int:
    return sum(folder.snapshot.contents[path].count(b"\n") for path in paths)


def _interpreted(folder: Folder) -> list[str]:
    """The files in which something ran."""
    built = index(folder.snapshot)
    tracing, found = Tracing(folder.snapshot, built, built.facts), set[str]()
    for entry in tracing.due():
        ran = Ran()
        for trace in tracing.traces(entry, ran):
            found.add(trace.path)
        tracing.add(ran, entry)
        found |= {path for path, _ in ran.reached}
    return [path for path in found if path.endswith(".py") and path in folder.snapshot.contents]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, nargs="+", required=True, help="whole repositories")
    parser.add_argument("--peer", metavar="COMMAND", help="how torch-preflight is started here")
    parser.add_argument("--repeat", type=int, default=1)
    sys.exit(main(parser.parse_args()))
