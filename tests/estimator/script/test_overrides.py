"""What the caller asks for takes effect at the model, or is named as not applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.snapshot import Snapshot
from estimator.estimate import Mode
from estimator.request import Request
from estimator.run import estimate
from tests.estimator.script.running import estimated

GUEST = Path(__file__).parent / "guest"
GPT, CNN = ((GUEST / f"{name}.py").read_text(encoding="utf-8") for name in ("own_gpt", "small_cnn"))
SMALL_GPT = GPT.replace("width, heads, depth, vocabulary = 768, 12, 12, 50304", "width, heads, depth, vocabulary = 64, 4, 3, 512")
UNCHANGED = estimated(SMALL_GPT)


def model(name, **request):
    [found] = estimate(Snapshot.of({}), Request(model=name, **request))
    return found


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("batch_size", 4),
        ("sequence_length", 256),
        ("precision", "amp-fp16"),
        ("precision", "fp32"),
        ("precision", "bf16"),
        ("optimizer", "adamw"),
        ("optimizer", "sgd-momentum"),
        ("optimizer", "adamw-8bit"),
        ("checkpointing", True),
    ],
)
def test_a_script_with_globals_is_changed(field, value):
    found = estimated(SMALL_GPT, overrides={field: value})
    assert found.memory is not None
    assert getattr(found.config, field).value == value
    assert found.unknowns == ()
    same_size = value == "amp-fp16"  # as large as the script's own bf16
    assert (found.memory.allocated_bytes == UNCHANGED.memory.allocated_bytes) is same_size


def test_images_are_brought_to_another_size():
    found = estimated(CNN.replace("[transforms.ToTensor()]", "[transforms.Resize(32), transforms.ToTensor()]"), overrides={"image_size": 64})
    assert found.config.image_size.value == 64
    assert found.unknowns == ()


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ({"attention": "eager"}, "--attention eager was not applied"),
        ({"image_size": 64}, "--image-size 64 was not applied: the model takes no images"),
        ({"optimizer": "sofia"}, "--optimizer sofia was not applied: the optimizers known here are adamw"),
    ],
)
def test_what_was_not_applied_is_said(overrides, says):
    found = estimated(SMALL_GPT, overrides=overrides)
    assert found.memory is not None
    assert any(sentence.startswith(says) for sentence in found.unknowns)


def test_sharding_shows_the_share_of_one_device():
    alone, sharded = (estimated(SMALL_GPT, overrides=overrides) for overrides in ({}, {"devices": 8, "sharding": "fsdp"}))
    assert sharded.unknowns == ()
    assert sharded.config.sharding.value == "fsdp"
    assert sharded.memory.allocated_bytes < alone.memory.allocated_bytes
    assert sharded.memory.components.parameters < alone.memory.components.parameters


def test_data_parallel_training_adds_buckets_as_large_as_the_gradients():
    alone, parallel = (estimated(SMALL_GPT, overrides=overrides) for overrides in ({}, {"devices": 4, "sharding": "ddp"}))
    assert (parallel.config.devices.value, parallel.config.sharding.value) == (4, "ddp")
    assert parallel.unknowns == ()
    added = parallel.memory.allocated_bytes - alone.memory.allocated_bytes
    gradients = 4 * alone.memory.trainable_parameters
    assert gradients <= added <= gradients * 1.01 + 512


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("gpt2", {"batch_size": 2, "sequence_length": 128, "precision": "amp-bf16", "optimizer": "sgd", "attention": "eager", "checkpointing": True}),
        ("resnet18", {"batch_size": 4, "image_size": 96, "precision": "bf16", "optimizer": "adamw-fused"}),
        ("bert-base-uncased", {"batch_size": 2, "sequence_length": 64, "devices": 2, "sharding": "ddp"}),
    ],
)
def test_a_named_model_is_run_as_asked(name, overrides):
    found = model(name, overrides=overrides)
    assert found.memory is not None
    assert {field: getattr(found.config, field).value for field in overrides} == overrides
    assert found.unknowns == ()


def test_a_named_model_says_what_it_assumed_and_nothing_of_what_it_has_not():
    found = model("resnet18")
    assert found.entry == "resnet18"
    assert found.config.image_size.why == "no image size was given"
    assert found.config.sequence_length.why == "the model takes no sequence of tokens"
    assert all(holder.place.path != "model.py" for holder in found.memory.largest)


def test_a_named_model_infers_and_generates():
    infers = model("gpt2", inference=True, overrides={"batch_size": 2, "sequence_length": 64})
    generates = model("gpt2", generate=32, context=64, overrides={"batch_size": 2})
    assert (infers.mode, generates.mode) == (Mode.INFERENCE, Mode.GENERATION)
    assert infers.memory.components.gradients == generates.memory.components.optimizer_state == 0
    assert infers.memory.components.parameters == generates.memory.components.parameters
