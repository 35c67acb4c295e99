"""The App about itself: its installations, its tokens and its webhook deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.accounts import Installation
from simulator.clock import iso
from simulator.errors import not_found
from simulator.http.exchange import Answer, Call, paged
from simulator.representation.accounts import Json, app_json, installation_json
from simulator.representation.repositories import repository_json
from simulator.rest.registry import answers

if TYPE_CHECKING:
    from simulator.auth.tokens import TokenFormat
    from simulator.webhooks.outbox import Delivery

SUCCESSES = range(200, 300)
NO_ANSWER = 502


@answers("apps/get-authenticated")
def get_app(call: Call) -> Answer:
    """The App itself."""
    return Answer(app_json(call.platform.app, call.platform.urls))


@answers("apps/list-installations")
def list_installations(call: Call) -> Answer:
    """All installations."""
    return paged(call, [_installation(call, one) for one in call.platform.installations.values()])


@answers("apps/get-installation")
def get_installation(call: Call) -> Answer:
    """One installation."""
    return Answer(_installation(call, _find_installation(call)))


@answers("apps/get-repo-installation")
def get_repository_installation(call: Call) -> Answer:
    """The installation that reaches a repository."""
    found = call.platform.installation_of(call.repository)
    if found is None:
        raise not_found()
    return Answer(_installation(call, found))


@answers("apps/create-installation-access-token")
def create_token(call: Call) -> Answer:
    """A token for an hour; the header `X-GitHub-Stateless-S2S-Token` chooses the format."""
    wanted = call.headers.get("X-GitHub-Stateless-S2S-Token")
    choices: dict[str | None, TokenFormat] = {"enabled": "stateless", "disabled": "opaque"}
    tokens = call.service.tokens
    token = tokens.issue(_find_installation(call), call.body, choices.get(wanted, tokens.format))
    shown: Json = {
        "token": token.text,
        "expires_at": iso(token.expires_at),
        "permissions": dict(token.permissions),
        "repository_selection": "all" if token.repositories is None else "selected",
    }
    if token.repositories is not None:
        shown["repositories"] = [repository_json(call.platform.repositories[one]) for one in sorted(token.repositories)]
    return Answer(shown, 201)


@answers("apps/list-repos-accessible-to-installation")
def list_repositories(call: Call) -> Answer:
    """What the token reaches."""
    reached = [one for one in call.platform.repositories.values() if call.service.reaches(call.token, one)]
    selection = "all" if call.token is None or call.token.repositories is None else "selected"
    return paged(call, [repository_json(one) for one in reached], "repositories", {"repository_selection": selection})


@answers("apps/revoke-installation-access-token")
def revoke_token(call: Call) -> Answer:
    """Forget the token that this request came with."""
    if call.token is not None:
        call.service.tokens.revoke(call.token)
    return Answer(status=204)


@answers("apps/list-webhook-deliveries")
def list_deliveries(call: Call) -> Answer:
    """Attempts to deliver, the newest first; `cursor` is the id of the first one of a page."""
    wanted = call.query.get("status")
    shown = [one for one in reversed(call.platform.outbox.deliveries) if wanted is None or (wanted == "success") == _succeeded(one)]
    cursor = call.query.get("cursor")
    if cursor is not None:
        shown = [one for one in shown if one.id <= int(str(cursor).removeprefix("v1_"))]
    size = int(call.query.get("per_page", 30))
    page, rest = shown[:size], shown[size:]
    headers = {}
    if rest:
        url = f"{call.platform.urls.api}/app/hook/deliveries?per_page={size}&cursor=v1_{rest[0].id}"
        headers["Link"] = f'<{url}>; rel="next"'
    return Answer([_delivery(one) for one in page], headers=headers)


@answers("apps/get-webhook-delivery")
def get_delivery(call: Call) -> Answer:
    """One attempt with what was sent and answered."""
    found = _find_delivery(call)
    request = {"headers": found.request_headers, "payload": found.event.payload}
    response = {"headers": {}, "payload": found.answer}
    return Answer({**_delivery(found), "request": request, "response": response})


@answers("apps/redeliver-webhook-delivery")
def redeliver(call: Call) -> Answer:
    """Deliver again with the same GUID."""
    call.platform.outbox.redeliver(_find_delivery(call))
    return Answer({}, 202)


def _succeeded(delivery: Delivery) -> bool:
    return delivery.status_code in SUCCESSES


def _delivery(delivery: Delivery) -> Json:
    event = delivery.event
    return {
        "id": delivery.id,
        "guid": event.guid,
        "delivered_at": iso(delivery.delivered_at),
        "redelivery": event.redelivery,
        "duration": round(delivery.duration, 2),
        "status": "OK" if _succeeded(delivery) else "failed to connect to host",
        "status_code": NO_ANSWER if delivery.status_code is None else delivery.status_code,
        "event": event.name,
        "action": event.action,
        "installation_id": event.installation_id,
        "repository_id": event.repository_id,
        "url": "",
    }


def _find_delivery(call: Call) -> Delivery:
    number = call.number("delivery_id")
    found = next((one for one in call.platform.outbox.deliveries if one.id == number), None)
    if found is None:
        raise not_found()
    return found


def _find_installation(call: Call) -> Installation:
    found = call.platform.installations.get(call.number("installation_id"))
    if found is None:
        raise not_found()
    return found


def _installation(call: Call, installation: Installation) -> Json:
    return installation_json(installation, call.platform.app, call.platform.urls)
