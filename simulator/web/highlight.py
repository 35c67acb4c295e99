"""Colour source code a little: enough to read a diff comfortably, line by line, without understanding it."""

from __future__ import annotations

import re

from simulator.web.markup import Html, element, fragment

_KEYWORDS = (
    "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or "
    "pass raise return try while with yield"
)
_PYTHON = re.compile(
    r"(?P<comment>\#.*)"
    r"|(?P<string>[rbfuRBFU]{0,2}(?:\"\"\".*?(?:\"\"\"|$)|'''.*?(?:'''|$)|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?))"
    rf"|(?P<keyword>\b(?:{'|'.join(_KEYWORDS.split())})\b)"
    r"|(?P<constant>\b(?:True|False|None|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b)"
    r"|(?P<entity>(?<=def )\w+|(?<=class )\w+|@[\w.]+)"
    r"|(?P<call>\b\w+(?=\())"
)
_LANGUAGES = ("py", "python", "python3")


def language_of(path: str) -> str:
    """The language of a file by its name's ending."""
    return path.rpartition(".")[2].lower() if "." in path else ""


def highlighted(code: str, language: str) -> Html:
    """The code as HTML; a language that is not known stays plain, diffs get their colours by line."""
    if language == "diff":
        return fragment([_diff_line(line) for line in code.splitlines(keepends=True)])
    if language not in _LANGUAGES:
        return fragment(code)
    return fragment([_line(line) for line in code.splitlines(keepends=True)])


def _line(text: str) -> Html:
    parts: list[str | Html] = []
    at = 0
    for token in _PYTHON.finditer(text):
        parts += [text[at : token.start()], element(f"span.code-{token.lastgroup}", token[0])]
        at = token.end()
    return fragment([*parts, text[at:]])


def _diff_line(text: str) -> Html:
    kind = {"+": "added", "-": "removed", "@": "hunk"}.get(text[:1])
    return fragment(text) if kind is None else element(f"span.code-{kind}", text)
