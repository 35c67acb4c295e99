"""What the tape raises instead of guessing."""

from __future__ import annotations


class NotFollowed(Exception):  # noqa: N818  an unknown of the estimate, not an error of the program
    """``name`` says which operation (or property of one) the tape does not know; the estimate then has an unknown."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
