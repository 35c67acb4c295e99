"""Connections: lists that are read page by page, with GitHub's rules about how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from graphql import GraphQLError

Item = TypeVar("Item")
Object = dict[str, object]

MAX_PAGE = 100


def connection(name: str, items: Sequence[Item], show: Callable[[Item], Object]) -> Callable[..., Object]:
    """A field that answers with one page of `items`; cursors are positions in the list."""

    def resolve(
        _info: object,
        *,
        first: int | None = None,
        last: int | None = None,
        after: str | None = None,
        before: str | None = None,
        **_filters: object,
    ) -> Object:
        _check_size(name, first, last)
        low = int(after) if after else 0
        high = int(before) - 1 if before else len(items)
        if first is not None:
            high = min(high, low + first)
        elif last is not None:
            low = max(low, high - last)
        page = items[low:high]
        return {
            "nodes": [show(item) for item in page],
            "totalCount": len(items),
            "pageInfo": {
                "startCursor": str(low + 1) if page else None,
                "endCursor": str(low + len(page)) if page else None,
                "hasNextPage": high < len(items),
                "hasPreviousPage": low > 0,
            },
        }

    return resolve


def _check_size(name: str, first: int | None, last: int | None) -> None:
    if first is None and last is None:
        raise GraphQLError(f"You must provide a `first` or `last` value to properly paginate the `{name}` connection.")
    for argument, size in (("first", first), ("last", last)):
        if size is not None and not 1 <= size <= MAX_PAGE:
            raise GraphQLError(f"Requesting {size} records on the `{name}` connection exceeds the `{argument}` limit of {MAX_PAGE} records.")
