"""The memory comment: the answer first, then the table, then what would help; everything else is folded."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.settings import Settings, Threshold
from bot.review import limits
from bot.review.headline import headline, verdict_changed
from bot.review.marker import Signer
from bot.review.memory_table import memory_table
from bot.review.phases_chart import phases_chart
from bot.review.result import EstimatePair, Review
from bot.review.settings_read import assumptions, moved_settings, setting_lines
from bot.review.text import cell, code, plain, prose
from estimator.estimate import Estimate, Remedy, Verdict
from estimator.report.wording import size

MEMORY = "memory"
_REMEDIES_SHOWN = 3
_HOLDERS_SHOWN = 8
_MARK_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class MemoryComment:
    """``body`` without its mark; ``news``: whether it says something that is worth a first comment."""

    body: str
    news: bool

    def __post_init__(self) -> None:
        limits.require(self.body, limits.BODY_CHARACTERS - _MARK_CHARACTERS, "the memory comment")

    def signed(self, signer: Signer) -> str:
        """The body with the hidden mark by which it is found again."""
        return f"{signer.mark(MEMORY)}\n{self.body}"


def memory_comment(review: Review, settings: Settings) -> MemoryComment | None:
    """The comment on ``review``; None where no entry point trains a model on either side."""
    if not review.estimates:
        return None
    news = [pair for pair in review.estimates if is_news(pair, settings.memory_threshold)]
    unchanged = [pair for pair in review.estimates if pair not in news]
    sections = [_section(pair) for pair in news] + [headline(pair) for pair in unchanged]
    body = "\n\n".join([*sections, _footer(review)])
    return MemoryComment(limits.cut_markdown(body, limits.BODY_CHARACTERS - _MARK_CHARACTERS), bool(news))


def is_news(pair: EstimatePair, threshold: Threshold) -> bool:
    """Whether the change moves this entry point's peak or verdict, or brings the entry point."""
    if pair.head is None or pair.head.memory is None:
        return pair.base is not None and pair.base.memory is not None
    if pair.base is None or pair.base.memory is None:
        return True
    return verdict_changed(pair) or threshold.reached(pair.base.memory.peak_bytes, pair.head.memory.peak_bytes)


def estimate_section(estimate: Estimate) -> str:
    """One estimate on its own: the answer to a command."""
    return _section(EstimatePair(estimate.entry, None, estimate))


def _section(pair: EstimatePair) -> str:
    parts = [f"### {headline(pair)}"]
    if pair.base is not None and pair.head is not None:
        moved = moved_settings(pair.base, pair.head)
        parts += [f"Changed: {', '.join(moved)}."] if moved else []
    parts.append(memory_table(pair))
    parts += _answers(pair)
    return "\n\n".join(parts)


def _answers(pair: EstimatePair) -> list[str]:
    """What would make it fit, in the open; where the memory goes, when, and what was read, folded."""
    head = pair.head
    if head is None:
        return []
    assumed = assumptions(head)
    parts = ["\n".join(["Assumed:", *(f"- {line}" for line in assumed)])] if assumed else []
    parts += _remedies(head)
    if head.memory is not None and head.memory.largest:
        rows = [f"| {cell(code(str(holder.place)))} | {size(holder.bytes)} | {cell(prose(holder.what))} |" for holder in head.memory.largest[:_HOLDERS_SHOWN]]
        parts.append(_folded("Lines that hold most at the peak", ["| line | holds | what |", "|---|--:|---|", *rows]))
    chart = phases_chart(pair)
    if chart:
        parts.append(_folded("When the memory is taken", chart))
    read = [f"- {line}" for line in setting_lines(head)] + [f"- not known: {prose(line)}" for line in head.unknowns]
    if read:
        parts.append(_folded("What was read from the source", read))
    return parts


def _remedies(head: Estimate) -> list[str]:
    """Changes that make it fit, cheapest first as the estimator orders them; where none does, those that save most."""
    if all(fit.verdict is Verdict.FITS for fit in head.fits) or not head.remedies:
        return []
    fitting = [remedy for remedy in head.remedies if remedy.fits]
    chosen = fitting or sorted(head.remedies, key=lambda remedy: remedy.peak_bytes)
    title = "**Would make it fit**" if fitting else "**Nothing that was tried makes it fit.** These save most:"
    lines = [
        f"- {_sentence(remedy.change)} Peak {size(remedy.peak_bytes)}{_saved(remedy)}. {_sentence(remedy.cost)}".rstrip() for remedy in chosen[:_REMEDIES_SHOWN]
    ]
    return ["\n".join([title, *lines])]


def _saved(remedy: Remedy) -> str:
    """Another card saves nothing, it only has more."""
    return f", {size(remedy.saves_bytes)} less" if remedy.saves_bytes > 0 else ""


def _sentence(text: str) -> str:
    """``text`` with the full stop that it may lack."""
    stripped = text.strip().rstrip(".")
    return f"{prose(stripped[:1].upper() + stripped[1:])}." if stripped else ""


def _footer(review: Review) -> str:
    against = f"{plain_sha(review.head)} against its merge base {plain_sha(review.merge_base)}"
    configured = f"configuration from {plain_sha(review.base)}" if review.base else "default configuration"
    return (
        f"<sub>Read from the source of {against}; nothing was run. {configured.capitalize()}. "
        "Peak is what nvidia-smi would show for one process. Ask about another card with "
        "<code>/preflight estimate --gpu NAME</code>.</sub>"
    )


def plain_sha(sha: str) -> str:
    """A commit as GitHub links it: seven digits; what is not a commit id stays inert."""
    return sha[:7] if all(digit in "0123456789abcdef" for digit in sha) and sha else plain(sha)


def _folded(title: str, lines: list[str]) -> str:
    return "\n".join([f"<details><summary>{title}</summary>", "", *lines, "", "</details>"])
