"""The start page and a repository's page: which pull requests there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.web.checks_page import mark
from simulator.web.frame import page, pull_path, repository_bar, when
from simulator.web.markup import Html, element

if TYPE_CHECKING:
    from simulator.platform import Platform
    from simulator.pull_request import PullRequest
    from simulator.repository import Repository


def start_page(platform: Platform) -> Html:
    """All repositories with their pull requests."""
    return page("Repositories", [_section(one) for one in platform.repositories.values()])


def repository_page(repository: Repository) -> Html:
    """The pull requests of one repository."""
    return page(repository.full_name, _section(repository))


def _section(repository: Repository) -> Html:
    rows = [_row(pull) for pull in reversed(repository.pulls.values())] or element("div.check-row.muted", "No pull requests.")
    return element("section", repository_bar(repository), element("main", element("div.merge-box", element("h3", "Pull requests"), rows)))


def _row(pull: PullRequest) -> Html:
    marks = [mark(run) for run in pull.repository.check_runs(pull.head_sha)[-1:]]
    title = element("a.strong", pull.title, href=pull_path(pull))
    return element("div.check-row", element("span.muted", f"#{pull.number} "), title, marks, element("span.right.muted", when(pull.updated_at)))
