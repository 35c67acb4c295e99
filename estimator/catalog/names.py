"""Finding a stanza by the name somebody typed: case and punctuation do not matter, and a miss names the nearest."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")

#: Words that makers put before a card's name and people leave out.
_MAKERS = re.compile(r"\b(nvidia|amd|geforce|instinct|tesla)\b")


class UnknownNameError(LookupError):
    """Nothing in the catalog has that name; the message is one sentence that names the nearest."""


def key_of(name: str) -> str:
    """What two spellings of one name have in common: ``NVIDIA GeForce RTX 4090``, ``rtx-4090`` and ``RTX4090`` are one."""
    return re.sub(r"[^a-z0-9.]", "", _MAKERS.sub("", name.lower().replace("_", " ")))


def index_by_key(names: Iterable[tuple[str, T]], table: str) -> dict[str, T]:
    """Entries by the key of their name. Raises ``ValueError`` where two entries of ``table`` answer to one name."""
    index: dict[str, T] = {}
    for name, entry in names:
        key = key_of(name)
        if index.get(key, entry) is not entry:
            raise ValueError(f"{table}: two entries answer to {name!r}; rename one of them or drop the alias.")
        index[key] = entry
    return index


def look_up(index: Mapping[str, T], name: str, kind: str, known: Iterable[str], listing: str) -> T:
    """The entry called ``name``. Raises ``UnknownNameError`` naming the nearest of ``known`` and the command that lists them."""
    found = index.get(key_of(name))
    if found is not None:
        return found
    labels = {key_of(label): label for label in known}
    nearest = difflib.get_close_matches(key_of(name), labels, n=1, cutoff=0.5)
    hint = f"the nearest known name is {labels[nearest[0]]!r}" if nearest else "none has a similar name"
    raise UnknownNameError(f"No {kind} is called {name!r}: {hint}; `preflight {listing}` lists them all.")
