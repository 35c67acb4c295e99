"""Commands in the text of a comment: alone on a line, neither quoted nor in code."""

from __future__ import annotations

import re
import shlex

_COMMAND = re.compile(r" {0,3}/preflight(?:[ \t]+(?P<words>\S.*?))?[ \t]*")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")
#: More in one comment is no question any more.
MAX_COMMANDS = 3


def commands_in(body: str) -> tuple[tuple[str, ...], ...]:
    """The words of each command, ``/preflight`` left out; one without words asks for help."""
    found: list[tuple[str, ...]] = []
    for line in _plain_lines(body):
        match = _COMMAND.fullmatch(line)
        if match is not None:
            found.append(_words(match["words"] or "help"))
    return tuple(found[:MAX_COMMANDS])


def _plain_lines(body: str) -> list[str]:
    """Lines outside fences and HTML comments; quotes and indented code do not begin like a command anyway."""
    lines: list[str] = []
    fence = ""
    for line in re.sub(r"<!--.*?(?:-->|\Z)", "", body, flags=re.DOTALL).splitlines():
        match = _FENCE.fullmatch(line)
        if fence:
            if match and match["fence"].startswith(fence) and not match["info"].strip():
                fence = ""
        elif match and not (match["fence"].startswith("`") and "`" in match["info"]):
            fence = match["fence"]
        else:
            lines.append(line)
    return lines


def _words(text: str) -> tuple[str, ...]:
    """Split as a shell would; an unclosed quote is an ordinary character."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())
