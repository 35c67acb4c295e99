"""Whole scripts, from their text to their peak: what real PyTorch code of the same shape was measured to hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.certainty import Known, Unknown
from tests.estimator.script.running import estimated

HERE = Path(__file__).parent
ROWS = json.loads((HERE / "rows.json").read_text(encoding="utf-8"))["rows"]
FIELDS = ("model", "batch_size", "sequence_length", "image_size", "precision", "optimizer", "checkpointing")


@pytest.mark.parametrize("row", ROWS, ids=[row["program"] for row in ROWS])
def test_a_script_holds_what_was_measured(row):
    found = estimated((HERE / "guest" / f"{row['program']}.py").read_text(encoding="utf-8"))
    assert found.memory is not None, found.unknowns
    assert found.memory.allocated_bytes == pytest.approx(row["allocated"], rel=0.005)
    assert found.memory.peak_at == row["phase"]
    assert found.memory.parameters == row["parameters"]
    assert {name: getattr(getattr(found.config, name), "value", None) for name in FIELDS} == {name: row.get(name) for name in FIELDS}


@pytest.mark.parametrize("program", ["own_gpt", "small_cnn", "gpt2", "resnet", "bert"])
def test_what_arrived_is_known_and_has_a_line(program):
    found = estimated((HERE / "guest" / f"{program}.py").read_text(encoding="utf-8"))
    for name in ("model", "batch_size", "sequence_length", "image_size", "precision", "optimizer"):
        setting = getattr(found.config, name)
        assert isinstance(setting, Unknown) or (isinstance(setting, Known) and setting.because is not None), name


def test_the_same_text_gives_the_same_estimate():
    text = (HERE / "guest" / "small_cnn.py").read_text(encoding="utf-8")
    assert estimated(text, gpus=("T4",)) == estimated(text, gpus=("T4",))


def test_the_window_of_a_token_file_is_assumed_to_be_tokens():
    text = (HERE / "guest" / "llama.py").read_text(encoding="utf-8").replace("meta-llama/Llama-3.1-8B", "gpt2").replace("2048", "512")
    assert "taken as rows of 512 token numbers" in estimated(text).config.sequence_length.why
