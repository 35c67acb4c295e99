"""From what a run was seen to do to its configuration: each field with the place where it was said."""

from __future__ import annotations

from typing import Any

from analysis.certainty import Assumed, Certainty, Known, Place, Unknown
from estimator.config import TrainingConfig
from estimator.estimate import Mode
from estimator.request import Request
from estimator.script.observed import Argument, ModelCall
from estimator.script.run import Run

_PRECISIONS = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "float64": "fp64"}
#: Dimensions of a batch of token numbers and of a batch of images.
_TOKENS, _IMAGES = 2, 4


def mode_of(run: Run) -> Mode:
    """What the run did with its model."""
    return Mode.TRAINING if run.tape.backwards else Mode.INFERENCE


def config_of(run: Run, request: Request) -> TrainingConfig:
    """The configuration of one run."""
    call: ModelCall | None = run.observed.facts.get("model_call", (None, None))[0]
    if call is None:
        return TrainingConfig(model=Unknown("no model was seen to run"))
    return TrainingConfig(
        model=_model(run, call),
        batch_size=_batch(run, call),
        sequence_length=_sequence(run, call),
        image_size=_image(run, call),
        precision=Known(_precision(call), call.place),
        optimizer=_optimizer(run),
        checkpointing=Known(run.tape.checkpoints > 0),
        attention=Known("sdpa") if request.overrides.get("attention") is None else Known(request.overrides["attention"]),
        devices=Known(request.overrides.get("devices", 1)),
        sharding=Known(request.overrides.get("sharding", "none")),
        accumulation_steps=_accumulation(run),
    )


def _model(run: Run, call: ModelCall) -> Certainty[str]:
    name, place = run.observed.facts.get("model", (None, None))
    return Known(name, place) if isinstance(name, str) else Known(call.name, call.made or call.place)


def _first(call: ModelCall) -> Argument | None:
    return next((argument for argument in call.arguments if argument.shape), None)


def _said(run: Run, name: str) -> tuple[Any, Place | None]:
    return run.observed.facts.get(name, (None, None))


def _batch(run: Run, call: ModelCall) -> Certainty[int]:
    value, place = _said(run, "batch_size")
    first = _first(call)
    if isinstance(value, int) and (first is None or value == first.shape[0]):
        return Known(value, place)
    if first is None:
        return Unknown("no tensor was seen to arrive at the model", call.place)
    return Known(first.shape[0], call.place)


def _sequence(run: Run, call: ModelCall) -> Certainty[int]:
    first = _first(call)
    if first is None or not first.integer or len(first.shape) != _TOKENS:
        return Unknown("the model takes no sequence of tokens")
    assumed, place = _said(run, "assumed_sequence_length")
    if assumed == first.shape[1]:
        return Assumed(first.shape[1], "texts may be shorter than max_length: the longest batch is taken", place)
    value, place = _said(run, "sequence_length")
    return Known(first.shape[1], place if value == first.shape[1] else call.place)


def _image(run: Run, call: ModelCall) -> Certainty[int]:
    first = _first(call)
    if first is None or first.integer or len(first.shape) != _IMAGES:
        return Unknown("the model takes no images")
    if _said(run, "assumed_image_size")[0] == first.shape[-1]:
        return Assumed(first.shape[-1], "no transform sets the size of the images; ImageNet's usual size is taken", call.place)
    return Known(first.shape[-1], call.place)


def _precision(call: ModelCall) -> str:
    held = _PRECISIONS.get(call.parameter_dtype, call.parameter_dtype)
    return f"amp-{_PRECISIONS.get(call.autocast, call.autocast)}" if call.autocast is not None and held == "fp32" else held


def _optimizer(run: Run) -> Certainty[str]:
    if not run.tape.optimizers:
        return Unknown("no optimizer was built")
    names = [name.lower() + ("-fused" if options.get("fused") else "") for name, options, _ in run.tape.optimizers]
    return Known(" + ".join(dict.fromkeys(names)), run.tape.optimizers[0][2])


def _accumulation(run: Run) -> Certainty[int]:
    stated, place = _said(run, "accumulation_steps")
    if isinstance(stated, int):
        return Known(stated, place)
    return Known(max(1, run.tape.backwards // run.tape.steps)) if run.tape.steps else Unknown("no optimizer step was seen")
