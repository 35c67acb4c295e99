"""HTML that is built from elements, so that nothing reaches a page without being escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


class Html(str):
    """Text that is HTML already; a plain `str` is text and gets escaped."""

    __slots__ = ()


def element(selector: str, *children: object, **attributes: str | bool | None) -> Html:
    """An element from `tag.class.class`; attributes of None or False are left out, `_` in their names becomes `-`."""
    tag, *classes = selector.split(".")
    named: dict[str, str | bool | None] = {"class": " ".join(classes) or None, **attributes}
    written = "".join(_attribute(name.rstrip("_").replace("_", "-"), value) for name, value in named.items() if value not in (None, False))
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{fragment(*children)}</{tag}>")


def fragment(*children: object) -> Html:
    """Children one after the other; lists are flattened, None is left out, text is escaped."""
    parts: list[str] = []
    for child in children:
        match child:
            case None:
                continue
            case Html():
                parts.append(child)
            case str() | int():
                parts.append(html.escape(str(child)))
            case Iterable():
                parts.append(fragment(*child))
            case _:
                raise TypeError(f"{type(child).__name__} is no part of a page")
    return Html("".join(parts))


def _attribute(name: str, value: object) -> str:
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'
