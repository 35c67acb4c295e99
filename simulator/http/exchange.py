"""A request as the operations see it, and their answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, urlencode

from simulator.errors import not_found

if TYPE_CHECKING:
    from simulator.accounts import Account
    from simulator.auth.tokens import InstallationToken
    from simulator.http.service import Service
    from simulator.openapi.values import Value
    from simulator.platform import Platform
    from simulator.pull_request import PullRequest
    from simulator.repository import Repository

DEFAULT_PER_PAGE = 30


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body: JSON, or bytes of the media type given."""

    body: object = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json; charset=utf-8"

    @property
    def content(self) -> bytes:
        """The body as it is sent."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()

    @property
    def etag(self) -> str:
        """A name for exactly this content."""
        return f'W/"{hashlib.sha256(self.content).hexdigest()}"'


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose sender, path, query and body were checked.

    `stale` asks for the state before the last push, as a replica that lags behind would give it.
    """

    service: Service
    operation_id: str
    path: str
    parameters: Mapping[str, Value]
    query: Mapping[str, Value]
    body: Mapping[str, object]
    headers: Mapping[str, str]
    token: InstallationToken | None
    stale: bool = False

    @property
    def platform(self) -> Platform:
        """The state of the simulator."""
        return self.service.platform

    @property
    def bot(self) -> Account:
        """The account that the App writes as."""
        return self.platform.app.bot

    @property
    def accept(self) -> str:
        """The media types that the client asks for."""
        return self.headers.get("Accept", "")

    def number(self, name: str) -> int:
        """A path parameter that is an integer."""
        return int(self.parameters[name])

    def text(self, name: str) -> str:
        """A path parameter that is a text."""
        return str(self.parameters[name])

    def given(self, name: str) -> str | None:
        """A field of the body that is a text, None when it is absent or null."""
        value = self.body.get(name)
        return None if value is None else str(value)

    @property
    def repository(self) -> Repository:
        """The repository in the path.

        Raises:
            ApiError: 404, there is none or the token does not reach it.

        """
        found = self.platform.repository(f"{self.text('owner')}/{self.text('repo')}")
        if found is None or not self.service.reaches(self.token, found):
            raise not_found()
        return found

    @property
    def pull(self) -> PullRequest:
        """The pull request in the path (404 when there is none)."""
        number = self.parameters.get("pull_number", self.parameters.get("issue_number"))
        found = self.repository.pulls.get(cast("int", number))
        if found is None:
            raise not_found()
        return found


def paged(call: Call, items: list[object], key: str | None = None, more: Mapping[str, object] | None = None) -> Answer:
    """One page of a list with the `Link` header that leads to the others.

    With `key` the list is wrapped in an object that also has its `total_count`.
    """
    size = int(call.query.get("per_page", DEFAULT_PER_PAGE))
    page = max(1, int(call.query.get("page", 1)))
    last = max(1, -(-len(items) // size))
    shown: object = items[(page - 1) * size : page * size]
    if key is not None:
        shown = {"total_count": len(items), key: shown, **(more or {})}
    wanted = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    links = [
        f'<{_page_url(call, number)}>; rel="{name}"'
        for name, number in wanted.items()
        if 1 <= number <= last and not (name == "last" and page >= last) and not (name == "first" and page == 1)
    ]
    return Answer(shown, headers={"Link": ", ".join(links)} if links else {})


def _page_url(call: Call, page: int) -> str:
    query = urlencode({**call.query, "page": page})
    return f"{call.platform.urls.api}{quote(call.path, safe='/%')}?{query}"
