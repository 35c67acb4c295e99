"""The fault campaign: random schedules of events, faults and kills, and what must hold in all of them.

    python -m benchmarks faults --schedules 1000 --seed 1
    python -m benchmarks faults --schedules 100 --seed 1 --servers 2 --database postgresql://user@host/name

The server is the real one on its embedded database, in a process that is killed with SIGKILL every few seconds; GitHub is the
simulator; only the analysis is a stub. On PostgreSQL there may be several servers: deliveries go to the first, and whichever is killed, the others
go on with what it has begun. Schedules are drawn from consecutive seeds and played side by side, each on a repository
of its own. Events are doubled, held back and reordered, tokens end, requests break before or after they had an effect.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

from benchmarks.campaign.invariants import broken, is_unfinished
from benchmarks.campaign.play import Played, play
from benchmarks.campaign.schedule import drawn
from benchmarks.campaign.server import Server
from bot.events import handlers
from simulator import BadGateway, Drop, RateLimited, Simulator

_REST_SECONDS = 900.0


async def main(words: argparse.Namespace) -> int:
    """Play all schedules, wait until the bot has come to rest, and look."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, words.log:
        async with Simulator.start() as github:
            servers = [Server(github, Path(folder) / str(number), words.log, words.database) for number in range(words.servers)]
            server = servers[0]
            github.webhook_url = f"{server.address}/webhook"
            for each in servers:
                each.start()
                await each.until_ready()
            weather = asyncio.create_task(_weather(github, servers, words))
            playing = asyncio.create_task(_play_all(github, range(words.seed, words.seed + words.schedules), words.together))
            await asyncio.wait((weather, playing), return_when=asyncio.FIRST_COMPLETED)
            weather.cancel()
            with suppress(asyncio.CancelledError):
                await weather
            played = await playing
            await server.until_ready()
            github.webhooks.release()
            await github.deliveries_settled()
            github.faults.clear()
            came_to_rest = await _arrived(github, server) and await server.idle(_REST_SECONDS)
            for each in servers:
                each.stop()
            return _report(github, played, kills=words.kills, came_to_rest=came_to_rest, seconds=time.monotonic() - started)


async def _arrived(github: Simulator, server: Server) -> bool:
    """Wait until every delivery that means something was taken: the bot asks for those that failed, less and less often."""
    ends = time.monotonic() + _REST_SECONDS
    while time.monotonic() < ends:
        latest = {delivery.event.guid: delivery.status_code for delivery in github.webhooks.deliveries if delivery.event.name in handlers()}
        if all(status is not None and status < HTTPStatus.BAD_REQUEST for status in latest.values()):
            return True
        if not await server.idle(_REST_SECONDS):
            return False
    return False


async def _play_all(github: Simulator, seeds: Iterable[int], together: int) -> list[Played]:
    slots = asyncio.Semaphore(together)

    async def one(seed: int) -> Played:
        async with slots:
            played = await play(github, drawn(seed))
            await asyncio.sleep(2.0)  # the bot works on it while others are played
            return played

    return list(await asyncio.gather(*(one(seed) for seed in seeds)))


async def _weather(github: Simulator, servers: Sequence[Server], words: argparse.Namespace) -> None:
    """What befalls all schedules alike: kills, doubled and reordered events, tokens that end, GraphQL that stumbles."""
    dice = random.Random(words.seed)  # noqa: S311  # a campaign, no secret
    while True:
        await asyncio.sleep(dice.uniform(1.0, words.every))
        match dice.choice(("kill", "kill", "double", "reorder", "tokens", "graphql")):
            case "kill":
                server = dice.choice(servers)
                server.kill()
                words.kills += 1
                server.start()
                await server.until_ready()
            case "double":
                github.webhooks.double_next("pull_request", 3)
            case "reorder":
                github.webhooks.hold()
                await asyncio.sleep(0.5)
                github.webhooks.release(reverse=True, together=dice.choice((1, 10)))
            case "tokens":
                github.service.tokens.revoke_all()
            case "graphql":
                github.fail_next("POST", r"/graphql$", dice.choice((BadGateway(), Drop(), RateLimited(403, retry_after=1))), times=2)


def _report(github: Simulator, played: list[Played], *, kills: int, came_to_rest: bool, seconds: float) -> int:
    found = [(each.schedule.seed, sentence) for each in played for sentence in broken(each)]
    for seed, sentence in found:
        print(f"seed {seed}: {sentence}")
    for violation in github.violations[:20]:
        print(f"GitHub would have refused: {violation}")
    unfinished = sum(map(is_unfinished, played))
    print(
        f"{len(played)} schedules in {seconds:.0f} s, {kills} kills, {len(github.requests)} requests, {len(github.webhooks.deliveries)} deliveries: "
        f"{len({seed for seed, _ in found})} with something broken, {len(github.violations)} bad requests, "
        f"{unfinished} checks that say GitHub failed too often{'' if came_to_rest else '; the bot did not come to rest'}"
    )
    return 1 if found or github.violations or not came_to_rest else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks faults", description=__doc__.partition("\n")[0])
    parser.add_argument("--schedules", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", type=int, default=12, help="how many are played at once")
    parser.add_argument("--every", type=float, default=8.0, help="the longest time between two blows, in seconds")
    parser.add_argument("--servers", type=int, default=1, help="how many there are; more than one needs --database")
    parser.add_argument("--database", default="", help="an address of PostgreSQL; default: the embedded database")
    parser.add_argument("--log", type=argparse.FileType("wb"), default="/dev/null", help="where the server's output goes")
    parser.set_defaults(kills=0)
    sys.exit(asyncio.run(main(parser.parse_args())))
