"""The options of an estimate, on the command line and in a comment alike, and the request that they make with a repository's configuration.

What is asked now goes before what is configured for the entry point, and that before what is configured for the repository.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from analysis.settings import EntrySettings
from bot.cli.outcome import UsageError
from bot.cli.parser import Parser
from estimator.catalog import UnknownNameError, gpu, model
from estimator.config import TrainingConfig
from estimator.request import Request
from estimator.sources import Shelf

PRECISIONS = ("fp32", "fp16", "bf16", "amp-fp16", "amp-bf16")
SHARDINGS = ("none", "ddp", "zero1", "zero2", "zero3", "fsdp")
ATTENTIONS = ("eager", "sdpa", "flash")

#: Options by the field of the configuration that they set.
_OVERRIDES = {
    "batch_size": "batch_size",
    "seq_len": "sequence_length",
    "image_size": "image_size",
    "precision": "precision",
    "optimizer": "optimizer",
    "devices": "devices",
    "sharding": "sharding",
    "checkpointing": "checkpointing",
    "attention": "attention",
}
_FIELDS = frozenset(field.name for field in fields(TrainingConfig))


def add_options(parser: Parser) -> None:
    """Everything but what to estimate."""
    parser.add_argument("--gpu", metavar="NAME", action="append", default=[], help="a GPU or cloud instance to fit (repeatable; preflight gpus lists them)")
    parser.add_argument("--batch-size", metavar="N", type=_count, help="per device")
    parser.add_argument("--seq-len", metavar="N", type=_count, help="tokens in a sequence")
    parser.add_argument("--image-size", metavar="N", type=_count, help="pixels along an edge")
    parser.add_argument("--precision", choices=PRECISIONS)
    parser.add_argument("--optimizer", metavar="NAME", help="such as adamw, sgd or adafactor")
    parser.add_argument("--devices", metavar="N", type=_count, help="GPUs that train together")
    parser.add_argument("--sharding", choices=SHARDINGS)
    parser.add_argument("--checkpointing", action=argparse.BooleanOptionalAction, help="whether activations are computed again in the backward pass")
    parser.add_argument("--attention", choices=ATTENTIONS)
    parser.add_argument("--inference", action="store_true", help="only the forward pass, without gradients")
    parser.add_argument("--generate", metavar="N", type=_count, help="tokens to generate")
    parser.add_argument("--context", metavar="N", type=_count, help="tokens in the prompt that is generated from")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], dest="settings", help="a script argument or global (repeatable)")


def request_of(
    options: argparse.Namespace, configured: EntrySettings, *, entry: str | None = None, model_name: str | None = None, shelf: Shelf | None = None
) -> Request:
    """The request for one script or model. Raises UsageError for a name that is not known or a setting without a value."""
    chosen = {target: getattr(options, name) for name, target in _OVERRIDES.items() if getattr(options, name) is not None}
    assumed = {name: value for name, value in configured.assume.items() if name in _FIELDS}
    globals_assumed = {name: str(value) for name, value in configured.assume.items() if name not in _FIELDS}
    cards = tuple(name.strip() for each in options.gpu for name in each.split(",") if name.strip()) or configured.gpus
    try:
        names = tuple(dict.fromkeys(gpu(name).name for name in cards))
        if model_name is not None:
            model_name = model(model_name).name
    except UnknownNameError as error:
        raise UsageError(str(error)) from error
    return Request(
        entry=entry,
        model=model_name,
        overrides={**assumed, **chosen},
        settings={**globals_assumed, **dict(_of_command_line(configured.args)), **_settings(options.settings)},
        gpus=names,
        inference=options.inference,
        generate=options.generate,
        context=options.context,
        shelf=shelf,
    )


def _settings(pairs: Iterable[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set takes NAME=VALUE, not {pair!r}")
        found[_name(name.strip())] = value
    return found


def _of_command_line(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Settings from words such as ``--batch-size 8 --amp``: an option without a value is true."""
    for at, word in enumerate(words):
        if not word.startswith("-"):
            continue
        name, equals, value = word.partition("=")
        following = words[at + 1] if at + 1 < len(words) and not words[at + 1].startswith("--") else "True"
        yield _name(name), value if equals else following


def _name(text: str) -> str:
    """The name of a script argument as the script itself reads it."""
    return text.lstrip("-").replace("-", "_")


def _count(text: str) -> Any:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return number
