"""A memory remedy that is one line of the diff, as a suggestion on that line.

The estimator tells a remedy in words and where it read each setting; here the line is looked at again, and nothing is
suggested where the value does not stand on it exactly once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from analysis.certainty import Known, Place
from analysis.settings import Threshold
from bot.review.comment import is_news
from bot.review.diff import Diff
from bot.review.result import EstimatePair, Review
from bot.review.suggestion import Replacement
from bot.review.text import code, has_hidden_characters, plain, prose
from estimator.estimate import Estimate, Remedy
from estimator.report.wording import size

_MICRO_BATCH = re.compile(r"Batch size (\d+) with (\d+) accumulation steps")
_ATTENTION = "Attention by scaled_dot_product_attention"
_FUSED = re.compile(r"The fused (\w+)")


@dataclass(frozen=True, slots=True)
class MemorySuggestion:
    """``replacement`` makes ``entry`` fit; ``says`` is the Markdown above it, ``identity`` the same at every push."""

    entry: str
    replacement: Replacement
    says: str
    identity: str


def memory_suggestions(review: Review, threshold: Threshold, diff: Diff, contents: Mapping[str, bytes]) -> list[MemorySuggestion]:
    """One for each entry point whose memory this change moves and that does not fit: the cheapest remedy that is one line of ``diff``."""
    found = []
    for pair in review.estimates:
        if pair.head is not None and is_news(pair, threshold):
            found += list(_of(pair, pair.head, diff, contents))[:1]
    return found


def memory_paths(review: Review) -> set[str]:
    """The files where a suggestion may stand."""
    heads = [pair.head for pair in review.estimates if pair.head is not None and any(remedy.fits for remedy in pair.head.remedies)]
    settings = [value for head in heads for value in (head.config.batch_size, head.config.attention, head.config.optimizer)]
    return {value.because.path for value in settings if isinstance(value, Known) and value.because is not None}


def _of(pair: EstimatePair, head: Estimate, diff: Diff, contents: Mapping[str, bytes]) -> Iterator[MemorySuggestion]:
    for remedy in head.remedies:
        change = _change(remedy, head) if remedy.fits else None
        if change is None or not diff.holds(change.place.path, change.place.line, change.place.line):
            continue
        line = _line(contents.get(change.place.path, b""), change.place.line)
        changed = None if line is None else change.applied(line)
        if changed is not None:
            replacement = Replacement(change.place.path, change.place.line, change.place.line, f"{changed}\n")
            yield MemorySuggestion(pair.entry, replacement, _says(pair, remedy, change), f"memory/{pair.entry}/{change.name}")


@dataclass(frozen=True, slots=True)
class _Change:
    """``name`` of the setting on the line at ``place``: what matches ``pattern`` becomes ``text``; ``but`` is what to mind."""

    name: str
    place: Place
    pattern: str
    text: str
    but: str = ""

    def applied(self, line: str) -> str | None:
        """The line changed; None where the value does not stand there exactly once."""
        if len(re.findall(self.pattern, line)) != 1:
            return None
        return re.sub(self.pattern, lambda _: self.text, line)


def _change(remedy: Remedy, head: Estimate) -> _Change | None:
    """What ``remedy`` means for a line, where it means one."""
    if matched := _MICRO_BATCH.match(remedy.change):
        match head.config.batch_size:
            case Known(before, Place() as place):
                but = f"One optimizer step then sees {matched[1]} samples instead of {before}, unless {matched[2]} steps are accumulated."
                return _Change("batch_size", place, rf"(?<![\w.]){before}(?![\w.])", matched[1], but)
    if remedy.change.startswith(_ATTENTION):
        match head.config.attention:
            case Known("eager", Place() as place):
                return _Change("attention", place, r"""(["'])eager\1""", '"sdpa"')
    if _FUSED.match(remedy.change):
        match head.config.optimizer:
            case Known(_, Place() as place):
                return _Change("fused", place, r"(?<=[\w)\]])\)$", ", fused=True)")
    return None


def _says(pair: EstimatePair, remedy: Remedy, change: _Change) -> str:
    cards = ", ".join(plain(fit.gpu) for fit in pair.head.fits) if pair.head is not None else ""
    fits = f"fits {cards}" if cards else "fits"
    cost = change.but or f"{remedy.change.rstrip('.')}. {remedy.cost}"
    return f"{code('memory')}: with this line {code(pair.entry)} {fits}, its peak is {size(remedy.peak_bytes)}.\n\n**Before you apply it:** {prose(cost)}"


def _line(content: bytes, number: int) -> str | None:
    """That line of a file with plain line ends; None where there is none that a suggestion could replace."""
    if b"\r" in content:
        return None
    lines = content.decode("utf-8", "replace").split("\n")
    if number >= len(lines) or has_hidden_characters(lines[number - 1]):
        return None
    return lines[number - 1]
