"""Options of an estimate: what they set, what goes before what, and what is wrong with them in one sentence."""

from __future__ import annotations

import pytest

from analysis.settings import EntrySettings
from bot.cli.outcome import UsageError
from bot.cli.parser import Parser
from bot.estimate_options import add_options, request_of
from estimator.request import Request


def _request(*words: str, configured: EntrySettings | None = None, model: str | None = None) -> Request:
    parser = Parser("estimate", "x")
    add_options(parser)
    entry = None if model else "train.py"
    return request_of(parser.parse_args(words), configured or EntrySettings(), entry=entry, model_name=model)


def test_every_option_reaches_the_request() -> None:
    request = _request(
        *("--gpu", "a100-80gb", "--gpu", "t4", "--batch-size", "8", "--seq-len", "1024", "--image-size", "224", "--precision", "amp-bf16"),
        *("--optimizer", "adamw", "--devices", "4", "--sharding", "fsdp", "--checkpointing", "--attention", "flash"),
        *("--inference", "--generate", "64", "--context", "512", "--set", "compile=False", "--set", "learning-rate=0.1"),
    )

    assert request == Request(
        entry="train.py",
        overrides={
            "batch_size": 8,
            "sequence_length": 1024,
            "image_size": 224,
            "precision": "amp-bf16",
            "optimizer": "adamw",
            "devices": 4,
            "sharding": "fsdp",
            "checkpointing": True,
            "attention": "flash",
        },
        settings={"compile": "False", "learning_rate": "0.1"},
        gpus=("A100-80GB", "T4"),
        inference=True,
        generate=64,
        context=512,
    )


def test_nothing_asked_sets_nothing() -> None:
    assert _request() == Request(entry="train.py")


def test_checkpointing_can_be_switched_off() -> None:
    assert _request("--no-checkpointing").overrides == {"checkpointing": False}


def test_what_is_asked_goes_before_what_is_configured() -> None:
    configured = EntrySettings(("H100",), {"devices": 8, "n_layer": 2}, ("--batch-size", "4", "--lr=-1", "--amp"))

    request = _request("--devices", "2", "--set", "batch_size=16", configured=configured)

    assert request.gpus == ("H100-80GB",)
    assert request.overrides == {"devices": 2}
    assert request.settings == {"n_layer": "2", "batch_size": "16", "lr": "-1", "amp": "True"}


def test_a_model_is_known_by_its_aliases() -> None:
    assert _request(model="gpt2").model == "openai-community/gpt2"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--gpu", "A1000-80GB"), "A100-80GB"),
        (("--batch-size", "0"), "'0' is not a whole number from 1 on"),
        (("--batch-size", "many"), "'many' is not a whole number from 1 on"),
        (("--precision", "bf61"), "did you mean bf16?"),
        (("--set", "compile"), "--set takes NAME=VALUE, not 'compile'"),
        (("--sett", "a=1"), "did you mean --set?"),
    ],
)
def test_a_mistake_is_named(words: tuple[str, ...], part: str) -> None:
    with pytest.raises(UsageError) as raised:
        _request(*words)

    assert part in str(raised.value)


def test_an_unknown_model_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"Llama-3\.1-8B"):
        _request(model="llama-3.1-8")
