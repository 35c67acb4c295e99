"""Library source as data: the release that is at hand and nearest to what the repository asks for, read for families that the zoo lacks.

Whoever asks for an estimate hands in where releases lie (``Shelf``); nothing of them is imported. Modules that only hold a library together
(base classes, decorators, outputs) are stood for by guest source under the library's own names, in ``library/guest``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Shelf(Protocol):
    """Where releases of libraries lie. Its ``repr`` says which: by that it is told whether an estimate that was kept may still hold."""

    def release(self, library: str, wanted: tuple[int, ...]) -> Mapping[str, bytes] | None:
        """The Python files of the release nearest to ``wanted``, by their path below the package's parent; None where there is none.

        ``wanted`` is the version that the repository asks for; () where it does not say.
        """
