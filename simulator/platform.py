"""Everything that one simulated GitHub holds: accounts, the App, its installations and the repositories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.accounts import Account, AccountType, App, Installation, Level
from simulator.clock import Clock
from simulator.ids import Ids

if TYPE_CHECKING:
    from simulator.pull_request import PullRequest
    from simulator.repository import Repository
    from simulator.webhooks.outbox import Outbox


@dataclass(frozen=True, slots=True)
class Urls:
    """Where the three hosts of the simulator listen: the API, the web pages and the archives."""

    api: str
    web: str
    archive: str

    @property
    def graphql(self) -> str:
        """Where GraphQL queries go."""
        return f"{self.api}/graphql"


@dataclass(frozen=True, slots=True)
class Limits:
    """GitHub's documented ceilings, which a test can lower to meet them with small repositories."""

    tree_entries: int = 100_000
    pull_files: int = 3000
    compare_files: int = 300
    compare_commits: int = 250
    patch_lines: int = 20_000
    content_bytes: int = 1_000_000
    requests_per_hour: int = 5000
    graphql_text_bytes: int = 512_000


class Platform:
    """The state of the simulator, and the only place where its objects are looked up."""

    def __init__(self, folder: Path, app: App, accounts: dict[str, Account], ids: Ids, clock: Clock) -> None:
        self.folder = folder
        self.clock = clock
        self.ids = ids
        self.app = app
        self.limits = Limits()
        self.repositories: dict[int, Repository] = {}
        self.installations: dict[int, Installation] = {}
        self.former_names: dict[str, int] = {}
        self._accounts = accounts
        self._urls: Urls | None = None
        self._outbox: Outbox | None = None

    def connect(self, urls: Urls, outbox: Outbox) -> None:
        """Say where the servers listen and where events go, once that is known."""
        self._urls = urls
        self._outbox = outbox

    @property
    def urls(self) -> Urls:
        """The addresses of the running servers."""
        if self._urls is None:
            raise RuntimeError("the simulator's servers are not running")
        return self._urls

    @property
    def outbox(self) -> Outbox:
        """Where webhook events are left for delivery."""
        if self._outbox is None:
            raise RuntimeError("the simulator's servers are not running")
        return self._outbox

    def account(self, login: str, kind: AccountType = "User") -> Account:
        """The account of that name; it is made when it is first mentioned."""
        known = self._accounts.get(login.lower())
        if known is None:
            known = Account(self.ids.next(), login, kind)
            self._accounts[login.lower()] = known
        return known

    def known_account(self, login: str) -> Account | None:
        """The account of that name, if anyone mentioned it before."""
        return self._accounts.get(login.lower())

    def repository(self, full_name: str) -> Repository | None:
        """The repository `owner/name`, without regard to case."""
        wanted = full_name.lower()
        return next((one for one in self.repositories.values() if one.full_name.lower() == wanted), None)

    def installation_of(self, repository: Repository) -> Installation | None:
        """The installation that reaches a repository."""
        for installation in self.installations.values():
            chosen = installation.repositories
            if installation.account == repository.owner and (chosen is None or repository.id in chosen):
                return installation
        return None

    def reachable(self, installation: Installation) -> list[Repository]:
        """The repositories that an installation reaches, oldest first."""
        return [one for one in self.repositories.values() if self.installation_of(one) == installation]

    def install(self, account: Account, repositories: frozenset[int] | None, permissions: dict[str, Level]) -> Installation:
        """Put the App on an account, or change what it may reach there."""
        known = next((one for one in self.installations.values() if one.account == account), None)
        if known is None:
            known = Installation(self.ids.next(), account, permissions, repositories, self.clock.now())
        else:
            known = replace(known, repositories=repositories, permissions=permissions)
        self.installations[known.id] = known
        return known

    def pulls(self) -> list[PullRequest]:
        """All pull requests of all repositories."""
        return [pull for repository in self.repositories.values() for pull in repository.pulls.values()]
