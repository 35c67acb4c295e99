"""Changes that make a script fit a card: found by running it, in few runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from estimator.script import causes
from tests.estimator.script.running import estimated

GUEST = Path(__file__).parent / "guest"


def script(name: str) -> str:
    return (GUEST / f"{name}.py").read_text(encoding="utf-8")


@pytest.fixture
def runs(monkeypatch):
    """The entries of the runs that were made."""
    made = []
    run_script = causes.run_script
    monkeypatch.setattr(causes, "run_script", lambda *args: made.append(args[1]) or run_script(*args))
    return made


SHALLOW = script("own_gpt").replace("= 768, 12, 12, 50304", "= 768, 12, 2, 50304")


@pytest.mark.parametrize("text", [script("gpt2").replace("batch_size=8", "batch_size=64"), SHALLOW.replace("batch_size = 12", "batch_size = 64")])
def test_a_batch_of_64_is_made_to_fit_16_gigabytes(text, runs):
    found = estimated(text, gpus=("T4",))
    assert found.fits[0].verdict.value == "does_not_fit"
    assert found.remedies[0].fits
    assert found.remedies[0].peak_bytes < found.fits[0].usable_bytes
    assert any(remedy.change.startswith("Batch size") for remedy in found.remedies)
    assert any(remedy.change.startswith("Run it on") for remedy in found.remedies)
    assert len(runs) <= 10


def test_a_script_that_fits_needs_nothing(runs):
    found = estimated(script("small_cnn"), gpus=("T4",))
    assert found.remedies == ()
    assert len(runs) == 1


def test_blocks_of_a_models_own_are_checkpointed():
    text = script("own_gpt").replace("block_size = 1024", "block_size = 256")
    plain, checkpointed = (estimated(text, overrides=overrides) for overrides in ({}, {"checkpointing": True}))
    assert checkpointed.config.checkpointing.value
    assert checkpointed.memory.components.activations < 0.6 * plain.memory.components.activations
