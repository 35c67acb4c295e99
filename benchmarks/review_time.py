"""How long a pull request waits for its check, its review and its comment, with GitHub's own pace between writes.

    python -m benchmarks review_time --repeat 5
    python -m benchmarks review_time --root CLONE --script train.py

The server is the real one with real worker processes; GitHub is the simulator on loopback, so the network's share is missing.
The repository is a training script of several modules; each pull request changes five of its files and brings a finding with
a patch and more memory. With ``--root`` it is the clone of a public repository, and each pull request takes the first line that
clears gradients out of ``--script`` and touches four modules beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.campaign.server import Server
from simulator import PullRequest, Repository, Simulator

_MODULES = {f"package/module_{number}.py": f'"""Module {number}."""\n\n\ndef value() -> int:\n    return {number}\n' for number in range(40)}
_MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(512, width), nn.GELU(), nn.Linear(width, 512))

    def forward(self, batch):
        return self.layers(batch)
"""
_TRAIN = """\
import torch

from package.model import Net

BATCH = {batch}
model = Net(2048).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(1000):
{clear}    loss = model(torch.randn(BATCH, 512).cuda()).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
_CLEAR = "    optimizer.zero_grad()\n"


@dataclass(frozen=True, slots=True)
class Subject:
    """What pull requests are opened on: the training script as it is and as they have it, and four more files that they touch."""

    repository: Repository
    script: str
    changed: Callable[[int], str]
    touched: tuple[str, ...]


async def main(words: argparse.Namespace) -> int:
    """Open pull requests one after another and print when what was there."""
    with tempfile.TemporaryDirectory() as folder, words.log:
        async with Simulator.start() as github:
            github.limits = replace(github.limits, requests_per_hour=1_000_000)  # an hour's requests are not what is measured
            server = Server(github, Path(folder), words.log, module=("bot.cli", "serve"))
            github.webhook_url = f"{server.address}/webhook"
            server.start()
            await server.until_ready()
            subject = _made(github) if words.root is None else _cloned(github, words.root, words.script)
            measured = [await _one(github, server, subject, number) for number in range(words.repeat + 1)]
            server.stop()
    print(f"{'':18}{'begun':>8}{'check':>8}{'review':>8}{'comment':>9}{'requests':>10}")
    print(f"{'at first sight':18}{_row(measured[0])}")
    for number, seconds in enumerate(measured[1:], start=2):
        print(f"{f'pull request {number}':18}{_row(seconds)}")
    print(f"{'median, known':18}{_row([_median(column) for column in zip(*measured[1:], strict=True)])}")
    return 0


def _made(github: Simulator) -> Subject:
    files = {**_MODULES, "package/model.py": _MODEL, "train.py": _TRAIN.format(batch=8192, clear=_CLEAR)}
    repository = github.create_repository("octo/train", files)
    return Subject(repository, "train.py", lambda number: _TRAIN.format(batch=32768 + 1024 * number, clear=""), tuple(_MODULES)[:4])


def _cloned(github: Simulator, root: Path, script: str) -> Subject:
    branch = subprocess.run(["git", "-C", root, "branch", "--show-current"], check=True, capture_output=True, text=True).stdout.strip()
    repository = github.create_repository("octo/cloned", source=root, default_branch=branch)
    before = repository.read(repository.default_branch, script)
    after = re.sub(r"^(\s*)\w+\.zero_grad\(.*\)$", r"\1pass", before, count=1, flags=re.MULTILINE)
    modules = sorted(str(path.relative_to(root)) for path in root.rglob("*.py") if path.stat().st_size)
    touched = [each for each in modules if each != script][:4]
    return Subject(repository, script, lambda number: f"{after}\n# {number}\n", tuple(touched))


async def _one(github: Simulator, server: Server, subject: Subject, number: int) -> tuple[float | None, ...]:
    """Seconds until the check was begun and completed, and review and comment were there, None for what did not come; then how many requests that took."""
    repository = subject.repository
    before = len(github.requests)
    files = {path: f"{repository.read(repository.default_branch, path)}\n\nCHANGED = {number}\n" for path in subject.touched}
    started = time.monotonic()
    pull = repository.open_pull_request(f"change-{number}", repository.default_branch, files={subject.script: subject.changed(number), **files})
    claims: tuple[Callable[[], object], ...] = (
        lambda: repository.check_runs(pull.head_sha),
        lambda: _is_checked(repository, pull),
        lambda: pull.reviews,
        lambda: pull.comments,
    )
    waiting = [asyncio.create_task(_moment(claim, started)) for claim in claims]
    await waiting[1]
    await server.idle(60.0)
    for each in waiting:
        each.cancel()
    waits = [None if isinstance(wait, BaseException) else wait for wait in await asyncio.gather(*waiting, return_exceptions=True)]
    # What the server asks of its own accord is not this pull request's.
    return (*waits, sum(not request.path.startswith("/app/hook/") for request in github.requests[before:]))


async def _moment(claim: Callable[[], object], started: float) -> float:
    """Seconds until ``claim`` holds."""
    while not claim():  # noqa: ASYNC110  # nobody tells: what is waited for stands on the simulated GitHub
        await asyncio.sleep(0.01)
    return time.monotonic() - started


def _is_checked(repository: Repository, pull: PullRequest) -> bool:
    return any(run.status == "completed" for run in repository.check_runs(pull.head_sha))


def _median(column: Sequence[float | None]) -> float | None:
    came = [each for each in column if each is not None]
    return statistics.median(came) if came else None


def _row(measured: Sequence[float | None]) -> str:
    *waits, requests = measured
    shown = ("never" if wait is None else f"{wait:.1f}s" for wait in waits)
    return "{:>8}{:>8}{:>8}{:>9}".format(*shown) + f"{requests:10.0f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks review_time", description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--root", type=Path, help="the clone of a public repository")
    parser.add_argument("--script", default="train.py", help="its training script")
    parser.add_argument("--log", type=argparse.FileType("wb"), default="/dev/null", help="where the server's output goes")
    sys.exit(asyncio.run(main(parser.parse_args())))
