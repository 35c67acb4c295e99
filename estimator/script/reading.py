"""From what a run was seen to do to its configuration: each field with the place where it was said."""

from __future__ import annotations

from typing import Any

from analysis.certainty import Assumed, Certainty, Known, Unknown
from estimator.catalog import catalog_name
from estimator.config import TrainingConfig
from estimator.estimate import Mode
from estimator.library.images import SIZE_ASSUMED
from estimator.request import Request, as_value
from estimator.script.loops import MICRO_BATCHES, WINDOW
from estimator.script.observed import Argument, ModelCall, Observed
from estimator.script.origins import NAMES, called_at, written_at
from estimator.script.run import Run
from estimator.sharding import STRATEGIES, Layout

_PRECISIONS = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "float64": "fp64"}
#: Dimensions of a batch of token numbers, of a batch of images and of a batch of clips or volumes.
_TOKENS, _IMAGES, _CLIPS = 2, 4, 5
#: How much longer one side of an image is than the other, at most.
_MOST_UNLIKE = 32
#: Numbers that are put around those of a text at most: where it begins, where it ends.
_AROUND = 4


def mode_of(run: Run) -> Mode:
    """What the run did with its model."""
    if run.tape.backwards:
        return Mode.TRAINING
    return Mode.GENERATION if run.observed.generated else Mode.INFERENCE


def config_of(run: Run, request: Request) -> TrainingConfig:
    """The configuration of one run."""
    observed, call = run.observed, run.observed.main
    if call is None:
        return TrainingConfig(model=Unknown("no model was seen to run"), precision=Unknown("no model was seen to run"))
    return TrainingConfig(
        model=_model(observed, call),
        batch_size=_batch(run, request, call),
        sequence_length=_sequence(run, request, call),
        image_size=_image(run, request, call),
        precision=_precision(observed, call),
        quantization=_quantization(observed),
        optimizer=_optimizer(run),
        checkpointing=_checkpointing(run),
        attention=_attention(run, call),
        devices=_devices(observed, request),
        sharding=_sharding(observed, request),
        accumulation_steps=_accumulation(run),
    )


def _model(observed: Observed, call: ModelCall) -> Certainty[str]:
    name, place = observed.first("model")
    for known, line in observed.facts.get("model", ()):
        if call.published is not None and known == catalog_name(call.published):
            name, place = known, line
    found = Known(name, place) if isinstance(name, str) else Known(call.name, call.made or call.place)
    taken = observed.facts.get("assumed_model", ())
    return Assumed(found.value, "; ".join(why for why, _ in taken), taken[0][1]) if taken else found


def _tokens(call: ModelCall) -> Argument | None:
    """The argument that holds sequences, of samples of sounds or of token numbers; a sample may have several of these, to choose among."""
    sounds = next((each for each in call.arguments if each.name == "input_values" and len(each.shape) == _TOKENS), None)
    if sounds is not None:
        return sounds
    several = (each for each in call.arguments if each.name == "input_ids" and len(each.shape) == _TOKENS + 1)
    rows = (Argument(each.name, (each.shape[0], each.shape[-1]), each.integer) for each in several)
    return next((each for each in call.arguments if each.integer and len(each.shape) == _TOKENS and "class" not in each.name), None) or next(rows, None)


def _images_of(call: ModelCall) -> Argument | None:
    """The argument that holds images: their sides are not as unlike as those of texts by layer."""
    several = (each for each in call.arguments if not each.integer and len(each.shape) in {_IMAGES, _CLIPS})
    return next((each for each in several if max(each.shape[-2:]) <= _MOST_UNLIKE * min(each.shape[-2:])), None)


def _main(call: ModelCall) -> Argument | None:
    """The argument whose first dimension is the batch."""
    return _tokens(call) or _images_of(call) or next((each for each in call.arguments if each.shape), None)


def _stated(run: Run, request: Request, name: str, value: Any, call: ModelCall) -> Certainty[Any]:
    """What arrived, with the line that states it where one does, or the reason for which it was assumed."""
    observed = run.observed
    for assumed, place in observed.facts.get(f"assumed_{name}", ()):
        if 0 <= value - assumed[0] <= _AROUND:
            return Assumed(value, assumed[1], place, at_most=assumed[2:] == (True,))
    if request.overrides.get(name) == value or any(as_value(text) == value and NAMES[name].search(key) for key, text in request.settings.items()):
        return Known(value)
    stated = observed.place_of(name, value)
    if stated is not None and stated[1] is not None:
        return Known(value, stated[1])
    return Known(value, written_at(run.sources, name, value) or call.place)


def _batch(run: Run, request: Request, call: ModelCall) -> Certainty[int]:
    first = _main(call)
    if first is None:
        stated, place = run.observed.first("batch_size")
        return Unknown("no tensor was seen to arrive at the model", call.place) if stated is None else Known(stated, place)
    return _stated(run, request, "batch_size", first.shape[_is_sequence_first(run, call)], call)


def _is_sequence_first(run: Run, call: ModelCall) -> bool:
    """Whether a sample is a column, as recurrent layers take them: the number of columns is stated as a batch size, that of rows is not."""
    tokens = _tokens(call)
    if tokens is None:
        return False
    rows, columns = (_is_stated_batch(run, length) for length in tokens.shape)
    return columns and not rows


def _is_stated_batch(run: Run, value: int) -> bool:
    return run.observed.place_of("batch_size", value) is not None or written_at(run.sources, "batch_size", value) is not None


def _sequence(run: Run, request: Request, call: ModelCall) -> Certainty[int]:
    first = _tokens(call)
    if first is None:
        assumed, place = run.observed.first("assumed_sequence_length")
        return Unknown("the model takes no sequence of tokens") if assumed is None or call.arguments else Assumed(assumed[0], assumed[1], place)
    return _stated(run, request, "sequence_length", first.shape[not _is_sequence_first(run, call)], call)


def _image(run: Run, request: Request, call: ModelCall) -> Certainty[int]:
    first = _images_of(call)
    if first is None:
        return Unknown("the model takes no images")
    value = first.shape[-1]
    if SIZE_ASSUMED in run.tape.assumptions and run.observed.place_of("image_size", value) is None and request.overrides.get("image_size") != value:
        return Assumed(value, SIZE_ASSUMED, call.place)
    return _stated(run, request, "image_size", value, call)


def _precision(observed: Observed, call: ModelCall) -> Certainty[str]:
    held = _PRECISIONS.get(call.parameter_dtype, call.parameter_dtype)
    value = f"amp-{_PRECISIONS.get(call.autocast, call.autocast)}" if call.autocast is not None and held == "fp32" else held
    why = next((assumed[1] for assumed, _ in observed.facts.get("assumed_precision", ()) if assumed[0] == held), None)
    if why is not None:
        return Assumed(value, why, call.place)
    stated = observed.place_of("precision", value)
    return Known(value, call.place if stated is None else stated[1])


def _quantization(observed: Observed) -> Certainty[str]:
    said, place = observed.first("quantization")
    return Known(said or "none", place)


def _optimizer(run: Run) -> Certainty[str]:
    if not run.tape.optimizers:
        return Unknown("no optimizer was built")
    names = [_called(name, options) for name, options, _ in run.tape.optimizers]
    return Known(" + ".join(dict.fromkeys(names)), run.tape.optimizers[0][2])


def _called(name: str, options: dict[str, Any]) -> str:
    """An optimizer as the command line calls it."""
    plain = name.lower().replace("8bit", "-8bit")
    if plain == "sgd" and options.get("momentum"):
        return "sgd-momentum"
    return f"{plain}-fused" if options.get("fused") is True else plain


def _checkpointing(run: Run) -> Certainty[bool]:
    value = run.tape.checkpoints > 0
    stated = run.observed.place_of("checkpointing", value)
    if stated is not None or not value:
        return Known(value, None if stated is None else stated[1])
    lines = (called_at(run.sources, name) for name in ("gradient_checkpointing_enable", "checkpoint", "checkpoint_sequential"))
    return Known(value, next((line for line in lines if line is not None), None))


def _attention(run: Run, call: ModelCall) -> Certainty[str]:
    name, place = run.observed.first("attention")
    if call.attention is not None:
        return Known(call.attention, called_at(run.sources, "attn_implementation"))
    return Unknown("PyTorch's own attention was not seen to be called") if name is None else Known(name, place)


def _devices(observed: Observed, request: Request) -> Certainty[int]:
    wanted = request.overrides.get("devices")
    if wanted is not None:
        return Known(wanted)
    stated, place = observed.first("devices")
    return Known(stated or 1, place)


def layout_of(run: Run, request: Request) -> Layout | None:
    """How the run is sharded over its devices; None where it is not, or over one."""
    devices = _devices(run.observed, request)
    sharding = _sharding(run.observed, request)
    strategy, count = getattr(sharding, "value", "none"), getattr(devices, "value", 1)
    if strategy not in STRATEGIES or (count <= 1 and not any(run.observed.layout.values())):
        return None
    layout = {"block": run.observed.block_bytes, "root": run.observed.root_bytes, **run.observed.layout}
    over = layout.pop("over", 0)  # of several dimensions of a mesh the last one shards
    return Layout(strategy, over if 1 < over <= count else count, **layout)


def _sharding(observed: Observed, request: Request) -> Certainty[str]:
    wanted = request.overrides.get("sharding")
    if isinstance(wanted, str) and wanted in STRATEGIES:
        return Known(wanted)
    name, place = observed.first("sharding")
    assumed = observed.first("assumed_sharding")[0]
    return Known(name or "none", place) if assumed is None else Assumed(name or "none", assumed, place, at_most=True)


def _accumulation(run: Run) -> Certainty[int]:
    stated, place = run.observed.first("accumulation_steps")
    if isinstance(stated, int):
        return Known(stated, place)
    if not run.tape.steps:
        return Unknown("no optimizer step was seen")
    seen = max(1, run.tape.backwards // run.tape.steps)
    window, line = run.observed.window
    return Known(window, line) if seen in {WINDOW, MICRO_BATCHES, MICRO_BATCHES + 1} and isinstance(window, int) else Known(seen)
