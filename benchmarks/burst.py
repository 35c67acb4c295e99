"""A burst of deliveries over many installations: none is lost, each is acknowledged at once, all are worked on, memory stays flat.

    python -m benchmarks burst
    python -m benchmarks burst --database postgresql://user@host/name

The server is the real one at GitHub's own pace (a second between two writes of an installation); GitHub is the simulator; the
analysis is a stub, or with ``--real`` the worker process as it is. Every round opens new pull requests and delivers all of them. Both
programs share the machine: what the simulator sees of an answer holds its own delays, what the server counts (a bucket of
``preflight_answer_seconds``, over all rounds so far) does not.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import aiohttp

from benchmarks.campaign.server import Server
from simulator import PullRequest, Repository, Simulator

_TRAIN = "BATCH = {}\nloss = model(batch)\nloss.backward()\noptimizer.step()\n"
_STUB = ("benchmarks.campaign.serve", "--pace-of-github")
_REAL = ("bot.cli", "serve")
_REST_SECONDS = 900.0


async def main(words: argparse.Namespace) -> int:
    """Play the rounds and print a line for each."""
    complete = True
    with tempfile.TemporaryDirectory() as folder, words.log:
        async with Simulator.start() as github:
            server = Server(github, Path(folder), words.log, words.database, _REAL if words.real else _STUB)
            github.webhook_url = f"{server.address}/webhook"
            github.limits = replace(github.limits, requests_per_hour=1_000_000)  # an hour's requests are not what is measured
            server.start()
            await server.until_ready()
            repositories = [github.create_repository(f"owner-{number}/train", {"train.py": _TRAIN.format(8)}) for number in range(words.installations)]
            print(f"{words.deliveries} deliveries over {words.installations} installations, {words.together} at once; {_resident(server):.0f} MiB at the start")
            for round_ in range(words.rounds):
                complete = await _round(github, server, repositories, words, round_) and complete
            server.stop()
            print(f"{len(github.violations)} requests that GitHub would have refused")
            return 0 if complete and not github.violations else 1


async def _round(github: Simulator, server: Server, repositories: list[Repository], words: argparse.Namespace, round_: int) -> bool:
    github.webhooks.hold()
    pulls = [_opened(repositories[number % len(repositories)], round_, number) for number in range(words.deliveries)]
    before = len(github.webhooks.deliveries)
    started = time.monotonic()
    github.webhooks.release(together=words.together)
    await github.deliveries_settled()
    answered = github.webhooks.deliveries[before:]
    mine = [delivery for delivery in answered if delivery.event.name == "pull_request"]
    at_rest = await server.idle(_REST_SECONDS)
    seconds = time.monotonic() - started
    waits = sorted(delivery.duration for delivery in mine)
    lost = sum(delivery.status_code != 202 for delivery in mine)  # noqa: PLR2004  # Accepted
    done = sum(_is_done(pull) for pull in pulls)
    print(
        f"round {round_ + 1}: answered by the server within {await _answered(server)} s for 99 of 100; as the simulator saw it "
        f"p50 {statistics.median(waits):.2f} s, p99 {waits[int(len(waits) * 0.99)]:.2f} s, longest {waits[-1]:.2f} s; "
        f"{lost} not stored; {done} of {len(pulls)} completed in {seconds:.0f} s; {_resident(server):.0f} MiB"
    )
    return at_rest and not lost and done == len(pulls)


def _opened(repository: Repository, round_: int, number: int) -> PullRequest:
    return repository.open_pull_request(f"change-{round_}-{number}", files={"train.py": _TRAIN.format(16) + f"value_{number} = BUG\n"})


def _is_done(pull: PullRequest) -> bool:
    """One completed check, one review, one comment."""
    runs = pull.repository.check_runs(pull.head_sha)
    return [run.status for run in runs] == ["completed"] and len(pull.reviews) == len(pull.comments) == 1


async def _answered(server: Server) -> str:
    """The least bound in seconds within which the server answered 99 of 100 deliveries."""
    async with aiohttp.ClientSession() as session, session.get(f"{server.address}/metrics") as response:
        found = re.findall(r'^preflight_answer_seconds_bucket\{le="(.+)"\} (\d+)$', await response.text(), re.MULTILINE)
    most = max(int(count) for _, count in found)
    return next(bound for bound, count in found if int(count) >= 0.99 * most)  # as the sentence says


def _resident(server: Server) -> float:
    """The server's resident memory, in MiB."""
    assert server.process is not None  # noqa: S101  # it was started
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks burst", description=__doc__.partition("\n")[0])
    parser.add_argument("--deliveries", type=int, default=300)
    parser.add_argument("--installations", type=int, default=30)
    parser.add_argument("--together", type=int, default=30, help="how many are under way at once")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--database", default="", help="an address of PostgreSQL; default: the embedded database")
    parser.add_argument("--real", action="store_true", help="analyse in worker processes")
    parser.add_argument("--log", type=argparse.FileType("wb"), default="/dev/null", help="where the server's output goes")
    sys.exit(asyncio.run(main(parser.parse_args())))
