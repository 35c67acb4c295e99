"""An estimate as JSON, text and Markdown: the contract's fields, nothing said that is not known."""

from __future__ import annotations

import json

from analysis.certainty import Assumed, Known, Place
from estimator.estimate import Fit, Remedy, Verdict
from estimator.report import as_markdown, as_text, document
from tests.estimator.estimates import GIB, estimate, memory

FITS = (Fit("T4", 15 * GIB, Verdict.DOES_NOT_FIT), Fit("A100-80GB", 79 * GIB, Verdict.FITS))


def only(estimates) -> dict:
    written = json.loads(json.dumps(document(estimates)))
    assert written["version"] == 1
    [one] = written["estimates"]
    return one


def test_the_document_has_the_contracts_fields():
    one = only([estimate(memory(20 * GIB, parameters=GIB), fits=FITS)])
    assert list(one) == [
        "entry", "started_at", "mode", "config", "parameters", "trainable_parameters", "memory", "allocated_bytes", "allocated_interval",
        "peak_bytes", "interval", "peak_at", "largest", "phases", "course", "unknowns", "fits", "remedies",
    ]  # fmt: skip
    assert sum(one["memory"].values()) == one["peak_bytes"] == 20 * GIB
    assert set(one["memory"]) == {
        "parameters", "gradients", "optimizer_state", "activations", "kv_cache", "temporary", "buffers", "context", "fragmentation",
    }  # fmt: skip
    assert one["fits"][0] == {"gpu": "T4", "usable_bytes": 15 * GIB, "verdict": "does_not_fit"}
    assert one["largest"] == [{"path": "model.py", "line": 40, "bytes": one["memory"]["activations"], "what": "attention scores"}]


def test_a_setting_says_how_sure_it_is_and_where_it_stands():
    settings = only([estimate(memory(), batch_size=Assumed(8, "no loader was found"))])["config"]
    assert settings["model"] == {"value": "gpt2", "source": "train.py:3", "certainty": "known"}
    assert settings["batch_size"] == {"value": 8, "source": None, "certainty": "assumed", "why": "no loader was found"}
    assert settings["image_size"]["certainty"] == "unknown"
    assert settings["image_size"]["value"] is None


def test_what_is_unresolved_is_null():
    one = only([estimate(fits=(Fit("T4", 15 * GIB, Verdict.CANNOT_TELL),), unknowns=("the model's class",))])
    for name in ("parameters", "trainable_parameters", "allocated_bytes", "allocated_interval", "peak_bytes", "interval", "peak_at"):
        assert one[name] is None
    assert set(one["memory"].values()) == {None}
    assert one["unknowns"] == ["the model's class"]


def test_the_text_puts_assumptions_first_and_names_every_part():
    text = as_text([estimate(memory(20 * GIB, parameters=GIB), fits=FITS, batch_size=Assumed(8, "no loader was found"))])
    lines = text.splitlines()
    assert lines[0] == "train.py (training)"
    assert lines[1].split(maxsplit=2) == ["batch", "size", "8, assumed: no loader was found"]
    assert "Peak memory: 20.0 GiB" in text
    assert ["parameters", "1.0", "GiB"] in [line.split() for line in lines]
    assert "does not fit (15.0 GiB usable)" in text


def test_the_text_of_an_unresolved_model_says_so():
    text = as_text([estimate(unknowns=("the model's class",))])
    assert "Peak memory: cannot tell." in text
    assert "Not known: the model's class" in text


def test_markdown_keeps_what_comes_from_the_repository_in_its_cell():
    held = memory()
    markdown = as_markdown([estimate(held, model=Known("a|b <img> @everyone", Place("train.py", 1)))])
    assert "a\\|b &lt;img> @\u200beveryone (train.py:1)" in markdown
    assert markdown.endswith("\n")


def test_a_remedy_is_told_with_its_cost():
    remedied = estimate(memory())
    remedied = type(remedied)(
        remedied.entry, remedied.mode, remedied.config, remedied.memory, remedies=(Remedy("Checkpointing", GIB, 9 * GIB, fits=True, cost="Slower."),)
    )
    assert "Try: Checkpointing. Peak 9.0 GiB, 1.0 GiB less, fits. Cost: Slower." in as_text([remedied])
    assert "- **Checkpointing**: 9.0 GiB, 1.0 GiB less, fits. Slower." in as_markdown([remedied])
    assert only([remedied])["remedies"][0] == {"change": "Checkpointing", "saves_bytes": GIB, "peak_bytes": 9 * GIB, "fits": True, "cost": "Slower."}
