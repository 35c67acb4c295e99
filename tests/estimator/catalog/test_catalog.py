"""The catalog answers to the names people type, and every number in it says where it is from."""

from __future__ import annotations

import pytest

from estimator import catalog
from estimator.catalog.stanzas import stanzas

MIB = 1 << 20

#: The least share of its memory that a card of each kind with a reported total leaves: what gpus.toml says it derives from.
DERIVED_SHARE = {"consumer": 0.95, "gddr-ecc": 0.91, "hbm": 0.98, "amd": 0.999}


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("A100-80GB", "A100-80GB"),
        ("a100", "A100-80GB"),
        ("NVIDIA A100-SXM4-40GB", "A100-40GB"),
        ("T4", "T4"),
        ("Tesla T4", "T4"),
        ("RTX 4090", "RTX 4090"),
        ("rtx4090", "RTX 4090"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("h100", "H100-80GB"),
        ("AMD Instinct MI300X", "MI300X"),
        ("p4de.24xlarge", "A100-80GB"),
        ("ml.g5.2xlarge", "A10G"),
        ("Standard_NC4as_T4_v3", "T4"),
        ("nc4as_t4_v3", "T4"),
        ("g2-standard-8", "L4"),
    ],
)
def test_a_card_is_found_by_the_names_people_type(typed: str, found: str):
    assert catalog.gpu(typed).name == found


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
        ("llama-3.1-8b", "meta-llama/Llama-3.1-8B"),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B"),
        ("gpt2", "openai-community/gpt2"),
        ("GPT2-XL", "openai-community/gpt2-xl"),
        ("bert-base-uncased", "google-bert/bert-base-uncased"),
        ("Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B"),
        ("ResNet-50", "resnet50"),
    ],
)
def test_a_model_is_found_by_the_names_people_type(typed: str, found: str):
    assert catalog.model(typed).name == found


def test_a_miss_names_the_nearest_and_where_to_look():
    with pytest.raises(catalog.UnknownNameError, match=r"'RTX 4095': the nearest known name is 'RTX 40\d\d'.*`preflight gpus`"):
        catalog.gpu("RTX 4095")
    with pytest.raises(catalog.UnknownNameError, match=r"'gtp2': the nearest known name is 'gpt2'.*`preflight models`"):
        catalog.model("gtp2")


def test_every_number_has_a_source():
    assert all(card.sources for card in catalog.gpus())
    assert all(entry.sources for entry in catalog.models())
    assert all(machine.source.startswith("https://") for machine in catalog.instances())
    # What is called reported names the run that reported it beside the maker's figure.
    assert all(len(card.sources) > 1 for card in catalog.gpus() if card.usable_is_reported)


@pytest.mark.parametrize("card", catalog.gpus(), ids=lambda card: card.name)
def test_no_card_offers_more_than_it_has(card: catalog.Gpu):
    assert 0 < card.context_bytes < card.usable_bytes < card.memory_bytes


@pytest.mark.parametrize("entry", stanzas("gpus.toml", "gpu"), ids=lambda entry: entry["name"])
def test_what_is_derived_follows_the_rule_of_its_kind(entry: dict):
    share = entry["usable_mib"] / entry["memory_mib"]
    if entry["usable_from"] == "derived":
        assert entry["usable_mib"] == int(entry["memory_mib"] * DERIVED_SHARE[entry["kind"]])
    else:
        assert entry["usable_from"] == "reported"
        assert share >= DERIVED_SHARE[entry["kind"]], "a reported card leaves less than the rule for its kin"


def test_the_table_covers_turing_to_blackwell_and_instinct():
    capabilities = {card.compute_capability for card in catalog.gpus()}
    assert {(7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0)} <= capabilities
    assert {"gfx90a", "gfx942", "gfx950"} <= {card.architecture for card in catalog.gpus()}
    assert len(catalog.gpus()) >= 60


def test_instances_say_how_many_of_which_card():
    machine = catalog.instance("p4de.24xlarge")
    assert (machine.gpu.name, machine.count) == ("A100-80GB", 8)
    assert catalog.instance("a2-megagpu-16g").count == 16


def test_only_the_measured_context_is_called_measured():
    assert catalog.gpu("T4").context_is_measured
    assert not catalog.gpu("A100").context_is_measured
    assert catalog.gpu("A100").context_bytes == 450 * MIB
