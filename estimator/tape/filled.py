"""Masks over texts of which only the longest length is known: every place is taken to be filled, which whoever reads a number off one says."""

from __future__ import annotations

from typing import Any

#: What is said where a length is read off such a mask.
FILLED = "how long texts are is not known: they are taken to fill the length that they are cut or padded to"


class Filled(tuple[Any, ...]):
    """The numbers of such a mask, and what is counted in it."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Filled(found) if isinstance(key, slice) else found
