"""The API about itself."""

from __future__ import annotations

from simulator.auth.tokens import InstallationToken
from simulator.errors import not_found
from simulator.http.exchange import Answer, Call
from simulator.rest.registry import answers

_ROOT_LINKS = (
    "current_user_url",
    "current_user_authorizations_html_url",
    "authorizations_url",
    "code_search_url",
    "commit_search_url",
    "emails_url",
    "emojis_url",
    "events_url",
    "feeds_url",
    "followers_url",
    "following_url",
    "gists_url",
    "issue_search_url",
    "issues_url",
    "keys_url",
    "label_search_url",
    "notifications_url",
    "organization_url",
    "organization_repositories_url",
    "organization_teams_url",
    "public_gists_url",
    "rate_limit_url",
    "repository_url",
    "repository_search_url",
    "current_user_repositories_url",
    "starred_url",
    "starred_gists_url",
    "user_url",
    "user_organizations_url",
    "user_repositories_url",
    "user_search_url",
)


@answers("meta/root")
def root(call: Call) -> Answer:
    """Links to everything."""
    return Answer({name: f"{call.platform.urls.api}/{name.removesuffix('_url')}" for name in _ROOT_LINKS})


@answers("meta/get")
def meta(call: Call) -> Answer:
    """Facts about the host."""
    return Answer({"verifiable_password_authentication": False, "hooks": ["127.0.0.1/32"], "api": [call.platform.urls.api]})


@answers("rate-limit/get")
def rate_limit(call: Call) -> Answer:
    """The caller's limits."""
    caller = _name(call.token)
    states = {resource: call.service.rates.state(caller, resource) for resource in ("core", "graphql")}
    return Answer({"resources": {**states, "search": states["core"]}, "rate": states["core"]})


@answers("apps/create-from-manifest")
def create_from_manifest(call: Call) -> Answer:
    """Exchange the code of the manifest flow for the App's secrets, once."""
    made = call.service.manifest_codes.pop(call.text("code"), None)
    if made is None:
        raise not_found()
    return Answer(made, 201)


def _name(token: InstallationToken | None) -> str:
    return "anonymous" if token is None else str(token.installation_id)
