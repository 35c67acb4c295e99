"""The README shows what the product says today: ``--update`` writes the excerpt anew."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.selection import select
from analysis.settings import EntrySettings, Settings
from analysis.settings_file import settings_of
from analysis.snapshot import Snapshot
from bot.cli import main as door
from bot.cli.demo.stage import guest
from bot.cli.finding_text import render
from bot.cli.terminal import Paint
from bot.review.comment import memory_comment
from bot.review.compute import review
from bot.review.located import locate

README = Path(__file__).parent.parent / "README.md"
_EXCERPT = re.compile(r"(?<=<!-- excerpt: begin -->\n).*?(?=<!-- excerpt: end -->)", re.DOTALL)
_SHOWN = ("missing-zero-grad", "retained-graph")


def _snapshot(*parts: str) -> Snapshot:
    return Snapshot.of({path: text.encode() for part in parts for path, text in guest(part).items()})


def _findings(head: Snapshot) -> str:
    report = analyse(head, select(discover(), _SHOWN, ()))
    lines = {path: content.decode().splitlines() for path, content in head.contents.items()}
    return "\n\n".join(render(locate(finding, head), lines.__getitem__, Paint(enabled=False)) for finding in report.findings)


def _comment(base: Snapshot, head: Snapshot) -> str:
    settings = settings_of(base.contents)
    comment = memory_comment(review(base, head, settings), settings)
    assert comment is not None
    return comment.body.split("<details>")[0].strip()


def test_the_excerpt_is_what_the_demo_says(request: pytest.FixtureRequest) -> None:
    base, head = _snapshot("base"), _snapshot("base", "change")
    quoted = "\n".join(f"> {line}".rstrip() for line in _comment(base, head).splitlines())
    excerpt = f"```\n$ preflight check\n{_findings(head)}\n```\n\n{quoted}\n"
    text = README.read_text(encoding="utf-8")
    if request.config.getoption("--update"):
        text = _EXCERPT.sub(lambda _match: excerpt, text)
        README.write_text(text, encoding="utf-8")

    found = _EXCERPT.search(text)
    assert found is not None
    assert found[0] == excerpt


def test_every_command_is_in_the_table() -> None:
    text = README.read_text(encoding="utf-8")

    assert [command for command in door.COMMANDS if f"`preflight {command}" not in text] == []


def test_the_configuration_shows_every_key_and_holds() -> None:
    (shown,) = re.findall(r"^```toml\n(.+?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    table = tomllib.loads(shown)["tool"]["preflight"]

    assert {key.replace("-", "_") for key in table} == {field.name for field in fields(Settings)}
    assert {key for entry in table["entry"].values() for key in entry} == {field.name for field in fields(EntrySettings)}
    assert settings_of({"pyproject.toml": shown.encode()}).of_entry("src/train.py").gpus == ("H100",)
