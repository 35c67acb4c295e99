"""What was understood of the training run, in a line, and the one line of configuration that would make the answer surer."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.certainty import Assumed, Unknown
from bot.review.result import EstimatePair, Review
from bot.review.sizes import counted
from bot.review.text import code, prose
from estimator.estimate import Estimate

_ENTRIES_SHOWN = 5
#: Settings that move the peak, the strongest first; all of them are keys of ``assume``.
_SETTINGS = ("batch_size", "sequence_length", "image_size", "optimizer", "precision", "devices", "sharding", "attention")


def understood(review: Review) -> list[str]:
    """The line, and the hint where one would help; nothing where no entry point was seen."""
    heads = [pair.head for pair in review.estimates if pair.head is not None]
    if not heads:
        return []
    assumed = sum(isinstance(value, Assumed) for head in heads for _, value in head.config.items())
    unknown = {each for head in heads for each in head.unknowns}
    missed = [f"{counted(len(review.unresolved), 'place')} not followed"] if review.unresolved else []
    missed += [f"{counted(len(unknown), 'thing')} that the estimate does not know"] if unknown else []
    parts = [
        f"entry points {_named(review.estimates)}" if len(review.estimates) > 1 else f"entry point {_named(review.estimates)}",
        _cards(heads),
        f"{counted(assumed, 'value')} assumed" if assumed else "nothing assumed",
        *(missed or ["everything followed"]),
    ]
    line = f"**Understood:** {', '.join(parts)}."
    hint = next(_hints(heads), None)
    return [line if hint is None else f"{line} {hint}"]


def _named(pairs: tuple[EstimatePair, ...]) -> str:
    names = list(dict.fromkeys(pair.entry for pair in pairs))
    more = f" and {len(names) - _ENTRIES_SHOWN} more" if len(names) > _ENTRIES_SHOWN else ""
    return ", ".join(map(code, names[:_ENTRIES_SHOWN])) + more


def _cards(heads: list[Estimate]) -> str:
    cards = list(dict.fromkeys(fit.gpu for head in heads for fit in head.fits))
    return f"{'card' if len(cards) == 1 else 'cards'} {', '.join(map(code, cards))}" if cards else f"no card named ({code('gpus')} would)"


def _hints(heads: list[Estimate]) -> Iterator[str]:
    """What to write, most telling first: a batch size that nobody knows, then values that were assumed."""
    for head in heads:
        if head.memory is None and isinstance(head.config.batch_size, Unknown):
            yield f"What would help: {code('assume = { batch_size = … }')} in the configuration ({prose(head.config.batch_size.why)})."
    for name in _SETTINGS:
        for head in heads:
            value = getattr(head.config, name)
            if isinstance(value, Assumed):
                line = code(f"assume = {{ {name} = {_toml(value.value)} }}")
                yield f"Should an assumption be wrong, the configuration corrects it: {line}, with your value."


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case _:
            return f'"{value}"'
