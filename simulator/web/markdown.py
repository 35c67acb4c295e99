"""Comments as HTML: GitHub's Markdown as far as comments of an App use it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from simulator.web.highlight import highlighted
from simulator.web.markup import Html, element
from simulator.web.sanitizer import sanitize

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

Suggest = Callable[[str], Html]

_ALERT = re.compile(r"<blockquote>\s*<p>\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\](?:<br>)?\s*")
_TASK = re.compile(r"<li>\[([ x])\] ")
_SLOT = re.compile(r"<p>\ue000(\d+)\ue001</p>")


def render(text: str, suggest: Suggest | None = None) -> Html:
    """A comment's HTML; hidden comments (`<!-- -->`) leave no trace. `suggest` draws the suggestion blocks in it."""
    suggestions: list[str] = []
    markup = _parser().render(text.translate(_NO_SLOTS), {"suggestions": None if suggest is None else suggestions})
    clean = sanitize(_TASK.sub(lambda found: f"<li>{'☐' if found[1] == ' ' else '☑'} ", _ALERT.sub(_alert, markup)))
    if suggest is None:
        return clean
    return Html(_SLOT.sub(lambda slot: suggest(suggestions[int(slot[1])]), clean))


# The two characters mark where a suggestion goes; a comment must not be able to write them itself.
_NO_SLOTS = {0xE000: None, 0xE001: None}


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable(["table", "strikethrough"])
    parser.add_render_rule("fence", _fence)
    return parser


def _fence(_renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: EnvType) -> str:
    token = tokens[at]
    language = token.info.strip().split(" ")[0].lower()
    suggestions = env.get("suggestions")
    if language == "suggestion" and isinstance(suggestions, list):
        suggestions.append(token.content)
        return f"<p>\ue000{len(suggestions) - 1}\ue001</p>"
    return element("pre", element("code", highlighted(token.content, language)))


def _alert(found: re.Match[str]) -> str:
    kind = found[1].lower()
    return f'<blockquote><p><strong><span class="alert-{kind}">{kind.capitalize()}</span></strong></p><p>'
