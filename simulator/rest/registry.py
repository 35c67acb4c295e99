"""Which function answers which operation."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.http.exchange import Answer, Call

    Handler = Callable[[Call], Answer]

_SUBJECTS = (
    "apps",
    "archive",
    "checks",
    "code_scanning",
    "comments",
    "commits",
    "contents",
    "git_database",
    "meta",
    "pulls",
    "references",
    "repositories",
    "reviews",
    "review_comments",
    "statuses",
    "suites",
)
_HANDLERS: dict[str, Handler] = {}


def answers(operation_id: str) -> Callable[[Handler], Handler]:
    """Mark a function as the one that answers an operation."""

    def register(function: Handler) -> Handler:
        _HANDLERS[operation_id] = function
        return function

    return register


def handler(operation_id: str) -> Handler:
    """The function that answers an operation."""
    return handlers()[operation_id]


@cache
def handlers() -> dict[str, Handler]:
    """All of them, by operation id."""
    for subject in _SUBJECTS:
        importlib.import_module(f"simulator.rest.{subject}")
    return _HANDLERS
