"""How long a pull request waits for its check, its review and its comment, with GitHub's own pace between writes.

    python -m benchmarks review_time --repeat 5

The server is the real one with real worker processes; GitHub is the simulator on loopback, so the network's share is missing.
The repository is a training script of several modules; each pull request changes five of its files and brings a finding with
a patch and more memory.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
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


async def main(words: argparse.Namespace) -> int:
    """Open pull requests one after another and print when what was there."""
    with tempfile.TemporaryDirectory() as folder, words.log:
        async with Simulator.start() as github:
            server = Server(github, Path(folder), words.log, module=("bot.cli", "serve"))
            github.webhook_url = f"{server.address}/webhook"
            server.start()
            await server.until_ready()
            files = {**_MODULES, "package/model.py": _MODEL, "train.py": _TRAIN.format(batch=8192, clear=_CLEAR)}
            repository = github.create_repository("octo/train", files)
            measured = [await _one(github, server, repository, number) for number in range(words.repeat + 1)]
            server.stop()
    print(f"{'':18}{'check':>8}{'review':>8}{'comment':>9}{'requests':>10}")
    print(f"{'at first sight':18}{_row(measured[0])}")
    for number, seconds in enumerate(measured[1:], start=2):
        print(f"{f'pull request {number}':18}{_row(seconds)}")
    medians = tuple(statistics.median(column) for column in zip(*measured[1:], strict=True))
    print(f"{'median, known':18}{_row(medians)}")
    return 0


async def _one(github: Simulator, server: Server, repository: Repository, number: int) -> tuple[float, ...]:
    before = len(github.requests)
    changed = {path: f"{text}\n\nCHANGED = {number}\n" for path, text in list(_MODULES.items())[:4]}
    started = time.monotonic()
    train = _TRAIN.format(batch=32768 + 1024 * number, clear="")
    pull = repository.open_pull_request(f"change-{number}", files={"train.py": train, **changed})
    claims: tuple[Callable[[], object], ...] = (lambda: _is_checked(repository, pull), lambda: pull.reviews, lambda: pull.comments)
    waits = await asyncio.gather(*(_moment(claim, started) for claim in claims))
    requests = len(github.requests) - before
    await server.idle(30.0)
    return (*waits, requests)


async def _moment(claim: Callable[[], object], started: float) -> float:
    """Seconds until ``claim`` holds."""
    for _ in range(6_000):
        if claim():
            return time.monotonic() - started
        await asyncio.sleep(0.01)
    raise TimeoutError("it did not come within a minute")


def _is_checked(repository: Repository, pull: PullRequest) -> bool:
    return any(run.status == "completed" for run in repository.check_runs(pull.head_sha))


def _row(measured: tuple[float, ...]) -> str:
    check, review, comment, requests = measured
    return f"{check:7.1f}s{review:7.1f}s{comment:8.1f}s{requests:10.0f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks review_time", description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--log", type=argparse.FileType("wb"), default="/dev/null", help="where the server's output goes")
    sys.exit(asyncio.run(main(parser.parse_args())))
