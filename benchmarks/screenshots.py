"""The pages of ``docs/images``, as Chromium shows them today: what the demo's pull request gets, and the setup.

python -m benchmarks screenshots docs/images
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from bot.cli.demo.stage import Stage, stage
from bot.settings import SetupSettings
from bot.setup.server import Setup, set_up
from simulator.ports import free_port

#: Leaves what the address's fragment names, and what that stands in: a picture of a page that was scrolled comes out blank.
_ALONE = "<base href={address!r}><style>body *:not(:has(:target), :target, :target *) {{ display: none }}</style>"
_CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@dataclass(frozen=True, slots=True)
class Picture:
    """The page at ``address``, or the element ``alone`` (an id) of it, in a window of ``width`` and ``height`` pixels."""

    name: str
    address: str
    width: int
    height: int
    alone: str = ""


async def main(words: argparse.Namespace) -> int:
    """Play the demo, show the setup page, and take every picture."""
    if _CHROMIUM is None:
        print("there is no Chromium on PATH", file=sys.stderr)
        return 2
    async with stage(port=0) as shown:
        await shown.play()
        for picture in _of_the_pull_request(shown):
            await _take(_CHROMIUM, picture, words.folder)
        with tempfile.TemporaryDirectory() as folder:
            setup = Setup(SetupSettings(shown.github.api_url, shown.github.web_url, "127.0.0.1", free_port()), Path(folder))
            serving = asyncio.create_task(set_up(setup, setup.settings.host, setup.settings.port))
            for picture in _of_the_setup(setup):
                await _take(_CHROMIUM, picture, words.folder)
            serving.cancel()
    return 0


def _of_the_pull_request(shown: Stage) -> tuple[Picture, ...]:
    pull = shown.pull
    review, comment = pull.reviews[0], next(each for each in pull.comments if each.user == shown.github.bot)
    return (
        Picture("review", shown.page, 1100, 1000, f"pullrequestreview-{review.id}"),
        Picture("comment", shown.page, 1100, 835, f"issuecomment-{comment.id}"),
        Picture("check", f"{shown.page}/checks", 1100, 1500),
    )


def _of_the_setup(setup: Setup) -> tuple[Picture, ...]:
    address = f"http://{setup.settings.host}:{setup.settings.port}/setup?key={setup.key}"
    confirmed = f"{address}&address=https%3A%2F%2Fpreflight.example.com&commits=yes&scanning=yes"
    return Picture("setup", address, 900, 640), Picture("setup-permissions", confirmed, 900, 610)


async def _take(chromium: str, picture: Picture, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as profile:
        address = await _alone(picture, Path(profile)) if picture.alone else picture.address
        browser = await asyncio.create_subprocess_exec(
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={profile}",
            f"--window-size={picture.width},{picture.height}",
            f"--screenshot={(folder / picture.name).with_suffix('.png').absolute()}",
            address,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if await browser.wait() != 0:
            raise RuntimeError(f"Chromium could not take {picture.name}")


async def _alone(picture: Picture, folder: Path) -> str:
    """The address of a copy of the page in ``folder`` that shows the one element."""
    async with aiohttp.ClientSession() as session, session.get(picture.address) as response:
        page = await response.text()
    copy = folder / "page.html"
    copy.write_text(page.replace("<head>", f"<head>{_ALONE.format(address=picture.address)}", 1), encoding="utf-8")
    return f"{copy.as_uri()}#{picture.alone}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks screenshots", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    sys.exit(asyncio.run(main(parser.parse_args())))
