"""What every step works with: the App, the server's settings, and where things are kept."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from bot.database import Database
from bot.github.app import App
from bot.github.client import Client
from bot.github.snapshots import Reader
from bot.job import Json
from bot.kept_store import KeptStore
from bot.ledger import Ledger
from bot.review.marker import Signer
from bot.settings import ServerSettings


@dataclass(frozen=True, slots=True)
class Workplace:
    """Shared by all jobs of the process."""

    settings: ServerSettings
    app: App
    database: Database
    ledger: Ledger

    def client(self, facts: Json) -> Client:
        """A client for the repository that ``facts`` name."""
        return self.app.client(facts["installation"], facts["repository"], facts["full_name"])

    def reader(self, client: Client) -> Reader:
        """Reads commits through the cache of the installation."""
        return Reader(client, self.cache_folder(client.installation), self.settings.limits)

    def cache_folder(self, installation: int) -> Path:
        """What is kept of an installation's repositories."""
        return self.settings.state_dir / "cache" / str(installation)

    def kept(self, client: Client) -> KeptStore:
        """What reviews of the client's repository have left for the next one."""
        return KeptStore(self.cache_folder(client.installation), client.repository)

    def alone(self, facts: Json) -> AbstractAsyncContextManager[None]:
        """Keeps others from writing on the pull request, or the commit of the merge queue, that ``facts`` name."""
        return self.database.alone(f"{facts['repository']}#{facts.get('number', facts.get('head'))}")

    def signer(self, facts: Json) -> Signer:
        """Signs what is posted on the pull request that ``facts`` name; by id, since a repository may be renamed."""
        return Signer(self.settings.webhook_secrets, f"{facts['repository']}#{facts['number']}")
