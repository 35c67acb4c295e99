"""Check suites: one for every commit that has checks of the App."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.checkruns import CheckSuite
from simulator.webhooks.events import check_suite_event

if TYPE_CHECKING:
    from simulator.repository import Repository


def suite_for(repository: Repository, sha: str, branch: str | None = None, before: str | None = None) -> CheckSuite:
    """The suite of a commit; it is made when there is none yet."""
    for suite in repository.suites.values():
        if suite.head_sha == sha:
            return suite
    platform = repository.platform
    suite = CheckSuite(platform.ids.next(), sha, branch, platform.clock.now(), before)
    repository.suites[suite.id] = suite
    return suite


def request_suite(repository: Repository, sha: str, branch: str, before: str | None) -> None:
    """A push makes a suite and asks every App that may write checks for its runs."""
    installation = repository.platform.installation_of(repository)
    if installation is None or installation.permissions.get("checks") != "write":
        return
    check_suite_event(repository, suite_for(repository, sha, branch, before), "requested", repository.owner)
