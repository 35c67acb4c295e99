"""The zoo's parameters are the library's: every name and shape of each class, and the exact count of each named model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from estimator import catalog, zoo
from estimator.tape.run import Tape
from tests.estimator.tape.native import Library

RECORDED = json.loads(Path(__file__).with_name("parameters.json").read_text(encoding="utf-8"))
NAMED = RECORDED["names"]
LIBRARY = Library()
COUNTS = {row["model"]: row for row in RECORDED["counts"]}


def build(family: str, config: dict, builder: str):
    """A model of the zoo on the tape; ``builder`` is one of the family's classes, or ``build``."""
    module = LIBRARY.load(f"{zoo.PACKAGE}.{family}")
    return getattr(module, builder)(getattr(module, zoo.family(family).config)(**config))


@pytest.mark.parametrize("row", NAMED, ids=[f"{row['class']}-{index}" for index, row in enumerate(NAMED)])
def test_every_parameter_and_buffer_has_the_librarys_name_and_shape(row):
    with Tape().active():
        model = build(row["family"], row["config"], row["class"])
        parameters = [[name, list(parameter.shape)] for name, parameter in model.named_parameters()]
        buffers = [[name, list(buffer.shape)] for name, buffer in model.named_buffers()]
    assert parameters == row["parameters"]
    assert buffers == row["buffers"]


@pytest.mark.parametrize("entry", catalog.models(), ids=lambda entry: entry.name)
def test_a_named_model_has_exactly_the_librarys_number_of_parameters(entry):
    recorded = COUNTS[entry.name]
    builder = recorded["class"] if zoo.family(entry.family).mirrors.startswith("transformers") else "build"
    with Tape().active():
        sizes = [parameter.numel() for parameter in build(entry.family, dict(entry.config), builder).parameters()]
    assert (sum(sizes), len(sizes)) == (recorded["parameters"], recorded["tensors"])


def test_the_catalog_names_families_that_exist():
    built_by_scripts = {"segmentation", "unet_2d", "controlnet", "glm", "qwen2_5_vl", "qwen3_vl"}
    assert {entry.family for entry in catalog.models()} == set(zoo.families()) - built_by_scripts
