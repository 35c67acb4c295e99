"""What all pages share: the head, the repository's name, a pull request's title and tabs, avatars and dates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.web.markup import Html, element, fragment

if TYPE_CHECKING:
    from datetime import datetime

    from simulator.accounts import Account
    from simulator.pull_request import PullRequest
    from simulator.repository import Repository

_HUES = 12


def page(title: str, *content: object) -> Html:
    """A whole page."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("link", rel="stylesheet", href="/style.css"),
    )
    return Html("<!doctype html>\n" + element("html", head, element("body", content), lang="en"))


def repository_bar(repository: Repository) -> Html:
    """The bar at the top with the repository's name."""
    owner = element("a", repository.owner.login, href="/")
    name = element("a.strong", repository.name, href=f"/{repository.full_name}")
    note = element("span.label", "Private" if repository.private else "Public")
    simulated = element("span.simulated", "simulated on this machine")
    return element("header.top", element("div.path", avatar(repository.owner), owner, " / ", name, note), simulated)


def pull_head(pull: PullRequest, tab: str) -> Html:
    """Title, state and the tabs of a pull request."""
    kind, text = _state(pull)
    counts = {
        "Conversation": ("", len(pull.comments) + len(pull.reviews)),
        "Checks": ("/checks", len(pull.repository.check_runs(pull.head_sha))),
        "Files changed": ("/files", len(pull.files())),
    }
    tabs = [
        element("a.tab.selected" if name == tab else "a.tab", name, element("span.count", str(count)), href=pull_path(pull) + path)
        for name, (path, count) in counts.items()
    ]
    source = pull.head_branch if pull.head_repository is pull.repository else f"{pull.head_repository.owner.login}:{pull.head_branch}"
    files = pull.files()
    size = fragment(element("span.plus", f"+{sum(one.additions for one in files)}"), " ", element("span.minus", f"−{sum(one.deletions for one in files)}"))
    return element(
        "div.pull-head",
        element("h1", pull.title, " ", element("span.number", f"#{pull.number}")),
        element(
            "div.meta",
            element(f"span.state.{kind}", text),
            element("strong", pull.author.login),
            f" wants to merge {_count(len(pull.commit_ids()), 'commit')} into ",
            element("code.branch", pull.base_branch),
            " from ",
            element("code.branch", source),
        ),
        element("nav.tabs", tabs, element("span.size", size)),
    )


def pull_path(pull: PullRequest) -> str:
    """A pull request's page on this host, under whatever name the browser knows the host."""
    return f"/{pull.repository.full_name}/pull/{pull.number}"


def avatar(account: Account) -> Html:
    """A coloured disc with an initial; bots have a square one."""
    shape = "avatar.bot" if account.type == "Bot" else "avatar"
    return element(f"span.{shape}.hue-{sum(account.login.encode()) % _HUES}", account.login[:1].upper(), aria_hidden="true")


def author(account: Account) -> Html:
    """A name, with GitHub's mark for bots."""
    name = element("strong.author", account.login.removesuffix("[bot]"))
    return fragment(name, " ", element("span.label", "bot")) if account.type == "Bot" else name


def when(moment: datetime) -> Html:
    """A moment, to the minute."""
    return element("time", moment.strftime("%d %b %Y, %H:%M"), datetime=moment.isoformat())


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _state(pull: PullRequest) -> tuple[str, str]:
    if pull.merged:
        return "merged", "Merged"
    if pull.state == "closed":
        return "closed", "Closed"
    return ("draft", "Draft") if pull.draft else ("open", "Open")
