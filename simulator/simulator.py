"""The simulator as tests and the demo hold it: start it, make repositories, look at what was posted, order faults."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.accounts import Account, App, Installation, Level
from simulator.auth.keys import key_pair
from simulator.branches import branch_moved, write_files
from simulator.clock import Clock
from simulator.git.repository import GitRepository
from simulator.http.api_server import ARCHIVE_PREFIX, ApiServer
from simulator.http.archives import Archives
from simulator.http.faults import Fault, Faults
from simulator.http.service import Service
from simulator.http.sockets import Listener
from simulator.ids import Ids
from simulator.platform import Limits, Platform, Urls
from simulator.repository import Repository
from simulator.web.pages import Pages
from simulator.webhooks.events import installation_event, installation_repositories_event
from simulator.webhooks.outbox import Outbox

if TYPE_CHECKING:
    from simulator.branches import Files
    from simulator.http.records import RequestRecord, Violation

LEAST_PERMISSIONS: Mapping[str, Level] = {
    "metadata": "read",
    "contents": "read",
    "pull_requests": "write",
    "checks": "write",
}
EVENTS = ("pull_request", "issue_comment", "check_run", "check_suite")


class Simulator:
    """A GitHub on loopback with one App. Make it with `Simulator.start`; see the package for an overview."""

    def __init__(self, platform: Platform, secret: str) -> None:
        self.private_key, public_key = key_pair()
        self.platform = platform
        self.archives = Archives(platform)
        self.service = Service(platform, public_key, self.archives)
        self.faults = Faults()
        self.webhooks = Outbox(platform, secret)

    @classmethod
    @asynccontextmanager
    async def start(
        cls,
        *,
        permissions: Mapping[str, Level] = LEAST_PERMISSIONS,
        events: Sequence[str] = EVENTS,
        port: int = 0,
        separate_archive_host: bool = False,
        secret: str = "a secret of the simulator",  # noqa: S107 - it guards nothing but a test's loopback
    ) -> AsyncIterator[Simulator]:
        """Serve until the `async with` block ends.

        `port` is that of the web pages; 0 takes a free one. Archives come from below the API's own address, as from an
        Enterprise server, or with `separate_archive_host` from another port, as from GitHub's `codeload`.
        """
        folder = Path(tempfile.mkdtemp(prefix="simulator-"))
        simulator = cls(_platform(folder, permissions, events), secret)
        api_server = ApiServer(simulator.service, simulator.faults).application(simulator.archives.application())
        listeners = [
            await Listener.open(api_server),
            await Listener.open(Pages(simulator.service, simulator.private_key).application(), port),
            await Listener.open(simulator.archives.application()),
        ]
        api, web, archive = (listener.url for listener in listeners)
        urls = Urls(api, web, archive if separate_archive_host else f"{api}{ARCHIVE_PREFIX}")
        simulator.platform.connect(urls, simulator.webhooks)
        delivering = asyncio.create_task(simulator.webhooks.run())
        try:
            yield simulator
        finally:
            delivering.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await delivering
            for listener in listeners:
                await listener.close()
            shutil.rmtree(folder)

    @property
    def api_url(self) -> str:
        """The root of the REST API; GraphQL is at `/graphql` below it."""
        return self.platform.urls.api

    @property
    def web_url(self) -> str:
        """The root of the pages for people."""
        return self.platform.urls.web

    @property
    def clock(self) -> Clock:
        """The simulator's time; `clock.advance(seconds)` moves it."""
        return self.platform.clock

    @property
    def app_id(self) -> int:
        """The App's id."""
        return self.platform.app.id

    @property
    def bot(self) -> Account:
        """The account that the App writes as."""
        return self.platform.app.bot

    @property
    def webhook_secret(self) -> str:
        """What deliveries are signed with."""
        return self.webhooks.secret

    @property
    def webhook_url(self) -> str | None:
        """Where deliveries go; while it is None there are none."""
        return self.webhooks.url

    @webhook_url.setter
    def webhook_url(self, url: str | None) -> None:
        self.webhooks.url = url

    @property
    def violations(self) -> list[Violation]:
        """Requests that broke GitHub's description or a documented rule."""
        return self.service.records.violations

    @property
    def requests(self) -> list[RequestRecord]:
        """All requests to the API so far."""
        return self.service.records.requests

    @property
    def counts(self) -> Counter[str]:
        """How often each operation was asked for, by GitHub's operation id; `graphql` is one of them."""
        return self.service.records.counts

    @property
    def limits(self) -> Limits:
        """GitHub's ceilings; assign a changed copy (`replace(github.limits, tree_entries=5)`) to meet them."""
        return self.platform.limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self.platform.limits = limits

    def create_repository(
        self,
        full_name: str,
        files: Files | None = None,
        *,
        source: Path | None = None,
        private: bool = False,
        default_branch: str = "main",
        installed: bool = True,
    ) -> Repository:
        """Make `owner/name` with a first commit of `files`, or as a copy of the local git repository `source`.

        With `installed` the App is put on the owner's account, all repositories included, unless it is there already.
        """
        owner_name, name = full_name.split("/")
        owner = self.platform.account(owner_name)
        folder = self.platform.folder / owner.login / f"{name}.git"
        git = GitRepository.create(folder, default_branch) if source is None else GitRepository.clone(source, folder)
        repository = Repository(self.platform, owner, name, git, default_branch=default_branch, private=private)
        self.platform.repositories[repository.id] = repository
        if files is not None:
            after = write_files(repository, default_branch, files, "Start", owner, parent=None)
            branch_moved(repository, default_branch, None, after, owner)
        if installed and self.platform.installation_of(repository) is None:
            self.install(owner.login)
        return repository

    def install(self, owner: str, repositories: Sequence[str] | None = None, permissions: Mapping[str, Level] | None = None) -> Installation:
        """Put the App on an account: on all repositories or on those named, with fewer permissions if given."""
        account = self.platform.account(owner)
        chosen = None
        if repositories is not None:
            chosen = frozenset(one.id for one in self.platform.repositories.values() if one.owner == account and one.name in repositories)
        granted = dict(self.platform.app.permissions if permissions is None else permissions)
        known = {one.id: one for one in self.platform.installations.values() if one.account == account}
        before = {one.id: one for installed in known.values() for one in self.platform.reachable(installed)}
        installation = self.platform.install(account, chosen, granted)
        after = {one.id: one for one in self.platform.reachable(installation)}
        if not known:
            installation_event(self.platform, installation, "created", list(after.values()), account)
        elif added := [one for number, one in after.items() if number not in before]:
            installation_repositories_event(self.platform, installation, added, [], account)
        return installation

    def rename(self, repository: Repository, name: str) -> None:
        """Give a repository another name; the API leads from the old one to the new one."""
        self.platform.former_names[repository.full_name.lower()] = repository.id
        repository.name = name

    def suspend(self, installation: Installation, *, suspended: bool = True) -> None:
        """Suspend an installation, so that its tokens are refused from now on, or let it be active again."""
        changed = replace(installation, suspended_at=self.clock.now() if suspended else None)
        self.platform.installations[installation.id] = changed
        installation_event(self.platform, changed, "suspend" if suspended else "unsuspend", self.platform.reachable(changed), installation.account)

    def uninstall(self, installation: Installation) -> None:
        """Take the App off an account."""
        reached = self.platform.reachable(installation)
        del self.platform.installations[installation.id]
        installation_event(self.platform, installation, "deleted", reached, installation.account)

    def fail_next(self, method: str, path: str, fault: Fault, *, times: int = 1, skip: int = 0) -> None:
        """Let the next requests of a method (`*` for any) whose path the regex is found in meet a fault."""
        self.faults.plan(method, path, fault, times=times, skip=skip)

    async def deliveries_settled(self) -> None:
        """Wait until every event so far was delivered to the App or refused by it."""
        await self.webhooks.settled()


def _platform(folder: Path, permissions: Mapping[str, Level], events: Sequence[str]) -> Platform:
    ids, clock = Ids(), Clock()
    owner = Account(ids.next(), "preflight-makers", "Organization")
    bot = Account(ids.next(), "preflight-bot[bot]", "Bot")
    app = App(ids.next(), "preflight-bot", "Preflight", owner, bot, dict(permissions), tuple(events), clock.now())
    accounts = {account.login.lower(): account for account in (owner, bot)}
    return Platform(folder, app, accounts, ids, clock)
