"""REST: Prism with GitHub's own OpenAPI, which answers a bad request with what is wrong about it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
from yarl import URL

from simulator.openapi.document import match
from simulator.ports import free_port

_SERVERS = [{"url": "/"}]
#: Where GitHub's redirect from the old name of a repository leads: the same operations, by a path that its document leaves out.
_BY_NUMBER = re.compile(r"^/repositories/[0-9]+/")
#: What Prism says of a request that no operation of the document, or not this one, takes.
_REFUSALS = re.compile(r"errors#(?:UNPROCESSABLE_ENTITY|NO_PATH_MATCHED_ERROR|NO_METHOD_MATCHED_ERROR|INVALID_CONTENT_TYPE)")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of the bot; ``path`` with its query."""

    method: str
    path: str
    headers: dict[str, str]
    body: str

    @property
    def shape(self) -> str:
        """What it has in common with others of its kind: numbers and hashes do not count."""
        return f"{self.method} {re.sub('[0-9a-f]{7,64}|[0-9]+', '0', f'{self.path} {self.body}')}"


_BAD = Asked("POST", "/repos/octo/train/check-runs", {"Content-Type": "application/json"}, '{"head_sha": "c0ffee"}')


def pruned(document: Path, paths: Iterable[str], to: Path) -> None:
    """Write to ``to`` the part of GitHub's OpenAPI that is about ``paths``: Prism takes minutes for all of it."""
    whole: dict[str, Any] = json.loads(document.read_text(encoding="utf-8"))
    wanted = set(paths)
    part = whole | {"servers": _SERVERS, "paths": {path: item for path, item in whole["paths"].items() if path in wanted}}
    to.write_text(json.dumps(part))


async def judged(asked: list[Asked], programs: Path, document: Path) -> list[str]:
    """A sentence for every request that Prism refuses; ``programs`` is npm's folder of commands."""
    port = free_port()
    words = [programs / "prism", "mock", "--errors", "--port", str(port), document]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: ASYNC220  # started once
        try:
            async with aiohttp.ClientSession() as session:
                await _listening(session, port)
                if not await _refusal(session, port, _BAD):
                    raise RuntimeError("Prism takes a check run without a name: its opinion is worth nothing")
                return [sentence for each in asked if (sentence := await _refusal(session, port, each))]
        finally:
            process.terminate()


def _in_segments(asked: Asked) -> str:
    """The path with one segment for each placeholder: in GitHub's document some stand for several, which OpenAPI cannot say."""
    path, mark, query = _BY_NUMBER.sub("/repos/owner/moved/", asked.path).partition("?")
    found = match(asked.method, path)
    if found is None:
        return path + mark + query
    operation, values = found
    return operation.template.format_map({name: quote(value, safe="") for name, value in values.items()}) + mark + query


async def _listening(session: aiohttp.ClientSession, port: int) -> None:
    for _ in range(600):
        try:
            async with session.get(f"http://127.0.0.1:{port}/meta"):
                return
        except aiohttp.ClientError:
            await asyncio.sleep(0.2)
    raise TimeoutError("Prism did not start within two minutes")


async def _refusal(session: aiohttp.ClientSession, port: int, asked: Asked) -> str:
    address = URL(f"http://127.0.0.1:{port}{_in_segments(asked)}", encoded=True)
    headers = {name: value for name, value in asked.headers.items() if value}
    async with session.request(asked.method, address, data=asked.body or None, headers=headers, allow_redirects=False) as response:
        text = await response.text()
    if not _REFUSALS.search(text):
        return ""
    refused = json.loads(text)
    return f"{asked.method} {asked.path}: {refused['title']} {json.dumps(refused.get('validation', ''))} {asked.body[:300]}"
