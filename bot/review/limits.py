"""GitHub's limits on what is posted, each checked where the value is built.

Sources: the REST description of checks/create, checks/update and pulls/create-review; the limit on comment
bodies is the one its error message states ("Body is too long (maximum is 65536 characters)").
"""

from __future__ import annotations

from bot.review.text import shortened

TITLE_CHARACTERS = 255
OUTPUT_CHARACTERS = 65_535
BODY_CHARACTERS = 65_536
ANNOTATIONS_PER_REQUEST = 50
#: 64 KB, counted in bytes; the rest of the request needs no slack, each field has its own limit.
ANNOTATION_BYTES = 64 * 1024
#: Ours, not GitHub's: more than ten threads at once is noise, and above thirty GitHub has answered 502.
SUGGESTIONS_PER_REVIEW = 10
#: Ours: a check with thousands of annotations cannot be read, and each batch is a content write.
ANNOTATIONS_PER_CHECK = 500

_CUT = "\n\n*Cut here: GitHub takes no longer text.*"


class TooLongError(ValueError):
    """A text that GitHub would refuse reached the type that is sent."""


def require(text: str, limit: int, what: str) -> None:
    """Raise TooLongError where ``text`` has more than ``limit`` characters."""
    if len(text) > limit:
        raise TooLongError(f"{what} has {len(text):,} characters; GitHub takes {limit:,}")


def cut_markdown(text: str, limit: int) -> str:
    """``text`` cut at a line end so that it fits, and says so. A fold left open by the cut is closed."""
    if len(text) <= limit:
        return text
    closing = "\n</details>" * 3
    kept = text[: limit - len(_CUT) - len(closing)]
    kept = kept[: kept.rfind("\n")] if "\n" in kept else kept
    open_folds = kept.count("<details>") - kept.count("</details>")
    return kept + "\n</details>" * max(0, min(open_folds, 3)) + _CUT


def cut_bytes(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` bytes of UTF-8."""
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= limit else raw[: limit - 3].decode("utf-8", "ignore") + "…"


def title(text: str) -> str:
    """``text`` as the title of a check run or annotation."""
    return shortened(text, TITLE_CHARACTERS)
