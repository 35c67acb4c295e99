"""``preflight sources`` lists what can be read and refuses what names no release."""

from __future__ import annotations

import json

import pytest

from bot.cli.main import main
from bot.sources.shelf import usual


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PREFLIGHT_SOURCES_DIR", str(tmp_path))


def test_the_zoos_versions_are_listed(capsys):
    assert main(["sources", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["sources"]
    assert {"transformers", "torchvision", "timm", "diffusers"} <= {row["name"] for row in rows if row["origin"] == "zoo"}


def test_the_usual_releases_are_brought_to_the_folder_that_is_set(tmp_path, monkeypatch):
    brought = []
    monkeypatch.setattr("bot.cli.sources.add", lambda library, version, shelf: brought.append((f"{library}=={version}", shelf)))
    assert main(["sources", "add", "timm==0.9.0", "--usual"]) == 0
    assert brought == [(release, tmp_path) for release in (*usual(), "timm==0.9.0")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["add"], "needs a release"),
        (["add", "transfomers==4.46.0"], "did you mean transformers"),
        (["add", "timm"], "names no release"),
        (["add", "timm==1.0; echo"], "names no release"),
        (["remove"], "must be one of add"),
    ],
)
def test_what_names_no_release_is_refused_in_one_sentence(words, says, capsys):
    assert main(["sources", *words]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert "Traceback" not in said
