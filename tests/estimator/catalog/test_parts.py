"""Parts of published pipelines: each with its source and its exact count, and every family is one that something builds."""

from __future__ import annotations

import pytest

from estimator import catalog, zoo
from estimator.catalog.stanzas import stanzas
from estimator.tape.run import Tape
from tests.estimator.tape.native import Library

LIBRARY = Library()
BUILDERS = {"t5": "T5EncoderModel", "autoencoder_kl": "AutoencoderKL", "gemma2": "Gemma2Model", "qwen3": "Qwen3ForCausalLM"}
ENTRIES = [*stanzas("parts.toml", "part"), *stanzas("library_models.toml", "model")]
OURS = [entry for entry in ENTRIES if entry["family"] in zoo.families()]


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry["names"][0])
def test_a_part_of_the_zoo_has_exactly_the_librarys_number_of_parameters(entry):
    numbers = dict(entry["config"])
    builder = numbers.pop("architectures", [BUILDERS.get(entry["family"])])[0]
    with Tape().active():
        module = LIBRARY.load(f"{zoo.PACKAGE}.{entry['family']}")
        model = getattr(module, builder)(getattr(module, zoo.family(entry["family"]).config)(**numbers))
        assert sum(parameter.numel() for parameter in model.parameters()) == entry["parameters"]


def test_what_the_zoo_lacks_is_built_by_a_class_of_a_library():
    assert {entry["family"].partition(".")[0] for entry in ENTRIES if entry not in OURS} == {"diffusers", "transformers"}


def test_parts_are_found_by_their_pipeline_and_folder_and_say_where_their_numbers_are_from():
    assert all(each.sources[0] for each in catalog.parts())
    assert catalog.part("thudm/cogvideox-2b-text_encoder").family == "t5"
    assert catalog.part("gpt2") is None
    assert catalog.catalog_name("THUDM/CogVideoX-2b-text_encoder") == "stabilityai/stable-diffusion-3-medium-diffusers-text_encoder_3"
    assert catalog.catalog_name("bert-base-uncased") == "google-bert/bert-base-uncased"
    assert catalog.catalog_name("nobody/nothing") == "nobody/nothing"
