"""Whose eyes a query looks through: what its token may see and do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from graphql import GraphQLError

if TYPE_CHECKING:
    from simulator.accounts import Level
    from simulator.auth.tokens import InstallationToken
    from simulator.http.limits import RateLimits
    from simulator.platform import Platform
    from simulator.repository import Repository


class Gate(Protocol):
    """What the API service knows about tokens and limits."""

    rates: RateLimits

    def reaches(self, token: InstallationToken | None, repository: Repository) -> bool:
        """Whether a token may see a repository."""
        ...


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """The state as one token sees it."""

    platform: Platform
    token: InstallationToken
    gate: Gate

    def require(self, permission: str, level: Level) -> None:
        """Go on only with a permission.

        Raises:
            GraphQLError: FORBIDDEN, the token does not carry it.

        """
        if not self.token.allows(permission, level):
            raise refused("FORBIDDEN", "Resource not accessible by integration")

    def repositories(self) -> list[Repository]:
        """What the token reaches."""
        return [one for one in self.platform.repositories.values() if self.gate.reaches(self.token, one)]

    def repository(self, full_name: str) -> Repository:
        """A repository by name.

        Raises:
            GraphQLError: NOT_FOUND, there is none that the token reaches.

        """
        found = self.platform.repository(full_name) or self.platform.repositories.get(self.platform.former_names.get(full_name.lower(), 0))
        if found is None or not self.gate.reaches(self.token, found):
            raise refused("NOT_FOUND", f"Could not resolve to a Repository with the name '{full_name}'.")
        return found


def refused(kind: str, message: str) -> GraphQLError:
    """An error of the kind that GitHub puts in the `type` field."""
    return GraphQLError(message, extensions={"type": kind})
