"""Users, the App, installations."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from simulator.clock import iso
from simulator.ids import node_id

if TYPE_CHECKING:
    from simulator.accounts import Account, App, Installation
    from simulator.platform import Urls

Json = dict[str, object]

_USER_LINKS = {
    "events_url": "/events{/privacy}",
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "organizations_url": "/orgs",
    "received_events_url": "/received_events",
    "repos_url": "/repos",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
}


def user_json(account: Account, urls: Urls) -> Json:
    """A simple user."""
    name = quote(account.login)
    url = f"{urls.api}/users/{name}"
    page = f"{urls.web}/apps/{account.login.removesuffix('[bot]')}" if account.type == "Bot" else f"{urls.web}/{name}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("BOT" if account.type == "Bot" else "U", account.id),
        "avatar_url": f"{urls.web}/avatars/{account.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": page,
        **{name: url + path for name, path in _USER_LINKS.items()},
        "type": account.type,
        "site_admin": False,
    }


def app_json(app: App, urls: Urls) -> Json:
    """The App, as `GET /app` shows it."""
    return {
        "id": app.id,
        "slug": app.slug,
        "client_id": f"Iv1.{app.id:016x}",
        "node_id": node_id("A", app.id),
        "owner": user_json(app.owner, urls),
        "name": app.name,
        "description": "",
        "external_url": f"{urls.web}/apps/{app.slug}",
        "html_url": f"{urls.web}/apps/{app.slug}",
        "created_at": iso(app.created_at),
        "updated_at": iso(app.created_at),
        "permissions": dict(app.permissions),
        "events": list(app.events),
        "installations_count": 1,
    }


def installation_json(installation: Installation, app: App, urls: Urls) -> Json:
    """One installation of the App."""
    account = installation.account
    suspended = installation.suspended_at
    return {
        "id": installation.id,
        "account": user_json(account, urls),
        "repository_selection": "all" if installation.repositories is None else "selected",
        "access_tokens_url": f"{urls.api}/app/installations/{installation.id}/access_tokens",
        "repositories_url": f"{urls.api}/installation/repositories",
        "html_url": f"{urls.web}/settings/installations/{installation.id}",
        "app_id": app.id,
        "app_slug": app.slug,
        "target_id": account.id,
        "target_type": account.type,
        "permissions": dict(installation.permissions),
        "events": list(app.events),
        "created_at": iso(installation.created_at),
        "updated_at": iso(installation.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": None,
        "suspended_at": None if suspended is None else iso(suspended),
    }
