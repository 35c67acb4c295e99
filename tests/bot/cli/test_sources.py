"""``preflight sources`` lists what can be read and refuses what names no release."""

from __future__ import annotations

import json

import pytest

from bot.cli.main import main


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def test_the_zoos_versions_are_listed(capsys):
    assert main(["sources", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["sources"]
    assert {"transformers", "torchvision", "timm", "diffusers"} <= {row["name"] for row in rows if row["origin"] == "zoo"}


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
