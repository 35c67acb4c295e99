"""Text of the repository made inert: what it says is shown, what it would do on GitHub is not done.

Names, messages and paths come from the pull request, so they may hold mentions, issue references,
HTML, table pipes, code fences or characters that reorder the line. GitHub resolves mentions and
references after rendering, where backslashes no longer help; a zero-width space inside does.
"""

from __future__ import annotations

import re
import unicodedata

_BREAK = "\u200b"
_CODE_SPAN = re.compile(r"(`+)(.+?)(?<!`)\1(?!`)")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&-])")
_MENTION = re.compile(r"@(?=\w)")
_REFERENCE = re.compile(r"#(?=\d)|\bGH-(?=\d)", re.IGNORECASE)
_URL = re.compile(r"\b(?:(https?|ftp):(?=//)|(www)(?=\.))", re.IGNORECASE)
_SHA = re.compile(r"\b([0-9a-f])(?=[0-9a-f]{6,39}\b)")
_BARE_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")
_BACKTICKS = re.compile(r"`+")


def visible(text: str) -> str:
    """One line without control characters; those that reorder or hide text are spelled out."""
    return "".join(_shown(character) for character in re.sub(r"\s*[\r\n\u2028\u2029]+\s*", " ", text))


def has_hidden_characters(text: str) -> bool:
    """Whether ``text`` holds a character that ``visible`` would spell out (line ends and tabs aside)."""
    return any(_shown(character) != character for character in text if character not in "\r\n\t")


def plain(text: str) -> str:
    """``text`` as running Markdown that renders as exactly those characters."""
    cleaned = visible(text)
    broken = _MENTION.sub("@" + _BREAK, cleaned)
    broken = _REFERENCE.sub(lambda match: match.group() + _BREAK, broken)
    broken = _URL.sub(lambda match: f"{match.group(1) + ':' if match.group(1) else match.group(2)}{_BREAK}", broken)
    broken = _SHA.sub(lambda match: match.group() + _BREAK, broken)
    return _MARKDOWN.sub(r"\\\1", broken)


def prose(sentence: str) -> str:
    """A sentence of ours around names of theirs: what stands between backticks stays code, the rest is ``plain``."""
    cleaned = visible(sentence)
    parts: list[str] = []
    position = 0
    for match in _CODE_SPAN.finditer(cleaned):
        parts += [plain(cleaned[position : match.start()]), code(match.group(2))]
        position = match.end()
    return "".join([*parts, plain(cleaned[position:])])


def code(text: str) -> str:
    """A code span, its fence longer than any run of backticks inside."""
    cleaned = visible(text).strip() or " "
    ticks = "`" * (longest_run(cleaned) + 1)
    padding = " " if cleaned.startswith("`") or cleaned.endswith("`") else ""
    return f"{ticks}{padding}{cleaned}{padding}{ticks}"


def cell(markdown: str) -> str:
    """Markdown for a table cell. Tables split at pipes before code spans are seen, so every pipe is escaped once."""
    return _BARE_PIPE.sub(r"\1\\|", markdown).replace("\n", " ")


def fenced(content: str, language: str) -> str:
    """A fenced block that ``content`` cannot close."""
    ticks = "`" * max(3, longest_run(content) + 1)
    body = content if content.endswith("\n") or not content else content + "\n"
    return f"{ticks}{language}\n{body}{ticks}"


def longest_run(text: str) -> int:
    """Length of the longest run of backticks in ``text``."""
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def shortened(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters, with an ellipsis where it was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    if category in {"Cc", "Cf"}:
        return " " if character == "\t" else f"U+{ord(character):04X}"
    return character
