"""Let through only the HTML that a comment may contain, well nested, with nothing in it that runs or loads.

The whole rendered comment passes, whether it came from Markdown or was written as HTML, so the two cannot be told apart and
need not be.
"""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

from simulator.web.markup import Html

_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_INLINE = ["b", "br", "del", "em", "i", "ins", "kbd", "s", "samp", "strong", "sub", "sup", "tt", "var"]
_BLOCKS = ["blockquote", "dd", "dl", "dt", "hr", "li", "p", "pre", "summary", "table", "tbody", "thead", "tr", "ul"]
_ALLOWED: dict[str, frozenset[str]] = {
    **dict.fromkeys([*_HEADINGS, *_INLINE, *_BLOCKS], frozenset[str]()),
    "a": frozenset({"href", "title"}),
    "code": frozenset({"class", "title"}),
    "details": frozenset({"open"}),
    "div": frozenset({"align", "class"}),
    "ol": frozenset({"start"}),
    "span": frozenset({"class", "title"}),
    "td": frozenset({"align", "colspan", "rowspan", "title"}),
    "th": frozenset({"align", "colspan", "rowspan", "title"}),
}
_VOID = frozenset({"br", "hr"})
_DROPPED_WITH_CONTENT = frozenset({"script", "style", "iframe", "object", "embed", "noscript", "template", "textarea", "title", "svg", "math"})
_ALIGNED = re.compile(r"text-align: ?(left|right|center)")
_VALUES = {
    "href": re.compile(r"(?:https?://|mailto:|#|/)", re.IGNORECASE),
    "class": re.compile(r"[a-z0-9 +#_-]+", re.IGNORECASE),
    "align": re.compile(r"left|right|center"),
}


def sanitize(markup: str) -> Html:
    """The part of some HTML that is allowed, every element closed."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return reader.result()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._written: list[str] = []
        self._open: list[str] = []
        self._dropping: list[str] = []

    def result(self) -> Html:
        """What was read, with what is still open closed."""
        return Html("".join([*self._written, *(f"</{tag}>" for tag in reversed(self._open))]))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element that is allowed, drop some with all that is in them, and only the tag of others."""
        if tag in _DROPPED_WITH_CONTENT:
            self._dropping.append(tag)
        elif self._dropping:
            return
        elif tag == "img":
            label = next((value for name, value in attrs if name == "alt" and value), "image")
            self._written.append(f'<span class="image">{html.escape(label)}</span>')
        elif tag in _ALLOWED:
            self._written.append(f"<{tag}{_attributes(tag, attrs)}>")
            if tag not in _VOID:
                self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element closed where it opens; HTML has that only for empty ones."""
        if tag not in _DROPPED_WITH_CONTENT:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element of that name and what is open inside it."""
        if self._dropping:
            if tag == self._dropping[-1]:
                self._dropping.pop()
        elif tag in self._open:
            while True:
                closed = self._open.pop()
                self._written.append(f"</{closed}>")
                if closed == tag:
                    return

    def handle_data(self, data: str) -> None:
        """Text."""
        if not self._dropping:
            self._written.append(html.escape(data, quote=False))


def _attributes(tag: str, given: list[tuple[str, str | None]]) -> str:
    kept = []
    for name, value in map(_aligned, given):
        text = value or ""
        if name in _ALLOWED[tag] and (name not in _VALUES or _fits(name, text)):
            kept.append(f' {name}="{html.escape(text)}"')
    return "".join(kept) + (' rel="nofollow noopener noreferrer"' if tag == "a" else "")


def _aligned(attribute: tuple[str, str | None]) -> tuple[str, str | None]:
    """The style that Markdown makes of `--:` as an attribute, since the pages allow no inline style."""
    name, value = attribute
    aligned = _ALIGNED.fullmatch(value or "") if name == "style" else None
    return attribute if aligned is None else ("align", aligned[1])


def _fits(name: str, value: str) -> bool:
    pattern = _VALUES[name]
    return pattern.match(value) is not None if name == "href" else pattern.fullmatch(value) is not None
